#include "table/remote/credentials.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/mem.h"
#include "table/remote/http_fetch.h"
#include "json/json.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

struct credential_source {
    const char *given; /* "ID:SECRET"; NULL: they are looked for */
    pthread_mutex_t lock;
    struct arena arena;     /* of `now` */
    struct credentials now; /* serial 0: none */
    uint64_t serials;
    bool stale;           /* look again */
    int64_t look_again_s; /* after a renewal that failed, not before this */
};

struct credential_source *credential_source_new(const char *given) {
    struct credential_source *source = mem_zalloc(sizeof(*source));
    source->given = given;
    pthread_mutex_init(&source->lock, NULL);
    arena_init(&source->arena);
    return source;
}

void credential_source_free(struct credential_source *source) {
    pthread_mutex_destroy(&source->lock);
    arena_release(&source->arena);
    mem_free(source);
}

static const char *variable(const char *name) {
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* --- 1: the environment --- */

static enum status from_environment(struct scope in, struct credentials *out) {
    const char *key = variable("AWS_ACCESS_KEY_ID"), *secret = variable("AWS_SECRET_ACCESS_KEY");
    const char *token = variable("AWS_SESSION_TOKEN");
    (void)in;
    if (key == NULL || secret == NULL)
        return NOT_FOUND;
    *out = (struct credentials){.key_id = bytes_str(key),
                                .secret = bytes_str(secret),
                                .token = token != NULL ? bytes_str(token) : (struct bytes){0}};
    return OK;
}

/* --- 2: the shared file --- */

static struct bytes trimmed(struct bytes text) {
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_skip(text, 1);
    while (text.size > 0 && strchr(" \t\r\n", text.data[text.size - 1]) != NULL)
        text.size--;
    return text;
}

static bool take_line(struct bytes *from, struct bytes *line) {
    if (from->size == 0)
        return false;
    const uint8_t *end = memchr(from->data, '\n', from->size);
    size_t size = end != NULL ? (size_t)(end - from->data) : from->size;
    *line = trimmed(bytes_of(from->data, size));
    *from = bytes_skip(*from, end != NULL ? size + 1 : size);
    return true;
}

static void take_setting(struct bytes line, struct credentials *out) {
    size_t equals = bytes_find(line, BYTES("="));
    if (equals == SIZE_MAX)
        return;
    struct bytes name = trimmed(bytes_of(line.data, equals));
    struct bytes value = trimmed(bytes_skip(line, equals + 1));
    if (bytes_equal(name, BYTES("aws_access_key_id")))
        out->key_id = value;
    else if (bytes_equal(name, BYTES("aws_secret_access_key")))
        out->secret = value;
    else if (bytes_equal(name, BYTES("aws_session_token")))
        out->token = value;
}

static void read_profile(struct bytes text, struct bytes profile, struct credentials *out) {
    struct bytes line;
    bool within = false;
    while (take_line(&text, &line)) {
        if (line.size >= 2 && line.data[0] == '[' && line.data[line.size - 1] == ']')
            within = bytes_equal(trimmed(bytes_of(line.data + 1, line.size - 2)), profile);
        else if (within && line.size != 0 && line.data[0] != '#' && line.data[0] != ';')
            take_setting(line, out);
    }
}

static bool read_file(const char *path, struct arena *arena, struct bytes *out) {
    FILE *file = fopen(path, "re");
    struct buf text = {0};
    char piece[4096];
    size_t size;
    if (file == NULL)
        return false;
    while ((size = fread(piece, 1, sizeof(piece), file)) > 0 && text.size < LIMIT_CREDENTIALS_FILE)
        buf_append(&text, piece, size);
    fclose(file);
    *out = arena_copy(arena, buf_bytes(&text));
    buf_release(&text);
    return true;
}

static enum status from_file(struct scope in, struct credentials *out) {
    const char *path = variable("AWS_SHARED_CREDENTIALS_FILE"), *home = variable("HOME");
    const char *profile = variable("AWS_PROFILE");
    struct bytes text;
    if (path == NULL && home != NULL)
        path = (const char *)arena_printf(in.arena, "%s/.aws/credentials", home).data;
    if (path == NULL || !read_file(path, in.arena, &text))
        return NOT_FOUND;
    *out = (struct credentials){0};
    read_profile(text, bytes_str(profile != NULL ? profile : "default"), out);
    if (out->key_id.size != 0 && out->secret.size != 0)
        return OK;
    if (profile == NULL)
        return NOT_FOUND;
    return failure_set(in.failure, in.arena, DENIED,
                       "%s has no keys for the profile %s: put aws_access_key_id and "
                       "aws_secret_access_key under [%s], or set AWS_PROFILE to another one",
                       path, profile, profile);
}

/* --- 3 and 4: endpoints that answer JSON --- */

/* "2026-11-17T01:58:53Z" */
static int64_t read_time(struct bytes text) {
    struct tm at = {0};
    char copy[32];
    if (text.size < 19 || text.size >= sizeof(copy))
        return 0;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (strptime(copy, "%Y-%m-%dT%H:%M:%S", &at) == NULL)
        return 0;
    return (int64_t)timegm(&at);
}

static struct bytes text_of(const struct json *object, struct bytes name) {
    const struct json *member = json_get(object, name);
    return member != NULL && member->type == JSON_STRING ? member->text : (struct bytes){0};
}

static enum status read_answer(struct bytes body, struct scope in, struct credentials *out) {
    struct json json;
    size_t at;
    if (json_parse(body, in.arena, &json, &at) != OK)
        return NOT_FOUND;
    *out = (struct credentials){.key_id = text_of(&json, BYTES("AccessKeyId")),
                                .secret = text_of(&json, BYTES("SecretAccessKey")),
                                .token = text_of(&json, BYTES("Token")),
                                .expires_s = read_time(text_of(&json, BYTES("Expiration")))};
    return out->key_id.size != 0 && out->secret.size != 0 ? OK : NOT_FOUND;
}

/* The body of an answer 200 in the arena. */
static enum status fetch_text(struct http_fetch *fetch, struct arena *arena, struct bytes *out) {
    struct http_connection connection = {0};
    fetch->connect_ms = fetch->answer_ms = LIMIT_CREDENTIALS_MS;
    enum status status = http_fetch_send(&connection, fetch);
    if (status == OK && fetch->status == 200)
        *out = arena_copy(arena, buf_bytes(&fetch->answer));
    else
        status = NOT_FOUND;
    buf_release(&fetch->answer);
    http_connection_close(&connection);
    return status;
}

static enum status container_token(struct scope in, struct bytes *out) {
    const char *file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    const char *token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    *out = token != NULL ? bytes_str(token) : (struct bytes){0};
    if (file == NULL)
        return OK;
    if (!read_file(file, in.arena, out))
        return failure_set(in.failure, in.arena, DENIED,
                           "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names %s, which cannot be read",
                           file);
    *out = trimmed(*out);
    return OK;
}

static enum status from_container(struct scope in, struct credentials *out) {
    const char *relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    struct bytes token, text;
    if (relative == NULL && full == NULL)
        return NOT_FOUND;
    if (relative != NULL)
        full = (const char *)arena_printf(in.arena, "http://169.254.170.2%s", relative).data;
    enum status status = container_token(in, &token);
    if (status != OK)
        return status;
    struct http_fetch fetch = {.method = "GET", .url = full};
    if (token.size != 0)
        fetch.lines[0] =
            (const char *)arena_printf(in.arena, "Authorization: %.*s", BYTES_ARG(token)).data;
    if (fetch_text(&fetch, in.arena, &text) == OK && read_answer(text, in, out) == OK)
        return OK;
    return failure_set(in.failure, in.arena, DENIED,
                       "the container's endpoint for credentials, %s, gives none: give the task a "
                       "role",
                       full);
}

static enum status from_instance(struct scope in, struct credentials *out) {
    const char *disabled = variable("AWS_EC2_METADATA_DISABLED");
    const char *base = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    struct bytes token, role, text;
    if (disabled != NULL && strcasecmp(disabled, "true") == 0)
        return NOT_FOUND;
    if (base == NULL)
        base = "http://169.254.169.254";
    struct http_fetch ask = {
        .method = "PUT",
        .url = (const char *)arena_printf(in.arena, "%s/latest/api/token", base).data,
        .lines = {"X-aws-ec2-metadata-token-ttl-seconds: 21600"}};
    if (fetch_text(&ask, in.arena, &token) != OK)
        return NOT_FOUND;
    const char *line =
        (const char *)arena_printf(in.arena, "X-aws-ec2-metadata-token: %.*s", BYTES_ARG(token))
            .data;
    const char *roles =
        (const char *)arena_printf(in.arena, "%s/latest/meta-data/iam/security-credentials/", base)
            .data;
    struct http_fetch list = {.method = "GET", .url = roles, .lines = {line}};
    struct bytes first;
    if (fetch_text(&list, in.arena, &role) != OK || !take_line(&role, &first) || first.size == 0)
        return NOT_FOUND;
    struct http_fetch get = {
        .method = "GET",
        .url = (const char *)arena_printf(in.arena, "%s%.*s", roles, BYTES_ARG(first)).data,
        .lines = {line}};
    return fetch_text(&get, in.arena, &text) == OK ? read_answer(text, in, out) : NOT_FOUND;
}

/* --- all of them --- */

static struct credentials split_given(const char *given) {
    struct bytes whole = bytes_str(given);
    size_t colon = bytes_find(whole, BYTES(":"));
    if (colon == SIZE_MAX)
        return (struct credentials){.key_id = whole, .secret = BYTES("-")};
    return (struct credentials){.key_id = bytes_of(whole.data, colon),
                                .secret = bytes_skip(whole, colon + 1)};
}

static enum status look_for_them(const struct credential_source *source, struct scope in,
                                 struct credentials *out) {
    if (source->given != NULL) {
        *out = split_given(source->given);
        return OK;
    }
    static enum status (*const places[])(struct scope, struct credentials *) = {
        from_environment, from_file, from_container, from_instance};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        enum status status = places[i](in, out);
        if (status == OK && out->secret.size > LIMIT_SIGNATURE_SECRET)
            return failure_set(in.failure, in.arena, DENIED, "the secret key has over %d bytes",
                               LIMIT_SIGNATURE_SECRET);
        if (status != NOT_FOUND)
            return status;
    }
    return failure_set(
        in.failure, in.arena, DENIED,
        "there are no credentials for the DynamoDB endpoint: set AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, or write them to ~/.aws/credentials (AWS_PROFILE names the "
        "profile), or give the container or instance a role");
}

