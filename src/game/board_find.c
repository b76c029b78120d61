/* Finding boards by name, quickly: a cache for each of some threads.
 *
 * A board found is kept with what engine_touched() said of its definition's and its instance's
 * partition before they were read. Found again with both as they were, it is what the table says.
 * Threads share a part of the cache only if there are more of them than parts, so that neither its
 * lock nor the boards' counts travel between cores. */
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "game/board_int.h"
#include "game/entry.h"
#include "game/record.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PARTS = 16, FOUND_MAX = 4096, DEFINITIONS_MAX = 1024 };

/* A definition, shared by the boards found by it. */
struct definition {
    atomic_uint refs;
    uint64_t touched;
    struct board_rules rules;
    struct timing timing;
    struct arena arena;
};

struct found {
    struct board board; /* first: what callers hold */
    atomic_uint refs;
    bool used;  /* since the hand last came by */
    bool timed; /* by its id: good in its period only */
    size_t slot;
    struct definition *definition; /* NULL: plain */
    struct bytes name;             /* it was asked for by */
    bool defines;                  /* it may have a definition: the name is none of others */
    uint32_t where[2];             /* the numbers of its two partitions are kept */
    uint8_t text[];
};

struct part {
    pthread_mutex_t lock;
    struct map by_name;     /* -> struct found */
    struct map definitions; /* id -> struct definition */
    struct found *ring[FOUND_MAX];
    size_t count, hand;
};

struct boards {
    struct part parts[PARTS];
};

/* --- lives --- */

static void definition_drop(struct definition *definition) {
    if (definition == NULL || atomic_fetch_sub(&definition->refs, 1) != 1)
        return;
    arena_release(&definition->arena);
    mem_free(definition);
}

void board_drop(const struct board *board) {
    struct found *found = (struct found *)(uintptr_t)board;
    if (found == NULL || atomic_fetch_sub_explicit(&found->refs, 1, memory_order_acq_rel) != 1)
        return;
    definition_drop(found->definition);
    mem_free(found);
}

struct boards *boards_new(void) {
    struct boards *boards = mem_zalloc(sizeof(*boards));
    for (unsigned i = 0; i < PARTS; i++)
        pthread_mutex_init(&boards->parts[i].lock, NULL);
    return boards;
}

static void forget_definitions(struct part *part) {
    size_t at = 0;
    for (struct map_slot *slot; (slot = map_next(&part->definitions, &at)) != NULL;)
        definition_drop(slot->value);
    map_release(&part->definitions);
    part->definitions = (struct map){0};
}

void boards_free(struct boards *boards) {
    for (unsigned i = 0; i < PARTS; i++) {
        struct part *part = &boards->parts[i];
        for (size_t j = 0; j < part->count; j++)
            board_drop(&part->ring[j]->board);
        forget_definitions(part);
        map_release(&part->by_name);
        pthread_mutex_destroy(&part->lock);
    }
    mem_free(boards);
}

static struct part *part_of(struct game *game) {
    static atomic_uint threads;
    static _Thread_local unsigned mine = 0;
    if (mine == 0)
        mine = atomic_fetch_add(&threads, 1) + 1;
    return &game->boards->parts[mine % PARTS];
}

/* --- what was found before --- */

static struct found *look(struct part *part, struct bytes name) {
    pthread_mutex_lock(&part->lock);
    struct found *found = map_get(&part->by_name, name);
    if (found != NULL) {
        atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
        if (!found->used)
            found->used = true;
    }
    pthread_mutex_unlock(&part->lock);
    return found;
}

static uint64_t touched(struct game *game, struct bytes partition, uint32_t *where) {
    struct value key = value_string(partition);
    return engine_touched_where(game->engine, game->table, &key, where);
}

bool board_is_current(struct game *game, const struct board *board) {
    const struct found *found = (const struct found *)(const void *)board;
    return engine_touched_at(game->engine, found->where[1]) == board->touched[1] &&
           (!found->defines ||
            engine_touched_at(game->engine, found->where[0]) == board->touched[0]);
}

