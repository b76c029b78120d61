#include "cli/text_table.h"

struct bytes *text_table_row(struct text_table *table) {
    if (table->count == table->room) {
        size_t room = table->room == 0 ? 16 : table->room * 2;
        table->rows = arena_grow(table->arena, table->rows, table->room * sizeof table->rows[0],
                                 room * sizeof table->rows[0]);
        table->room = room;
    }
    memset(table->rows[table->count], 0, sizeof table->rows[0]);
    return table->rows[table->count++];
}

void text_table_titles(struct text_table *table, const char *const *titles) {
    struct bytes *row = text_table_row(table);
    for (unsigned i = 0; i < table->columns; i++)
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

void text_table_put(const struct text_table *table, struct buf *to) {
    size_t widths[TEXT_TABLE_COLUMNS_MAX] = {0};
    for (size_t i = 0; i < table->count; i++)
        for (unsigned j = 0; j < table->columns; j++)
            if (width_of(table->rows[i][j]) > widths[j])
                widths[j] = width_of(table->rows[i][j]);
    for (size_t i = 0; i < table->count; i++) {
        for (unsigned j = 0; j < table->columns; j++) {
            struct bytes cell = table->rows[i][j];
            size_t blanks = widths[j] - width_of(cell);
            bool right = (table->right >> j & 1) != 0, last = j + 1 == table->columns;
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
