/* Names of boards: ID[/SCOPE][@PERIOD]. */
#include "game/board_int.h"

bool board_is_id(struct bytes text) {
    if (text.size == 0 || text.size > BOARD_ID_MAX)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '.' && c != ':' && c != '-')
            return false;
    }
    return true;
}

/* Cuts off what stands after the first `at`, if there is one. */
static bool cut(struct bytes *text, char at, struct bytes *rest) {
    const uint8_t *found = text->size == 0 ? NULL : memchr(text->data, at, text->size);
    if (found == NULL)
        return false;
    size_t before = (size_t)(found - text->data);
    *rest = bytes_skip(*text, before + 1);
    text->size = before;
    return true;
}

struct board_name board_name_of(struct bytes name) {
    struct board_name parts = {.id = name};
    parts.has_period = cut(&parts.id, '@', &parts.period);
    parts.has_scope = cut(&parts.id, '/', &parts.scope);
    return parts;
}

struct bytes board_name_join(const struct board_name *name, struct arena *arena) {
    size_t size = name->id.size + name->scope.size + name->period.size + 2;
    uint8_t *joined = arena_alloc(arena, size), *to = joined;
    const struct bytes *parts[] = {&name->id, &name->scope, &name->period};
    const bool has[] = {true, name->scope.size != 0, name->period.size != 0};
    for (unsigned i = 0; i < 3; i++) {
        if (!has[i])
            continue;
        if (i > 0)
            *to++ = i == 1 ? '/' : '@';
        if (parts[i]->size != 0)
            memcpy(to, parts[i]->data, parts[i]->size);
        to += parts[i]->size;
    }
    return bytes_of(joined, (size_t)(to - joined));
}

struct bytes board_scope_kind(struct bytes scope) {
    struct bytes rest;
    if (scope.size == 0)
        return BYTES("global");
    cut(&scope, ':', &rest);
    return scope;
}

bool board_has_scope(const struct board_rules *rules, struct bytes scope) {
    struct bytes kind = board_scope_kind(scope);
    if (rules->plain || rules->scope_count == 0)
        return scope.size == 0;
    for (uint32_t i = 0; i < rules->scope_count; i++)
        if (bytes_equal(rules->scopes[i], kind) ||
            (scope.size != 0 && bytes_equal(rules->scopes[i], BYTES("*"))))
            return true;
    return false;
}

enum status board_timing(const struct game *game, const struct board_rules *rules,
                         struct arena *arena, struct failure *failure, struct timing *out) {
    *out = (struct timing){rules->timeframe, NULL, rules->seasons, rules->season_count};
    return zone_find(game->settings.zones, rules->zone, arena, failure, &out->zone);
}
