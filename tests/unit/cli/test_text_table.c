/* Tables of text: widths by character, both alignments, and nothing that a terminal would obey. */
#include "cli/text_table.h"
#include "test.h"

struct fixture {
    struct arena arena;
    struct buf text;
    struct text_table table;
};

static struct fixture f;

static int setup(void **state) {
    (void)state;
    memset(&f, 0, sizeof(f));
    arena_init(&f.arena);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    buf_release(&f.text);
    arena_release(&f.arena);
    return 0;
}

static void add_row(const char *a, const char *b, const char *c) {
    struct bytes *row = text_table_row(&f.table);
    row[0] = bytes_str(a);
    row[1] = bytes_str(b);
    row[2] = bytes_str(c);
}

static void assert_drawn(const char *expected) {
    text_table_put(&f.table, &f.text);
    assert_bytes_equal(buf_bytes(&f.text), bytes_str(expected));
}

static void begin(unsigned right) {
    static const char *const titles[] = {"rank", "player", "score"};
    f.table = (struct text_table){.arena = &f.arena, .columns = 3, .right = right};
    text_table_titles(&f.table, titles);
}

static void test_titles_alone(void **state) {
    (void)state;
    begin(0);
    assert_drawn("rank  player  score\n");
}

static void test_alignment(void **state) {
    (void)state;
    begin(1 << 0 | 1 << 2);
    add_row("1", "ann", "4200");
    add_row("10", "somebody long", "17");
    assert_drawn("rank  player         score\n"
                 "   1  ann             4200\n"
                 "  10  somebody long     17\n");
}

/* No line ends in blanks, also where the last cells are empty. */
static void test_no_trailing_blanks(void **state) {
    (void)state;
    begin(0);
    add_row("1", "", "");
    add_row("", "", "x");
    assert_drawn("rank  player  score\n1\n              x\n");
}

static void test_characters_not_bytes(void **state) {
    (void)state;
    begin(1 << 2);
    add_row("1", "Zoë", "5");
    add_row("2", "काका", "6");
    assert_drawn("rank  player  score\n"
                 "1     Zoë         5\n"
                 "2     काका        6\n");
}

static void test_no_commands_to_the_terminal(void **state) {
    (void)state;
    begin(0);
    add_row("\033[2J", "a\nb", "\x7f\t");
    assert_drawn("rank  player  score\n?[2J  a?b     ??\n");
}

/* Rows stay where they are put while the table grows. */
static void test_many_rows(void **state) {
    (void)state;
    begin(0);
    for (int i = 0; i < 1000; i++) {
        struct bytes *row = text_table_row(&f.table);
        row[0] = arena_printf(&f.arena, "%d", i);
        assert_int_equal(row[1].size, 0);
    }
    text_table_put(&f.table, &f.text);
    buf_byte(&f.text, 0);
    const char *at = (const char *)f.text.data;
    assert_memory_equal(at, "rank", 4);
    for (int i = 0; i < 1000; i++) {
        at = strchr(at, '\n') + 1;
        assert_int_equal(atoi(at), i);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_titles_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_alignment, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_trailing_blanks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_characters_not_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_commands_to_the_terminal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_rows, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
