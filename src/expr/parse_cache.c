#include "expr/parse_cache.h"

#include "base/hash.h"
#include "base/limits.h"

/* A node, a step of a path, or an action of an update. A node is followed by its steps if it is a
 * path, else by its children; an action by its path, and by its value if it has one. */
struct part {
    uint16_t start, size;   /* of its text, in the expression's */
    uint8_t type, function; /* of a node; of an action its type */
    bool flag;              /* a node: grouped; a step: is_index; an action: has a value */
    uint32_t number;        /* a node, a path: count; a step: index */
};

struct slot {
    uint64_t hash; /* of the kind and the text; 0: it is empty */
    uint16_t text_size, count;
    uint8_t text[LIMIT_EXPRESSION_CACHE_TEXT];
    struct part parts[LIMIT_EXPRESSION_CACHE_PARTS];
};

/* What is hashed with the text: one text may be read as either. */
enum kind { KIND_CONDITION, KIND_UPDATE };

static _Thread_local struct slot slots[LIMIT_EXPRESSION_CACHE_SLOTS];

static uint64_t hash_of(const struct expr_source *source, enum kind kind) {
    return hash_keyed(source->text, kind) | 1;
}

static struct slot *slot_of(uint64_t hash) {
    return &slots[(hash >> 32) % LIMIT_EXPRESSION_CACHE_SLOTS];
}

/* --- keeping --- */

struct keeper {
    struct bytes text;
    struct slot *slot;
    bool full;
};

static struct part *add_part(struct keeper *keeper, struct bytes text) {
    static _Thread_local struct part spare; /* where what has no room goes */
    keeper->full |= keeper->slot->count == LIMIT_EXPRESSION_CACHE_PARTS;
    struct part *part = keeper->full ? &spare : &keeper->slot->parts[keeper->slot->count++];
    *part = (struct part){.size = (uint16_t)text.size};
    if (text.size != 0)
        part->start = (uint16_t)(text.data - keeper->text.data);
    return part;
}

static void keep_path(struct keeper *keeper, const struct path *path) {
    add_part(keeper, (struct bytes){0})->number = path->count;
    for (uint32_t i = 0; i < path->count; i++) {
        struct part *part = add_part(keeper, path->steps[i].name);
        part->flag = path->steps[i].is_index;
        part->number = path->steps[i].index;
    }
}

static void keep_node(struct keeper *keeper, const struct node *node) {
    struct part *part = add_part(keeper, node->text);
    part->type = (uint8_t)node->type;
    part->function = (uint8_t)node->function;
    part->flag = node->grouped;
    part->number = node->count;
    if (node->type == NODE_PATH)
        keep_path(keeper, &node->path);
    if (node_is_leaf(node))
        return;
    for (const struct node *child = node->first; child != NULL; child = child->next)
        keep_node(keeper, child);
}

/* False if the text is too long. */
static bool keep_begin(struct keeper *keeper, const struct expr_source *source, enum kind kind) {
    if (source->text.size > LIMIT_EXPRESSION_CACHE_TEXT)
        return false;
    uint64_t hash = hash_of(source, kind);
    struct slot *slot = slot_of(hash);
    *keeper = (struct keeper){.text = source->text, .slot = slot};
    slot->hash = hash;
    slot->count = 0;
    slot->text_size = (uint16_t)source->text.size;
    memcpy(slot->text, source->text.data, source->text.size);
    return true;
}

static void keep_end(const struct keeper *keeper) {
    if (keeper->full)
        keeper->slot->hash = 0;
}

void parse_cache_keep_condition(const struct expr_source *source, const struct node *root) {
    struct keeper keeper;
    if (!keep_begin(&keeper, source, KIND_CONDITION))
        return;
    keep_node(&keeper, root);
    keep_end(&keeper);
}

void parse_cache_keep_update(const struct expr_source *source, const struct update *update) {
    struct keeper keeper;
    if (!keep_begin(&keeper, source, KIND_UPDATE))
        return;
    for (uint32_t i = 0; i < update->count; i++) {
        const struct action *action = &update->actions[i];
        struct part *part = add_part(&keeper, (struct bytes){0});
        part->type = (uint8_t)action->type;
        part->flag = action->value != NULL;
        keep_path(&keeper, &action->path);
        if (action->value != NULL)
            keep_node(&keeper, action->value);
    }
    keep_end(&keeper);
}

/* --- making anew --- */

struct maker {
    const struct expr_source *source;
    const struct part *at, *end;
};

static bool make_begin(struct maker *maker, const struct expr_source *source, enum kind kind) {
    if (source->text.size > LIMIT_EXPRESSION_CACHE_TEXT)
        return false;
    uint64_t hash = hash_of(source, kind);
    const struct slot *slot = slot_of(hash);
    *maker = (struct maker){source, slot->parts, slot->parts + slot->count};
    return slot->hash == hash && bytes_equal(bytes_of(slot->text, slot->text_size), source->text);
}

static struct bytes text_of(const struct maker *maker, const struct part *part) {
    return bytes_of(maker->source->text.data + part->start, part->size);
}

static void make_path(struct maker *maker, struct path *out) {
    out->count = maker->at++->number;
    out->steps = arena_alloc(maker->source->arena, sizeof(struct step) * out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        const struct part *part = maker->at++;
        out->steps[i] = (struct step){text_of(maker, part), part->number, part->flag};
    }
}

/* NOT has one child, however often it is said. */
static uint32_t child_count(const struct node *node) {
    return node->type == NODE_NOT ? 1 : node->count;
}

static struct node *make_node(struct maker *maker) {
    const struct part *part = maker->at++;
    struct node *node = arena_alloc(maker->source->arena, sizeof(*node));
    *node = (struct node){.type = part->type,
                          .function = part->function,
                          .count = part->number,
                          .grouped = part->flag,
                          .text = text_of(maker, part)};
    if (node->type == NODE_PATH)
        make_path(maker, &node->path);
    if (node_is_leaf(node))
        return node;
    struct node **tail = &node->first;
    for (uint32_t i = child_count(node); i > 0; i--) {
        *tail = make_node(maker);
        tail = &(*tail)->next;
    }
    return node;
}

struct node *parse_cache_condition(const struct expr_source *source) {
    struct maker maker;
    return make_begin(&maker, source, KIND_CONDITION) ? make_node(&maker) : NULL;
}

bool parse_cache_update(const struct expr_source *source, struct update *out) {
    struct maker maker;
    if (!make_begin(&maker, source, KIND_UPDATE))
        return false;
    while (maker.at < maker.end) {
        const struct part *part = maker.at++;
        struct action *action = update_add(out, source->arena, part->type);
        make_path(&maker, &action->path);
        if (part->flag)
            action->value = make_node(&maker);
    }
    return true;
}
