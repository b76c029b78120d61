#include "api/redis/script_store.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

#include <ctype.h>
#include <openssl/sha.h>

struct script {
    char sha[SCRIPT_SHA_SIZE];
    bool loaded;
    struct script *next;
    size_t size;
    uint8_t body[];
};

struct script_state {
    struct script_state *next;
    struct script_vm *vm;
    unsigned generation;
};

void scripts_init(struct scripts *scripts) {
    *scripts = (struct scripts){.last = NULL};
    scripts->last = &scripts->first;
    pthread_mutex_init(&scripts->mutex, NULL);
}

/* ---- sources ---- */

void script_sha(struct bytes body, char to[SCRIPT_SHA_SIZE]) {
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[SHA_DIGEST_LENGTH];
    SHA1(body.data, body.size, hash);
    for (size_t i = 0; i < sizeof(hash); i++) {
        to[2 * i] = digits[hash[i] >> 4];
        to[2 * i + 1] = digits[hash[i] & 15];
    }
}

/* Under the mutex, as all that follow. */
static struct script *find_script(const struct scripts *scripts, struct bytes sha) {
    char lower[SCRIPT_SHA_SIZE];
    if (sha.size != SCRIPT_SHA_SIZE)
        return NULL;
    for (size_t i = 0; i < sizeof(lower); i++)
        lower[i] = (char)tolower(sha.data[i]);
    return map_get(&scripts->by_sha, bytes_of(lower, sizeof(lower)));
}

static void remove_script(struct scripts *scripts, struct script **at) {
    struct script *script = *at;
    *at = script->next;
    if (*at == NULL)
        scripts->last = at;
    map_del(&scripts->by_sha, bytes_of(script->sha, SCRIPT_SHA_SIZE));
    scripts->count--;
    scripts->size -= script->size;
    mem_free(script);
}

/* Removes the oldest that was not loaded; false if there is none. */
static bool evict_script(struct scripts *scripts) {
    for (struct script **at = &scripts->first; *at != NULL; at = &(*at)->next)
        if (!(*at)->loaded) {
            remove_script(scripts, at);
            return true;
        }
    return false;
}

static bool make_room(struct scripts *scripts, size_t size) {
    while (scripts->count >= LIMIT_SCRIPTS || scripts->size + size > LIMIT_SCRIPTS_SIZE)
        if (!evict_script(scripts))
            return false;
    return true;
}

static void append_script(struct scripts *scripts, struct bytes sha, struct bytes body,
                          bool loaded) {
    struct script *script = mem_alloc(sizeof(*script) + body.size);
    memcpy(script->sha, sha.data, SCRIPT_SHA_SIZE);
    memcpy(script->body, body.data, body.size);
    script->size = body.size;
    script->loaded = loaded;
    script->next = NULL;
    *scripts->last = script;
    scripts->last = &script->next;
    scripts->count++;
    scripts->size += body.size;
    map_put(&scripts->by_sha, bytes_of(script->sha, SCRIPT_SHA_SIZE), script);
}

bool scripts_add(struct scripts *scripts, struct bytes sha, struct bytes body, bool loaded) {
    bool fits = true;
    pthread_mutex_lock(&scripts->mutex);
    struct script *script = find_script(scripts, sha);
    if (script != NULL)
        script->loaded = script->loaded || loaded;
    else {
        fits = make_room(scripts, body.size);
        if (fits)
            append_script(scripts, sha, body, loaded);
    }
    pthread_mutex_unlock(&scripts->mutex);
    return fits;
}

bool scripts_find(struct scripts *scripts, struct bytes sha, struct arena *arena,
                  struct bytes *body) {
    pthread_mutex_lock(&scripts->mutex);
    const struct script *script = find_script(scripts, sha);
    if (script != NULL)
        *body = arena_copy(arena, bytes_of(script->body, script->size));
    pthread_mutex_unlock(&scripts->mutex);
    return script != NULL;
}

bool scripts_has(struct scripts *scripts, struct bytes sha) {
    pthread_mutex_lock(&scripts->mutex);
    bool has = find_script(scripts, sha) != NULL;
    pthread_mutex_unlock(&scripts->mutex);
    return has;
}

