#include "expr/check.h"
#include "expr/parse.h"
#include "expr/path.h"

struct projection {
    struct path *paths; /* in the order given */
    struct path_set set;
};

/* Paths there may be at most: one more than commas. */
static uint32_t count_paths(struct bytes text) {
    uint32_t count = 1;
    for (size_t i = 0; i < text.size; i++)
        count += text.data[i] == ',';
    return count;
}

static struct projection *projection_new(struct arena *arena, size_t room) {
    struct projection *projection = ARENA_NEW(arena, struct projection);
    projection->paths = ARENA_ARRAY(arena, struct path, room);
    projection->set.targets = ARENA_ARRAY(arena, struct target, room);
    return projection;
}

static void projection_add(struct projection *projection) {
    uint32_t position = projection->set.count++;
    projection->set.targets[position] = (struct target){&projection->paths[position], position};
}

static enum status parse_paths(const struct expr_source *source, struct projection *projection) {
    struct parser parser;
    enum status status = parse_begin(&parser, source);
    if (status != OK)
        return status;
    do {
        if (!parse_path(&parser, &projection->paths[projection->set.count]))
            return parser.status;
        projection_add(projection);
    } while (parse_accept(&parser, TOKEN_COMMA));
    parse_end(&parser);
    return parser.status;
}

enum status projection_parse(const struct expr_source *source, struct projection **out) {
    struct projection *projection = projection_new(source->arena, count_paths(source->text));
    struct path_set *set = &projection->set;
    struct binder binder = {.source = source};
    enum status status = parse_paths(source, projection);
    for (uint32_t i = 0; status == OK && i < set->count; i++)
        status = check_path_shape(source, &projection->paths[i]);
    if (status == OK)
        status = bind_paths(&binder, set);
    if (status == OK)
        *out = projection;
    return status;
}

struct projection *projection_of_names(const struct bytes *names, size_t count,
                                       struct arena *arena) {
    struct projection *projection = projection_new(arena, count);
    struct step *steps = ARENA_ARRAY(arena, struct step, count);
    for (size_t i = 0; i < count; i++) {
        steps[i].name = names[i];
        projection->paths[i] = (struct path){&steps[i], 1};
        projection_add(projection);
    }
    path_set_sort(&projection->set);
    return projection;
}

struct item projection_apply(const struct projection *projection, const struct item *item,
                             struct arena *arena) {
    return path_set_project(&projection->set, item, arena);
}

bool projection_visit(const struct projection *projection, expr_visit *visit, void *context) {
    for (uint32_t i = 0; i < projection->set.count; i++)
        if (!visit(projection->paths[i].steps[0].name, context))
            return false;
    return true;
}

bool projection_nests(const struct projection *projection, struct bytes name) {
    for (uint32_t i = 0; i < projection->set.count; i++)
        if (projection->paths[i].count > 1 && bytes_equal(projection->paths[i].steps[0].name, name))
            return true;
    return false;
}
