/* The table of commands: finds them by name, and the keys among their arguments. Any thread. */
#include "api/redis/redis_command.h"

#include "base/map.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <strings.h>

static const struct redis_command *const lists[] = {
    redis_connection_commands,  redis_string_commands,      redis_number_commands,
    redis_substring_commands,   redis_client_commands,      redis_score_commands,
    redis_rank_commands,        redis_range_commands,       redis_pop_commands,
    redis_algebra_commands,     redis_random_commands,      redis_hash_commands,
    redis_hash_expiry_commands, redis_zset_expiry_commands, redis_lcs_commands,
    redis_set_commands,         redis_set_algebra_commands, redis_field_random_commands,
    redis_scan_commands,        redis_key_commands,         redis_rename_commands,
    redis_object_commands,      redis_keyspace_commands,    redis_expiry_commands,
    redis_transaction_commands, redis_command_commands,     redis_setting_commands,
    redis_server_commands,      redis_script_commands,      redis_pubsub_commands,
    redis_acl_commands,         redis_slowlog_commands,     redis_admin_commands,
};
enum { LISTS = sizeof(lists) / sizeof(lists[0]), NAME_MAX_SIZE = 32 };

const struct redis_command *redis_command_next(size_t *at) {
    size_t left = *at;
    for (size_t i = 0; i < LISTS; i++)
        for (const struct redis_command *c = lists[i]; c->name != NULL; c++)
            if (left-- == 0) {
                ++*at;
                return c;
            }
    return NULL;
}

/* ---- by name ---- */

static struct map by_name;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_by_name(void) {
    for (size_t i = 0; i < LISTS; i++)
        for (const struct redis_command *c = lists[i]; c->name != NULL; c++) {
            assert(strlen(c->name) <= NAME_MAX_SIZE);
            void *twice = map_put(&by_name, bytes_str(c->name), (void *)c);
            assert(twice == NULL);
            (void)twice;
        }
}

const struct redis_command *redis_command_find(struct bytes name) {
    uint8_t lower[NAME_MAX_SIZE];
    pthread_once(&once, fill_by_name);
    if (name.size > sizeof(lower))
        return NULL;
    for (size_t i = 0; i < name.size; i++)
        lower[i] = (uint8_t)tolower(name.data[i]);
    return map_get(&by_name, bytes_of(lower, name.size));
}

const struct redis_command *redis_subcommand_find(const struct redis_command *command,
                                                  struct bytes name) {
    for (const struct redis_command *c = command->subs; c->name != NULL; c++)
        if (strlen(c->name) == name.size &&
            strncasecmp(c->name, (const char *)name.data, name.size) == 0)
            return c;
    return NULL;
}

struct bytes redis_command_name(const struct redis_command *command, struct arena *arena) {
    size_t at = 0;
    const struct redis_command *c;
    while ((c = redis_command_next(&at)) != NULL)
        for (const struct redis_command *s = c->subs; s != NULL && s->name != NULL; s++)
            if (s == command)
                return arena_printf(arena, "%s|%s", c->name, s->name);
    return bytes_str(command->name);
}

/* ---- keys among the arguments ---- */

static bool counted_keys(const struct redis_request *request, struct key_positions *out) {
    int64_t number;
    size_t at = (size_t)request->command->keys.counted;
    if (at >= request->count || !redis_read_int(request->args[at], &number) || number <= 0 ||
        (uint64_t)number > request->count - at - 1)
        return false;
    for (size_t i = 0; i < (size_t)number; i++)
        out->at[out->count++] = at + 1 + i;
    return true;
}

bool redis_command_keys(const struct redis_request *request, struct arena *arena,
                        struct key_positions *out) {
    const struct command_keys *keys = &request->command->keys;
    size_t count = request->count;
    *out = (struct key_positions){ARENA_ARRAY(arena, size_t, count + 1), 0};
    if (!redis_arity_fits(request->command, count))
        return false;
    if (keys->first > 0) {
        size_t last = keys->last >= 0 ? (size_t)keys->last : count - (size_t)-keys->last;
        for (size_t i = (size_t)keys->first; i <= last && i < count; i += (size_t)keys->step)
            out->at[out->count++] = i;
    }
    return keys->counted == 0 || counted_keys(request, out);
}
