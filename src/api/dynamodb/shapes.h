/* The request shapes of all operations. */
#ifndef GT_API_DYNAMODB_SHAPES_H
#define GT_API_DYNAMODB_SHAPES_H

#include "api/dynamodb/spec.h"

/* Those that many share. `shape_item` is a map of attribute values. */
extern const struct spec shape_string, shape_boolean, shape_integer, shape_long;
extern const struct spec shape_strings, shape_attribute, shape_attributes, shape_item;

extern const struct spec shape_create_table, shape_update_table, shape_list_tables;
extern const struct spec shape_table_only; /* DeleteTable, DescribeTable, DescribeTimeToLive, ... */
extern const struct spec shape_update_time_to_live;
extern const struct spec shape_tag_resource, shape_untag_resource, shape_list_tags;
extern const struct spec shape_nothing; /* DescribeLimits, DescribeEndpoints */

extern const struct spec shape_put_item, shape_get_item, shape_update_item, shape_delete_item;
extern const struct spec shape_query, shape_scan;
extern const struct spec shape_batch_get_item, shape_batch_write_item;
extern const struct spec shape_transact_get_items, shape_transact_write_items;

extern const struct spec shape_execute_statement, shape_batch_execute_statement,
    shape_execute_transaction;
extern const struct spec shape_list_streams, shape_describe_stream;
extern const struct spec shape_get_shard_iterator, shape_get_records;

/* shape_backups.c */
extern const struct spec shape_create_backup, shape_backup_only, shape_list_backups, shape_restore,
    shape_restore_to_time, shape_recovery, shape_update_continuous_backups;
extern const struct spec shape_export, shape_export_only, shape_list_exports;
extern const struct spec shape_table_parameters, shape_import, shape_import_only,
    shape_list_imports, shape_bucket_source, shape_csv_options, shape_format_options;
extern const struct spec shape_insights, shape_list_insights, shape_update_insights,
    shape_global_table, shape_list_global_tables, shape_policy, shape_put_policy,
    shape_delete_policy;

/* Structures inside them, for spec_bind(). */
extern const struct spec shape_attribute_definition, shape_key_element, shape_projection;
extern const struct spec shape_throughput, shape_on_demand, shape_warm, shape_stream, shape_sse;
extern const struct spec shape_expiry;
extern const struct spec shape_local_index, shape_global_index, shape_tag;
extern const struct spec shape_index_update, shape_index_create, shape_index_change,
    shape_index_delete;
extern const struct spec shape_condition, shape_expected, shape_attribute_update;
extern const struct spec shape_keys_and_attributes, shape_write_request, shape_put_request,
    shape_delete_request;
extern const struct spec shape_transact_get, shape_transact_get_one, shape_transact_write;
extern const struct spec shape_transact_check, shape_transact_delete, shape_transact_put,
    shape_transact_update;
extern const struct spec shape_batch_statement, shape_transact_statement;

/* For writing them down. */
#define SHAPE_FIELD(name, ...) \
    { .arg = ARG_##name, __VA_ARGS__ }
#define SHAPE_STRUCT(name, given_class, given_fields)   \
    const struct spec name = {.type = SPEC_STRUCT,      \
                              .class = (given_class),   \
                              .fields = (given_fields), \
                              .field_count = sizeof(given_fields) / sizeof((given_fields)[0])}
#define SHAPE_QUIET(name, given_class, given_fields)                                           \
    const struct spec name = {.type = SPEC_STRUCT,                                             \
                              .class = (given_class),                                          \
                              .fields = (given_fields),                                        \
                              .field_count = sizeof(given_fields) / sizeof((given_fields)[0]), \
                              .quiet = true}
#define SHAPE_LIST(name, of) const struct spec name = {.type = SPEC_LIST, .element = &(of)}
#define SHAPE_MAP(name, of)  const struct spec name = {.type = SPEC_MAP, .element = &(of)}

#endif
