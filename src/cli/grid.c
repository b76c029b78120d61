#include "cli/grid.h"

struct bytes *grid_row(struct grid *grid) {
    if (grid->count == grid->room) {
        size_t room = grid->room == 0 ? 16 : grid->room * 2;
        grid->rows = arena_grow(grid->arena, grid->rows, grid->room * sizeof grid->rows[0],
                                room * sizeof grid->rows[0]);
        grid->room = room;
    }
    memset(grid->rows[grid->count], 0, sizeof grid->rows[0]);
    return grid->rows[grid->count++];
}

void grid_init(struct grid *grid, struct arena *arena, unsigned columns, unsigned right,
               const char *const *titles) {
    *grid = (struct grid){.arena = arena, .columns = columns, .right = right};
    struct bytes *row = grid_row(grid);
    for (unsigned i = 0; i < columns; i++)
        row[i] = bytes_str(titles[i]);
}

/* Characters, not bytes: what continues one does not count. */
static size_t width_of(struct bytes text) {
    size_t width = 0;
    for (size_t i = 0; i < text.size; i++)
        width += (text.data[i] & 0xc0) != 0x80;
    return width;
}

/* What a terminal would take for a command is shown as a question mark. */
static void put_cell(struct buf *to, struct bytes text) {
    for (size_t i = 0; i < text.size; i++)
        buf_byte(to, text.data[i] < ' ' || text.data[i] == 0x7f ? '?' : text.data[i]);
}

static void put_blanks(struct buf *to, size_t count) {
    while (count-- > 0)
        buf_byte(to, ' ');
}

void grid_put(const struct grid *grid, struct buf *to) {
    size_t widths[GRID_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < grid->count; i++)
        for (unsigned j = 0; j < grid->columns; j++)
            if (width_of(grid->rows[i][j]) > widths[j])
                widths[j] = width_of(grid->rows[i][j]);
    for (size_t i = 0; i < grid->count; i++) {
        for (unsigned j = 0; j < grid->columns; j++) {
            struct bytes cell = grid->rows[i][j];
            size_t blanks = widths[j] - width_of(cell);
            bool right = (grid->right >> j & 1) != 0, last = j + 1 == grid->columns;
            put_blanks(to, right ? blanks : 0);
            put_cell(to, cell);
            put_blanks(to, right || last ? 0 : blanks);
            if (!last)
                buf_lit(to, "  ");
        }
        while (to->size != 0 && to->data[to->size - 1] == ' ')
            to->size--;
        buf_byte(to, '\n');
    }
}
