/* A table's schema as the JSON that makes such a table. */
#include "api/transfer/export.h"

#include "json/json.h"

static void put_text(struct buf *to, const char *name, struct bytes text) {
    buf_printf(to, "\"%s\":", name);
    json_put_string(to, text);
}

static void put_keys(struct buf *to, const struct key_schema *keys) {
    buf_lit(to, "\"KeySchema\":[");
    for (unsigned i = 0; i < key_schema_count(keys); i++) {
        buf_put(to, i == 0 ? BYTES("{") : BYTES(",{"));
        put_text(to, "AttributeName", keys->parts[i].name);
        buf_printf(to, ",\"KeyType\":\"%s\"}", i < keys->partition_count ? "HASH" : "RANGE");
    }
    buf_lit(to, "]");
}

static void put_projection(struct buf *to, const struct index_schema *index) {
    static const char *const names[] = {
        [PROJECTED_ALL] = "ALL", [PROJECTED_KEYS] = "KEYS_ONLY", [PROJECTED_INCLUDED] = "INCLUDE"};
    buf_printf(to, ",\"Projection\":{\"ProjectionType\":\"%s\"", names[index->projected]);
    for (uint32_t i = 0; i < index->included_count; i++) {
        buf_put(to, i == 0 ? BYTES(",\"NonKeyAttributes\":[") : BYTES(","));
        json_put_string(to, index->included[i]);
    }
    buf_put(to, index->included_count != 0 ? BYTES("]}") : BYTES("}"));
}

static void put_throughput(struct buf *to, const struct throughput *units) {
    buf_printf(to,
               ",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":%lld,"
               "\"WriteCapacityUnits\":%lld}",
               (long long)units->read, (long long)units->write);
}

static void put_indexes(struct buf *to, const struct table_schema *schema, bool local) {
    bool any = false;
    for (uint32_t i = 0; i < schema->index_count; i++) {
        const struct index_schema *index = &schema->indexes[i];
        if (index->local != local)
            continue;
        if (any)
            buf_lit(to, ",\n  ");
        else
            buf_printf(to, ",\n \"%sSecondaryIndexes\":[", local ? "Local" : "Global");
        any = true;
        buf_lit(to, "{");
        put_text(to, "IndexName", index->name);
        buf_lit(to, ",");
        put_keys(to, &index->keys);
        put_projection(to, index);
        if (!local && schema->billing == BILLING_PROVISIONED)
            put_throughput(to, &index->capacity.provisioned);
        buf_lit(to, "}");
    }
    if (any)
        buf_lit(to, "]");
}

void export_put_schema(struct buf *to, const struct table_schema *schema) {
    bool on_demand = schema->billing == BILLING_ON_DEMAND;
    buf_lit(to, "{");
    put_text(to, "TableName", schema->name);
    buf_lit(to, ",\n \"AttributeDefinitions\":[");
    for (uint32_t i = 0; i < schema->attribute_count; i++) {
        buf_put(to, i == 0 ? BYTES("{") : BYTES(",{"));
        put_text(to, "AttributeName", schema->attributes[i].name);
        buf_printf(to, ",\"AttributeType\":\"%s\"}", value_type_name(schema->attributes[i].type));
    }
    buf_lit(to, "],\n ");
    put_keys(to, &schema->keys);
    buf_printf(to, ",\n \"BillingMode\":\"%s\"", on_demand ? "PAY_PER_REQUEST" : "PROVISIONED");
    if (!on_demand)
        put_throughput(to, &schema->capacity.provisioned);
    put_indexes(to, schema, true);
    put_indexes(to, schema, false);
    buf_lit(to, "}\n");
}
