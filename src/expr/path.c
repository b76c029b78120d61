#include "expr/path.h"

#include "expr/parse.h"

#include <stdlib.h>

static const struct value *find_step(const struct step *step, const struct value *in) {
    if (step->is_index)
        return in->type == VALUE_L && step->index < in->count ? &in->elements[step->index] : NULL;
    return in->type == VALUE_M ? value_get(in, step->name) : NULL;
}

const struct value *path_find(const struct path *path, const struct item *item) {
    const struct value *at = item_get(item, path->steps[0].name);
    for (uint32_t i = 1; i < path->count && at != NULL; i++)
        at = find_step(&path->steps[i], at);
    return at;
}

/* Indexes come before names. */
static int step_compare(const struct step *a, const struct step *b) {
    if (a->is_index != b->is_index)
        return a->is_index ? -1 : 1;
    if (a->is_index)
        return (a->index > b->index) - (a->index < b->index);
    return bytes_compare(a->name, b->name);
}

bool path_equal(const struct path *a, const struct path *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (step_compare(&a->steps[i], &b->steps[i]) != 0)
            return false;
    return true;
}

struct bytes path_text(const struct path *path, struct arena *arena) {
    size_t size = 2;
    for (uint32_t i = 0; i < path->count; i++)
        size += path->steps[i].name.size + 4;
    char *text = arena_alloc(arena, size), *to = text;
    *to++ = '[';
    for (uint32_t i = 0; i < path->count; i++) {
        const struct step *step = &path->steps[i];
        if (i > 0)
            to = mempcpy(to, ", ", 2);
        if (step->is_index)
            *to++ = '[';
        to = mempcpy(to, step->name.data, step->name.size);
        if (step->is_index)
            *to++ = ']';
    }
    *to++ = ']';
    return bytes_of(text, (size_t)(to - text));
}

/* --- sets --- */

static int target_compare(const void *left, const void *right) {
    const struct path *a = ((const struct target *)left)->path;
    const struct path *b = ((const struct target *)right)->path;
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        int order = step_compare(&a->steps[i], &b->steps[i]);
        if (order != 0)
            return order;
    }
    return (a->count > b->count) - (a->count < b->count);
}

enum relation { PATHS_APART, PATHS_OVERLAP, PATHS_CONFLICT };

/* Conflict: one wants a list where the other wants a map. */
static enum relation path_relation(const struct path *a, const struct path *b) {
    for (uint32_t i = 0; i < a->count && i < b->count; i++) {
        if (a->steps[i].is_index != b->steps[i].is_index)
            return PATHS_CONFLICT;
        if (step_compare(&a->steps[i], &b->steps[i]) != 0)
            return PATHS_APART;
    }
    return PATHS_OVERLAP;
}

/* In sorted order a path stands right before those it begins, and the last path with an index
 * right before the first with a name: looking at neighbours is enough. */
bool path_set_sort(struct path_set *set) {
    if (set->count < 2)
        return true;
    qsort(set->targets, set->count, sizeof(struct target), target_compare);
    for (uint32_t i = 1; i < set->count; i++)
        if (path_relation(set->targets[i - 1].path, set->targets[i].path) != PATHS_APART)
            return false;
    return true;
}

static int position_compare(const void *left, const void *right) {
    uint32_t a = ((const struct target *)left)->position;
    uint32_t b = ((const struct target *)right)->position;
    return (a > b) - (a < b);
}

/* The service takes paths from the last to the first, and tells of the first clash it meets. */
enum status path_set_fault(const struct expr_source *source, const struct path_set *set) {
    qsort(set->targets, set->count, sizeof(struct target), position_compare);
    for (uint32_t i = set->count; i-- > 0;) {
        for (uint32_t j = i + 1; j < set->count; j++) {
            const struct path *one = set->targets[i].path, *two = set->targets[j].path;
            enum relation relation = path_relation(one, two);
            if (relation == PATHS_APART)
                continue;
            return expr_fault(source,
                              "Two document paths %s with each other; must remove or rewrite one "
                              "of these paths; path one: %.*s, path two: %.*s",
                              relation == PATHS_OVERLAP ? "overlap" : "conflict",
                              BYTES_ARG(path_text(one, source->arena)),
                              BYTES_ARG(path_text(two, source->arena)));
        }
    }
    return OK;
}

struct path_range path_range_take(struct path_range *range) {
    struct path_range group = {range->at, range->at + 1, range->depth + 1};
    const struct step *step = path_range_step(range);
    while (group.end < range->end && step_compare(step, &group.end->path->steps[range->depth]) == 0)
        group.end++;
    range->at = group.end;
    return group;
}

/* --- projecting --- */

static bool project(struct path_range range, const struct value *from, struct arena *arena,
                    struct value *out);

static struct item project_pairs(struct path_range range, const struct item *from,
                                 struct arena *arena) {
    struct pair *pairs = arena_alloc(arena, sizeof(struct pair) * (size_t)(range.end - range.at));
    uint32_t count = 0;
    while (range.at < range.end) {
        struct bytes name = path_range_step(&range)->name;
        struct path_range group = path_range_take(&range);
        const struct value *found = item_get(from, name);
        if (found != NULL && project(group, found, arena, &pairs[count].value))
            pairs[count++].name = name;
    }
    return (struct item){pairs, count};
}

static struct value project_elements(struct path_range range, const struct value *from,
                                     struct arena *arena) {
    struct value *elements =
        arena_alloc(arena, sizeof(struct value) * (size_t)(range.end - range.at));
    uint32_t count = 0;
    while (range.at < range.end) {
        uint32_t index = path_range_step(&range)->index;
        struct path_range group = path_range_take(&range);
        if (index < from->count && project(group, &from->elements[index], arena, &elements[count]))
            count++;
    }
    return (struct value){.type = VALUE_L, .count = count, .elements = elements};
}

/* What the range's paths pick from a value; false when that is nothing. */
static bool project(struct path_range range, const struct value *from, struct arena *arena,
                    struct value *out) {
    if (path_range_ends(&range)) {
        *out = *from;
        return true;
    }
    if (path_range_step(&range)->is_index) {
        if (from->type != VALUE_L)
            return false;
        *out = project_elements(range, from, arena);
    } else {
        if (from->type != VALUE_M)
            return false;
        struct item inner = {from->pairs, from->count};
        inner = project_pairs(range, &inner, arena);
        *out = (struct value){.type = VALUE_M, .count = inner.count, .pairs = inner.pairs};
    }
    return out->count > 0;
}

struct item path_set_project(const struct path_set *set, const struct item *item,
                             struct arena *arena) {
    if (item == NULL || set->count == 0)
        return (struct item){NULL, 0};
    return project_pairs(path_set_all(set), item, arena);
}
