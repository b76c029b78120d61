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
