#include "expr/build.h"

#include "expr/check.h"
#include "expr/parse.h"
#include "expr/update.h"

#include <assert.h>

/* --- paths --- */

static struct path path_of(struct arena *arena, const struct expr_path *from) {
    struct step *steps = ARENA_ARRAY(arena, struct step, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        const struct expr_step *step = &from->steps[i];
        steps[i] = (struct step){step->name, step->index, step->is_index};
        if (step->is_index)
            steps[i].name = arena_printf(arena, "%u", step->index);
    }
    return (struct path){steps, from->count};
}

const struct value *expr_path_find(const struct expr_path *path, const struct item *item) {
    const struct value *at = item_get(item, path->steps[0].name);
    for (uint32_t i = 1; i < path->count && at != NULL; i++) {
        const struct expr_step *step = &path->steps[i];
        if (step->is_index)
            at = at->type == VALUE_L && step->index < at->count ? &at->elements[step->index] : NULL;
        else
            at = at->type == VALUE_M ? value_get(at, step->name) : NULL;
    }
    return at;
}

enum status expr_paths_check(const struct expr_path *paths, uint32_t count, struct scope in) {
    struct expr_source source = {.arena = in.arena, .failure = in.failure};
    struct binder binder = {.source = &source};
    struct path_set set = {ARENA_ARRAY(in.arena, struct target, count), count};
    for (uint32_t i = 0; i < count; i++) {
        struct path *path = ARENA_NEW(in.arena, struct path);
        *path = path_of(in.arena, &paths[i]);
        set.targets[i] = (struct target){path, i};
    }
    return bind_paths(&binder, &set);
}

/* --- nodes --- */

struct node *build_path(struct arena *arena, const struct expr_path *path) {
    struct node *node = node_new(arena, NODE_PATH);
    node->path = path_of(arena, path);
    return node;
}

struct node *build_value(struct arena *arena, const struct value *value) {
    struct node *node = node_new(arena, NODE_VALUE);
    node->value = value;
    return node;
}

static struct node *add_operands(struct node *node, struct node *const *operands, uint32_t count) {
    struct node_list list = node_list_of(node);
    for (uint32_t i = 0; i < count; i++)
        node_list_add(&list, operands[i]);
    return node;
}

struct node *build_operator(struct arena *arena, enum build_op op, struct node *const *operands,
                            uint32_t count) {
    static const enum node_type types[] = {
        [BUILD_PLUS] = NODE_PLUS, [BUILD_MINUS] = NODE_MINUS, [BUILD_EQ] = NODE_EQ,
        [BUILD_NE] = NODE_NE,     [BUILD_LT] = NODE_LT,       [BUILD_LE] = NODE_LE,
        [BUILD_GT] = NODE_GT,     [BUILD_GE] = NODE_GE,       [BUILD_BETWEEN] = NODE_BETWEEN,
        [BUILD_IN] = NODE_IN,     [BUILD_NOT] = NODE_NOT,     [BUILD_AND] = NODE_AND,
        [BUILD_OR] = NODE_OR,
    };
    return add_operands(node_new(arena, types[op]), operands, count);
}

struct node *build_call(struct arena *arena, struct bytes name, struct node *const *operands,
                        uint32_t count) {
    enum function function = function_named(name);
    if (function == FUNCTION_UNKNOWN)
        return NULL;
    struct node *node = node_new(arena, NODE_FUNCTION);
    node->function = function;
    node->text = name;
    return add_operands(node, operands, count);
}

/* --- wholes --- */

enum status build_condition(struct node *root, struct scope in, struct condition **out) {
    assert(node_is_condition(root));
    struct expr_source source = {.arena = in.arena, .failure = in.failure};
    struct binder binder = {.source = &source};
    enum status status = bind_node(&binder, root);
    if (status == OK)
        status = bind_end(&binder);
    if (status != OK)
        return status;
    *out = ARENA_NEW(in.arena, struct condition);
    (*out)->root = root;
    return OK;
}

enum status build_update(const struct build_change *changes, uint32_t count, struct scope in,
                         struct update **out) {
    static const enum action_type types[] = {
        [BUILD_SET] = ACTION_SET,
        [BUILD_REMOVE] = ACTION_REMOVE,
        [BUILD_ADD] = ACTION_ADD,
        [BUILD_DELETE] = ACTION_DELETE,
    };
    struct expr_source source = {.arena = in.arena, .failure = in.failure};
    struct update *update = ARENA_NEW(in.arena, struct update);
    for (uint32_t i = 0; i < count; i++) {
        struct action *action = update_add(update, in.arena, types[changes[i].verb]);
        action->path = path_of(in.arena, &changes[i].path);
        action->value = changes[i].value;
    }
    enum status status = update_bind(&source, update);
    if (status == OK)
        *out = update;
    return status;
}
