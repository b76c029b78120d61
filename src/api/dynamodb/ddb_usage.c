#include "api/dynamodb/ddb_usage.h"

enum usage_detail usage_asked(const struct args *args) {
    struct bytes asked = args_text(args, ARG_RETURN_CONSUMED_CAPACITY);
    if (bytes_equal(asked, BYTES("TOTAL")))
        return USAGE_TOTAL;
    return bytes_equal(asked, BYTES("INDEXES")) ? USAGE_INDEXES : USAGE_NONE;
}

/* "CapacityUnits":... and, if it has a kind, the same under that name. */
static void put_units(struct buf *to, double units, const char *kind) {
    buf_lit(to, "\"CapacityUnits\":");
    json_put_double(to, units);
    if (kind == NULL)
        return;
    buf_printf(to, ",\"%s\":", kind);
    json_put_double(to, units);
}

/* The indexes of one kind, under their heading; nothing if there are none. */
static void put_indexes(struct buf *to, const struct usage *usage, bool local, const char *kind) {
    bool any = false;
    for (uint32_t i = 0; i < usage->index_count; i++) {
        const struct index_usage *index = &usage->indexes[i];
        if (index->local != local)
            continue;
        if (any)
            buf_byte(to, ',');
        else if (local)
            buf_lit(to, ",\"LocalSecondaryIndexes\":{");
        else
            buf_lit(to, ",\"GlobalSecondaryIndexes\":{");
        any = true;
        json_put_string(to, index->name);
        buf_lit(to, ":{");
        put_units(to, index->units, kind);
        buf_byte(to, '}');
    }
    if (any)
        buf_byte(to, '}');
}

double usage_total(const struct usage *usage) {
    double total = usage->table;
    for (uint32_t i = 0; i < usage->index_count; i++)
        total += usage->indexes[i].units;
    return total;
}

void usage_write_as(struct buf *to, struct bytes table, const struct usage *usage,
                    struct usage_form form) {
    double total = usage_total(usage);
    buf_lit(to, "{\"TableName\":");
    json_put_string(to, table);
    buf_byte(to, ',');
    put_units(to, total, form.kind);
    if (form.detail == USAGE_INDEXES) {
        buf_lit(to, ",\"Table\":{");
        put_units(to, usage->table, form.kind);
        buf_byte(to, '}');
        put_indexes(to, usage, true, form.kind);
        put_indexes(to, usage, false, form.kind);
    }
    buf_byte(to, '}');
}

void usage_write(struct buf *to, struct bytes table, const struct usage *usage,
                 enum usage_detail detail) {
    usage_write_as(to, table, usage, (struct usage_form){.detail = detail});
}

static struct index_usage *find_index(struct usage *usage, struct bytes name) {
    for (uint32_t i = 0; i < usage->index_count; i++)
        if (bytes_equal(usage->indexes[i].name, name))
            return &usage->indexes[i];
    return NULL;
}

void usage_add(struct arena *arena, struct usage *total, const struct usage *more) {
    total->table += more->table;
    for (uint32_t i = 0; i < more->index_count; i++) {
        struct index_usage *index = find_index(total, more->indexes[i].name);
        if (index != NULL) {
            index->units += more->indexes[i].units;
            continue;
        }
        size_t size = sizeof *index * total->index_count;
        total->indexes = arena_grow(arena, total->indexes, size, size + sizeof *index);
        total->indexes[total->index_count++] = more->indexes[i];
    }
}

bool collection_asked(const struct args *args) {
    return bytes_equal(args_text(args, ARG_RETURN_ITEM_COLLECTION_METRICS), BYTES("SIZE"));
}

void collection_write(struct buf *to, struct bytes name, const struct value *partition,
                      uint64_t size) {
    buf_lit(to, "{\"ItemCollectionKey\":{");
    json_put_string(to, name);
    buf_byte(to, ':');
    attribute_write(to, partition);
    buf_lit(to, "},\"SizeEstimateRangeGB\":[");
    int64_t whole = (int64_t)(size >> 30);
    json_put_int(to, whole);
    buf_byte(to, ',');
    json_put_int(to, whole + 1);
    buf_lit(to, "]}");
}
