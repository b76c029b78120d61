#include "table/local/tokens.h"

#include "base/hash.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/store.h"

enum {
    ROOM_MIN = 1024,
    SPARE_MS = 10 * 1000,        /* how far past its time the oldest may be before a range goes */
    DROPPED = LIMIT_TOKENS / 16, /* how many go when there are too many */
    KEY_SIZE = 9,
    SEED_1 = 0x746f6b31, /* part of the format */
    SEED_2 = 0x746f6b32,
};

struct tokens {
    struct token *ring; /* number n is at n % room */
    uint32_t *slots;    /* twice as many: places in the ring plus one; 0 is free */
    size_t room;        /* a power of two, or 0 */
    uint64_t first;     /* the number of the oldest */
    size_t count;
};

struct tokens *tokens_new(void) {
    return mem_zalloc(sizeof(struct tokens));
}

void tokens_clear(struct tokens *tokens) {
    mem_free(tokens->ring);
    mem_free(tokens->slots);
    *tokens = (struct tokens){0};
}

void tokens_free(struct tokens *tokens) {
    tokens_clear(tokens);
    mem_free(tokens);
}

size_t tokens_count(const struct tokens *tokens) {
    return tokens->count;
}

struct token token_make(struct bytes name, const uint64_t digest[2], int64_t now_ms) {
    return (struct token){.name = {hash_stable(name, SEED_1), hash_stable(name, SEED_2)},
                          .digest = {digest[0], digest[1]},
                          .at_ms = now_ms};
}

/* --- the index over the ring --- */

static bool is_named(const struct token *a, const struct token *b) {
    return a->name[0] == b->name[0] && a->name[1] == b->name[1];
}

/* Where a token would like to be. The names are stored, so their hash is the stable one, which
 * clients can make collide; which slots they fall on is hashed again. */
static uint64_t home_of(const struct token *token) {
    return hash_keyed(bytes_of(token->name, sizeof(token->name)), 0);
}

static size_t slot_mask(const struct tokens *tokens) {
    return tokens->room * 2 - 1;
}

static size_t place_of(const struct tokens *tokens, uint64_t number) {
    return (size_t)(number & (tokens->room - 1));
}

/* The slot that has the token, or the free one where it would be. */
static size_t find_slot(const struct tokens *tokens, const struct token *like) {
    size_t at = home_of(like) & slot_mask(tokens);
    while (tokens->slots[at] != 0 && !is_named(&tokens->ring[tokens->slots[at] - 1], like))
        at = (at + 1) & slot_mask(tokens);
    return at;
}

/* Frees a slot and moves back those that had been pushed past it. */
static void free_slot(struct tokens *tokens, size_t hole) {
    size_t mask = slot_mask(tokens);
    for (size_t at = (hole + 1) & mask; tokens->slots[at] != 0; at = (at + 1) & mask) {
        size_t home = home_of(&tokens->ring[tokens->slots[at] - 1]) & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        tokens->slots[hole] = tokens->slots[at];
        hole = at;
    }
    tokens->slots[hole] = 0;
}

static void index_put(struct tokens *tokens, uint64_t number) {
    size_t place = place_of(tokens, number);
    tokens->slots[find_slot(tokens, &tokens->ring[place])] = (uint32_t)place + 1;
}

static void grow(struct tokens *tokens) {
    struct tokens old = *tokens;
    tokens->room = old.room == 0 ? ROOM_MIN : old.room * 2;
    tokens->ring = mem_alloc(tokens->room * sizeof(*tokens->ring));
    tokens->slots = mem_zalloc(tokens->room * 2 * sizeof(*tokens->slots));
    for (uint64_t n = old.first; n < old.first + old.count; n++) {
        tokens->ring[place_of(tokens, n)] = old.ring[place_of(&old, n)];
        index_put(tokens, n);
    }
    mem_free(old.ring);
    mem_free(old.slots);
}

/* --- looking, adding, forgetting --- */

