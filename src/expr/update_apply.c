/* Applying an update: first every right-hand side, on the old item; then one walk that builds the
 * new item along the sorted paths. Only containers on a path are built anew; all else is shared
 * with the old item. */
#include "expr/update.h"

#include "base/limits.h"
#include "value/number.h"

#define BAD_OPERAND "An operand in the update expression has an incorrect data type"
#define BAD_PATH    "The document path provided in the update expression is invalid for update"
#define NO_OPERAND  "The provided expression refers to an attribute that does not exist in the item"

struct applier {
    const struct update *update;
    const struct item *old;
    struct arena *arena;
    struct failure *failure;
    struct value *results; /* of each SET */
    enum status status;
};

static bool fail(struct applier *applier, const char *text) {
    if (applier->status == OK)
        applier->status = failure_set(applier->failure, applier->arena, INVALID, "%s", text);
    return false;
}

static bool number_ok(struct applier *applier, enum number_fault fault) {
    switch (fault) {
    case NUMBER_OK:
        return true;
    case NUMBER_UNDERFLOW:
        return fail(applier, "Number underflow. Attempting to store a number with magnitude "
                             "smaller than supported range");
    default: /* a sum of too many digits is told as an overflow, too */
        return fail(applier, "Number overflow. Attempting to store a number with magnitude larger "
                             "than supported range");
    }
}

/* --- right-hand sides --- */

static bool evaluate(struct applier *applier, const struct node *node, struct value *out);

/* Both operands, each of the type; told in that order. */
static bool evaluate_two(struct applier *applier, const struct node *node, enum value_type type,
                         struct value out[2]) {
    const struct node *operand = node->first;
    for (int i = 0; i < 2; i++, operand = operand->next) {
        if (!evaluate(applier, operand, &out[i]))
            return false;
        if (out[i].type != type)
            return fail(applier, BAD_OPERAND);
    }
    return true;
}

static bool evaluate_sum(struct applier *applier, const struct node *node, struct value *out) {
    struct value two[2] = {{0}};
    if (!evaluate_two(applier, node, VALUE_N, two))
        return false;
    *out = (struct value){.type = VALUE_N};
    return number_ok(
        applier, node->type == NODE_PLUS
                     ? number_add(applier->arena, two[0].bytes, two[1].bytes, &out->bytes)
                     : number_subtract(applier->arena, two[0].bytes, two[1].bytes, &out->bytes));
}

static struct value list_join(struct arena *arena, const struct value *left,
                              const struct value *right) {
    if (right->count == 0)
        return *left;
    struct value *elements =
        arena_alloc(arena, sizeof(struct value) * ((size_t)left->count + right->count));
    if (left->count != 0)
        memcpy(elements, left->elements, sizeof(struct value) * left->count);
    memcpy(elements + left->count, right->elements, sizeof(struct value) * right->count);
    return (struct value){
        .type = VALUE_L, .count = left->count + right->count, .elements = elements};
}

static bool evaluate_function(struct applier *applier, const struct node *node, struct value *out) {
    if (node->function == FUNCTION_IF_NOT_EXISTS) {
        /* The other operand must be there even when it is not needed. */
        const struct value *found = path_find(&node->first->path, applier->old);
        if (!evaluate(applier, node->first->next, out))
            return false;
        if (found != NULL)
            *out = *found;
        return true;
    }
    struct value two[2] = {{0}};
    if (!evaluate_two(applier, node, VALUE_L, two))
        return false;
    *out = list_join(applier->arena, &two[0], &two[1]);
    return true;
}

static bool evaluate(struct applier *applier, const struct node *node, struct value *out) {
    if (node->type == NODE_VALUE) {
        *out = *node->value;
        return true;
    }
    if (node->type == NODE_FUNCTION)
        return evaluate_function(applier, node, out);
    if (node->type != NODE_PATH)
        return evaluate_sum(applier, node, out);
    const struct value *found = path_find(&node->path, applier->old);
    if (found == NULL)
        return fail(applier, NO_OPERAND);
    *out = *found;
    return true;
}

/* --- actions --- */

enum set_merge { SET_UNION, SET_DIFFERENCE };

static struct value merge_sets(struct arena *arena, const struct value *left,
                               const struct value *right, enum set_merge merge) {
    size_t room = left->count + (merge == SET_UNION ? (size_t)right->count : 0);
    struct value *elements = arena_alloc(arena, sizeof(struct value) * room);
    uint32_t i = 0, j = 0, count = 0;
    while (i < left->count || (merge == SET_UNION && j < right->count)) {
        int order = i == left->count    ? 1
                    : j == right->count ? -1
                                        : value_compare(&left->elements[i], &right->elements[j]);
        if (order < 0 || (order == 0 && merge == SET_UNION))
            elements[count++] = left->elements[i];
        else if (order > 0 && merge == SET_UNION)
            elements[count++] = right->elements[j];
        i += order <= 0;
        j += order >= 0;
    }
    return (struct value){.type = left->type, .count = count, .elements = elements};
}

/* Each returns whether there is a value afterwards, in *out; after a fault it does not matter. */

static bool fail_type(struct applier *applier) {
    return fail(applier,
                applier->update->legacy ? "Type mismatch for attribute to update" : BAD_OPERAND);
}

