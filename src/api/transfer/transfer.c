#include "api/transfer/transfer.h"

#include "api/transfer/transfer_job.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct transfer {
    struct engine *engine;
    char *folder, *records;
    struct background *background;
    atomic_bool stop;
    pthread_mutex_t lock;
    struct job *jobs; /* latest first; under lock */
    size_t count;
};

/* --- records --- */

/* With the figures as they are. The caller holds the lock, or nobody else has the job. */
static struct job_view view_of(const struct job *job) {
    struct job_view view = job->view;
    if (view.state != JOB_RUNNING)
        return view;
    if (view.kind == JOB_EXPORT) {
        view.loaded = atomic_load(&job->export.items);
        view.size = atomic_load(&job->export.size);
        return view;
    }
    view.processed = atomic_load(&job->figures.processed);
    view.loaded = atomic_load(&job->figures.loaded);
    view.refused = atomic_load(&job->figures.refused);
    view.size = atomic_load(&job->figures.size);
    return view;
}

static char *record_path(const struct transfer *transfer, const char *id) {
    char name[JOB_ID_SIZE + 8];
    snprintf(name, sizeof(name), "%s.json", id);
    return files_join(transfer->records, name);
}

/* A job that cannot be written down goes on all the same. */
static void remember(const struct job *job) {
    const struct transfer *transfer = job->transfer;
    if (transfer->records == NULL || job->view.kind == JOB_RESTORE)
        return;
    struct job_view view = view_of(job);
    struct buf text = {0};
    job_encode(&view, &text);
    char *path = record_path(transfer, job->id);
    if (files_make_path(transfer->records) != 0 || files_put(path, buf_bytes(&text)) != 0)
        log_warn("the record %s cannot be written: %s", path, strerror(errno));
    mem_free(path);
    buf_release(&text);
}

static void job_free(struct job *job) {
    arena_release(&job->arena);
    mem_free(job);
}

/* The caller holds the lock. */
static void add_job(struct transfer *transfer, struct job *job) {
    job->next = transfer->jobs;
    transfer->jobs = job;
    transfer->count++;
    struct job **link = &transfer->jobs;
    while ((*link)->next != NULL)
        link = &(*link)->next;
    struct job *oldest = *link;
    if (transfer->count <= LIMIT_JOBS || oldest->view.state == JOB_RUNNING)
        return;
    *link = NULL;
    transfer->count--;
    if (transfer->records != NULL) {
        char *path = record_path(transfer, oldest->id);
        files_remove(path);
        mem_free(path);
    }
    job_free(oldest);
}

/* --- loading the records --- */