const struct token *tokens_find(const struct tokens *tokens, const struct token *like,
                                int64_t now_ms) {
    if (tokens->count == 0)
        return NULL;
    size_t slot = find_slot(tokens, like);
    if (tokens->slots[slot] == 0)
        return NULL;
    const struct token *found = &tokens->ring[tokens->slots[slot] - 1];
    return now_ms - found->at_ms < LIMIT_TOKEN_MS ? found : NULL;
}

void tokens_add(struct tokens *tokens, const struct token *token) {
    if (tokens->count == tokens->room)
        grow(tokens);
    uint64_t number = tokens->first + tokens->count++;
    tokens->ring[place_of(tokens, number)] = *token;
    /* One of the same name that was too old: the index shows the newer from now on. */
    index_put(tokens, number);
}

void tokens_forget(struct tokens *tokens, uint64_t keep) {
    for (; tokens->count > 0 && tokens->first < keep; tokens->first++, tokens->count--) {
        size_t place = place_of(tokens, tokens->first);
        size_t slot = find_slot(tokens, &tokens->ring[place]);
        if (tokens->slots[slot] == place + 1)
            free_slot(tokens, slot);
    }
}

/* --- in the store --- */

static struct bytes number_key(uint64_t number, uint8_t *room) {
    room[0] = 'k';
    for (unsigned i = 0; i < 8; i++)
        room[1 + i] = (uint8_t)(number >> (56 - 8 * i));
    return bytes_of(room, KEY_SIZE);
}

/* The first number that is to be kept: those whose time is well over go, and some if there are too
 * many. */
static uint64_t first_kept(const struct tokens *tokens, int64_t now_ms) {
    uint64_t keep = tokens->first, end = tokens->first + tokens->count;
    if (tokens->count >= LIMIT_TOKENS)
        return keep + DROPPED;
    if (tokens->count == 0 ||
        now_ms - tokens->ring[place_of(tokens, keep)].at_ms < LIMIT_TOKEN_MS + SPARE_MS)
        return keep;
    while (keep < end && now_ms - tokens->ring[place_of(tokens, keep)].at_ms >= LIMIT_TOKEN_MS)
        keep++;
    return keep;
}

struct tokens_step tokens_begin(const struct tokens *tokens, struct store_batch *batch,
                                int64_t now_ms) {
    struct tokens_step step = {.next = tokens->first + tokens->count,
                               .keep = first_kept(tokens, now_ms)};
    uint8_t low[KEY_SIZE], high[KEY_SIZE];
    if (step.keep != tokens->first)
        store_del_range(batch, STORE_META, number_key(tokens->first, low),
                        number_key(step.keep, high));
    return step;
}

void tokens_put(struct tokens_step *step, struct store_batch *batch, const struct token *token) {
    struct buf value = {0};
    uint8_t key[KEY_SIZE];
    buf_u64(&value, token->name[0]);
    buf_u64(&value, token->name[1]);
    buf_u64(&value, token->digest[0]);
    buf_u64(&value, token->digest[1]);
    buf_u64(&value, (uint64_t)token->at_ms);
    store_put(batch, STORE_META, number_key(step->next++, key), buf_bytes(&value));
    buf_release(&value);
}

enum status tokens_load(struct tokens *tokens, struct bytes key, struct bytes value) {
    struct token token;
    uint64_t number, at_ms;
    key = bytes_skip(key, 1);
    if (!take_u64(&key, &number) || key.size != 0 || !take_u64(&value, &token.name[0]) ||
        !take_u64(&value, &token.name[1]) || !take_u64(&value, &token.digest[0]) ||
        !take_u64(&value, &token.digest[1]) || !take_u64(&value, &at_ms) || value.size != 0)
        return DAMAGED;
    if (tokens->count == 0)
        tokens->first = number;
    if (number != tokens->first + tokens->count)
        return DAMAGED;
    token.at_ms = (int64_t)at_ms;
    tokens_add(tokens, &token);
    return OK;
}
