/* Looks at the end of the database's list of tables before the database does.
 *
 * A handover has the database take tables that were made for it (table_writer.c). If the sync of
 * the list fails then, the database removes the table, but the record that adds it stands in the
 * list, and the next opening would miss it. Nothing hangs on such a record: until the note behind
 * it says that all tables of the handover are there, the commit log has what is in them.
 */
#ifndef GT_STORE_MANIFEST_CHECK_H
#define GT_STORE_MANIFEST_CHECK_H

#include "base/bytes.h"

/* Cuts off the list's end, from the first record on that adds a table which is not there, if that
 * is younger than the last note. What else is wrong is left for the database to tell. While nobody
 * has the database open. */
void manifest_mend(const char *db_path);

#endif