static struct job *load_one(struct transfer *transfer, const char *name) {
    struct job *job = mem_zalloc(sizeof(*job));
    struct bytes text;
    arena_init(&job->arena);
    job->transfer = transfer;
    char *path = files_join(transfer->records, name);
    bool good = files_get(path, LIMIT_TRANSFER_RECORD, &job->arena, &text) == 0 &&
                job_decode(text, &job->arena, &job->view) &&
                strncmp(name, (const char *)job->view.id.data, JOB_ID_SIZE) == 0;
    mem_free(path);
    if (!good) {
        job_free(job);
        return NULL;
    }
    memcpy(job->id, job->view.id.data, JOB_ID_SIZE);
    if (job->view.state == JOB_RUNNING) {
        job->view.state = JOB_FAILED;
        job->view.fault = BYTES("The server stopped before it was done.");
        job->view.ended_ms = clock_now_ms();
    }
    return job;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_record(const struct dirent *entry) {
    size_t size = strlen(entry->d_name);
    return size == JOB_ID_SIZE + 5 && strcmp(entry->d_name + JOB_ID_SIZE, ".json") == 0;
}

static void load_records(struct transfer *transfer) {
    struct dirent **names = NULL;
    int count = scandir(transfer->records, &names, is_record, by_name);
    for (int i = 0; i < count; i++) {
        struct job *job = load_one(transfer, names[i]->d_name);
        if (job != NULL)
            add_job(transfer, job);
        free(names[i]);
    }
    free(names);
}

/* --- the whole --- */

static char *copy_text(const char *text) {
    return text == NULL ? NULL : mem_str(text);
}

struct transfer *transfer_new(struct engine *engine, const struct transfer_settings *settings) {
    struct transfer *transfer = mem_zalloc(sizeof(*transfer));
    transfer->engine = engine;
    transfer->folder = copy_text(settings->folder);
    transfer->records = copy_text(settings->records);
    transfer->background = background_new();
    pthread_mutex_init(&transfer->lock, NULL);
    if (transfer->records != NULL)
        load_records(transfer);
    return transfer;
}

void transfer_stop(struct transfer *transfer) {
    atomic_store(&transfer->stop, true);
    background_stop(transfer->background);
}

void transfer_free(struct transfer *transfer) {
    transfer_stop(transfer);
    background_free(transfer->background);
    while (transfer->jobs != NULL) {
        struct job *gone = transfer->jobs;
        transfer->jobs = gone->next;
        job_free(gone);
    }
    pthread_mutex_destroy(&transfer->lock);
    mem_free(transfer->folder);
    mem_free(transfer->records);
    mem_free(transfer);
}

struct background *transfer_background(struct transfer *transfer) {
    return transfer->background;
}

/* --- running --- */

static void finish_job(struct job *job, enum status status, const struct failure *failure) {
    struct transfer *transfer = job->transfer;
    pthread_mutex_lock(&transfer->lock);
    struct job_view view = view_of(job);
    view.state = status == OK ? JOB_DONE : JOB_FAILED;
    view.ended_ms = clock_now_ms();
    if (status != OK)
        view.fault = arena_copy(&job->arena, failure->text);
    job->view = view;
    remember(job);
    pthread_mutex_unlock(&transfer->lock);
    if (status != OK)
        log_warn("a job on table %.*s failed: %.*s", BYTES_ARG(view.table),
                 BYTES_ARG(failure->text));
}

static void run_export(struct job *job, struct arena *arena) {
    struct failure failure = {0};
    job->export.reader = job->reader;
    enum status status = export_run(&job->export, (struct scope){arena, &failure});
    job->reader->close(job->reader);
    finish_job(job, status, &failure);
}

static enum status load_from(struct job *job, struct source *source, struct scope in) {
    struct load load = {.engine = job->transfer->engine,
                        .source = source,
                        .stop = &job->transfer->stop,
                        .figures = &job->figures};
    return load_table(&load, &job->schema, true, in);
}

static void run_restore(struct job *job, struct arena *arena) {
    struct failure failure = {0};
    job->reader->stop = &job->transfer->stop;
    struct source *source = table_source_new(job->reader);
    enum status status = load_from(job, source, (struct scope){arena, &failure});
    table_source_free(source);
    finish_job(job, status, &failure);
}

static void run_import(struct job *job, struct arena *arena) {
    struct failure failure = {0};
    struct file_list files = {0};
    char *bucket = arena_str(arena, job->bucket), *prefix = arena_str(arena, job->prefix);
    char *folder = files_join(job->transfer->folder, bucket);
    enum status status = files_with_prefix(&files, folder, prefix, (struct scope){arena, &failure});
    job->files.files = &files;
    job->files.schema = &job->schema;
    struct source *source = file_source_new(&job->files);
    if (status == OK)
        status = load_from(job, source, (struct scope){arena, &failure});
    else
        load_abandon(job->transfer->engine, job->schema.name, arena);
    file_source_free(source);
    file_list_release(&files);
    mem_free(folder);
    finish_job(job, status, &failure);
}

static void job_main(void *argument) {
    struct job *job = argument;
    struct arena arena;
    arena_init(&arena);
    switch (job->view.kind) {
    case JOB_EXPORT:
        run_export(job, &arena);
        break;
    case JOB_IMPORT:
        run_import(job, &arena);
        break;
    case JOB_RESTORE:
        run_restore(job, &arena);
        break;
    }
    arena_release(&arena);
}

/* --- starting --- */

static struct job *job_new(struct transfer *transfer, enum job_kind kind, struct bytes table) {
    struct job *job = mem_zalloc(sizeof(*job));
    uint32_t random;
    arena_init(&job->arena);
    random_secure(&random, sizeof(random));
    job->transfer = transfer;
    job->view.kind = kind;
    job->view.started_ms = clock_now_ms();
    snprintf(job->id, sizeof(job->id), "%014llu-%08x",
             (unsigned long long)job->view.started_ms % 100000000000000ULL, random);
    job->view.id = bytes_of(job->id, JOB_ID_SIZE);
    job->view.table = arena_copy(&job->arena, table);
    return job;
}

/* The caller holds the lock. */
static bool may_start(const struct transfer *transfer) {
    unsigned running = 0;
    for (const struct job *job = transfer->jobs; job != NULL; job = job->next)
        running += job->view.state == JOB_RUNNING;
    return running < LIMIT_JOBS_RUNNING;
}

static enum status start_job(struct job *job, struct scope in, struct job_view *out) {
    struct transfer *transfer = job->transfer;
    *out = job->view;
    out->id = arena_copy(in.arena, job->view.id);
    pthread_mutex_lock(&transfer->lock);
    bool may = may_start(transfer);
    if (may)
        add_job(transfer, job);
    pthread_mutex_unlock(&transfer->lock);
    if (may) {
        remember(job);
        if (background_run(transfer->background, job_main, job))
            return OK;
    }
    failure_set(in.failure, in.arena, LIMIT_EXCEEDED,
                "Too many restores, exports and imports are under way: there is a limit of %d.",
                LIMIT_JOBS_RUNNING);
    if (may)
        finish_job(job, LIMIT_EXCEEDED, in.failure);
    else
        job_free(job);
    return LIMIT_EXCEEDED;
}

static void take_words(struct job *job, struct bytes table_id, struct bytes details,
                       struct bytes token) {
    job->view.table_id = arena_copy(&job->arena, table_id);
    job->view.details = arena_copy(&job->arena, details);
    job->view.token = arena_copy(&job->arena, token);
}

enum status transfer_export(struct transfer *transfer, const struct export_order *order,
                            struct scope in, struct job_view *out) {
    const struct table_description *about = &order->reader->about;
    struct job *job = job_new(transfer, JOB_EXPORT, about->schema.name);
    struct arena *own = &job->arena;
    take_words(job, about->id, order->details, order->token);
    job->reader = order->reader;
    job->export.format = order->format;
    job->export.stop = &transfer->stop;
    job->export.time_ms = order->time_ms;
    job->export.bucket = arena_copy(own, order->bucket);
    job->export.prefix = arena_copy(own, order->prefix);
    job->export.table_arn = arena_copy(own, order->table_arn);
    job->export.arn = arena_printf(own, "%.*s/export/%s", BYTES_ARG(order->table_arn), job->id);
    job->export.place = arena_printf(own, "%.*s%sAWSDynamoDB/%s", BYTES_ARG(order->prefix),
                                     order->prefix.size != 0 ? "/" : "", job->id);
    job->export.folder =
        (const char *)arena_printf(own, "%s/%.*s/%.*s%c", transfer->folder,
                                   BYTES_ARG(order->bucket), BYTES_ARG(job->export.place), 0)
            .data;
    return start_job(job, in, out);
}

enum status transfer_import(struct transfer *transfer, const struct import_order *order,
                            struct scope in, struct job_view *out) {
    struct job *job = job_new(transfer, JOB_IMPORT, order->schema->name);
    struct arena *own = &job->arena;
    take_words(job, order->table_id, order->details, order->token);
    job->schema = table_schema_copy(own, order->schema);
    job->bucket = arena_copy(own, order->bucket);
    job->prefix = arena_copy(own, order->prefix);
    job->files.format = order->format;
    job->files.delimiter = order->delimiter;
    if (order->header_count != 0) {
        struct bytes *header = ARENA_ARRAY(own, struct bytes, order->header_count);
        for (size_t i = 0; i < order->header_count; i++)
            header[i] = arena_copy(own, order->header[i]);
        job->files.header = header;
        job->files.header_count = order->header_count;
    }
    return start_job(job, in, out);
}

enum status transfer_restore(struct transfer *transfer, const struct restore_order *order,
                             struct scope in) {
    struct job *job = job_new(transfer, JOB_RESTORE, order->schema->name);
    struct job_view view;
    job->schema = table_schema_copy(&job->arena, order->schema);
    job->reader = order->reader;
    return start_job(job, in, &view);
}

/* --- looking --- */

static struct job_view copy_view(const struct job *job, struct arena *arena) {
    struct job_view view = view_of(job);
    view.id = arena_copy(arena, view.id);
    view.table = arena_copy(arena, view.table);
    view.table_id = arena_copy(arena, view.table_id);
    view.token = arena_copy(arena, view.token);
    view.details = arena_copy(arena, view.details);
    view.fault = arena_copy(arena, view.fault);
    return view;
}

static bool has_key(const struct job *job, const struct job_key *key) {
    return job->view.kind == key->kind &&
           (key->id.size == 0 || bytes_equal(job->view.id, key->id)) &&
           (key->token.size == 0 || bytes_equal(job->view.token, key->token));
}

enum status transfer_find(struct transfer *transfer, const struct job_key *key, struct arena *arena,
                          struct job_view *out) {
    if (key->id.size == 0 && key->token.size == 0)
        return NO_RESOURCE;
    enum status status = NO_RESOURCE;
    pthread_mutex_lock(&transfer->lock);
    for (struct job *job = transfer->jobs; job != NULL && status != OK; job = job->next) {
        if (!has_key(job, key))
            continue;
        *out = copy_view(job, arena);
        status = OK;
    }
    pthread_mutex_unlock(&transfer->lock);
    return status;
}

static int by_id(const void *a, const void *b) {
    return bytes_compare(((const struct job_view *)a)->id, ((const struct job_view *)b)->id);
}

void transfer_list(struct transfer *transfer, const struct job_filter *filter, struct arena *arena,
                   struct job_list *out) {
    *out = (struct job_list){0};
    pthread_mutex_lock(&transfer->lock);
    out->jobs = ARENA_ARRAY(arena, struct job_view, transfer->count + 1);
    for (struct job *job = transfer->jobs; job != NULL; job = job->next) {
        if (job->view.kind != filter->kind ||
            (filter->table.size != 0 && !bytes_equal(job->view.table, filter->table)) ||
            (filter->after.size != 0 && bytes_compare(job->view.id, filter->after) <= 0))
            continue;
        out->jobs[out->count++] = copy_view(job, arena);
    }
    pthread_mutex_unlock(&transfer->lock);
    qsort(out->jobs, out->count, sizeof(*out->jobs), by_id);
    out->more = filter->limit != 0 && out->count > filter->limit;
    if (out->more)
        out->count = filter->limit;
}
