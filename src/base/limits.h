/* Every bound in one place. Sizes in bytes, counts in pieces, times in milliseconds unless the name
 * says seconds (_S). A module may call a bound by a name of its own; the value is here. */
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
    /* Expressions that a thread remembers, the bytes of one, and its names, values and operators:
     * under 64 KB a thread. Longer ones are read each time. */
    LIMIT_EXPRESSION_CACHE_SLOTS = 64,
    LIMIT_EXPRESSION_CACHE_TEXT = 256,
    LIMIT_EXPRESSION_CACHE_PARTS = 48,
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
    LIMIT_POLICY_SIZE = 20 * 1024, /* of a resource-based policy */

    /* rooms */
    LIMIT_ROOM_ROUNDS = 9999, /* of all matches in it: their keys have four digits */

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
    LIMIT_LOOP_BODY = 128 * 1024, /* a larger one is read and carried out on the pool */
    LIMIT_BODY_SIZE = 16 * 1024 * 1024 + 64 * 1024,
    LIMIT_REQUEST_LINE = 16 * 1024,          /* the target of a request, */
    LIMIT_HEADER_SIZE = 16 * 1024,           /* and the header lines after it */
    LIMIT_HTTP_MEMORY = 512 * 1024 * 1024,   /* of bodies and answers on their way, unless set, */
    LIMIT_HTTP_UNPROVED = 128 * 1024 * 1024, /* and of bodies whose sender is not known yet */
    LIMIT_CONNECTIONS = 20000,
    LIMIT_IN_FLIGHT = 10000,
    LIMIT_PAGE_BRIEF = 2000,        /* items that a page looks at on a loop, */
    LIMIT_BATCH_BRIEF = 512 * 1024, /* bytes of items that it or a batch reads there, */
    LIMIT_SCORES_BRIEF = 50,        /* and scores of one request; more goes to the pool */
    LIMIT_RANGE_CACHED = 16 * 1024, /* bytes of the items of a range that the cache keeps */
    LIMIT_REST_BODY = 4 * 1024 * 1024,
    LIMIT_LOAD_LINES = 50000,   /* of scores in one request, */
    LIMIT_LOAD_PART = 256,      /* members whose scores are one change, */
    LIMIT_LOAD_PARTS = 32,      /* and how many such of one request are queued at once */
    LIMIT_SUBMIT_BOARDS = 1000, /* that one score counts for, each scope of a board being one */
    LIMIT_REDEFINE_LOOKS = 20 * 1000, /* instances and entries read to see whether a definition may
                                         change */
    LIMIT_INSTANCES_LOOKED_AT = 2000, /* for a page of those that are wanted */
    LIMIT_PLAYER_WALKS = 5,           /* of 200 boards each, for a page of a player's boards */
    LIMIT_IDLE_MS = 60 * 1000,
    LIMIT_REQUEST_MS = 30 * 1000,
    LIMIT_STREAM_PAUSE = 1024 * 1024,       /* waits to be sent to a client: it is not served, */
    LIMIT_STREAM_OUT = 1024 * 1024 * 1024,  /* and here it is cut off; */
    LIMIT_STREAMS_OUT = 1024 * 1024 * 1024, /* and to all clients: nothing large is begun */

    /* requests of sorted sets */
    LIMIT_CALL_ARGS = 1024 * 1024,
    LIMIT_CALL_BULK = 512 * 1024,
    LIMIT_CALL_SIZE = 64 * 1024 * 1024,
    LIMIT_CALLS_PENDING = 1024,           /* writes of a client that are not answered yet, */
    LIMIT_ARGS_PENDING = 2048,            /* and their arguments */
    LIMIT_CLEARED_AT_ONCE = 20 * 1000,    /* members of a set that is emptied in one commit */
    LIMIT_STORED_AT_ONCE = 1000,          /* members that replace a set in one commit; more are */
    LIMIT_STAGED_AT_ONCE = 250,           /* written before it, so many in each commit; */
    LIMIT_STAGED_HELD = 4,                /* tries for which others may not write to its keys, */
    LIMIT_KEY_HELD_MS = 2000,             /* all together for so long */
    LIMIT_GENERATION_KEPT_MS = 5000,      /* that entries stay for who reads them still; and that */
    LIMIT_GENERATION_LEASE_MS = 30000,    /* entries stay for which no commit has come */
    LIMIT_QUEUED_CALLS = 10000,           /* of a transaction, */
    LIMIT_QUEUED_SIZE = 16 * 1024 * 1024, /* and their arguments */
    LIMIT_CLEARING = 10000,               /* sets that wait to be emptied bit by bit */
    LIMIT_WATCHED = 10000,                /* keys that a client watches */
    LIMIT_AWAITED_KEYS = 2048,            /* that one command waits for */
    LIMIT_RANDOM_MEMBERS = 1000 * 1000,   /* drawn by chance, with repeats */
    LIMIT_DOUBLE_TEXT = 512,              /* of a score */
    LIMIT_SCAN_COUNT = 10000,             /* of one SCAN */
    /* Work is counted in units of about a quarter of a microsecond (call_budget.h). */
    LIMIT_LOOP_WORK = 8000,     /* of a client's commands until other clients have a turn */
    LIMIT_WRITER_WORK = 8000,   /* of a command on the writer's thread; more is done before it, */
    LIMIT_AHEAD_TRIES = 2,      /* so often, if others write to the same sets meanwhile; */
    LIMIT_WRITER_LONG = 400000, /* then there, up to this */
    LIMIT_LOOKED_UP = 2048,     /* members of one set, in one look at its index */
    LIMIT_ARGS_AT_ONCE = 2048,  /* of a command that runs on a loop; and, of some, of one commit: */
    LIMIT_PART_ARGS = 512,      /* those of more are divided (call_parts.h) */
    LIMIT_KEYS_AT_ONCE = 1000,  /* that a command which asks about many has in memory */
    LIMIT_CALL_MEMORY = 512 * 1024 * 1024,   /* of one command, or of all of a transaction, */
    LIMIT_CALLS_MEMORY = 1024 * 1024 * 1024, /* and of all that run at one time */
    LIMIT_SLOW_THREADS = 8,                  /* for commands that take long, */
    LIMIT_SLOW_WAITING = 1024,               /* and those that wait for one */

    /* messages */
    LIMIT_SUBSCRIPTIONS_CLIENT = 100 * 1000,      /* of one client, */
    LIMIT_SUBSCRIPTIONS = 1000 * 1000,            /* and of all */
    LIMIT_SLOWLOG = 128,                          /* commands that took long: so many are kept, */
    LIMIT_SLOWLOG_MAX = 10000,                    /* or what CONFIG SET says, up to this */
    LIMIT_MONITOR_LINE = 64 * 1024,               /* bytes of a command that MONITOR tells */
    LIMIT_PAUSE_MS = 60 * 60 * 1000,              /* of CLIENT PAUSE */
    LIMIT_SUBSCRIBER_OUT = 32 * 1024 * 1024,      /* waits for a subscriber: it is cut off */
    LIMIT_MESSAGES_IN_FLIGHT = 256 * 1024 * 1024, /* bytes on their way to subscribers' loops */
    LIMIT_CALL_NOTIFICATIONS = 100 * 1000,        /* messages that tell of keys, of one call */

    /* scripts */
    LIMIT_SCRIPT_MEMORY = 64 * 1024 * 1024,        /* of one that runs, */
    LIMIT_SCRIPT_MS = 5000,                        /* its time on a thread of its own, */
    LIMIT_SCRIPT_REPLY = 64 * 1024 * 1024,         /* and what it answers */
    LIMIT_SCRIPT_DEPTH = 1000,                     /* of lists in its answer */
    LIMIT_SCRIPTS = 10000,                         /* that are remembered by their SHA1, */
    LIMIT_SCRIPTS_SIZE = 64 * 1024 * 1024,         /* and their bytes */
    LIMIT_SCRIPTS_COMPILED = 500,                  /* in one Lua state, */
    LIMIT_SCRIPTS_COMPILED_SIZE = 4 * 1024 * 1024, /* and the bytes of their sources */
    LIMIT_SCRIPT_STATES = 16,                  /* Lua states that are kept for the next script */
    LIMIT_SCRIPT_STATE_KEPT = 8 * 1024 * 1024, /* bytes of one that is kept */
    LIMIT_SCRIPT_READS = 50, /* how often a read-only script is run again if its keys are written */
    LIMIT_CALL_GROUP = 64,   /* scripts and transactions that share a commit */
    LIMIT_SCRIPT_LOG = 1024, /* bytes of a line that a script logs, */
    LIMIT_SCRIPT_LOGS = 100, /* and such lines in a second */

    /* requests that may wait, because the engine blocks or would take long */
    LIMIT_POOL_THREADS = 64,   /* that run them, */
    LIMIT_POOL_WAITING = 4096, /* and those that wait for one: more are refused as busy */

    /* work in the background: backups, restores, exports, imports */
    LIMIT_BACKGROUND = 256,      /* pieces under way */
    LIMIT_JOBS_RUNNING = 32,     /* restores, exports and imports among them */
    LIMIT_RECORD_SIZE = 4 << 20, /* a line of JSON or a row of CSV: an item in its longest form */
    LIMIT_COLUMNS = 10000,       /* of a CSV file */
    LIMIT_IMPORT_FILES = 50000,
    LIMIT_JOBS = 10000,              /* exports and imports that are remembered */
    LIMIT_LOAD_WAITING = 32 << 20,   /* bytes of a table's load that are in flight */
    LIMIT_TRANSFER_RECORD = 1 << 20, /* a file that says how an export or import went */
    LIMIT_FOLDER_DEPTH = 64,         /* of folders that an import looks through */
    LIMIT_SCHEMA_FILE = 1 << 20,
    LIMIT_BACKUP_RECORD = 4 * 1024 * 1024, /* what a backup says of its tables */

    /* commands that ask a server */
    LIMIT_CLIENT_ANSWER = 32 * 1024 * 1024,
    LIMIT_CLIENT_MESSAGE = 16 * 1024 * 1024, /* of a room, to a bot */
    LIMIT_CLIENT_CONNECT_S = 10,             /* seconds, */
    LIMIT_CLIENT_ANSWER_S = 600,    /* for a whole answer, unless --timeout says otherwise, */
    LIMIT_CLIENT_TIMEOUT_S = 86400, /* and what it may say */
    LIMIT_LOAD_AT_ONCE = 64,        /* requests of a load */
    LIMIT_BOTS = 100000,
    LIMIT_SECRET_FILE = 4096, /* of the secret for tokens */

    /* connections and their bytes */
    LIMIT_TURNED_AWAY = 64,          /* connections over the limit that get to hear why */
    LIMIT_GATHERED = 256,            /* connections that one loop is given while others have none */
    LIMIT_HEADERS = 256,             /* lines of a request's head */
    LIMIT_CHUNK_EXTRA = 16 * 1024,   /* bytes of a body's chunk extensions and trailers */
    LIMIT_STALLED = 256 * 1024,      /* bytes kept of a stream whose requests wait */
    LIMIT_STREAM_LINE = 64 * 1024,   /* a length, or an inline request */
    LIMIT_PINGS_UNANSWERED = 2,      /* of a channel, before it counts as lost */
    LIMIT_PONGS_WAITING = 16 * 1024, /* bytes, for a client that pings and does not read */
    LIMIT_LOOPS = 64,                /* threads that serve */

    /* requests about tables */
    LIMIT_TABLE_BODY = 16 * 1024 * 1024,
    LIMIT_EXPRESSION_ALIASES = 8192, /* names and values of one request */
    LIMIT_FAULTS_TOLD = 10,          /* of one request's validation */
    LIMIT_FAULTS_TEXT = 64 * 1024,   /* and bytes of their text */
    LIMIT_BATCH_STATEMENTS = 25,
    LIMIT_STREAM_RECORDS = 1000,        /* of one answer */
    LIMIT_STREAM_SIZE = 1024 * 1024,    /* and bytes */
    LIMIT_ITERATOR_MS = 15 * 60 * 1000, /* that a shard iterator is good for */
    LIMIT_STREAMS_LISTED = 100,         /* in one answer */
    LIMIT_INDEX_UPDATES = 5,            /* in one UpdateTable */
    LIMIT_STATEMENT_SIZE = 8192,        /* a PartiQL statement's text */
    LIMIT_STATEMENT_DEPTH = 64,         /* of parentheses, operators and literals in each other */
    LIMIT_STATEMENT_QUERIES = 100,      /* that one statement may become */

    LIMIT_FAULT_ORDERS = 100, /* that a test gives */
    LIMIT_FAULT_NUMBER = 1000 * 1000,
    LIMIT_FAULT_DELAY_MS = 60 * 1000,

    /* access keys and signatures */
    LIMIT_KEY_ID = 128,
    LIMIT_KEY_SECRET = 256,
    LIMIT_KEY_FILE = 16 * 1024 * 1024, /* of all keys */
    LIMIT_KEY_NAMES =
        64, /* tables or partitions that one key names, by REST and the command line */
    LIMIT_SIGNATURE_LIFE_S = 7 * 24 * 3600, /* seconds, of a signed URL */
    LIMIT_REGION_SIZE = 32,
    LIMIT_SIGNATURE_SECRET = 256,
    LIMIT_QUERY_PARAMETERS = 512, /* of a signed URL */

    /* boards */
    LIMIT_BOARD_NAME = 1000, /* of an instance */
    LIMIT_BOARD_ID = 128,    /* and of a scope */
    LIMIT_BOARD_TITLE = 256,
    LIMIT_BOARD_SEASONS = 100,
    LIMIT_BOARD_SCOPES = 20,
    LIMIT_BOARD_SOURCES = 50,         /* of a cross-game board */
    LIMIT_MEMBER = 1000,              /* bytes of a member's name */
    LIMIT_KEY_NAME = 1000,            /* bytes of the name of a Redis key */
    LIMIT_KEY_FIELD = 1000,           /* and of a field of a hash, or a member of a set */
    LIMIT_KEY_VALUE = 396 * 1024,     /* of a string or a field's value: an item with its keys */
    LIMIT_KEY_INLINE_FIELDS = 128,    /* of a hash or set that is one item, */
    LIMIT_KEY_INLINE_SIZE = 8 * 1024, /* and bytes of them all */
    LIMIT_SUBMIT_SCOPES = 20,
    LIMIT_ENTRY_NAME = 256,
    LIMIT_ENTRY_META = 4096, /* as items are measured */
    LIMIT_SUBMIT_TOKEN = 255,
    LIMIT_STANDINGS = 1000,        /* entries of one page */
    LIMIT_STANDINGS_MEMBERS = 500, /* asked for by name */
    LIMIT_HISTOGRAM = 200,         /* steps */
    LIMIT_ZONE_NAME = 64,          /* of a time zone */
    LIMIT_ZONE_FILE = 64 * 1024,
    LIMIT_ZONE_CHANGES = 2000,       /* of its clocks, in a file */
    LIMIT_ZONES = 2000,              /* remembered */
    LIMIT_BOARDS_CACHED = 4096,      /* found instances a shard of the cache remembers, */
    LIMIT_DEFINITIONS_CACHED = 1024, /* and definitions */

    /* players, tokens and rooms */
    LIMIT_PLAYER_ID = 128,
    LIMIT_EMAIL = 254,
    LIMIT_PLAYER_NAME = 256,
    LIMIT_PLAYER_NAME_WORDS = 4,    /* by which a player is found: each word of a name is an item */
    LIMIT_INSIGHTS_TABLES = 100,    /* looked at for a page of ListContributorInsights */
    LIMIT_PLAYERS_LOOKED_AT = 2000, /* for a page of a search */
    LIMIT_PLAYER_GAMES = 500,       /* whose stats are kept of one player */
    LIMIT_SIGNED_TOKEN = 1024,
    LIMIT_SIGNED_PAYLOAD = 512,
    LIMIT_ROOM_SEATS = 32,  /* with spectators */
    LIMIT_ROOM_BANNED = 64, /* players that a host has banned */
    /* Guests who sit down: in a room and in all, one in so many ms, and so many at once. */
    LIMIT_GUEST_BUCKETS = 512,
    LIMIT_GUEST_ROOM_EACH_MS = 2000,
    LIMIT_GUEST_ROOM_BURST = 40,
    LIMIT_GUEST_EACH_MS = 50,
    LIMIT_GUEST_BURST = 200,
    LIMIT_ROOM_PLAYER_NAME = 24,   /* characters */
    LIMIT_ROOM_TITLE = 60,         /* characters */
    LIMIT_LIVE_MESSAGE = 4096,     /* bytes of what a client says at once */
    LIMIT_LIVE_QUEUE = 256 * 1024, /* bytes that may wait for it */
    LIMIT_LIVE_TXNS = 16,          /* changes under way for one client */
    LIMIT_LIVE_BOARD = 100,        /* places of a board that is shown live */
    LIMIT_ROOM_QUEUE = 32,         /* of a loop's changes of rooms under way: not moves */
    LIMIT_TOPIC = 2100,            /* bytes of its name: a partition's key, and some */

    /* requests over REST */
    LIMIT_IDEMPOTENCY_KEY = 200,
    LIMIT_REQUEST_ID = 128,
    LIMIT_LOAD_REASONS = 10, /* told of lines that were refused */

    /* a wall clock that jumps (base/time_belief.h) */
    LIMIT_CLOCK_TRUST_MS = 2000,            /* so far apart it is followed at once; */
    LIMIT_CLOCK_PROOF_MS = 60 * 1000,       /* further, after it has stood for so long, */
    LIMIT_CLOCK_STEP_MS = 60 * 60 * 1000,   /* by so much at first */
    LIMIT_CLOCK_AWAY_S = 31 * 24 * 60 * 60, /* a start may come so long after the last stop */
    LIMIT_CLOCK_RECORD = 256,               /* bytes of what a data folder says of its time */

    /* the engine */
    LIMIT_NAME_CODES = 4096,            /* attribute names in the dictionary */
    LIMIT_GROUP_WRITES = 1024,          /* requests in one commit */
    LIMIT_GROUP_SIZE = 2 * 1024 * 1024, /* and bytes, but for its last request; */
    LIMIT_CHANGE_LARGE = 64 * 1024, /* bytes of a request that others may go before (change.h), */
    LIMIT_GROUP_LARGE = 512 * 1024, /* and of all such in one commit, but for the first */
    LIMIT_CHANGE_ACTIONS = 100000,  /* items that one change may write */
    LIMIT_WALK_SLICE = 2048,        /* entries of an index copied under one hold of the lock */
    LIMIT_WALK_NOTES = 64 * 1024 * 1024, /* bytes of what changes during one such walk */
    LIMIT_RULE_ACTIONS = 1000,           /* that a write rule adds to one write */
    LIMIT_EXPIRY_BATCH = 1000,           /* items that have expired, taken away in one commit */
    /* of a commit that are parts of loads (change.h): two, or one if others have just written */
    LIMIT_GROUP_YIELDED = 2 * (LIMIT_LOAD_PART + 1),
    LIMIT_GROUP_ACTIONS = 16384,         /* a commit has more only if it is one such change */
    LIMIT_WRITES_WAITING = 16384,        /* requests queued for the writer, */
    LIMIT_ACTIONS_WAITING = 1024 * 1024, /* and what they ask for */
    LIMIT_TOKENS = 4 * 1024 * 1024,      /* remembered; past it the oldest are forgotten sooner */
    LIMIT_TOKEN_MS = 10 * 60 * 1000,
    LIMIT_LOG_HOT_MS = 5 * 60 * 1000,     /* that a segment of the log stays as it was written, */
    LIMIT_LOG_HOT = 8,                    /* and how many do that only readers need */
    LIMIT_LOG_GROUP = 1024 * 1024 * 1024, /* bytes of one commit in the log */

    /* the engine over an endpoint (table/remote) */
    LIMIT_REMOTE_IN_FLIGHT = 128,           /* requests to the endpoint at a time, */
    LIMIT_REMOTE_CONNECT_MS = 3000,         /* for a connection, */
    LIMIT_REMOTE_ATTEMPT_MS = 10 * 1000,    /* for one attempt, */
    LIMIT_REMOTE_ANSWER_MS = 25 * 1000,     /* and for all of them */
    LIMIT_REMOTE_LAST_MS = 1000,            /* for what a server still asks while it ends */
    LIMIT_REMOTE_BACKOFF_MS = 25,           /* before the second attempt at most; it doubles, */
    LIMIT_REMOTE_BACKOFF_MAX_MS = 2000,     /* up to this */
    LIMIT_REMOTE_ANSWER = 32 * 1024 * 1024, /* bytes of an answer */
    LIMIT_REMOTE_CONFLICTS = 64,            /* times a change is worked out again */
    LIMIT_REMOTE_PAST_VERSIONS = 32,        /* that an item remembers, */
    LIMIT_REMOTE_PAST_MS = 60 * 1000,       /* and for how long */
    LIMIT_REMOTE_TABLE_MS = 60 * 1000,      /* that a description of a table is trusted */
    LIMIT_FORWARD_TABLES = 100,             /* that a request which is passed on may name */
    LIMIT_SEAL_CHECKED_MS = 10 * 1000, /* before a period's end that entries check it is open, */
    LIMIT_SEAL_GRACE_MS = 3000,        /* after it that it is sealed, for clocks that differ, */
    LIMIT_SEAL_AGAIN_MS = 2000,        /* and after that its final standings are looked at again */
    LIMIT_CREDENTIALS_FILE = 1024 * 1024, /* bytes, */
    LIMIT_CREDENTIALS_EARLY_S = 5 * 60,   /* seconds before their end that they are renewed, */
    LIMIT_CREDENTIALS_MS = 1000,          /* for an answer of the machine's own endpoint */

    /* the process */
    LIMIT_SPARE_BLOCKS = 64 << 20, /* bytes of freed memory that is kept for the next request */

    /* the store */
    LIMIT_BUFFER_SIZE = 20 << 20, /* bytes of a write buffer, before it is handed to the tables */
    LIMIT_TABLE_FROM = 4096, /* keys of a write buffer that become a table of their own; fewer go
                                through the database's memory */
    LIMIT_RECENT_VALUES = 2 << 20, /* bytes of the newest records of streams, which are also in the
                                      log */
    LIMIT_BLOCK_CACHE =
        64 << 20,               /* bytes of blocks of tables that are kept, unless a setting says */
    LIMIT_CACHE_PART = 8,       /* of the memory for hot items: an eighth, unless a setting says, */
    LIMIT_CACHE_LEAST_MB = 256, /* but so much at least, */
    LIMIT_CACHE_MOST_MB = 4096, /* and so much at most */
    LIMIT_BUFFER_RANGES = 64,   /* deleted ranges in it, which every read looks through */
    LIMIT_BUFFER_PENDING = 8192, /* keys in it that are not in order, before that is made */
    LIMIT_PAST_BATCH = 1 << 20, /* bytes of commits written at once when an earlier state is made */

    /* the console, and what the server remembers of itself */
    LIMIT_CONSOLE_SESSIONS = 64,                   /* open at once */
    LIMIT_CONSOLE_SESSION_MS = 8 * 60 * 60 * 1000, /* that one lasts, */
    LIMIT_CONSOLE_IDLE_MS = 30 * 60 * 1000,        /* and that it may be idle */
    LIMIT_CONSOLE_GUESSES = 30,                    /* wrong secrets a minute */
    LIMIT_HISTORY_SECONDS = 3600,                  /* of figures by the second, */
    LIMIT_HISTORY_MINUTES = 1440,                  /* and by the minute */
    LIMIT_SLOW_REQUESTS = 512,                     /* in the slow log */
    LIMIT_TAIL_REQUESTS = 2048,                    /* between two messages of a tail */
    LIMIT_TAIL_WATCHERS = 16,                      /* who look on at once */
    LIMIT_HOT_TABLES = 64,      /* tables and indexes whose hot keys are watched */
    LIMIT_AUDIT_ENTRIES = 4096, /* in memory, of a server without a game's table */
    LIMIT_AUDIT_DAYS = 90,      /* that what operators did is kept in the table, */
    LIMIT_AUDIT_A_MINUTE = 300, /* of so many a minute; others are in the log only */
    LIMIT_AUDIT_WAITING = 1024, /* to be written */

    /* Keys that a move while it is played remembers for its last comparison, some 200 bytes each;
     * past it both sides are read whole while the servers are read-only. */
    LIMIT_MOVE_KEYS = 1000 * 1000,

    /* point-in-time recovery */
    LIMIT_RECOVERY_DAYS = 35,                     /* that can be asked for, */
    LIMIT_RECOVERY_DISK_GB = 16,                  /* that it takes unless set otherwise, */
    LIMIT_RECOVERY_DISK_LEAST_GB = 1,             /* and that it can be set to, */
    LIMIT_RECOVERY_LOOK_S = 10,                   /* seconds between looks at the disk */
    LIMIT_RECOVERY_BASE_MS = 24 * 60 * 60 * 1000, /* between two checkpoints, at most, */
    LIMIT_RECOVERY_BASES = 64,                    /* checkpoints that are kept */

    /* Redis, as the remote engine uses it */
    LIMIT_REDIS_BULK = 64 * 1024 * 1024,  /* bytes of a string in a reply, */
    LIMIT_REDIS_ELEMENTS = 1024 * 1024,   /* elements of an array, */
    LIMIT_REDIS_REPLY = 64 * 1024 * 1024, /* bytes of a whole reply, */
    LIMIT_REDIS_DEPTH = 8,                /* and arrays in each other */
    LIMIT_REDIS_CONNECTIONS = 32,         /* to one server */
    LIMIT_REDIS_SERVERS = 256,            /* of a cluster */
    LIMIT_REDIS_SEEDS = 32,               /* addresses in the settings */
    LIMIT_REDIS_WAIT_MS = 1500,           /* for an answer, with all that is tried again */
    LIMIT_REDIS_OPEN_MS = 5000,           /* the same at the start */
    LIMIT_REDIS_AWAY_FIRST_MS = 50,       /* that a server which failed is left alone, at first */
    LIMIT_REDIS_AWAY_MS = 1000,           /* and at most */
    LIMIT_RANK_SLICE = 1000,              /* entries of a ranking read at once */
    LIMIT_RANK_BUILDERS = 2,              /* rankings built at once by one node */
    LIMIT_RANK_WANTED = 4096,             /* that wait to be built */
    LIMIT_RANK_LOOK_MS = 50,              /* between looks at one that another node builds, */
    LIMIT_RANK_RETRY_MS = 200,            /* before one that failed is tried again, */
    LIMIT_RANK_AWAIT_MS = 1000,           /* that a question for ranks waits for one */
    LIMIT_SHARDS = 1024,                  /* of the table's stream, that the ranking follows */
    LIMIT_SHARDS_LOOK_MS = 5000,          /* between looks at which there are */
    LIMIT_SHARD_LEASE_MS = 600,           /* that a shard stays with a node that is silent */
    LIMIT_STREAM_IDLE_US = 200 * 1000,    /* between looks at a stream that has nothing new, */
    LIMIT_STREAM_BUSY_US = 50 * 1000,     /* and at one that had */
    LIMIT_STREAM_AGAIN_MS = 60 * 1000,    /* applied again after a connection was lost */
    LIMIT_PAST_WRITES = 1024,             /* items written past the nodes that are remembered */
    LIMIT_NEWS_WAITING = 65536,           /* partitions that other nodes have to be told of */
    LIMIT_NEWS_PAUSE_US = 2000,           /* between two messages about the same one */
    LIMIT_NEWS_PING_MS = 1000,            /* between questions whether Redis still speaks to us */
    LIMIT_NEWS_LOOK_MS = 10 * 1000,       /* between looks at everything, whatever was heard */

    /* how much one step of work does before others have a turn, and how often what lost a race is
     * tried again */
    LIMIT_ROOM_TRIES = 200,           /* of a room's transaction: each time somebody got on, */
    LIMIT_LEAVE_TRIES = 100,          /* and of leaving one */
    LIMIT_QUERY_TRIES = 8,            /* of a look at a board that others write to meanwhile */
    LIMIT_ROOM_STEPS = 64,            /* of rooms by the clock, until they are published; */
    LIMIT_ROOM_AWAIT_MS = 1500,       /* that they wait for what players said in time */
    LIMIT_CLEARED_SERVERS = 8,        /* whose connections are looked at in one call, */
    LIMIT_CLEARED_CONNECTIONS = 64,   /* to one room, deleted in one commit */
    LIMIT_CLEARED_ENTRIES = 2000,     /* of a board that is cleared in one commit; */
    LIMIT_CLEARED_STEP = 250,         /* of a larger one, in each commit */
    LIMIT_GIVE_WAY_US = 20 * 1000,    /* that others have after each such step, at most */
    LIMIT_SWEPT_FIELDS = 500,         /* of a key that is no more, in one commit */
    LIMIT_FINDERS_PLAYERS = 64,       /* whose finders are written in one commit */
    LIMIT_HOUSEKEEPING_RECORDS = 500, /* of the stream, in a page, */
    LIMIT_HOUSEKEEPING_PAGES = 400,   /* before other duties have a turn */
    LIMIT_STREAM_PASSED = 20000,      /* records of other tables that a page of a stream passes */
    LIMIT_RANK_RANGE = 10000,         /* entries of one range of a ranking in Redis */
    LIMIT_BUILD_THREADS = 16,         /* that build one index */

    /* what is kept or told at most */
    LIMIT_FILTER_KEYS = 24 * 1024 * 1024, /* of partitions that are known not to be: 48 MB */
    LIMIT_TAIL_QUEUE = 4 * 1024 * 1024,   /* bytes that wait for who watches requests */
    LIMIT_METRICS_REASONS = 128,          /* of refusals by one loop; more are "other" */
    LIMIT_METRICS_OPERATIONS = 256,       /* of one front end */
    LIMIT_KAUWA_OBJECTS = 1000,           /* that can be called */
    LIMIT_TOKEN_LIFE_S = 3600,            /* of a player's token, unless told */
    LIMIT_VERIFY_SENTENCES = 20,          /* about damage that verify prints */
    LIMIT_SCRIPT_MSGPACK_DEPTH = 16,      /* of tables in each other that cmsgpack packs */
    LIMIT_SCRIPT_PATTERN_DEPTH = 1000,    /* of a pattern's own calls */
};

#endif
