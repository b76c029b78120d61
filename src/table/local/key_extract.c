#include "table/local/key_extract.h"

/* The place of a name among those wanted; it is put there if need be. */
static unsigned add_name(struct key_extractor *extractor, struct bytes name) {
    unsigned at = 0;
    while (at < extractor->count && !bytes_equal(extractor->names[at], name))
        at++;
    if (at == extractor->count)
        extractor->names[extractor->count++] = name;
    return at;
}

static struct bytes part_name(const struct index *index, unsigned part) {
    return index->schema == NULL ? index->expiry : index->shape.parts[part].name;
}

void key_extractor_init(struct key_extractor *extractor, const struct index_build *build) {
    *extractor = (struct key_extractor){.build = build};
    for (unsigned i = 0; i < build->index_count; i++) {
        const struct index *index = build->indexes[i];
        extractor->parts[i] = index->schema == NULL ? 1 : index->shape.count;
        extractor->sizes[i] = index->schema == NULL || index->schema->projected == PROJECTED_KEYS;
        for (unsigned j = 0; j < extractor->parts[i]; j++)
            extractor->slots[i][j] = add_name(extractor, part_name(index, j));
    }
    item_extractor_init(&extractor->items, extractor->names, extractor->count);
}

enum status key_extractor_read(struct key_extractor *extractor, struct extracted_item *item,
                               struct arena *arena) {
    const struct index_build *build = extractor->build;
    item->arena = arena;
    item->decoded = false;
    item->span = keys_partition_span(build->schema, item->key);
    return item_extract(&(struct item_encoded){item->stored, build->local->names},
                        &extractor->items, arena, item->values);
}

bool key_extractor_put_entry(const struct key_extractor *extractor,
                             const struct extracted_item *item, unsigned at, struct buf *to) {
    const struct value *values[ENTRY_PARTS_MAX];
    for (unsigned i = 0; i < extractor->parts[at]; i++) {
        values[i] = &item->values[extractor->slots[at][i]];
        if (values[i]->type == VALUE_NONE) /* as in most items that an index is not about */
            return false;
    }
    struct key_source from = {item->key, item->span, values};
    return keys_put_extracted(to, extractor->build->indexes[at], &from);
}

bool key_extractor_covers(const struct key_extractor *extractor, const struct extracted_item *item,
                          unsigned at) {
    const struct index *index = extractor->build->indexes[at];
    return index->has_entry_hash && item_encoded_count(item->stored) == index->shape.count;
}

static enum status decode_whole(const struct key_extractor *extractor,
                                struct extracted_item *item) {
    if (item->decoded)
        return OK;
    item->decoded = true;
    return item_decode(item->stored, extractor->build->local->names, item->arena, &item->whole);
}

enum status key_extractor_shown_size(const struct key_extractor *extractor,
                                     struct extracted_item *item, unsigned at, size_t *out) {
    const struct index *index = extractor->build->indexes[at];
    *out = 0;
    if (!extractor->sizes[at]) {
        enum status status = decode_whole(extractor, item);
        if (status == OK)
            *out = rules_shown_size(extractor->build->schema, index->schema, &item->whole);
        return status;
    }
    for (unsigned i = 0; index->schema != NULL && i < extractor->parts[at]; i++)
        *out += part_name(index, i).size + value_size(&item->values[extractor->slots[at][i]]);
    return OK;
}

enum status key_extractor_item_size(const struct key_extractor *extractor,
                                    struct extracted_item *item, size_t *out) {
    enum status status = decode_whole(extractor, item);
    *out = status == OK ? item_size(&item->whole) : 0;
    return status;
}
