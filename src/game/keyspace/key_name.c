#include "game/keyspace/key_name.h"

#include "game/board/entry.h"

#include <stdio.h>

enum { PREFIX_MAX = 8 };

static struct bytes join(struct bytes prefix, struct bytes name, struct arena *arena) {
    uint8_t *joined = arena_alloc(arena, prefix.size + name.size + 1);
    memcpy(joined, prefix.data, prefix.size);
    if (name.size != 0)
        memcpy(joined + prefix.size, name.data, name.size);
    return bytes_of(joined, prefix.size + name.size);
}

static struct bytes join_numbered(const char *format, unsigned db, struct bytes name,
                                  struct arena *arena) {
    char prefix[PREFIX_MAX];
    int size = snprintf(prefix, sizeof(prefix), format, db % KEY_DATABASES);
    return join(bytes_of(prefix, (size_t)size), name, arena);
}

static struct bytes partition_of(unsigned db, struct bytes escaped, struct arena *arena) {
    return db == 0 ? join(BYTES("KEY#"), escaped, arena)
                   : join_numbered("KEY%u#", db, escaped, arena);
}

enum status key_address_of(unsigned db, struct bytes name, struct scope in,
                           struct key_address *out) {
    struct failure unused;
    out->db = db;
    if (name.size > KEY_NAME_MAX ||
        entry_key_of(name, (struct scope){in.arena, &unused}, &out->name) != OK)
        return failure_set(in.failure, in.arena, INVALID,
                           "The name of a key has %zu bytes: at most %d can be, and fewer if it is "
                           "not UTF-8",
                           name.size, KEY_NAME_MAX);
    out->pk = partition_of(db, out->name, in.arena);
    return OK;
}

struct bytes key_partition(unsigned db, struct bytes name, struct arena *arena) {
    struct bytes escaped = name;
    struct failure too_long; /* then there is no such key, and the name will do */
    entry_key_of(name, (struct scope){arena, &too_long}, &escaped);
    return partition_of(db, escaped, arena);
}

/* Whether the name begins with '#', the number of a database, '#'; how long that is. */
static size_t numbered_prefix(struct bytes name, unsigned *db) {
    size_t at = 1;
    unsigned number = 0;
    if (name.size < 3 || name.data[0] != '#')
        return 0;
    for (; at < name.size && at < 3 && name.data[at] >= '0' && name.data[at] <= '9'; at++)
        number = number * 10 + (unsigned)(name.data[at] - '0');
    bool canonical = at == 2 || (at == 3 && name.data[1] == '1');
    if (!canonical || number >= KEY_DATABASES || at == name.size || name.data[at] != '#')
        return 0;
    *db = number;
    return at + 1;
}

struct bytes key_board_name(unsigned db, struct bytes name, struct arena *arena) {
    unsigned other;
    if (db == 0 && numbered_prefix(name, &other) == 0)
        return name;
    return join_numbered("#%u#", db, name, arena);
}

struct key_of_board key_of_board(struct bytes board) {
    struct key_of_board key = {0, board};
    size_t prefix = numbered_prefix(board, &key.db);
    key.name = bytes_skip(board, prefix);
    return key;
}
