/* Where credentials come from, in which order, and when they are looked for again. */
#include "test.h"

#include "http_stub.h"
#include "table/remote/credentials.h"

#include <time.h>

static const char *const variables[] = {"AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_SHARED_CREDENTIALS_FILE",
                                        "AWS_PROFILE",
                                        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                                        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                                        "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                        NULL};

static int nothing_is_set(void **state) {
    (void)state;
    for (size_t i = 0; variables[i] != NULL; i++)
        unsetenv(variables[i]);
    setenv("HOME", "/nonexistent", 1);
    setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    return 0;
}

struct looking {
    struct credential_source *source;
    struct arena arena;
    struct failure failure;
    struct credentials found;
};

static void begin(struct looking *on, const char *given) {
    *on = (struct looking){.source = credential_source_new(given)};
    arena_init(&on->arena);
}

static enum status look(struct looking *on) {
    on->failure = (struct failure){0};
    return credentials_get(on->source, (struct scope){&on->arena, &on->failure}, &on->found);
}

static void end(struct looking *on) {
    credential_source_free(on->source);
    arena_release(&on->arena);
}

/* An endpoint has a second to answer, which a busy machine may not leave it: then once more. */
static enum status look_again(struct looking *on) {
    enum status status = look(on);
    for (int i = 0; i < 60 && status != OK; i++)
        status = look(on);
    return status;
}

#define assert_key(on, id, secret_, token_)                       \
    do {                                                          \
        assert_int_equal(look_again(on), OK);                     \
        assert_bytes_equal((on)->found.key_id, BYTES(id));        \
        assert_bytes_equal((on)->found.secret, BYTES(secret_));   \
        assert_bytes_equal((on)->found.token, bytes_str(token_)); \
    } while (0)

static void of_the_environment(void **state) {
    struct looking on;
    (void)state;
    begin(&on, NULL);
    assert_int_equal(look(&on), DENIED);
    assert_true(bytes_find(on.failure.text, BYTES("AWS_ACCESS_KEY_ID")) != SIZE_MAX);
    setenv("AWS_ACCESS_KEY_ID", "ONE", 1);
    assert_int_equal(look(&on), DENIED); /* half of it is none */
    setenv("AWS_SECRET_ACCESS_KEY", "s1", 1);
    assert_key(&on, "ONE", "s1", "");
    uint64_t serial = on.found.serial;
    setenv("AWS_ACCESS_KEY_ID", "TWO", 1);
    setenv("AWS_SESSION_TOKEN", "t", 1);
    assert_key(&on, "ONE", "s1", ""); /* those that do not end are not looked for again, */
    credentials_forget(on.source, serial + 1);
    assert_key(&on, "ONE", "s1", "");
    credentials_forget(on.source, serial); /* unless they were refused */
    assert_key(&on, "TWO", "s1", "t");
    assert_int_not_equal(on.found.serial, serial);
    end(&on);
}

static void that_were_given(void **state) {
    struct looking on;
    (void)state;
    setenv("AWS_ACCESS_KEY_ID", "NOT", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "this", 1);
    begin(&on, "ID:with:colons");
    assert_key(&on, "ID", "with:colons", "");
    end(&on);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void of_a_profile(void **state) {
    struct looking on;
    char path[] = "/tmp/gt-credentials-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    close(fd);
    write_file(path, "# a comment\n[default]\naws_access_key_id = DEF\naws_secret_access_key=d\n\n"
                     "[ game ]\r\n aws_access_key_id=GAME\r\n;aws_access_key_id=OLD\n"
                     "aws_secret_access_key = a=b \naws_session_token=z\n[empty]\n");
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    begin(&on, NULL);
    assert_key(&on, "DEF", "d", "");
    setenv("AWS_PROFILE", "game", 1);
    credentials_forget(on.source, on.found.serial);
    assert_key(&on, "GAME", "a=b", "z");
    setenv("AWS_PROFILE", "empty", 1);
    credentials_forget(on.source, on.found.serial);
    assert_int_equal(look(&on), DENIED);
    assert_true(bytes_find(on.failure.text, BYTES("[empty]")) != SIZE_MAX);
    end(&on);
    unlink(path);
}

/* A container's endpoint, whose credentials end in so many seconds; 0: it gives none. */
struct container {
    struct http_stub stub;
    atomic_int ends_in_s;
    atomic_uint number; /* of those that it gives */
    atomic_uint given;
};

static int give(struct http_stub *stub, unsigned number, struct bytes request, struct buf *body) {
    struct container *container = (struct container *)stub;
    char until[32];
    struct tm parts;
    time_t at = time(NULL) + atomic_load(&container->ends_in_s);
    (void)number;
    if (atomic_load(&container->ends_in_s) == 0)
        return 500;
    if (bytes_find(request, BYTES("Authorization: let me in\r\n")) == SIZE_MAX)
        return 403;
    gmtime_r(&at, &parts);
    strftime(until, sizeof(until), "%Y-%m-%dT%H:%M:%SZ", &parts);
    buf_printf(body,
               "{\"AccessKeyId\":\"C%u\",\"SecretAccessKey\":\"s\",\"Token\":\"t\","
               "\"Expiration\":\"%s\"}",
               atomic_load(&container->number), until);
    atomic_fetch_add(&container->given, 1);
    return 200;
}

static void of_a_container(void **state) {
    struct container container = {.stub = {.answer = give}};
    struct looking on;
    char url[96];
    (void)state;
    stub_start(&container.stub);
    snprintf(url, sizeof(url), "%s/task", container.stub.url);
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url, 1);
    begin(&on, NULL);
    assert_int_equal(look(&on), DENIED);
    assert_true(bytes_find(on.failure.text, bytes_str(url)) != SIZE_MAX);
    atomic_store(&container.ends_in_s, 3600);
    atomic_store(&container.number, 1);
    assert_int_equal(look(&on), DENIED); /* without the container's token */
    setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "let me in", 1);
    assert_key(&on, "C1", "s", "t");
    assert_true(on.found.expires_s > time(NULL) + 3500);
    unsigned given = atomic_load(&container.given);
    assert_key(&on, "C1", "s", "t"); /* there is time */
    assert_int_equal(atomic_load(&container.given), given);
    atomic_store(&container.ends_in_s, 60);
    atomic_store(&container.number, 2);
    credentials_forget(on.source, on.found.serial);
    /* A minute is less than what renewals begin before the end at, */
    assert_key(&on, "C2", "s", "t");
    given = atomic_load(&container.given);
    /* but one that brought nothing better is not repeated at once, */
    assert_key(&on, "C2", "s", "t");
    assert_int_equal(atomic_load(&container.given), given);
    atomic_store(&container.ends_in_s, 0);
    assert_key(&on, "C2", "s", "t"); /* and what is still good is used while nobody gives another */
    credentials_forget(on.source, on.found.serial);
    assert_int_equal(look(&on), DENIED);
    end(&on);
    stub_stop(&container.stub);
}

