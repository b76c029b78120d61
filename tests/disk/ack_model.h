/* What a data folder must hold: a model fed by the marks that the driver of a recorded run put into
 * its journal, and a check of a folder against it through the engine.
 *
 * A mark is a line of fields with tabs between:
 *   begin ID VERSION KEY...   a request is sent that gives these items this version, all or none; 0
 * deletes them done ID                   it was acknowledged failed ID                 it was
 * refused, or never answered: it may have happened all the same A key is "table/partition/sort".
 * Items that are written together are always written together, and a key has at most one request
 * under way. An item's version is its attribute `version`, or its `score`. */
#ifndef GT_TEST_ACK_MODEL_H
#define GT_TEST_ACK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ack_model;

struct ack_model *ack_model_new(void);
void ack_model_free(struct ack_model *model);
/* Takes a mark; the text need not end in zero. Marks it does not know are passed over. */
void ack_model_mark(struct ack_model *model, const char *text, size_t size);
/* Acknowledged so far. */
uint64_t ack_model_done(const struct ack_model *model);

/* What else is asked of a folder. */
struct ack_check {
    const char *path;
    bool verify;      /* `gametable verify` finds nothing wrong, before it is opened */
    bool write_again; /* it takes a write, and has all of it at the next opening */
};

/* Opens the folder and holds it against the model; prints what is wrong to stderr, a sentence each.
 * Whether nothing is. Starts threads: call it in a process of its own. */
bool ack_model_check(const struct ack_model *model, const struct ack_check *check);

/* The same of a folder that is open: nothing may be under way. Any process. */
struct engine;
bool ack_model_check_engine(struct ack_model *model, struct engine *engine);
/* Runs `gametable verify` on a folder that is not open; prints what it finds. Whether that is
 * nothing.
 */
bool ack_model_verify(const char *path);
/* What the last check found is what must stay: a request that failed has happened or has not. Only
 * while the engine is not refusing writes. */
void ack_model_settle(struct ack_model *model);

#endif
