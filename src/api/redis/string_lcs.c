/* LCS: the longest text that two strings both have, in this order but with gaps.
 *
 * The usual table of lengths, one number for each pair of prefixes. It takes memory and time as the
 * product of the sizes, which has a bound. */
#include "api/redis/key_txn.h"

#include "base/limits.h"

struct lcs {
    struct bytes a, b;
    bool len, idx, with_len;
    int64_t min_len;
    uint32_t *table; /* rows of b.size + 1 */
};

static uint32_t *cell(const struct lcs *lcs, size_t i, size_t j) {
    return &lcs->table[i * (lcs->b.size + 1) + j];
}

/* ---- arguments ---- */

static enum status read_options(struct redis_call *call, struct lcs *lcs) {
    for (size_t i = 3; i < call->count; i++) {
        if (call_arg_is(call, i, "IDX"))
            lcs->idx = true;
        else if (call_arg_is(call, i, "LEN"))
            lcs->len = true;
        else if (call_arg_is(call, i, "WITHMATCHLEN"))
            lcs->with_len = true;
        else if (call_arg_is(call, i, "MINMATCHLEN") && i + 1 < call->count) {
            if (call_int(call, ++i, &lcs->min_len) != OK)
                return INVALID;
            lcs->min_len = lcs->min_len < 0 ? 0 : lcs->min_len;
        } else
            return call_error(call, ERROR_SYNTAX);
    }
    if (lcs->idx && lcs->len)
        return call_error(call,
                          "ERR If you want both the length and indexes, please just use IDX.");
    return OK;
}

static enum status read_string(struct redis_call *call, size_t at, struct bytes *out) {
    struct redis_key *key;
    enum key_type type = KEY_NONE;
    enum status status = key_open(call, call->args[at], &key);
    if (status == OK)
        status = key_type_of(call, key, &type);
    if (status != OK)
        return status;
    if (type != KEY_NONE && type != KEY_STRING)
        return call_error(call, "ERR The specified keys must contain string values");
    *out = type == KEY_STRING ? key_string(key) : (struct bytes){0};
    return OK;
}

/* ---- the table ---- */

static enum status fill_table(struct redis_call *call, struct lcs *lcs) {
    uint64_t cells = (uint64_t)(lcs->a.size + 1) * (lcs->b.size + 1);
    if (cells > LIMIT_CALL_MEMORY / 2 / sizeof(*lcs->table))
        return call_error(call, "ERR Insufficient memory, transient memory for LCS exceeds %d MB",
                          LIMIT_CALL_MEMORY / 2 >> 20);
    enum status status = call_spend(call, cells / 256);
    if (status == OK)
        status = call_need(call, cells * sizeof(*lcs->table));
    if (status != OK)
        return status;
    lcs->table = arena_alloc(call->arena, cells * sizeof(*lcs->table));
    for (size_t i = 0; i <= lcs->a.size; i++)
        for (size_t j = 0; j <= lcs->b.size; j++) {
            if (i == 0 || j == 0)
                *cell(lcs, i, j) = 0;
            else if (lcs->a.data[i - 1] == lcs->b.data[j - 1])
                *cell(lcs, i, j) = *cell(lcs, i - 1, j - 1) + 1;
            else {
                uint32_t up = *cell(lcs, i - 1, j), left = *cell(lcs, i, j - 1);
                *cell(lcs, i, j) = up > left ? up : left;
            }
        }
    return OK;
}

/* A run of the result in both strings, the last bytes included. */
struct match {
    size_t a_first, a_last, b_first, b_last;
};
struct matches {
    struct match *list;
    size_t count;
    uint8_t *text; /* the result; its size is the table's last number */
};

/* Walks the table back from its end: runs come from the last to the first, as Redis tells them. */
static void walk_back(struct redis_call *call, const struct lcs *lcs, struct matches *out) {
    size_t i = lcs->a.size, j = lcs->b.size, left = *cell(lcs, i, j);
    struct match *run = NULL;
    out->text = arena_alloc(call->arena, left + 1);
    out->list = arena_alloc(call->arena, (left + 1) * sizeof(*out->list));
    while (i > 0 && j > 0) {
        if (lcs->a.data[i - 1] == lcs->b.data[j - 1]) {
            out->text[--left] = lcs->a.data[i - 1];
            if (run == NULL || run->a_first != i || run->b_first != j) {
                run = &out->list[out->count++];
                *run = (struct match){i - 1, i - 1, j - 1, j - 1};
            }
            run->a_first = --i;
            run->b_first = --j;
        } else if (*cell(lcs, i - 1, j) > *cell(lcs, i, j - 1))
            i--;
        else
            j--;
    }
}

/* ---- the command ---- */

static void reply_range(struct redis_call *call, size_t first, size_t last) {
    resp_array(&call->out, 2);
    resp_int(&call->out, (int64_t)first);
    resp_int(&call->out, (int64_t)last);
}

static bool is_told(const struct lcs *lcs, const struct match *match) {
    return match->a_last - match->a_first + 1 >= (uint64_t)lcs->min_len;
}

static void reply_matches(struct redis_call *call, const struct lcs *lcs,
                          const struct matches *matches) {
    size_t told = 0;
    for (size_t i = 0; i < matches->count; i++)
        told += is_told(lcs, &matches->list[i]);
    resp_map(&call->out, 2);
    resp_bulk(&call->out, BYTES("matches"));
    resp_array(&call->out, told);
    for (size_t i = 0; i < matches->count; i++) {
        const struct match *match = &matches->list[i];
        if (!is_told(lcs, match))
            continue;
        resp_array(&call->out, lcs->with_len ? 3 : 2);
        reply_range(call, match->a_first, match->a_last);
        reply_range(call, match->b_first, match->b_last);
        if (lcs->with_len)
            resp_int(&call->out, (int64_t)(match->a_last - match->a_first + 1));
    }
    resp_bulk(&call->out, BYTES("len"));
    resp_int(&call->out, *cell(lcs, lcs->a.size, lcs->b.size));
}

static enum status run_lcs(struct redis_call *call) {
    struct lcs lcs = {0};
    struct matches matches = {0};
    enum status status = read_string(call, 1, &lcs.a);
    if (status == OK)
        status = read_string(call, 2, &lcs.b);
    if (status == OK)
        status = read_options(call, &lcs);
    if (status == OK)
        status = fill_table(call, &lcs);
    if (status != OK)
        return status;
    uint32_t size = *cell(&lcs, lcs.a.size, lcs.b.size);
    if (lcs.len) {
        resp_int(&call->out, size);
        return OK;
    }
    walk_back(call, &lcs, &matches);
    if (lcs.idx)
        reply_matches(call, &lcs, &matches);
    else
        resp_bulk(&call->out, bytes_of(matches.text, size));
    return OK;
}

const struct redis_command redis_lcs_commands[] = {
    {"lcs",
     -3,
     COMMAND_READ,
     TOUCHES_PARTITION,
     {1, 2, 1, 0},
     run_lcs,
     NULL,
     GROUP_STRING,
     "7.0.0",
     "The longest common subsequence of two strings",
     NULL},
    {0},
};
