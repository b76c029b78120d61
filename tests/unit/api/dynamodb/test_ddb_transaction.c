/* Digests of transactions, which data folders keep beside their tokens. */
#include "api/dynamodb/ddb_transaction.h"
#include "test.h"

static struct hash_two digest_of(const char *text) {
    struct arena arena;
    arena_init(&arena);
    struct json json;
    size_t at;
    assert_int_equal(json_parse(bytes_str(text), &arena, &json, &at), OK);
    struct hash_two digest = transaction_digest(&json, (struct hash_two){{1, 2}});
    arena_release(&arena);
    return digest;
}

/* A repeat that comes after an upgrade is known by them: they never change. */
static void digests_are_what_they_were(void **state) {
    (void)state;
    struct hash_two digest =
        digest_of("[{\"Put\":{\"TableName\":\"scores\",\"Item\":{\"PK\":{\"S\":\"a name of more "
                  "than sixteen bytes\"},\"n\":{\"N\":\"12\"},\"l\":{\"L\":[{\"BOOL\":true},"
                  "{\"NULL\":false},{\"M\":{}}]}}}},7,null,\"\"]");
    assert_int_equal(digest.at[0], 0xf354596fb92e47a2);
    assert_int_equal(digest.at[1], 0xa687df452bd2b98f);
}

static bool same(const char *one, const char *other) {
    struct hash_two a = digest_of(one), b = digest_of(other);
    assert_int_equal(a.at[0] == b.at[0], a.at[1] == b.at[1]);
    return a.at[0] == b.at[0];
}

static void digests_tell_requests_apart(void **state) {
    (void)state;
    assert_true(same("{\"a\":1,\"b\":2}", "{\"b\":2, \"a\":1}"));
    assert_false(same("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"));
    assert_false(same("[1,2]", "[2,1]"));
    assert_false(same("[1]", "[\"1\"]"));
    assert_false(same("[]", "{}"));
    assert_false(same("true", "false"));
    assert_false(same("[[1],2]", "[[1,2]]"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_what_they_were),
        cmocka_unit_test(digests_tell_requests_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