void scripts_flush(struct scripts *scripts) {
    pthread_mutex_lock(&scripts->mutex);
    while (scripts->first != NULL)
        remove_script(scripts, &scripts->first);
    scripts->generation++;
    pthread_mutex_unlock(&scripts->mutex);
}

size_t scripts_memory(struct scripts *scripts, size_t *count) {
    pthread_mutex_lock(&scripts->mutex);
    size_t size = scripts->size;
    *count = scripts->count;
    pthread_mutex_unlock(&scripts->mutex);
    return size;
}

/* ---- states ---- */

struct script_vm *scripts_take_vm(struct scripts *scripts, script_library *library) {
    pthread_mutex_lock(&scripts->mutex);
    struct script_state *state = scripts->states;
    unsigned generation = scripts->generation;
    if (state != NULL) {
        scripts->states = state->next;
        scripts->state_count--;
    }
    pthread_mutex_unlock(&scripts->mutex);
    if (state == NULL)
        return script_vm_new(library, LIMIT_SCRIPT_MEMORY);
    struct script_vm *vm = state->vm;
    if (state->generation != generation)
        script_vm_forget(vm);
    mem_free(state);
    return vm;
}

void scripts_give_vm(struct scripts *scripts, struct script_vm *vm, bool collect) {
    if (collect && script_vm_memory(vm) > LIMIT_SCRIPT_STATE_KEPT / 2)
        script_vm_collect(vm);
    struct script_state *state = mem_alloc(sizeof(*state));
    state->vm = vm;
    pthread_mutex_lock(&scripts->mutex);
    bool kept = scripts->state_count < LIMIT_SCRIPT_STATES &&
                (!collect || script_vm_memory(vm) <= LIMIT_SCRIPT_STATE_KEPT);
    if (kept) {
        state->generation = scripts->generation;
        state->next = scripts->states;
        scripts->states = state;
        scripts->state_count++;
    }
    pthread_mutex_unlock(&scripts->mutex);
    if (kept)
        return;
    script_vm_free(vm);
    mem_free(state);
}

void scripts_release(struct scripts *scripts) {
    scripts_flush(scripts);
    while (scripts->states != NULL) {
        struct script_state *state = scripts->states;
        scripts->states = state->next;
        script_vm_free(state->vm);
        mem_free(state);
    }
    map_release(&scripts->by_sha);
    pthread_mutex_destroy(&scripts->mutex);
}

/* ---- those that run ---- */

void scripts_enter(struct scripts *scripts, struct script_running *running) {
    atomic_init(&running->killed, false);
    pthread_mutex_lock(&scripts->mutex);
    running->prev = NULL;
    running->next = scripts->running;
    if (running->next != NULL)
        running->next->prev = running;
    scripts->running = running;
    pthread_mutex_unlock(&scripts->mutex);
}

void scripts_leave(struct scripts *scripts, struct script_running *running) {
    pthread_mutex_lock(&scripts->mutex);
    if (running->next != NULL)
        running->next->prev = running->prev;
    if (running->prev != NULL)
        running->prev->next = running->next;
    else
        scripts->running = running->next;
    pthread_mutex_unlock(&scripts->mutex);
}

unsigned scripts_kill(struct scripts *scripts) {
    unsigned count = 0;
    pthread_mutex_lock(&scripts->mutex);
    for (struct script_running *running = scripts->running; running != NULL;
         running = running->next) {
        atomic_store(&running->killed, true);
        count++;
    }
    pthread_mutex_unlock(&scripts->mutex);
    return count;
}

bool scripts_may_log(struct scripts *scripts) {
    int64_t now_s = clock_ticks_us() / 1000000;
    pthread_mutex_lock(&scripts->mutex);
    if (scripts->logged_s != now_s)
        scripts->logged = 0;
    scripts->logged_s = now_s;
    bool may = scripts->logged++ < LIMIT_SCRIPT_LOGS;
    pthread_mutex_unlock(&scripts->mutex);
    return may;
}
