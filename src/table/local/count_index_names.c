/* Count indexes of names: which partitions of an index have entries, in the order of their names.
 *
 * A key of the tree is the end of a partition's encoding, behind what all of them begin with and
 * with the byte that ends it. It is there while the index has an entry of that partition and, if
 * another index lists the names, the list has it too. Who commits tells of each entry that went or
 * came. It mostly moved within its partition, which one comparison finds out; else the tree is
 * asked first, since most entries come to partitions that have others. */
#include "table/local/count_index_int.h"

/* What the partitions begin with, without the hash; and what the entries of the list do. */
static struct bytes begin_of(const struct count_index *count_index) {
    return bytes_of(count_index->prefix, count_index->id.hash);
}

static struct bytes list_of(const struct count_index *count_index) {
    return bytes_skip(count_index_prefix(count_index), count_index->id.hash);
}

/* A partition as its entries begin, and its name, which may be borrowed from that. */
struct named {
    struct bytes partition, name;
};

/* False: the entry is in a partition that is not meant. */
static bool name_entry(const struct count_index *count_index, struct bytes entry,
                       struct named *out) {
    struct bytes begin = begin_of(count_index);
    size_t span = keys_entry_span(count_index->index, entry, 0);
    out->partition = bytes_of(entry.data, span);
    if (span == 0 || !bytes_starts(bytes_skip(out->partition, KEYS_HASH_SIZE), begin))
        return false;
    out->name = bytes_skip(out->partition, KEYS_HASH_SIZE + begin.size);
    return true;
}

static bool is_listed(const struct count_index *count_index, struct bytes name) {
    uint8_t memory[COUNT_INDEX_KEY_ROOM];
    struct buf entry = buf_in(memory, sizeof(memory));
    if (count_index->list == NULL)
        return true;
    buf_put(&entry, list_of(count_index));
    buf_put(&entry, name);
    bool listed = count_index_has(count_index->list, buf_bytes(&entry));
    buf_release(&entry);
    return listed;
}

/* --- what commits do --- */

bool count_index_stays(const struct index *index, struct bytes gone, struct bytes come) {
    if (gone.size == 0 || come.size == 0)
        return false;
    size_t span = keys_entry_span(index, gone, 0);
    return span != 0 && bytes_starts(come, bytes_of(gone.data, span));
}

/* Something of the partition, or of the list, came or went: only so does the name come or go. */
static void update_name(struct count_index *count_index, const struct named *named, bool came) {
    if (tree_has(count_index->tree, named->name) == came)
        return;
    bool is_there = count_index_has(count_index->index, named->partition) &&
                    is_listed(count_index, named->name);
    if (is_there)
        tree_put(count_index->tree, named->name);
    else
        tree_del(count_index->tree, named->name);
}

static void entry_changed(struct count_index *count_index, struct bytes entry, bool came) {
    struct named named;
    if (entry.size != 0 && name_entry(count_index, entry, &named))
        update_name(count_index, &named, came);
}

static void list_changed(struct count_index *count_index, struct bytes entry, bool came) {
    uint8_t memory[COUNT_INDEX_KEY_ROOM];
    struct buf partition = buf_in(memory, sizeof(memory));
    struct bytes list = list_of(count_index);
    if (entry.size == 0 || !bytes_starts(entry, list))
        return;
    size_t span = keys_entry_span(count_index->list, entry, 1);
    struct bytes name = bytes_skip(bytes_of(entry.data, span), list.size);
    keys_put_entry_partition(&partition, begin_of(count_index), name);
    update_name(count_index, &(struct named){buf_bytes(&partition), name}, came);
    buf_release(&partition);
}

void count_index_partition_changed(struct count_index *count_index, struct bytes gone,
                                   struct bytes come) {
    entry_changed(count_index, gone, false);
    entry_changed(count_index, come, true);
}

void count_index_list_changed(struct count_index *count_index, struct bytes gone,
                              struct bytes come) {
    list_changed(count_index, gone, false);
    list_changed(count_index, come, true);
}

/* --- building --- */

bool count_index_build_names(struct count_index *count_index) {
    const struct index *index = count_index->index;
    struct tree_cursor cursor = {0};
    bool more = true;
    if (count_index->tree == NULL)
        count_index->tree = tree_new();
    for (unsigned i = 0; more && i < COUNT_INDEX_PIECE; i++) {
        struct named named;
        more = tree_seek(&cursor, index->tree, buf_bytes(&count_index->from));
        if (!more)
            break;
        bool meant = name_entry(count_index, tree_key(&cursor), &named);
        if (meant && is_listed(count_index, named.name))
            tree_put(count_index->tree, named.name);
        buf_clear(&count_index->from);
        buf_put(&count_index->from, named.partition);
        more = key_after_prefix(&count_index->from, 0);
    }
    tree_cursor_release(&cursor);
    return more;
}