static bool add(struct applier *applier, const struct value *old, const struct value *more,
                struct value *out) {
    if (old == NULL) {
        *out = *more;
        return true;
    }
    if (old->type != more->type)
        return fail_type(applier);
    if (old->type == VALUE_N) {
        *out = (struct value){.type = VALUE_N};
        return number_ok(applier, number_add(applier->arena, old->bytes, more->bytes, &out->bytes));
    }
    if (old->type == VALUE_L)
        *out = list_join(applier->arena, old, more);
    else
        *out = merge_sets(applier->arena, old, more, SET_UNION);
    return true;
}

static bool delete (struct applier *applier, const struct value *old, const struct value *less,
                    struct value *out) {
    if (old == NULL)
        return false;
    if (old->type != less->type)
        return fail_type(applier);
    *out = merge_sets(applier->arena, old, less, SET_DIFFERENCE);
    return out->count > 0;
}

static bool set(struct applier *applier, const struct target *target, struct value *out) {
    *out = applier->results[target->position];
    bool nests = out->type == VALUE_M || out->type == VALUE_L;
    if (nests && target->path->count - 1 + value_depth(out) >= LIMIT_NESTING)
        return fail(applier, "Nesting Levels have exceeded supported limits");
    return true;
}

static bool act(struct applier *applier, const struct target *target, const struct value *old,
                struct value *out) {
    const struct action *action = &applier->update->actions[target->position];
    switch (action->type) {
    case ACTION_SET:
        return set(applier, target, out);
    case ACTION_ADD:
        return add(applier, old, action->value->value, out);
    case ACTION_DELETE:
        return delete (applier, old, action->value->value, out);
    case ACTION_REMOVE:
        break;
    }
    return false;
}

/* --- building --- */

static bool build(struct applier *applier, struct path_range range, const struct value *old,
                  struct value *out);

/* Merges the sorted pairs with the range's paths, which are sorted by the same names. */
static struct item build_pairs(struct applier *applier, struct path_range range,
                               const struct item *old) {
    size_t room = old->count + (size_t)(range.end - range.at);
    struct pair *pairs = arena_alloc(applier->arena, sizeof(struct pair) * room);
    uint32_t at = 0, count = 0;
    while (range.at < range.end) {
        struct bytes name = path_range_step(&range)->name;
        struct path_range group = path_range_take(&range);
        int order = 1;
        while (at < old->count && (order = bytes_compare(old->pairs[at].name, name)) < 0)
            pairs[count++] = old->pairs[at++];
        const struct value *before = NULL;
        if (at < old->count && order == 0)
            before = &old->pairs[at++].value;
        if (build(applier, group, before, &pairs[count].value))
            pairs[count++].name = name;
    }
    if (at < old->count)
        memcpy(&pairs[count], &old->pairs[at], sizeof(struct pair) * (old->count - at));
    return (struct item){pairs, count + (old->count - at)};
}

/* Indexes are those of the old list: what is removed leaves no hole, and what is set past the end
 * is appended in the order of its index. */
static struct value build_elements(struct applier *applier, struct path_range range,
                                   const struct value *old) {
    size_t room = old->count + (size_t)(range.end - range.at);
    struct value *elements = arena_alloc(applier->arena, sizeof(struct value) * room);
    uint32_t at = 0, count = 0;
    while (range.at < range.end) {
        uint32_t index = path_range_step(&range)->index;
        struct path_range group = path_range_take(&range);
        while (at < old->count && at < index)
            elements[count++] = old->elements[at++];
        const struct value *before = at < old->count ? &old->elements[at++] : NULL;
        if (build(applier, group, before, &elements[count]))
            count++;
    }
    while (at < old->count)
        elements[count++] = old->elements[at++];
    return (struct value){.type = VALUE_L, .count = count, .elements = elements};
}

/* What becomes of the value the range's paths lead to. */
static bool build(struct applier *applier, struct path_range range, const struct value *old,
                  struct value *out) {
    if (path_range_ends(&range))
        return act(applier, range.at, old, out);
    bool is_index = path_range_step(&range)->is_index;
    if (old == NULL || old->type != (is_index ? VALUE_L : VALUE_M))
        return fail(applier, BAD_PATH);
    if (is_index) {
        *out = build_elements(applier, range, old);
        return true;
    }
    struct item inner = {old->pairs, old->count};
    inner = build_pairs(applier, range, &inner);
    *out = (struct value){.type = VALUE_M, .count = inner.count, .pairs = inner.pairs};
    return true;
}

enum status update_apply(const struct update *update, const struct item *old, struct scope in,
                         struct item *out) {
    struct applier applier = {update, old, in.arena, in.failure, NULL, OK};
    applier.results = arena_alloc(in.arena, sizeof(struct value) * update->count);
    for (uint32_t i = 0; i < update->count; i++) {
        const struct action *action = &update->actions[i];
        if (action->type == ACTION_SET && !evaluate(&applier, action->value, &applier.results[i]))
            return applier.status;
    }
    struct item built = build_pairs(&applier, path_set_all(&update->set), old);
    if (applier.status == OK)
        *out = built;
    return applier.status;
}

bool update_creates(const struct update *update) {
    for (uint32_t i = 0; i < update->count; i++)
        if (update->actions[i].type == ACTION_SET || update->actions[i].type == ACTION_ADD)
            return true;
    return update->count == 0;
}

bool update_visit(const struct update *update, expr_visit *visit, void *context) {
    for (uint32_t i = 0; i < update->count; i++)
        if (!visit(update->actions[i].path.steps[0].name, context))
            return false;
    return true;
}

struct item update_touched(const struct update *update, const struct item *item,
                           struct arena *arena) {
    return path_set_project(&update->set, item, arena);
}
