/* The words that clients use for what a board can be. */
#include "game/board.h"

static int find(const char *const *names, int count, struct bytes name) {
    for (int i = 0; i < count; i++)
        if (bytes_equal(name, bytes_str(names[i])))
            return i;
    return -1;
}

#define COUNT(names) ((int)(sizeof(names) / sizeof((names)[0])))

static const char *const orders[] = {"high", "low"};
static const char *const keeps[] = {"best", "latest", "sum", "first"};
static const char *const ties[] = {"earliest", "member"};
static const char *const rankings[] = {"ordinal", "competition", "dense"};
static const char *const combines[] = {"sum", "best"};

const char *order_name(enum order order) {
    return orders[order];
}
const char *keep_name(enum keep keep) {
    return keeps[keep];
}
const char *tie_name(enum tie tie) {
    return ties[tie];
}
const char *ranking_name(enum ranking rank) {
    return rankings[rank];
}
const char *combine_name(enum combine how) {
    return combines[how];
}

int order_named(struct bytes name) {
    return find(orders, COUNT(orders), name);
}
int keep_named(struct bytes name) {
    return find(keeps, COUNT(keeps), name);
}
int tie_named(struct bytes name) {
    return find(ties, COUNT(ties), name);
}
int ranking_named(struct bytes name) {
    return find(rankings, COUNT(rankings), name);
}
int combine_named(struct bytes name) {
    return find(combines, COUNT(combines), name);
}
