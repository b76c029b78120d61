#include "api/transfer/table_load.h"

#include "base/limits.h"
#include "base/mem.h"

#include <pthread.h>
#include <unistd.h>

enum {
    SLOTS = 1024, /* writes in flight: as many as one commit takes */
    BUSY_NAP_US = 2000,
    PROGRESS_EVERY = 256, /* records */
    DELETE_TRIES = 40,
    DELETE_NAP_US = 250 * 1000,
};

/* One write: its change, and the memory of its item. */
struct slot {
    struct slot *next;
    struct loader *loader;
    struct change change;
    struct action action;
    struct arena arena;
    size_t size; /* of the item */
};

struct loader {
    struct load *load;
    struct slot *slots;
    struct change_source order, *source; /* of its changes: the engine's, and where that is */
    pthread_mutex_t lock;
    pthread_cond_t freed;
    /* under lock */
    struct slot *free, *again; /* `again`: the writer was busy */
    size_t in_flight, size_in_flight;
    enum status status; /* the first fault that ends it */
    struct arena arena; /* texts */
    struct bytes text, refusal;
};

/* --- one write --- */

static void keep_text(struct loader *loader, struct bytes *to, struct bytes text) {
    if (to->size == 0)
        *to = arena_copy(&loader->arena, text);
}

/* The caller holds the lock. */
static void account(struct loader *loader, const struct change *change) {
    struct load_figures *figures = loader->load->figures;
    enum status status = change->failure.status;
    if (status == OK)
        atomic_fetch_add_explicit(&figures->loaded, 1, memory_order_relaxed);
    else if (status == INVALID) {
        atomic_fetch_add_explicit(&figures->refused, 1, memory_order_relaxed);
        keep_text(loader, &loader->refusal, change->failure.text);
    } else if (loader->status == OK) {
        loader->status = status;
        keep_text(loader, &loader->text, change->failure.text);
    }
}

/* change.done: on the engine's writer thread, or on this one. */
static void slot_done(struct change *change) {
    struct slot *slot = change->user;
    struct loader *loader = slot->loader;
    bool busy = change->failure.status == BUSY;
    pthread_mutex_lock(&loader->lock);
    if (!busy)
        account(loader, change);
    struct slot **list = busy ? &loader->again : &loader->free;
    slot->next = *list;
    *list = slot;
    loader->in_flight--;
    loader->size_in_flight -= slot->size;
    pthread_cond_signal(&loader->freed);
    pthread_mutex_unlock(&loader->lock);
}

/* Not by change_submit.h: this thread reads on while up to SLOTS writes are under way, and none of
 * them comes back to it by itself. */
static void slot_submit(struct slot *slot) {
    struct loader *loader = slot->loader;
    pthread_mutex_lock(&loader->lock);
    loader->in_flight++;
    loader->size_in_flight += slot->size;
    pthread_mutex_unlock(&loader->lock);
    engine_submit(loader->load->engine, &slot->change);
}

/* Tries those again that found the writer busy. */
static void submit_again(struct loader *loader) {
    pthread_mutex_lock(&loader->lock);
    struct slot *again = loader->again;
    loader->again = NULL;
    pthread_mutex_unlock(&loader->lock);
    if (again != NULL)
        usleep(BUSY_NAP_US);
    while (again != NULL) {
        struct slot *slot = again;
        again = slot->next;
        slot_submit(slot);
    }
}

/* A slot whose arena is empty. */
static struct slot *slot_take(struct loader *loader) {
    struct slot *slot = NULL;
    while (slot == NULL) {
        submit_again(loader);
        pthread_mutex_lock(&loader->lock);
        while (loader->again == NULL &&
               (loader->free == NULL || loader->size_in_flight >= LIMIT_LOAD_WAITING))
            pthread_cond_wait(&loader->freed, &loader->lock);
        if (loader->again == NULL) {
            slot = loader->free;
            loader->free = slot->next;
        }
        pthread_mutex_unlock(&loader->lock);
    }
    arena_reset(&slot->arena);
    return slot;
}

static void slot_give_back(struct slot *slot) {
    struct loader *loader = slot->loader;
    pthread_mutex_lock(&loader->lock);
    slot->next = loader->free;
    loader->free = slot;
    pthread_mutex_unlock(&loader->lock);
}

static void slot_put(struct slot *slot, struct item item) {
    struct load *load = slot->loader->load;
    slot->size = item_size(&item);
    slot->action = (struct action){.kind = ACTION_PUT, .table = load->table, .item = item};
    slot->change = (struct change){.kind = CHANGE_WRITE,
                                   .sources = &slot->loader->source,
                                   .source_count = 1,
                                   .arena = &slot->arena,
                                   .done = slot_done,
                                   .user = slot,
                                   .actions = &slot->action,
                                   .action_count = 1,
                                   .loading = load->loading};
    slot_submit(slot);
}

/* --- all of them --- */