static bool is_fresh(struct game *game, const struct found *found) {
    if (found->timed) {
        int64_t now = clock_now_ms();
        if (now < found->board.period.starts_ms || now >= found->board.period.ends_ms)
            return false;
    }
    return board_is_current(game, &found->board);
}

/* Where the next one goes: the first that was not used since the hand last came by. */
static size_t make_room(struct part *part) {
    if (part->count < FOUND_MAX)
        return part->count++;
    for (;; part->hand = (part->hand + 1) % FOUND_MAX) {
        struct found *found = part->ring[part->hand];
        if (found->used) {
            found->used = false;
            continue;
        }
        map_del(&part->by_name, found->name);
        board_drop(&found->board);
        return part->hand;
    }
}

static void keep(struct part *part, struct found *found) {
    atomic_fetch_add(&found->refs, 1);
    pthread_mutex_lock(&part->lock);
    struct found *before = map_del(&part->by_name, found->name);
    if (before != NULL) {
        found->slot = before->slot;
        board_drop(&before->board);
    } else {
        found->slot = make_room(part);
    }
    part->ring[found->slot] = found;
    map_put(&part->by_name, found->name, found);
    pthread_mutex_unlock(&part->lock);
}

/* --- definitions --- */

static struct definition *look_definition(struct part *part, struct bytes id, uint64_t now) {
    pthread_mutex_lock(&part->lock);
    struct definition *definition = map_get(&part->definitions, id);
    if (definition != NULL && definition->touched != now)
        definition = NULL;
    if (definition != NULL)
        atomic_fetch_add(&definition->refs, 1);
    pthread_mutex_unlock(&part->lock);
    return definition;
}

static void keep_definition(struct part *part, struct definition *definition) {
    atomic_fetch_add(&definition->refs, 1);
    pthread_mutex_lock(&part->lock);
    if (part->definitions.count >= DEFINITIONS_MAX)
        forget_definitions(part);
    /* The key is the old one's own: it has to go first. */
    definition_drop(map_del(&part->definitions, definition->rules.id));
    map_put(&part->definitions, definition->rules.id, definition);
    pthread_mutex_unlock(&part->lock);
}

/* NULL with OK: there is none. */
static enum status find_definition(struct game *game, struct bytes id, uint64_t now,
                                   struct arena *arena, struct failure *failure,
                                   struct definition **out) {
    struct part *part = part_of(game);
    struct board_rules rules;
    *out = look_definition(part, id, now);
    if (*out != NULL)
        return OK;
    enum status status = board_definition_read(game, id, arena, failure, &rules);
    if (status != OK)
        return status == NOT_FOUND ? OK : status;
    struct definition *made = mem_zalloc(sizeof(*made));
    made->refs = 1;
    made->touched = now;
    arena_init(&made->arena);
    /* Once more, so that all of it is in the arena that stays. */
    struct item item = board_rules_item(&rules, arena), copy = item_copy(&made->arena, &item);
    status = board_rules_read(&copy, &made->arena, failure, &made->rules);
    if (status == OK)
        status = board_timing(game, &made->rules, &made->arena, failure, &made->timing);
    if (status != OK) {
        failure->text = arena_copy(arena, failure->text);
        definition_drop(made);
        return status;
    }
    struct bytes *feeds = ARENA_ARRAY(&made->arena, struct bytes, rules.feed_count + 1);
    for (uint32_t i = 0; i < rules.feed_count; i++)
        feeds[i] = arena_copy(&made->arena, rules.feeds[i]);
    made->rules.feeds = feeds;
    made->rules.feed_count = rules.feed_count;
    keep_definition(part, made);
    *out = made;
    return OK;
}

/* --- finding --- */

