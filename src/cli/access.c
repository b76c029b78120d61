#include "cli/access.h"

#include "base/log.h"

#include <stdlib.h>

/* One key for everything, as containers like it. */
static enum status read_pair(struct keyring *ring, struct scope in, bool *any) {
    const char *id = getenv("GAMETABLE_ACCESS_KEY_ID");
    const char *secret = getenv("GAMETABLE_SECRET_ACCESS_KEY");
    if (id == NULL && secret == NULL)
        return OK;
    if (id == NULL || secret == NULL)
        return failure_set(in.failure, in.arena, INVALID,
                           "GAMETABLE_ACCESS_KEY_ID and GAMETABLE_SECRET_ACCESS_KEY go together");
    struct bytes everything = BYTES("*");
    struct access_key key = {.id = bytes_str(id),
                             .secret = bytes_str(secret),
                             .name = BYTES("environment"),
                             .allow = ACCESS_ALL,
                             .tables = &everything,
                             .table_count = 1};
    struct failure inner = {0};
    *any = true;
    if (keyring_add(ring, &key, (struct scope){in.arena, &inner}) == OK)
        return OK;
    return failure_set(in.failure, in.arena, INVALID,
                       "GAMETABLE_ACCESS_KEY_ID and GAMETABLE_SECRET_ACCESS_KEY: %.*s",
                       BYTES_ARG(inner.text));
}

static enum status read_all(const struct settings *settings, struct keyring *ring, struct scope in,
                            bool *any) {
    const char *text = getenv("GAMETABLE_KEYS_JSON");
    bool exposed = false;
    enum status status = OK;
    if (settings->keys[0] != '\0') {
        *any = true;
        status = keyring_load(ring, settings->keys, in, &exposed);
        if (status == NOT_FOUND)
            return failure_set(in.failure, in.arena, INVALID,
                               "there is no key file %s: make one with gametable keys add --keys "
                               "%s --table NAME",
                               settings->keys, settings->keys);
    }
    if (exposed)
        log_warn("%s may be read by others on this machine: chmod 600 it", settings->keys);
    if (status == OK && text != NULL) {
        *any = true;
        status = keyring_read(ring, bytes_str(text), "GAMETABLE_KEYS_JSON", in);
    }
    return status == OK ? read_pair(ring, in, any) : status;
}

/* A port, and what keeps strangers from it. */
struct exposure {
    const struct address *address;
    bool keys, encrypted;
};

/* A stranger on the network is stopped by keys; a listener on it only by encryption. */
static enum status check_address(const struct settings *settings, const struct exposure *port,
                                 struct scope in) {
    const struct address *address = port->address;
    if (address_is_loopback(address) || settings->trust_network)
        return OK;
    if (port->keys) {
        if (!port->encrypted)
            log_warn("what crosses the network to and from port %d is not encrypted: --tls-cert, "
                     "--tls-key and --redis-tls do that",
                     address->port);
        return OK;
    }
    return failure_set(
        in.failure, in.arena, INVALID,
        "%s is not a loopback address, and whoever reaches it could read and write everything: "
        "make a key with gametable keys add --table '*' and start with --keys " ACCESS_FILE
        "; or set GAMETABLE_ACCESS_KEY_ID and GAMETABLE_SECRET_ACCESS_KEY; or listen on 127.0.0.1; "
        "or add --trust-network if the network itself decides who comes "
        "in",
        address->host);
}

static enum status check_exposure(const struct settings *settings, bool keys, struct scope in) {
    struct exposure http = {&settings->http, keys, settings->tls_cert[0] != '\0'};
    struct exposure redis = {&settings->redis, keys, settings->redis_tls};
    enum status status = check_address(settings, &http, in);
    if (status == OK && settings->redis.host[0] != '\0')
        status = check_address(settings, &redis, in);
    return status;
}

enum status access_open(const struct settings *settings, struct scope in, struct keys **out) {
    struct keyring *ring = keyring_new();
    bool any = false;
    enum status status = read_all(settings, ring, in, &any);
    if (status == OK)
        status = check_exposure(settings, any, in);
    *out = NULL;
    if (status != OK || !any) {
        keyring_free(ring);
        return status;
    }
    if (ring->count == 0)
        log_warn("there are no keys in %s: nobody can come in", settings->keys);
    *out = keys_new(ring);
    return OK;
}

void access_reload(const struct settings *settings, struct keys *keys) {
    struct keyring *ring = keyring_new();
    struct failure failure = {0};
    struct arena arena;
    bool any = false;
    arena_init(&arena);
    if (read_all(settings, ring, (struct scope){&arena, &failure}, &any) == OK) {
        log_info("read the access keys again: %zu", ring->count);
        keys_replace(keys, ring);
    } else {
        log_error("the access keys stay as they were: %.*s", BYTES_ARG(failure.text));
        keyring_free(ring);
    }
    arena_release(&arena);
}
