/* The shapes of the operations on backups, exports and imports, and of features not in use. */
#include "api/dynamodb/shapes.h"

#define STRING   .spec = &shape_string
#define NAMED    .named = true, .length_min = 3, .length_max = 255, STRING
#define ARN      .length_min = 37, .length_max = 1024, STRING
#define TIME     .spec = &shape_long
#define REQUIRED .required = true
#define TABLE    SHAPE_FIELD(TABLE_NAME, .early = true, .table = true, .named = true, STRING)
/* For lists: one that is not the table to be touched but a filter. */
#define TABLE_FILTER SHAPE_FIELD(TABLE_NAME, .length_min = 1, .length_max = 1024, STRING)

/* --- backups --- */

static const struct spec_field create_backup_fields[] = {
    TABLE,
    SHAPE_FIELD(BACKUP_NAME, REQUIRED, NAMED),
};
SHAPE_STRUCT(shape_create_backup, "CreateBackupInput", create_backup_fields);

static const struct spec_field backup_only_fields[] = {SHAPE_FIELD(BACKUP_ARN, REQUIRED, ARN)};
SHAPE_STRUCT(shape_backup_only, "DescribeBackupInput", backup_only_fields);

static const struct spec_field list_backups_fields[] = {
    TABLE_FILTER,
    SHAPE_FIELD(LIMIT, .ranged = true, .min = 1, .max = 100, .spec = &shape_integer),
    SHAPE_FIELD(TIME_RANGE_LOWER_BOUND, TIME),
    SHAPE_FIELD(TIME_RANGE_UPPER_BOUND, TIME),
    SHAPE_FIELD(EXCLUSIVE_START_BACKUP_ARN, ARN),
    SHAPE_FIELD(BACKUP_TYPE, .choices = "USER, SYSTEM, AWS_BACKUP, ALL", STRING),
};
SHAPE_STRUCT(shape_list_backups, "ListBackupsInput", list_backups_fields);

static SHAPE_LIST(global_indexes, shape_global_index);
static SHAPE_LIST(local_indexes, shape_local_index);

#define OVERRIDES                                                                          \
    SHAPE_FIELD(BILLING_MODE_OVERRIDE, .choices = "PROVISIONED, PAY_PER_REQUEST", STRING), \
        SHAPE_FIELD(GLOBAL_SECONDARY_INDEX_OVERRIDE, .spec = &global_indexes),             \
        SHAPE_FIELD(LOCAL_SECONDARY_INDEX_OVERRIDE, .spec = &local_indexes),               \
        SHAPE_FIELD(PROVISIONED_THROUGHPUT_OVERRIDE, .spec = &shape_throughput),           \
        SHAPE_FIELD(ON_DEMAND_THROUGHPUT_OVERRIDE, .spec = &shape_on_demand),              \
        SHAPE_FIELD(SSE_SPECIFICATION_OVERRIDE, .spec = &shape_sse)

static const struct spec_field restore_fields[] = {
    SHAPE_FIELD(TARGET_TABLE_NAME, REQUIRED, NAMED),
    SHAPE_FIELD(BACKUP_ARN, REQUIRED, ARN),
    OVERRIDES,
};
SHAPE_STRUCT(shape_restore, "RestoreTableFromBackupInput", restore_fields);

static const struct spec_field restore_to_time_fields[] = {
    SHAPE_FIELD(SOURCE_TABLE_ARN, STRING),
    SHAPE_FIELD(SOURCE_TABLE_NAME, NAMED),
    SHAPE_FIELD(TARGET_TABLE_NAME, REQUIRED, NAMED),
    SHAPE_FIELD(USE_LATEST_RESTORABLE_TIME, .spec = &shape_boolean),
    SHAPE_FIELD(RESTORE_DATE_TIME, TIME),
    OVERRIDES,
};
SHAPE_STRUCT(shape_restore_to_time, "RestoreTableToPointInTimeInput", restore_to_time_fields);

