/* Rows and columns of text, aligned: what commands print for people. */
#ifndef GT_CLI_GRID_H
#define GT_CLI_GRID_H

#include "base/arena.h"
#include "base/buf.h"

enum { GRID_COLUMNS_MAX = 8 };

struct grid {
    struct arena *arena;
    unsigned columns;
    unsigned right; /* a bit for each column that is set to the right: numbers */
    struct bytes (*rows)[GRID_COLUMNS_MAX];
    size_t count, room;
};

/* The first row. */
void grid_init(struct grid *grid, struct arena *arena, unsigned columns, unsigned right,
               const char *const *titles);
/* Adds a row of empty cells, and returns it. Cells are borrowed. */
struct bytes *grid_row(struct grid *grid);
void grid_put(const struct grid *grid, struct buf *to);

#endif
