#include "ack_model.h"

#include "base/mem.h"
#include "table/change.h"
#include "table/engine.h"
#include "table/local/local.h"
#include "table/table_stream.h"
#include "value/number.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_MAX = 20000, SLOTS = 65536, KEY_SIZE = 120, GROUP_MAX = 32, NOTHING = -1 };

/* One item: which versions it may have, and, during a check, which it has. */
struct known {
    char key[KEY_SIZE];
    int64_t done;     /* acknowledged last; 0: absent */
    int64_t maybe[8]; /* sent since; the oldest are forgotten last */
    unsigned maybe_count;
    bool maybe_any; /* more were sent than are kept: any version is possible */
    int64_t found, streamed;
    uint32_t group; /* items written together have the same; 0: alone */
};

struct request {
    uint64_t id;
    int64_t version;
    uint32_t keys[GROUP_MAX], count;
};

struct ack_model {
    struct known *known; /* from 1 */
    uint32_t count;
    uint32_t slots[SLOTS]; /* by the key's hash; 0: free */
    struct request *requests;
    size_t request_count;
    uint64_t done;
};

struct ack_model *ack_model_new(void) {
    struct ack_model *model = mem_zalloc(sizeof(*model));
    model->known = mem_zalloc(sizeof(model->known[0]) * (KEYS_MAX + 1));
    return model;
}

void ack_model_free(struct ack_model *model) {
    mem_free(model->known);
    free(model->requests);
    mem_free(model);
}

uint64_t ack_model_done(const struct ack_model *model) {
    return model->done;
}

/* --- keys --- */

