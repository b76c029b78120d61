/* Rows and columns of text, aligned: what commands print for people. */
#ifndef GT_CLI_TEXT_TABLE_H
#define GT_CLI_TEXT_TABLE_H

#include "base/arena.h"
#include "base/buf.h"

enum { TEXT_TABLE_COLUMNS_MAX = 8 };

/* The first three are set by who makes it, and the rest is zero. Nothing is freed: rows are in the
 * arena. */
struct text_table {
    struct arena *arena;
    unsigned columns;
    unsigned right; /* a bit for each column that is set to the right: numbers */
    struct bytes (*rows)[TEXT_TABLE_COLUMNS_MAX];
    size_t count, room;
};

/* Adds the first row: a title for each column. */
void text_table_titles(struct text_table *table, const char *const *titles);
/* Adds a row of empty cells, and returns it. Cells are borrowed. */
struct bytes *text_table_row(struct text_table *table);
void text_table_put(const struct text_table *table, struct buf *to);

#endif