static const struct spec_field recovery_fields[] = {
    SHAPE_FIELD(POINT_IN_TIME_RECOVERY_ENABLED, REQUIRED, .spec = &shape_boolean),
    SHAPE_FIELD(RECOVERY_PERIOD_IN_DAYS, .ranged = true, .min = 1, .max = 35,
                .spec = &shape_integer),
};
SHAPE_STRUCT(shape_recovery, "PointInTimeRecoverySpecification", recovery_fields);
static const struct spec_field update_continuous_fields[] = {
    TABLE,
    SHAPE_FIELD(POINT_IN_TIME_RECOVERY_SPECIFICATION, REQUIRED, .spec = &shape_recovery),
};
SHAPE_STRUCT(shape_update_continuous_backups, "UpdateContinuousBackupsInput",
             update_continuous_fields);

/* --- exports --- */

#define BUCKET       SHAPE_FIELD(S3_BUCKET, REQUIRED, .length_max = 255, STRING)
#define BUCKET_OWNER SHAPE_FIELD(S3_BUCKET_OWNER, STRING)
#define CLIENT_TOKEN SHAPE_FIELD(CLIENT_TOKEN, .length_max = 256, STRING)

static const struct spec any_struct = {.type = SPEC_STRUCT, .class = "Specification"};

static const struct spec_field export_fields[] = {
    SHAPE_FIELD(TABLE_ARN, REQUIRED, .length_min = 1, .length_max = 1024, STRING),
    SHAPE_FIELD(EXPORT_TIME, TIME),
    CLIENT_TOKEN,
    BUCKET,
    BUCKET_OWNER,
    SHAPE_FIELD(S3_PREFIX, .length_max = 1024, STRING),
    SHAPE_FIELD(S3_SSE_ALGORITHM, .choices = "AES256, KMS", STRING),
    SHAPE_FIELD(S3_SSE_KMS_KEY_ID, .length_min = 1, .length_max = 2048, STRING),
    SHAPE_FIELD(EXPORT_FORMAT, .choices = "DYNAMODB_JSON, ION, CSV", STRING),
    SHAPE_FIELD(EXPORT_TYPE, .choices = "FULL_EXPORT, INCREMENTAL_EXPORT", STRING),
    SHAPE_FIELD(INCREMENTAL_EXPORT_SPECIFICATION, .spec = &any_struct),
};
SHAPE_STRUCT(shape_export, "ExportTableToPointInTimeInput", export_fields);

static const struct spec_field export_only_fields[] = {SHAPE_FIELD(EXPORT_ARN, REQUIRED, ARN)};
SHAPE_STRUCT(shape_export_only, "DescribeExportInput", export_only_fields);

static const struct spec_field list_exports_fields[] = {
    SHAPE_FIELD(TABLE_ARN, .length_min = 1, .length_max = 1024, STRING),
    SHAPE_FIELD(MAX_RESULTS, .ranged = true, .min = 1, .max = 25, .spec = &shape_integer),
    SHAPE_FIELD(NEXT_TOKEN, STRING),
};
SHAPE_STRUCT(shape_list_exports, "ListExportsInput", list_exports_fields);

/* --- imports --- */

static const struct spec_field bucket_source_fields[] = {
    BUCKET_OWNER,
    BUCKET,
    SHAPE_FIELD(S3_KEY_PREFIX, .length_max = 1024, STRING),
};
SHAPE_STRUCT(shape_bucket_source, "S3BucketSource", bucket_source_fields);

static const struct spec_field csv_fields[] = {
    SHAPE_FIELD(DELIMITER, .length_min = 1, .length_max = 1, STRING),
    SHAPE_FIELD(HEADER_LIST, .length_min = 1, .length_max = 255, .spec = &shape_strings),
};
SHAPE_STRUCT(shape_csv_options, "CsvOptions", csv_fields);
static const struct spec_field format_options_fields[] = {
    SHAPE_FIELD(CSV, .spec = &shape_csv_options)};
SHAPE_STRUCT(shape_format_options, "InputFormatOptions", format_options_fields);