static int give_role(struct http_stub *stub, unsigned number, struct bytes request,
                     struct buf *body) {
    bool token = bytes_find(request, BYTES("X-aws-ec2-metadata-token: imds\r\n")) != SIZE_MAX;
    (void)stub, (void)number;
    if (bytes_starts(request, BYTES("PUT /latest/api/token ")))
        buf_lit(body, "imds");
    else if (!token)
        return 401;
    else if (bytes_starts(request,
                          BYTES("GET /latest/meta-data/iam/security-credentials/role%20x ")) ||
             bytes_starts(request, BYTES("GET /latest/meta-data/iam/security-credentials/role ")))
        buf_lit(body, "{\"AccessKeyId\":\"I\",\"SecretAccessKey\":\"s\",\"Token\":\"t\"}");
    else
        buf_lit(body, "role\n");
    return 200;
}

static void of_an_instance(void **state) {
    struct http_stub stub = {.answer = give_role};
    struct looking on;
    (void)state;
    stub_start(&stub);
    setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", stub.url, 1);
    begin(&on, NULL);
    assert_int_equal(look(&on), DENIED); /* it is not asked where that is switched off */
    assert_int_equal(stub.asked, 0);
    setenv("AWS_EC2_METADATA_DISABLED", "false", 1);
    assert_key(&on, "I", "s", "t");
    assert_true(atomic_load(&stub.asked) >= 3);
    end(&on);
    stub_stop(&stub);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(of_the_environment, nothing_is_set),
        cmocka_unit_test_setup(that_were_given, nothing_is_set),
        cmocka_unit_test_setup(of_a_profile, nothing_is_set),
        cmocka_unit_test_setup(of_a_container, nothing_is_set),
        cmocka_unit_test_setup(of_an_instance, nothing_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