static void keep(struct credential_source *source, const struct credentials *found) {
    arena_reset(&source->arena);
    source->now = (struct credentials){.key_id = arena_copy(&source->arena, found->key_id),
                                       .secret = arena_copy(&source->arena, found->secret),
                                       .token = arena_copy(&source->arena, found->token),
                                       .expires_s = found->expires_s,
                                       .serial = ++source->serials};
    source->stale = false;
}

/* Under the lock: one looks, the others wait for what it finds. */
static enum status renew(struct credential_source *source, int64_t now_s, struct scope in) {
    struct credentials found;
    struct arena arena;
    bool usable = source->now.serial != 0 && !source->stale &&
                  (source->now.expires_s == 0 || source->now.expires_s > now_s);
    arena_init(&arena);
    enum status status = look_for_them(source, (struct scope){&arena, in.failure}, &found);
    if (status == OK)
        keep(source, &found);
    else
        in.failure->text = arena_copy(in.arena, in.failure->text);
    source->look_again_s = now_s + 10;
    arena_release(&arena);
    return status == OK || usable ? OK : status;
}

enum status credentials_get(struct credential_source *source, struct scope in,
                            struct credentials *out) {
    int64_t now_s = (int64_t)time(NULL);
    enum status status = OK;
    pthread_mutex_lock(&source->lock);
    const struct credentials *now = &source->now;
    bool ending = now->expires_s != 0 && now->expires_s - LIMIT_CREDENTIALS_EARLY_S <= now_s;
    if (now->serial == 0 || source->stale || (ending && source->look_again_s <= now_s))
        status = renew(source, now_s, in);
    *out = (struct credentials){.key_id = arena_copy(in.arena, now->key_id),
                                .secret = arena_copy(in.arena, now->secret),
                                .token = arena_copy(in.arena, now->token),
                                .expires_s = now->expires_s,
                                .serial = now->serial};
    pthread_mutex_unlock(&source->lock);
    return status;
}

void credentials_forget(struct credential_source *source, uint64_t serial) {
    pthread_mutex_lock(&source->lock);
    source->stale = source->stale || source->now.serial == serial;
    pthread_mutex_unlock(&source->lock);
}
