/* The kinds of games, as they describe themselves: what pages and bots need to know of a game. */
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "game/room/match.h"

static void put_texts(struct buf *to, const char *name, struct match_text text) {
    rest_put_name(to, name);
    buf_byte(to, '{');
    rest_put_str(to, "en", text.en);
    rest_put_str(to, "hi", text.hi);
    buf_byte(to, '}');
}

static void begin_list(struct buf *to, const char *name) {
    rest_put_name(to, name);
    buf_byte(to, '[');
}

static void begin_object(struct buf *to) {
    rest_put_comma(to);
    buf_byte(to, '{');
}

static void put_range(struct buf *to, int64_t least, int64_t most) {
    rest_put_int(to, "min", least);
    rest_put_int(to, "max", most);
}

static void put_choices(struct buf *to, const struct match_choice *choice) {
    rest_put_str(to, "default", choice->word);
    begin_list(to, "choices");
    for (; choice->word != NULL; choice++) {
        begin_object(to);
        rest_put_str(to, "word", choice->word);
        put_texts(to, "labels", choice->label);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

static void put_options(struct buf *to, const struct match_option *option) {
    begin_list(to, "options");
    for (; option->name != NULL; option++) {
        begin_object(to);
        rest_put_str(to, "name", option->name);
        rest_put_str(to, "type", option->choices != NULL ? "choice" : "number");
        put_texts(to, "labels", option->label);
        if (option->choices != NULL)
            put_choices(to, option->choices);
        else {
            put_range(to, option->least, option->most);
            rest_put_int(to, "default", option->otherwise);
        }
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

static void put_fields(struct buf *to, const struct match_field *field) {
    begin_list(to, "fields");
    for (; field->name != NULL; field++) {
        begin_object(to);
        rest_put_str(to, "name", field->name);
        put_range(to, field->least, field->most);
        rest_put_bool(to, "required", !field->optional);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

static void put_verbs(struct buf *to, const struct match_verb *verb) {
    begin_list(to, "verbs");
    for (; verb->name != NULL; verb++) {
        begin_object(to);
        rest_put_str(to, "do", verb->name);
        put_texts(to, "about", verb->about);
        put_fields(to, verb->fields);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

static void put_boards(struct buf *to, const struct match_kind *kind, struct arena *arena) {
    begin_list(to, "boards");
    for (const struct match_board *board = kind->boards; board->name != NULL; board++) {
        begin_object(to);
        rest_put_text(to, "board", arena_printf(arena, "%s:%s", kind->name, board->name));
        rest_put_str(to, "title", board->title);
        rest_put_str(to, "scope", board->scope);
        buf_byte(to, '}');
    }
    buf_byte(to, ']');
}

static void put_kind(struct buf *to, const struct match_kind *kind, struct arena *arena) {
    begin_object(to);
    rest_put_str(to, "kind", kind->name);
    rest_put_str(to, "title", kind->title.en);
    put_texts(to, "titles", kind->title);
    put_texts(to, "about", kind->about);
    rest_put_str(to, "emoji", kind->emoji);
    rest_put_str(to, "page", kind->page);
    rest_put_uint(to, "playersMin", kind->players_min);
    rest_put_uint(to, "playersMax", kind->players_max);
    put_options(to, kind->options);
    put_verbs(to, kind->verbs);
    put_boards(to, kind, arena);
    buf_byte(to, '}');
}

enum status rest_kinds_list(struct rest_call *call) {
    const struct match_kind *kind;
    buf_lit(call->reply, "{\"kinds\":[");
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;)
        put_kind(call->reply, kind, call->arena);
    buf_lit(call->reply, "]}");
    return OK;
}