struct finding {
    struct game *game;
    struct bytes name;
    struct arena *arena;
    struct failure *failure;
    struct board_name parts;
    struct bytes instance, key; /* its name in full, and as a key */
    struct definition *definition;
    struct period period;
    bool timed;
    bool bare;    /* the name is an instance's, whatever the definition says; not kept */
    bool defines; /* its name may be a definition's, whose partition has */
    uint64_t touched;
    uint32_t where;
};

static enum status refuse_period(struct finding *finding) {
    if (finding->parts.has_period)
        return failure_set(finding->failure, finding->arena, INVALID,
                           "%.*s is not a period of board %.*s, which is %s",
                           BYTES_ARG(finding->parts.period), BYTES_ARG(finding->parts.id),
                           timeframe_name(finding->definition->rules.timeframe));
    return failure_set(finding->failure, finding->arena, INVALID,
                       "Board %.*s has no season at present", BYTES_ARG(finding->parts.id));
}

static enum status resolve(struct finding *finding) {
    const struct definition *definition = finding->definition;
    struct board_name *parts = &finding->parts;
    if (bytes_equal(parts->scope, BYTES("global")))
        parts->scope = (struct bytes){0};
    if (parts->has_scope && parts->scope.size != 0 && !board_is_id(parts->scope))
        return failure_set(finding->failure, finding->arena, INVALID,
                           "The scope of a board is 1 to %d of A-Z a-z 0-9 _ . : -", BOARD_ID_MAX);
    if (!board_has_scope(&definition->rules, parts->scope))
        return failure_set(finding->failure, finding->arena, INVALID,
                           "Board %.*s is not kept for scope %.*s", BYTES_ARG(parts->id),
                           BYTES_ARG(parts->scope.size != 0 ? parts->scope : BYTES("global")));
    enum status status =
        parts->has_period
            ? period_named(&definition->timing, parts->period, finding->arena, &finding->period)
            : period_at(&definition->timing, clock_now_ms(), finding->arena, &finding->period);
    if (status != OK)
        return refuse_period(finding);
    finding->timed = !parts->has_period && definition->rules.timeframe != FRAME_ALL;
    struct board_name full = {
        .id = parts->id, .scope = parts->scope, .period = finding->period.name};
    finding->instance = board_name_join(&full, finding->arena);
    return OK;
}

/* Finds out which instance it is. */
static enum status identify(struct finding *finding) {
    enum status status = OK;
    finding->parts = board_name_of(finding->name);
    finding->instance = finding->name;
    finding->period = (struct period){.ends_ms = INT64_MAX};
    if (finding->name.size > BOARD_NAME_MAX)
        return failure_set(finding->failure, finding->arena, INVALID,
                           "The name of a board has %zu bytes: at most %d can be",
                           finding->name.size, BOARD_NAME_MAX);
    if (!finding->bare && board_is_id(finding->parts.id)) {
        struct bytes pk = record_join(finding->arena, BOARDDEF, finding->parts.id);
        finding->defines = true;
        finding->touched = touched(finding->game, pk, &finding->where);
        status = find_definition(finding->game, finding->parts.id, finding->touched, finding->arena,
                                 finding->failure, &finding->definition);
        if (status == OK && finding->definition != NULL)
            status = resolve(finding);
    }
    return status != OK
               ? status
               : entry_key_of(finding->instance, finding->arena, finding->failure, &finding->key);
}

static struct bytes put_text(uint8_t **to, const char *prefix, struct bytes text) {
    size_t size = strlen(prefix);
    uint8_t *at = *to;
    memcpy(at, prefix, size);
    if (text.size != 0)
        memcpy(at + size, text.data, text.size);
    *to += size + text.size;
    return bytes_of(at, size + text.size);
}

static struct board_rules plain_rules(struct bytes name) {
    return (struct board_rules){.id = name,
                                .plain = true,
                                .order = ORDER_HIGH,
                                .keep = KEEP_LATEST,
                                .tie = TIE_MEMBER,
                                .ranking = RANK_ORDINAL,
                                .decimals = -1};
}

