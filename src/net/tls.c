#include "net/tls.h"

#include "base/mem.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>

struct tls {
    pthread_mutex_t mutex; /* guards context: it may be replaced */
    SSL_CTX *context;
    char *certificate, *key; /* the files of a listener's; NULL: a client's */
    char *host;              /* that a client expects */
};

static char *copy(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

/* --- reading the files --- */

static enum status failed(const char *what, const char *path, struct scope in) {
    unsigned long error = ERR_peek_last_error();
    const char *reason = ERR_reason_error_string(error);
    ERR_clear_error();
    return failure_set(in.failure, in.arena, INVALID, "%s %s: %s", what, path,
                       reason != NULL ? reason : "unknown reason");
}

static enum status check_readable(const char *path, struct scope in) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return failure_set(in.failure, in.arena, INVALID, "cannot read %s: %s", path,
                           strerror(errno));
    fclose(file);
    return OK;
}

/* Nobody is there to type one. */
static int no_password(char *to, int size, int writing, void *context) {
    (void)to, (void)size, (void)writing, (void)context;
    return -1;
}

static EVP_PKEY *read_key(const char *path) {
    FILE *file = fopen(path, "r");
    EVP_PKEY *key = file != NULL ? PEM_read_PrivateKey(file, NULL, no_password, NULL) : NULL;
    if (file != NULL)
        fclose(file);
    return key;
}

static enum status read_files(SSL_CTX *context, const char *certificate, const char *key,
                              struct scope in) {
    enum status status = check_readable(certificate, in);
    if (status == OK)
        status = check_readable(key, in);
    if (status != OK)
        return status;
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1)
        return failed("there is no usable certificate in", certificate, in);
    EVP_PKEY *private = read_key(key);
    if (private == NULL)
        return failed("there is no usable private key (PEM, without a password) in", key, in);
    int fits = X509_check_private_key(SSL_CTX_get0_certificate(context), private);
    if (fits == 1)
        fits = SSL_CTX_use_PrivateKey(context, private);
    EVP_PKEY_free(private);
    ERR_clear_error();
    if (fits == 1)
        return OK;
    return failure_set(in.failure, in.arena, INVALID,
                       "the private key in %s is not that of the certificate in %s", key,
                       certificate);
}

/* --- settings --- */

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_size,
                           const unsigned char *in, unsigned in_size, void *context) {
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen;
    (void)ssl, (void)context;
    if (SSL_select_next_proto(&chosen, out_size, ours, sizeof ours - 1, in, in_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* What both sides have in common. */
static SSL_CTX *context_new(const SSL_METHOD *method) {
    SSL_CTX *context = SSL_CTX_new(method);
    if (context == NULL)
        return NULL;
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    /* A write goes on with what is left, wherever that is by then; idle ones hold no buffers. */
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context, 1); /* one system call for all that is there */
    return context;
}

static SSL_CTX *server_context(void) {
    SSL_CTX *context = context_new(TLS_server_method());
    if (context == NULL)
        return NULL;
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_id_context(context, (const unsigned char *)"gametable", 9);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    return context;
}

static enum status load(const char *certificate, const char *key, struct scope in, SSL_CTX **out) {
    SSL_CTX *context = server_context();
    if (context == NULL)
        return failed("cannot set up", "TLS", in);
    enum status status = read_files(context, certificate, key, in);
    if (status != OK) {
        SSL_CTX_free(context);
        return status;
    }
    *out = context;
    return OK;
}

enum status tls_open(const char *certificate, const char *key, struct scope in, struct tls **out) {
    SSL_CTX *context;
    enum status status = load(certificate, key, in, &context);
    if (status != OK)
        return status;
    struct tls *tls = mem_zalloc(sizeof *tls);
    pthread_mutex_init(&tls->mutex, NULL);
    tls->context = context;
    tls->certificate = copy(certificate);
    tls->key = copy(key);
    *out = tls;
    return OK;
}

enum status tls_open_client(const char *host, const char *authorities, struct scope in,
                            struct tls **out) {
    SSL_CTX *context = context_new(TLS_client_method());
    if (context == NULL)
        return failed("cannot set up", "TLS", in);
    int read = authorities != NULL ? SSL_CTX_load_verify_file(context, authorities)
                                   : SSL_CTX_set_default_verify_paths(context);
    if (read != 1) {
        SSL_CTX_free(context);
        return failed("there are no usable certificates in",
                      authorities != NULL ? authorities : "the system's folder", in);
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    struct tls *tls = mem_zalloc(sizeof *tls);
    pthread_mutex_init(&tls->mutex, NULL);
    tls->context = context;
    tls->host = copy(host);
    *out = tls;
    return OK;
}

enum status tls_reload(struct tls *tls, struct scope in) {
    SSL_CTX *context;
    enum status status = load(tls->certificate, tls->key, in, &context);
    if (status != OK)
        return status;
    pthread_mutex_lock(&tls->mutex);
    SSL_CTX *old = tls->context;
    tls->context = context;
    pthread_mutex_unlock(&tls->mutex);
    SSL_CTX_free(old); /* connections hold on to it as long as they need it */
    return OK;
}

void tls_close(struct tls *tls) {
    SSL_CTX_free(tls->context);
    pthread_mutex_destroy(&tls->mutex);
    mem_free(tls->certificate);
    mem_free(tls->key);
    mem_free(tls->host);
    mem_free(tls);
}

/* The greeting fails unless the certificate is this host's. */
static void expect_host(SSL *ssl, const char *host) {
    if (!X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host)) {
        SSL_set1_host(ssl, host);
        SSL_set_tlsext_host_name(ssl, host);
    }
    SSL_set_connect_state(ssl);
}

struct ssl_st *tls_connection(struct tls *tls, int fd) {
    pthread_mutex_lock(&tls->mutex);
    SSL *ssl = SSL_new(tls->context);
    pthread_mutex_unlock(&tls->mutex);
    if (ssl != NULL && SSL_set_fd(ssl, fd) != 1) {
        SSL_free(ssl);
        ssl = NULL;
    }
    if (ssl != NULL && tls->host != NULL)
        expect_host(ssl, tls->host);
    else if (ssl != NULL)
        SSL_set_accept_state(ssl);
    ERR_clear_error();
    return ssl;
}
