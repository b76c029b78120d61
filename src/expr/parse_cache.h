/* Expressions that were read before: clients send the same few texts again and again, with other
 * values. What passes 1 and 2 (ast.h) make of a text depends on the text alone, so it is kept, and
 * a text that is known is not read again: its tree is made anew in the request's arena, as the
 * parser would have made it, and borrows from the request's text. Pass 3 follows either way.
 *
 * Each thread has a cache of its own, of LIMIT_EXPRESSION_CACHE_SLOTS texts; a text has one slot,
 * by its keyed hash, and takes it from whoever had it. Only texts without a fault are kept, and
 * none that is longer than LIMIT_EXPRESSION_CACHE_TEXT or has more parts than
 * LIMIT_EXPRESSION_CACHE_PARTS. */
#ifndef GT_EXPR_PARSE_CACHE_H
#define GT_EXPR_PARSE_CACHE_H

#include "expr/update.h"

/* The tree of a condition's text, unbound, in the source's arena; NULL if it is not known. */
struct node *parse_cache_condition(const struct expr_source *source);
/* Keeps it, before it is bound. */
void parse_cache_keep_condition(const struct expr_source *source, const struct node *root);

/* Likewise the actions of an update, which are added to `out`. */
bool parse_cache_update(const struct expr_source *source, struct update *out);
void parse_cache_keep_update(const struct expr_source *source, const struct update *update);

#endif