/* One piece of memory for all that is its own. */
static struct found *make_found(const struct finding *finding) {
    size_t size = finding->name.size + finding->instance.size + finding->key.size +
                  finding->parts.scope.size + finding->period.name.size + sizeof(BOARD);
    struct found *found = mem_zalloc(sizeof(*found) + size);
    uint8_t *to = found->text;
    struct board *board = &found->board;
    bool plain = finding->definition == NULL;
    found->refs = 1;
    found->used = true;
    found->timed = finding->timed;
    found->definition = finding->definition;
    found->name = put_text(&to, "", finding->name);
    board->instance = put_text(&to, "", finding->instance);
    board->pk = put_text(&to, BOARD, finding->key);
    board->period = finding->period;
    board->period.name = put_text(&to, "", finding->period.name);
    board->scope = put_text(&to, "", plain ? (struct bytes){0} : finding->parts.scope);
    board->rules = plain ? plain_rules(board->instance) : finding->definition->rules;
    found->defines = finding->defines;
    found->where[0] = finding->where;
    board->touched[0] = finding->touched;
    return found;
}

static enum status read_state(struct finding *finding, struct found *found) {
    struct game *game = finding->game;
    struct board *board = &found->board;
    struct get_reply reply;
    struct bytes pk = record_join(finding->arena, INSTANCE, finding->key);
    board->touched[1] = touched(game, pk, &found->where[1]);
    struct get_request request = {.table = game->table,
                                  .key = game_key(finding->arena, pk, BYTES("STATE")),
                                  .consistent = true};
    enum status status =
        engine_get(game->engine, &request, finding->arena, finding->failure, &reply);
    if (status != OK || !reply.found)
        return status;
    board->exists = true;
    board->clearing = item_get(&reply.item, BYTES("clearing")) != NULL;
    board->expires_ms = item_int(&reply.item, BYTES("expiresAt"));
    board->sealed_ms = item_int(&reply.item, BYTES("sealedAt"));
    return OK;
}

static enum status find_anew(struct finding *finding, const struct board **out) {
    enum status status = identify(finding);
    if (status != OK) {
        definition_drop(finding->definition);
        return status;
    }
    struct found *found = make_found(finding);
    status = read_state(finding, found);
    if (status != OK) {
        board_drop(&found->board);
        return status;
    }
    if (!finding->bare)
        keep(part_of(finding->game), found);
    *out = &found->board;
    return OK;
}

enum status board_find(struct game *game, struct bytes name, struct arena *arena,
                       struct failure *failure, const struct board **out) {
    struct found *found = look(part_of(game), name);
    if (found != NULL && is_fresh(game, found)) {
        *out = &found->board;
        return OK;
    }
    if (found != NULL)
        board_drop(&found->board);
    struct finding finding = {.game = game, .name = name, .arena = arena, .failure = failure};
    return find_anew(&finding, out);
}

enum status board_find_bare(struct game *game, struct bytes instance, struct arena *arena,
                            struct failure *failure, const struct board **out) {
    struct finding finding = {
        .game = game, .name = instance, .arena = arena, .failure = failure, .bare = true};
    return find_anew(&finding, out);
}

enum status board_find_part(struct game *game, struct bytes id, struct bytes scope,
                            struct bytes period, struct arena *arena, struct failure *failure,
                            const struct board **out) {
    struct board_name parts = {.id = id, .scope = scope, .period = period};
    const struct board *board;
    enum status status = board_find(game, board_name_join(&parts, arena), arena, failure, &board);
    if (status != OK)
        return status;
    if (!board_is_there(game, board, arena) ||
        (board->rules.plain && (scope.size != 0 || period.size != 0))) {
        board_drop(board);
        return failure_set(failure, arena, NOT_FOUND, "There is no board %.*s", BYTES_ARG(id));
    }
    *out = board;
    return OK;
}
