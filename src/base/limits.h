/* Every bound in one place. Sizes in bytes, counts in pieces, times in milliseconds. */
#ifndef GT_BASE_LIMITS_H
#define GT_BASE_LIMITS_H

enum {
    /* values and items */
    LIMIT_ITEM_SIZE = 400 * 1024,
    LIMIT_NESTING = 32,
    LIMIT_PARTITION_KEY_SIZE = 2048,
    LIMIT_SORT_KEY_SIZE = 1024,
    LIMIT_KEY_NAME_SIZE = 255,
    LIMIT_ATTRIBUTE_NAME_SIZE = 65535,
    LIMIT_DIGITS = 38,

    /* expressions */
    LIMIT_EXPRESSION_SIZE = 4096,
    LIMIT_EXPRESSION_OPERATORS = 300,
    LIMIT_EXPRESSION_NESTING = 32,
    LIMIT_EXPRESSION_TOKEN_SIZE = 255,
    LIMIT_IN_OPERANDS = 100,

    /* tables */
    LIMIT_TABLE_NAME_MIN = 3,
    LIMIT_TABLE_NAME_MAX = 255,
    LIMIT_TABLES = 2500,
    LIMIT_GLOBAL_INDEXES = 20,
    LIMIT_LOCAL_INDEXES = 5,
    LIMIT_INDEX_PARTITION_PARTS = 4,
    LIMIT_INDEX_SORT_PARTS = 4,
    LIMIT_INCLUDED_ATTRIBUTES = 100,
    LIMIT_TAGS = 50,

    /* requests */
    LIMIT_PAGE_SIZE = 1024 * 1024,
    LIMIT_BATCH_WRITES = 25,
    LIMIT_BATCH_GETS = 100,
    LIMIT_BATCH_SIZE = 16 * 1024 * 1024,
    LIMIT_TRANSACT_ITEMS = 100,
    LIMIT_TRANSACT_SIZE = 4 * 1024 * 1024,
    LIMIT_SEGMENTS = 1000000,
    LIMIT_JSON_DEPTH = 512,
    LIMIT_JSON_NODES = 4 * 1024 * 1024,
    LIMIT_BODY_SIZE = 16 * 1024 * 1024 + 64 * 1024,
    LIMIT_HEADER_SIZE = 32 * 1024,
    LIMIT_CONNECTIONS = 20000,
    LIMIT_IN_FLIGHT = 10000,
    LIMIT_REST_BODY = 4 * 1024 * 1024,
    LIMIT_LOAD_LINES = 50000, /* of scores in one request */
    LIMIT_IDLE_MS = 60 * 1000,
    LIMIT_REQUEST_MS = 30 * 1000,
    LIMIT_STREAM_PAUSE = 32 * 1024 * 1024, /* waits to be sent to a client: it is not read, */
    LIMIT_STREAM_OUT = 1024 * 1024 * 1024, /* and here it is cut off */

    /* requests of sorted sets */
    LIMIT_CALL_ARGS = 1024 * 1024,
    LIMIT_CALL_BULK = 512 * 1024,
    LIMIT_CALL_SIZE = 64 * 1024 * 1024,
    LIMIT_CALLS_PENDING = 1024,           /* writes of a client that are not answered yet */
    LIMIT_CLEARED_AT_ONCE = 20 * 1000,    /* members of a set that is emptied in one commit */
    LIMIT_QUEUED_CALLS = 10000,           /* of a transaction, */
    LIMIT_QUEUED_SIZE = 16 * 1024 * 1024, /* and their arguments */
    LIMIT_CLEARING = 10000,               /* sets that wait to be emptied bit by bit */
    LIMIT_WATCHED = 10000,                /* keys that a client watches */
    LIMIT_RANDOM_MEMBERS = 1000 * 1000,   /* drawn by chance, with repeats */

    /* work in the background: backups, restores, exports, imports */
    LIMIT_BACKGROUND = 256,      /* pieces under way */
    LIMIT_JOBS_RUNNING = 32,     /* restores, exports and imports among them */
    LIMIT_RECORD_SIZE = 4 << 20, /* a line of JSON or a row of CSV: an item in its longest form */
    LIMIT_COLUMNS = 10000,       /* of a CSV file */
    LIMIT_IMPORT_FILES = 50000,
    LIMIT_JOBS = 10000, /* exports and imports that are remembered */

    /* the engine */
    LIMIT_NAME_CODES = 4096,   /* attribute names in the dictionary */
    LIMIT_GROUP_WRITES = 1024, /* requests in one commit */
    LIMIT_GROUP_SIZE = 8 * 1024 * 1024,
    LIMIT_CHANGE_ACTIONS = 100000,       /* items that one change may write */
    LIMIT_GROUP_ACTIONS = 16384,         /* a commit has more only if it is one such change */
    LIMIT_WRITES_WAITING = 16384,        /* requests queued for the writer, */
    LIMIT_ACTIONS_WAITING = 1024 * 1024, /* and what they ask for */
    LIMIT_TOKENS = 4 * 1024 * 1024,      /* remembered; past it the oldest are forgotten sooner */
    LIMIT_TOKEN_MS = 10 * 60 * 1000,
};

#endif
