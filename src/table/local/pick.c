#include "table/local/pick.h"

/* The place of a name among those wanted; it is put there if need be. */
static unsigned want(struct picks *picks, struct bytes name) {
    unsigned at = 0;
    while (at < picks->count && !bytes_equal(picks->names[at], name))
        at++;
    if (at == picks->count)
        picks->names[picks->count++] = name;
    return at;
}

static struct bytes part_name(const struct index *index, unsigned part) {
    return index->schema == NULL ? index->expiry : index->shape.parts[part].name;
}

void picks_init(struct picks *picks, const struct build *build) {
    *picks = (struct picks){.build = build};
    for (unsigned i = 0; i < build->index_count; i++) {
        const struct index *index = build->indexes[i];
        picks->parts[i] = index->schema == NULL ? 1 : index->shape.count;
        picks->sizes[i] = index->schema == NULL || index->schema->projected == PROJECTED_KEYS;
        for (unsigned j = 0; j < picks->parts[i]; j++)
            picks->slots[i][j] = want(picks, part_name(index, j));
    }
    item_picks_init(&picks->items, build->local->names, picks->names, picks->count);
}

enum status picks_take(const struct picks *picks, struct picked *item, struct arena *arena) {
    const struct build *build = picks->build;
    item->decoded = false;
    item->span = keys_partition_span(build->schema, item->key);
    return item_pick(item->stored, &picks->items, arena, item->values);
}

bool picks_put(const struct picks *picks, const struct picked *item, unsigned at, struct buf *to) {
    const struct value *values[ENTRY_PARTS_MAX];
    for (unsigned i = 0; i < picks->parts[at]; i++) {
        values[i] = &item->values[picks->slots[at][i]];
        if (values[i]->type == VALUE_NONE) /* as in most items that an index is not about */
            return false;
    }
    return keys_put_picked(to, picks->build->indexes[at], values, item->key, item->span);
}

static enum status decode(const struct picks *picks, struct picked *item, struct arena *arena) {
    if (item->decoded)
        return OK;
    item->decoded = true;
    return item_decode(item->stored, picks->build->local->names, arena, &item->whole);
}

enum status picks_shown(const struct picks *picks, struct picked *item, unsigned at,
                        struct arena *arena, size_t *out) {
    const struct index *index = picks->build->indexes[at];
    *out = 0;
    if (!picks->sizes[at]) {
        enum status status = decode(picks, item, arena);
        if (status == OK)
            *out = rules_shown_size(picks->build->schema, index->schema, &item->whole);
        return status;
    }
    for (unsigned i = 0; index->schema != NULL && i < picks->parts[at]; i++)
        *out += part_name(index, i).size + value_size(&item->values[picks->slots[at][i]]);
    return OK;
}

enum status picks_measure(const struct picks *picks, struct picked *item, struct arena *arena,
                          size_t *out) {
    enum status status = decode(picks, item, arena);
    *out = status == OK ? item_size(&item->whole) : 0;
    return status;
}
