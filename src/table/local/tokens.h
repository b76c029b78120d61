/* Tokens of writes that were done: asked for again within ten minutes they are not done again.
 *
 * In the store, written in the commit of the write itself:
 *   'k' number:u64 -> name:2*u64 digest:2*u64 time_ms:u64
 * numbered in the order they came, so that forgetting the oldest is one range to delete. In memory
 * a ring of the same in the same order with a hash index over it, about 50 bytes a token. A name
 * is a 128-bit hash of what the client sent.
 *
 * The writer thread's alone. Tokens are forgotten when others are added; those that are too old
 * are not found even if they are still there. */
#ifndef GT_TABLE_LOCAL_TOKENS_H
#define GT_TABLE_LOCAL_TOKENS_H

#include "base/bytes.h"
#include "base/status.h"

struct store_batch;
struct tokens;

struct token {
    uint64_t name[2];
    uint64_t digest[2]; /* of what the write was to do */
    int64_t at_ms;
};

struct tokens *tokens_new(void);
void tokens_free(struct tokens *tokens);
void tokens_clear(struct tokens *tokens);
size_t tokens_count(const struct tokens *tokens);

struct token token_make(struct bytes name, const uint64_t digest[2], int64_t now_ms);
/* The one of that name if it is not too old by now. Good until tokens are added. */
const struct token *tokens_find(const struct tokens *tokens, const struct token *like,
                                int64_t now_ms);

/* Adding is done in two steps around the commit: all that a group adds goes into its batch, ... */
struct tokens_step {
    uint64_t next; /* the number of the one to be put next; */
    uint64_t keep; /* those before it are forgotten */
};
struct tokens_step tokens_begin(const struct tokens *tokens, struct store_batch *batch,
                                int64_t now_ms);
void tokens_put(struct tokens_step *step, struct store_batch *batch, const struct token *token);
/* ... and after it, in the same order, into memory. */
void tokens_add(struct tokens *tokens, const struct token *token);
void tokens_forget(struct tokens *tokens, uint64_t keep);

/* Takes up a stored record, in the order they are stored. DAMAGED. */
enum status tokens_load(struct tokens *tokens, struct bytes key, struct bytes value);

#endif