static const struct spec_field import_fields[] = {
    CLIENT_TOKEN,
    SHAPE_FIELD(S3_BUCKET_SOURCE, REQUIRED, .spec = &shape_bucket_source),
    SHAPE_FIELD(INPUT_FORMAT, REQUIRED, .choices = "DYNAMODB_JSON, ION, CSV", STRING),
    SHAPE_FIELD(INPUT_FORMAT_OPTIONS, .spec = &shape_format_options),
    SHAPE_FIELD(INPUT_COMPRESSION_TYPE, .choices = "GZIP, ZSTD, NONE", STRING),
    SHAPE_FIELD(TABLE_CREATION_PARAMETERS, REQUIRED, .spec = &shape_table_parameters),
};
SHAPE_STRUCT(shape_import, "ImportTableInput", import_fields);

static const struct spec_field import_only_fields[] = {SHAPE_FIELD(IMPORT_ARN, REQUIRED, ARN)};
SHAPE_STRUCT(shape_import_only, "DescribeImportInput", import_only_fields);

static const struct spec_field list_imports_fields[] = {
    SHAPE_FIELD(TABLE_ARN, .length_min = 1, .length_max = 1024, STRING),
    SHAPE_FIELD(PAGE_SIZE, .ranged = true, .min = 1, .max = 25, .spec = &shape_integer),
    SHAPE_FIELD(NEXT_TOKEN, STRING),
};
SHAPE_STRUCT(shape_list_imports, "ListImportsInput", list_imports_fields);

/* --- contributor insights --- */

static const struct spec_field insights_fields[] = {TABLE, SHAPE_FIELD(INDEX_NAME, NAMED)};
SHAPE_STRUCT(shape_insights, "DescribeContributorInsightsInput", insights_fields);
static const struct spec_field list_insights_fields[] = {
    TABLE_FILTER,
    SHAPE_FIELD(NEXT_TOKEN, STRING),
    SHAPE_FIELD(MAX_RESULTS, .ranged = true, .min = 0, .max = 100, .spec = &shape_integer),
};
SHAPE_STRUCT(shape_list_insights, "ListContributorInsightsInput", list_insights_fields);
static const struct spec_field update_insights_fields[] = {
    TABLE,
    SHAPE_FIELD(INDEX_NAME, NAMED),
    SHAPE_FIELD(CONTRIBUTOR_INSIGHTS_ACTION, REQUIRED, .choices = "ENABLE, DISABLE", STRING),
    SHAPE_FIELD(CONTRIBUTOR_INSIGHTS_MODE, .choices = "ACCESSED_AND_THROTTLED_KEYS, THROTTLED_KEYS",
                STRING),
};
SHAPE_STRUCT(shape_update_insights, "UpdateContributorInsightsInput", update_insights_fields);

/* --- features not in use --- */

static const struct spec_field global_table_fields[] = {
    SHAPE_FIELD(GLOBAL_TABLE_NAME, REQUIRED, NAMED)};
SHAPE_STRUCT(shape_global_table, "DescribeGlobalTableInput", global_table_fields);
static const struct spec_field list_global_fields[] = {
    SHAPE_FIELD(LIMIT, .ranged = true, .min = 1, .spec = &shape_integer)};
SHAPE_STRUCT(shape_list_global_tables, "ListGlobalTablesInput", list_global_fields);
#define RESOURCE SHAPE_FIELD(RESOURCE_ARN, REQUIRED, .length_min = 1, .length_max = 1283, STRING)
#define REVISION SHAPE_FIELD(EXPECTED_REVISION_ID, .length_min = 1, .length_max = 255, STRING)
static const struct spec_field policy_fields[] = {RESOURCE};
SHAPE_STRUCT(shape_policy, "GetResourcePolicyInput", policy_fields);
static const struct spec_field delete_policy_fields[] = {RESOURCE, REVISION};
SHAPE_STRUCT(shape_delete_policy, "DeleteResourcePolicyInput", delete_policy_fields);
static const struct spec_field put_policy_fields[] = {RESOURCE, REVISION,
                                                      SHAPE_FIELD(POLICY, REQUIRED, STRING)};
SHAPE_STRUCT(shape_put_policy, "PutResourcePolicyInput", put_policy_fields);