static uint32_t *slot_of(struct ack_model *model, const char *key) {
    uint32_t hash = 2166136261u;
    for (const char *at = key; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    for (uint32_t i = hash % SLOTS;; i = (i + 1) % SLOTS)
        if (model->slots[i] == 0 || strcmp(model->known[model->slots[i]].key, key) == 0)
            return &model->slots[i];
}

static uint32_t key_number(struct ack_model *model, const char *key) {
    uint32_t *slot = slot_of(model, key);
    if (*slot != 0)
        return *slot;
    if (model->count == KEYS_MAX || strlen(key) >= KEY_SIZE) {
        fprintf(stderr, "too many keys, or too long a one: %s\n", key);
        exit(2);
    }
    *slot = ++model->count;
    snprintf(model->known[*slot].key, KEY_SIZE, "%s", key);
    return *slot;
}

/* --- marks --- */

static void maybe_add(struct known *known, int64_t version) {
    unsigned room = sizeof(known->maybe) / sizeof(known->maybe[0]);
    if (known->maybe_count < room)
        known->maybe[known->maybe_count++] = version;
    else
        known->maybe_any = true;
}

static void on_begin(struct ack_model *model, char *rest) {
    struct request request = {.id = strtoull(rest, &rest, 10)};
    request.version = strtoll(rest, &rest, 10);
    for (char *key = strtok(rest, "\t"); key != NULL && request.count < GROUP_MAX;
         key = strtok(NULL, "\t"))
        request.keys[request.count++] = key_number(model, key);
    for (uint32_t i = 0; i < request.count; i++) {
        struct known *known = &model->known[request.keys[i]];
        maybe_add(known, request.version);
        known->group = request.count > 1 ? request.keys[0] : 0;
    }
    model->requests = realloc(model->requests, (model->request_count + 1) * sizeof(request));
    if (model->requests == NULL)
        abort();
    model->requests[model->request_count++] = request;
}

static void on_end(struct ack_model *model, uint64_t id, bool done) {
    for (size_t i = model->request_count; i-- > 0;) {
        struct request request = model->requests[i];
        if (request.id != id)
            continue;
        model->requests[i] = model->requests[--model->request_count];
        for (uint32_t k = 0; done && k < request.count; k++) {
            struct known *known = &model->known[request.keys[k]];
            known->done = request.version;
            known->maybe_count = 0;
            known->maybe_any = false;
        }
        model->done += done;
        return;
    }
}

void ack_model_mark(struct ack_model *model, const char *text, size_t size) {
    char *line = strndup(text, size);
    if (line == NULL)
        abort();
    if (strncmp(line, "begin\t", 6) == 0)
        on_begin(model, line + 6);
    else if (strncmp(line, "done\t", 5) == 0)
        on_end(model, strtoull(line + 5, NULL, 10), true);
    else if (strncmp(line, "failed\t", 7) == 0)
        on_end(model, strtoull(line + 7, NULL, 10), false);
    free(line);
}

/* --- reading a folder --- */

static const struct value *attribute(const struct item *item, const char *name) {
    for (uint32_t i = 0; i < item->count; i++)
        if (bytes_equal(item->pairs[i].name, bytes_str(name)))
            return &item->pairs[i].value;
    return NULL;
}

static size_t put_value(char *to, size_t room, const struct value *value) {
    char number[NUMBER_MAX_TEXT];
    if (value == NULL)
        return 0;
    struct bytes text = value->bytes;
    if (value->type == VALUE_N)
        text = bytes_of(number, number_text(value->bytes, number));
    return (size_t)snprintf(to, room, "/%.*s", BYTES_ARG(text));
}

/* "table/partition/sort" */
static void item_key(struct bytes table, const struct item *item, char *to) {
    const struct value *partition = attribute(item, "pk"), *sort = attribute(item, "sk");
    if (partition == NULL) {
        partition = attribute(item, "PK");
        sort = attribute(item, "SK");
    }
    size_t size = (size_t)snprintf(to, KEY_SIZE, "%.*s", BYTES_ARG(table));
    if (size < KEY_SIZE)
        size += put_value(to + size, KEY_SIZE - size, partition);
    if (size < KEY_SIZE)
        put_value(to + size, KEY_SIZE - size, sort);
}

static int64_t item_version(const struct item *item) {
    const struct value *value = attribute(item, "version");
    int64_t version = NOTHING;
    if (value == NULL)
        value = attribute(item, "score");
    const struct value *text = attribute(item, "value"); /* a Redis string */
    char digits[24] = "";
    if (value == NULL && text != NULL && text->type == VALUE_S &&
        text->bytes.size < sizeof(digits)) {
        memcpy(digits, text->bytes.data, text->bytes.size);
        return strtoll(digits, NULL, 10);
    }
    if (value == NULL || value->type != VALUE_N || !number_to_int(value->bytes, &version))
        return NOTHING;
    return version;
}

/* What the driver put into an item with its version: so many x. */
static bool item_whole(const struct item *item) {
    const struct value *filler = attribute(item, "filler");
    return filler == NULL || filler->bytes.size == (size_t)(item_version(item) % 300);
}

struct reading {
    struct ack_model *model;
    struct engine *engine;
    struct arena arena;
    struct failure failure;
    uint64_t faults;
};

static struct scope scope_of(struct reading *reading) {
    return (struct scope){&reading->arena, &reading->failure};
}

#define FAULT(reading, ...)               \
    do {                                  \
        if ((reading)->faults++ < 10) {   \
            fprintf(stderr, "    ");      \
            fprintf(stderr, __VA_ARGS__); \
            fputc('\n', stderr);          \
        }                                 \
    } while (0)

static void read_item(struct reading *reading, struct bytes table, const struct item *item) {
    char key[KEY_SIZE];
    item_key(table, item, key);
    uint32_t number = *slot_of(reading->model, key);
    if (number == 0) {
        if (strncmp(key, "gametable/", 10) != 0) /* the game has items of its own */
            FAULT(reading, "%s was never written", key);
        return;
    }
    reading->model->known[number].found = item_version(item);
    if (!item_whole(item))
        FAULT(reading, "%s: half an item of version %lld", key, (long long)item_version(item));
}

static void read_table(struct reading *reading, struct bytes table) {
    struct page_request request = {.table = table, .consistent = true};
    struct page_reply reply = {0};
    struct item start;
    do {
        enum status status = engine_page(reading->engine, &request, scope_of(reading), &reply);
        if (status != OK) {
            FAULT(reading, "scan of %.*s: %.*s", BYTES_ARG(table),
                  BYTES_ARG(reading->failure.text));
            return;
        }
        for (uint64_t i = 0; i < reply.count; i++)
            read_item(reading, table, &reply.items[i]);
        start = reply.last_key;
        request.start = &start;
    } while (reply.more);
}

static void read_tables(struct reading *reading) {
    struct list_request request = {.limit = 100};
    struct name_list list = {0};
    if (engine_list(reading->engine, &request, &reading->arena, &list) != OK)
        FAULT(reading, "the tables cannot be listed");
    for (size_t i = 0; i < list.count; i++)
        read_table(reading, list.names[i]);
}

/* --- streams --- */

static void read_record(struct reading *reading, struct bytes table,
                        const struct stream_record *record) {
    char key[KEY_SIZE];
    item_key(table, &record->keys, key);
    uint32_t number = *slot_of(reading->model, key);
    if (number == 0)
        return;
    struct known *known = &reading->model->known[number];
    int64_t old = record->has_old ? item_version(&record->old) : 0;
    if (old != known->streamed)
        FAULT(reading, "%s: the stream's record %llu is of a change from %lld, before it was %lld",
              key, (unsigned long long)record->sequence, (long long)old,
              (long long)known->streamed);
    known->streamed = record->has_new ? item_version(&record->new) : 0;
}

static void read_shard(struct reading *reading, const struct stream_info *info, unsigned shard) {
    struct stream_read_request request = {.table = info->table,
                                          .label_ms = info->label_ms,
                                          .shard = shard,
                                          .from = info->first,
                                          .limit = 1000};
    struct stream_read_reply reply = {0};
    do {
        enum status status =
            engine_stream_read(reading->engine, &request, scope_of(reading), &reply);
        if (status != OK) {
            FAULT(reading, "stream of %.*s: %.*s", BYTES_ARG(info->table),
                  BYTES_ARG(reading->failure.text));
            return;
        }
        for (size_t i = 0; i < reply.count; i++)
            read_record(reading, info->table, &reply.records[i]);
        request.from = reply.next;
    } while (!reply.caught_up && !reply.ended && !reply.trimmed);
}

static void read_streams(struct reading *reading) {
    struct stream_list_request request = {.limit = 100};
    struct stream_list list = {0};
    if (engine_streams(reading->engine, &request, &reading->arena, &list) != OK)
        FAULT(reading, "the streams cannot be listed");
    for (size_t i = 0; i < list.count; i++)
        for (unsigned shard = 0; shard < list.streams[i].shards; shard++)
            read_shard(reading, &list.streams[i], shard);
}

/* --- holding it against the model --- */

static bool version_allowed(const struct known *known) {
    bool allowed = known->found == known->done || known->maybe_any;
    for (unsigned i = 0; i < known->maybe_count; i++)
        allowed = allowed || known->found == known->maybe[i];
    return allowed;
}

static void judge(struct reading *reading) {
    const struct ack_model *model = reading->model;
    for (uint32_t i = 1; i <= model->count; i++) {
        const struct known *known = &model->known[i];
        if (!version_allowed(known))
            FAULT(reading, "%s has version %lld, acknowledged was %lld", known->key,
                  (long long)known->found, (long long)known->done);
        if (known->group != 0 && known->found != model->known[known->group].found)
            FAULT(reading, "%s has version %lld, %s that was written with it %lld", known->key,
                  (long long)known->found, model->known[known->group].key,
                  (long long)model->known[known->group].found);
        if (known->streamed != known->found)
            FAULT(reading, "%s has version %lld, the stream ends with %lld", known->key,
                  (long long)known->found, (long long)known->streamed);
    }
}

static bool reading_open(struct reading *reading, const char *path) {
    struct local_settings settings = {
        .store.path = path, .cache_memory = 1024 * 1024, .threads = 1};
    if (local_open(&settings, scope_of(reading), &reading->engine) == OK)
        return true;
    FAULT(reading, "cannot be opened: %.*s", BYTES_ARG(reading->failure.text));
    return false;
}

static void read_all(struct reading *reading) {
    for (uint32_t i = 1; i <= reading->model->count; i++)
        reading->model->known[i].found = reading->model->known[i].streamed = 0;
    read_tables(reading);
    read_streams(reading);
    judge(reading);
}

/* --- what else --- */

static void on_fault(struct bytes sentence, void *context) {
    struct reading *reading = context;
    FAULT(reading, "verify: %.*s", BYTES_ARG(sentence));
}

static void on_progress(uint64_t done, uint64_t total, void *context) {
    (void)done, (void)total, (void)context;
}

static void run_verify(struct reading *reading, const char *path) {
    struct verify_settings settings = {
        .path = path, .progress = on_progress, .found = on_fault, .context = reading};
    struct verify_report report = {0};
    char *mark = NULL;
    /* A folder that was not finished being made has nothing to look at. */
    if (asprintf(&mark, "%s/MAKING", path) < 0)
        abort();
    FILE *making = fopen(mark, "re");
    snprintf(mark, strlen(path) + 8, "%s/FORMAT", path);
    FILE *format = fopen(mark, "re");
    if (making == NULL && format != NULL &&
        local_verify(&settings, scope_of(reading), &report) != OK)
        FAULT(reading, "verify: %.*s", BYTES_ARG(reading->failure.text));
    if (making != NULL)
        fclose(making);
    if (format != NULL)
        fclose(format);
    free(mark);
}

static void write_done(struct change *change) {
    sem_post(change->user);
}

/* Puts an item of the key's own version plus one that everybody agrees on. */
static void write_one(struct reading *reading, struct known *known) {
    char partition[KEY_SIZE];
    snprintf(partition, sizeof(partition), "%s", strchr(known->key, '/') + 1);
    *strrchr(partition, '/') = '\0';
    int64_t version = known->found + 300000;
    struct pair pairs[] = {
        {BYTES("pk"), {.type = VALUE_S, .bytes = bytes_str(partition)}},
        {BYTES("sk"), {.type = VALUE_N, .bytes = number_from_int(&reading->arena, 1)}},
        {BYTES("version"), {.type = VALUE_N, .bytes = number_from_int(&reading->arena, version)}}};
    struct action action = {.kind = ACTION_PUT, .table = BYTES("crash"), .item = {pairs, 3}};
    struct change change = {
        .kind = CHANGE_WRITE, .arena = &reading->arena, .actions = &action, .action_count = 1};
    sem_t done;
    sem_init(&done, 0, 0);
    change.done = write_done;
    change.user = &done;
    engine_submit(reading->engine, &change);
    while (sem_wait(&done) != 0)
        ;
    sem_destroy(&done);
    if (change.failure.status != OK)
        FAULT(reading, "takes no write: %.*s", BYTES_ARG(change.failure.text));
    known->done = version;
    known->maybe_count = 0;
}

/* What was found is what must stay. */
void ack_model_settle(struct ack_model *model) {
    for (uint32_t i = 1; i <= model->count; i++) {
        model->known[i].done = model->known[i].found;
        model->known[i].maybe_count = 0;
        model->known[i].maybe_any = false;
    }
}

static void write_again(struct reading *reading, const char *path) {
    struct table_description description;
    struct ack_model *model = reading->model;
    ack_model_settle(model);
    if (engine_describe(reading->engine, BYTES("crash"), scope_of(reading), &description) == OK)
        for (uint32_t i = 1; i <= model->count; i++)
            if (strncmp(model->known[i].key, "crash/", 6) == 0 && model->known[i].group == 0) {
                write_one(reading, &model->known[i]);
                break;
            }
    engine_close(reading->engine);
    reading->engine = NULL;
    if (reading_open(reading, path))
        read_all(reading);
}

bool ack_model_check(const struct ack_model *model, const struct ack_check *check) {
    /* What is found is noted in the model, which is the caller's; this process has its own copy. */
    struct reading reading = {.model = (struct ack_model *)(uintptr_t)model};
    arena_init(&reading.arena);
    if (check->verify)
        run_verify(&reading, check->path);
    if (reading_open(&reading, check->path))
        read_all(&reading);
    if (reading.engine != NULL && check->write_again && reading.faults == 0)
        write_again(&reading, check->path);
    if (reading.engine != NULL)
        engine_close(reading.engine);
    arena_release(&reading.arena);
    return reading.faults == 0;
}

bool ack_model_check_engine(struct ack_model *model, struct engine *engine) {
    struct reading reading = {.model = model, .engine = engine};
    arena_init(&reading.arena);
    read_all(&reading);
    arena_release(&reading.arena);
    return reading.faults == 0;
}

bool ack_model_verify(const char *path) {
    struct reading reading = {0};
    arena_init(&reading.arena);
    run_verify(&reading, path);
    arena_release(&reading.arena);
    return reading.faults == 0;
}