static void loader_init(struct loader *loader, struct load *load) {
    *loader = (struct loader){.load = load};
    loader->source = &loader->order;
    loader->slots = mem_zalloc(SLOTS * sizeof(struct slot));
    pthread_mutex_init(&loader->lock, NULL);
    pthread_cond_init(&loader->freed, NULL);
    arena_init(&loader->arena);
    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &loader->slots[i];
        arena_init(&slot->arena);
        slot->loader = loader;
        slot->next = loader->free;
        loader->free = slot;
    }
}

static void loader_release(struct loader *loader) {
    for (size_t i = 0; i < SLOTS; i++)
        arena_release(&loader->slots[i].arena);
    arena_release(&loader->arena);
    pthread_cond_destroy(&loader->freed);
    pthread_mutex_destroy(&loader->lock);
    mem_free(loader->slots);
}

static void loader_wait(struct loader *loader) {
    bool more = true;
    while (more) {
        submit_again(loader);
        pthread_mutex_lock(&loader->lock);
        while (loader->again == NULL && loader->in_flight != 0)
            pthread_cond_wait(&loader->freed, &loader->lock);
        more = loader->again != NULL;
        pthread_mutex_unlock(&loader->lock);
    }
}

static enum status loader_status(struct loader *loader) {
    const atomic_bool *stop = loader->load->stop;
    if (stop != NULL && atomic_load_explicit(stop, memory_order_relaxed))
        return STOPPING;
    pthread_mutex_lock(&loader->lock);
    enum status status = loader->status;
    pthread_mutex_unlock(&loader->lock);
    return status;
}

static void refuse_record(struct loader *loader, struct bytes text) {
    atomic_fetch_add_explicit(&loader->load->figures->refused, 1, memory_order_relaxed);
    pthread_mutex_lock(&loader->lock);
    keep_text(loader, &loader->refusal, text);
    pthread_mutex_unlock(&loader->lock);
}

static void report_progress(const struct load *load, uint64_t processed) {
    atomic_store_explicit(&load->figures->processed, processed, memory_order_relaxed);
    atomic_store_explicit(&load->figures->size, load->source->size, memory_order_relaxed);
    if (load->progress != NULL)
        load->progress(load->context);
}

/* Until the source ends or something fails. */
static enum status pump(struct loader *loader, struct scope in) {
    struct load *load = loader->load;
    enum status status = OK;
    uint64_t processed = 0;
    while (status == OK) {
        struct failure fault = {0};
        struct item item;
        struct slot *slot = slot_take(loader);
        status = load->source->next(load->source, (struct scope){&slot->arena, &fault}, &item);
        processed += status != NOT_FOUND;
        if (status == OK) {
            slot_put(slot, item);
        } else {
            if (status == INVALID)
                refuse_record(loader, fault.text);
            else if (status != NOT_FOUND)
                failure_set(in.failure, in.arena, status, "%.*s", BYTES_ARG(fault.text));
            slot_give_back(slot);
            status = status == INVALID ? OK : status;
        }
        if (processed % PROGRESS_EVERY == 0 && status == OK) {
            report_progress(load, processed);
            status = loader_status(loader);
            if (status == STOPPING)
                failure_set(in.failure, in.arena, STOPPING, "It was stopped before it was done.");
        }
    }
    report_progress(load, processed);
    return status == NOT_FOUND ? OK : status;
}

enum status load_run(struct load *load, struct scope in) {
    struct loader loader;
    loader_init(&loader, load);
    enum status status = pump(&loader, in);
    loader_wait(&loader);
    if (loader.status != OK && (status == OK || status == loader.status))
        status = failure_set(in.failure, in.arena, loader.status, "%.*s", BYTES_ARG(loader.text));
    load->first_refusal = arena_copy(in.arena, loader.refusal);
    loader_release(&loader);
    return status;
}

/* --- whole tables --- */

/* A disk that just refused a write may take one soon; if it does not, a start removes the table. */
void load_abandon(struct engine *engine, struct bytes table, struct arena *arena) {
    for (int i = 0; i < DELETE_TRIES; i++) {
        struct change change = {
            .kind = CHANGE_DELETE_TABLE, .arena = arena, .table = table, .loading = true};
        enum status status = engine_submit_wait(engine, &change);
        if (status != IO_FAILED && status != BUSY)
            return;
        usleep(DELETE_NAP_US);
    }
}

enum status load_table(struct load *load, const struct table_schema *schema, bool made,
                       struct scope in) {
    struct change create = {.kind = CHANGE_CREATE_TABLE,
                            .arena = in.arena,
                            .table = schema->name,
                            .schema = schema,
                            .loading = true};
    struct change finish = {
        .kind = CHANGE_LOADED, .arena = in.arena, .table = schema->name, .loading = true};
    load->table = schema->name;
    load->loading = true;
    if (!made && engine_submit_wait(load->engine, &create) != OK) {
        *in.failure = create.failure;
        return in.failure->status;
    }
    enum status status = load_run(load, in);
    if (status == OK) {
        status = engine_submit_wait(load->engine, &finish);
        *in.failure = finish.failure;
    }
    if (status != OK)
        load_abandon(load->engine, schema->name, in.arena);
    return status;
}
