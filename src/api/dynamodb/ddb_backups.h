/* What the operations on backups, exports and imports share. */
#ifndef GT_API_DYNAMODB_DDB_BACKUPS_H
#define GT_API_DYNAMODB_DDB_BACKUPS_H

#include "api/dynamodb/ddb_call.h"

/* The id in BackupArn. INVALID if it is no such ARN. */
enum status backup_id(struct call *call, struct bytes *id);
/* A status in the exceptions of these operations: BackupNotFoundException, BackupInUseException. */
enum status backup_fault(struct call *call, enum status status, struct bytes arn);
/* TableNotFoundException, TableInUseException. */
enum status backup_table_fault(struct call *call, enum status status, struct bytes table);

#endif
