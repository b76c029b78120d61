/* The kinds of games there are. */
#include "game/match.h"

extern const struct match_kind kauwa_udd_kind, snakes_kind;

static const struct match_kind *const kinds[] = {&kauwa_udd_kind, &snakes_kind};

const struct match_kind *match_kind_next(size_t *at) {
    return *at < sizeof(kinds) / sizeof(*kinds) ? kinds[(*at)++] : NULL;
}

const struct match_kind *match_kind_named(struct bytes name) {
    const struct match_kind *kind;
    for (size_t at = 0; (kind = match_kind_next(&at)) != NULL;)
        if (bytes_equal(name, bytes_str(kind->name)))
            return kind;
    return NULL;
}

static bool is_among(struct bytes name, const char *const *names) {
    for (; *names != NULL; names++)
        if (bytes_equal(name, bytes_str(*names)))
            return true;
    return false;
}

enum status match_check_names(const struct item *options, const char *const *names,
                              struct arena *arena, struct failure *failure) {
    for (uint32_t i = 0; i < options->count; i++)
        if (!is_among(options->pairs[i].name, names))
            return failure_set(
                failure, arena, INVALID, "The game has no option %.*s",
                (int)(options->pairs[i].name.size < 64 ? options->pairs[i].name.size : 64),
                (const char *)options->pairs[i].name.data);
    return OK;
}
