/* Names of boards and members of any bytes: a name comes back from its parts, a member from its
 * key, and keys of two members order as they do where both are text. */
#include "base/utf8.h"
#include "game/board/board_int.h"
#include "game/board/entry.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth) {
    if (!truth)
        abort();
}

static void check_name(struct bytes name, struct arena *arena) {
    struct board_name parts = board_name_of(name);
    struct bytes joined = board_name_join(&parts, arena);
    bool empty =
        (parts.has_scope && parts.scope.size == 0) || (parts.has_period && parts.period.size == 0);
    require(empty || bytes_equal(joined, name));
    require(!board_is_id(name) || (!parts.has_scope && !parts.has_period));
    require(board_scope_kind(name).size <= (name.size > 6 ? name.size : 6));
}

static bool check_member(struct bytes member, struct arena *arena, struct bytes *key) {
    struct failure failure;
    if (entry_key_of(member, (struct scope){arena, &failure}, key) != OK)
        return false;
    require(key->size != 0 && key->size <= LIMIT_SORT_KEY_SIZE && utf8_valid(*key));
    require(bytes_equal(entry_member_of(*key, arena), member));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct bytes all = bytes_of(data, size), a = bytes_of(data, size / 2);
    struct bytes b = bytes_skip(all, size / 2), one, two;
    arena_init(&arena);
    check_name(all, &arena);
    check_member(all, &arena, &one);
    if (check_member(a, &arena, &one) && check_member(b, &arena, &two)) {
        int wanted = bytes_compare(a, b), order = bytes_compare(one, two);
        require((wanted == 0) == (order == 0));
        if (utf8_valid(a) == utf8_valid(b))
            require((wanted < 0) == (order < 0));
    }
    (void)entry_member_of(all, &arena); /* a key that none of ours is */
    arena_release(&arena);
    return 0;
}
