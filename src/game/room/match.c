/* Options and verbs of matches: checking them against the kind of game; and helpers for kinds. */
#include "base/random.h"
#include "game/room/room_int.h"

#include <assert.h>

enum {
    BOT_TURN_MS = 1100, /* for people to see whose turn it is */
    AWAY_TURN_MS = 3000,
    DOWN_MS = 2500, /* a timer that is served later than that was not served in between */
    BOT_ERROR_PERCENT = 12,
    BOT_SLOW_MS = 1600,
};

/* --- options --- */

static const struct match_option *find_option(const struct match_kind *kind, struct bytes name) {
    for (const struct match_option *option = kind->options; option->name != NULL; option++)
        if (bytes_equal(name, bytes_str(option->name)))
            return option;
    return NULL;
}

static bool is_choice(const struct match_option *option, const struct value *value) {
    for (const struct match_choice *choice = option->choices; choice->word != NULL; choice++)
        if (value->type == VALUE_S && bytes_equal(value->bytes, bytes_str(choice->word)))
            return true;
    return false;
}

/* "language is en or hi" */
static enum status refuse_choice(const struct match_option *option, struct scope in) {
    struct bytes list = {0};
    for (const struct match_choice *choice = option->choices; choice->word != NULL; choice++) {
        const char *between = list.size == 0 ? "" : choice[1].word == NULL ? " or " : ", ";
        list = arena_printf(in.arena, "%.*s%s%s", BYTES_ARG(list), between, choice->word);
    }
    return failure_set(in.failure, in.arena, INVALID, "%s is %.*s", option->name, BYTES_ARG(list));
}

static enum status check_option(const struct match_option *option, const struct pair *given,
                                struct scope in) {
    struct item item = {given, 1};
    int64_t number = item_int(&item, given->name);
    if (option->choices != NULL)
        return is_choice(option, &given->value) ? OK : refuse_choice(option, in);
    if (given->value.type == VALUE_N && number >= option->least && number <= option->most)
        return OK;
    return failure_set(in.failure, in.arena, INVALID, "%s is %lld to %lld", option->name,
                       (long long)option->least, (long long)option->most);
}

enum status match_options_check(const struct match_kind *kind, const struct item *options,
                                struct scope in) {
    enum status status = OK;
    for (uint32_t i = 0; status == OK && i < options->count; i++) {
        struct bytes name = options->pairs[i].name;
        const struct match_option *option = find_option(kind, name);
        if (option == NULL)
            return failure_set(in.failure, in.arena, INVALID, "The game has no option %.*s",
                               (int)(name.size < 64 ? name.size : 64), (const char *)name.data);
        status = check_option(option, &options->pairs[i], in);
    }
    return status;
}

int64_t match_option_number(const struct room *room, const char *name) {
    const struct match_option *option = find_option(room->kind, bytes_str(name));
    assert(option != NULL && option->choices == NULL);
    if (item_get(&room->options, bytes_str(name)) == NULL)
        return option->otherwise;
    return item_int(&room->options, bytes_str(name));
}

/* --- verbs --- */

static const struct match_verb *verb_of(const struct match_kind *kind, struct bytes name) {
    for (const struct match_verb *verb = kind->verbs; verb->name != NULL; verb++)
        if (bytes_equal(name, bytes_str(verb->name)))
            return verb;
    return NULL;
}

const struct match_verb *match_verb_find(struct bytes name) {
    const struct match_kind *kind;
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;) {
        const struct match_verb *verb = verb_of(kind, name);
        if (verb != NULL)
            return verb;
    }
    return NULL;
}

/* "In Snakes and ladders one can roll" */
static enum status refuse_verb(const struct room *room, struct failure *failure) {
    struct bytes list = {0};
    for (const struct match_verb *verb = room->kind->verbs; verb->name != NULL; verb++)
        list = arena_printf(room->arena, "%.*s%s%s", BYTES_ARG(list), list.size == 0 ? "" : ", ",
                            verb->name);
    return failure_set(failure, room->arena, INVALID, "In %s one can %.*s", room->kind->title.en,
                       BYTES_ARG(list));
}

static bool field_fits(const struct match_field *field, const struct item *given) {
    const struct value *value = item_get(given, bytes_str(field->name));
    int64_t number = item_int(given, bytes_str(field->name));
    if (value == NULL)
        return field->optional;
    return value->type == VALUE_N && number >= field->least && number <= field->most;
}

enum status match_verb_check(const struct room *room, const struct item *given,
                             struct failure *failure, const struct match_verb **out) {
    const struct match_verb *verb = verb_of(room->kind, item_string(given, BYTES("do")));
    if (verb == NULL || verb->play == NULL)
        return refuse_verb(room, failure);
    for (const struct match_field *field = verb->fields; field->name != NULL; field++)
        if (!field_fits(field, given))
            return failure_set(failure, room->arena, INVALID, "%s is %lld to %lld", field->name,
                               (long long)field->least, (long long)field->most);
    *out = verb;
    return OK;
}

struct item match_shown(const struct match_kind *kind, const struct item *item,
                        struct arena *arena) {
    return kind->show != NULL ? kind->show(item, arena) : *item;
}

/* --- turns --- */

bool match_plays(const struct seat *seat) {
    return !seat->spectator && seat->mark != MARK_REMOVED;
}

struct seat *match_next_seat(struct room *room, unsigned number) {
    struct seat *next = NULL, *first = NULL;
    for (size_t i = 0; i < room->seat_count; i++) {
        struct seat *seat = &room->seats[i];
        if (!match_plays(seat))
            continue;
        if (first == NULL || seat->number < first->number)
            first = seat;
        if (seat->number > number && (next == NULL || seat->number < next->number))
            next = seat;
    }
    return next != NULL ? next : first;
}

int64_t match_turn_ms(const struct room *room, const struct seat *seat) {
    int64_t turn_ms = 1000 * match_option_number(room, "turnSeconds");
    if (seat->bot)
        return BOT_TURN_MS;
    return seat_is_away(seat) && turn_ms > AWAY_TURN_MS ? AWAY_TURN_MS : turn_ms;
}

bool match_was_down(const struct room *room) {
    return room->now_ms - room->due_ms > DOWN_MS;
}

/* --- bots --- */

void match_bot_reply(const struct room *room, const struct seat *seat, struct match_reply *out) {
    struct random random;
    uint64_t seed;
    random_secure(&seed, sizeof(seed));
    random_seed(&random, seed);
    struct match_view view = {.player = seat->player,
                              .state = room->state,
                              .round = room->round_item,
                              .random = &random,
                              .arena = room->arena,
                              .error_percent = BOT_ERROR_PERCENT,
                              .slow_ms = BOT_SLOW_MS};
    *out = (struct match_reply){0};
    room->kind->bot(&view, out);
}
