#include "api/script/script_int.h"
#include "base/limits.h"
#include "base/mem.h"

#include <stdlib.h>

enum {
    HOOK_INSTRUCTIONS = 200, /* of Lua between two looks at the clock, */
    HOOK_UNITS = 8,          /* and the work that they are taken for */
    UNIT_BYTES = 256,        /* handed out for one unit of work */
    TICK_UNITS = 64,         /* that the allocator counts before it tells */
    GC_PAUSE = 150, /* percent of what is in use: then garbage is collected; Lua's 200 would refuse
                       memory that is half garbage */
};

/* Names in the registry. */
static const char functions_name, handler_name, globals_name;

/* ---- bounds ---- */

static void tell_work(struct script_vm *vm, uint64_t units) {
    units += vm->units;
    vm->units = 0;
    if (vm->run != NULL && vm->stop == SCRIPT_RUNS)
        vm->stop = vm->run->tick(vm->run->user, units);
}

/* Lua's allocator. A block that shrinks or goes is always granted. */
static void *allocate(void *user, void *block, size_t old_size, size_t size) {
    struct script_vm *vm = user;
    if (size == 0) {
        free(block);
        vm->memory -= old_size;
        return NULL;
    }
    if (size > old_size) {
        size_t more = size - old_size;
        vm->units += size / UNIT_BYTES;
        if (vm->units >= TICK_UNITS)
            tell_work(vm, 0);
        if (vm->stop == SCRIPT_OVER || more > vm->memory_max - vm->memory)
            return NULL;
    }
    void *new = realloc(block, size);
    if (new != NULL)
        vm->memory += size - old_size;
    else if (size <= old_size)
        return block;
    return new;
}

static void on_count(lua_State *lua, lua_Debug *debug) {
    struct script_vm *vm = script_vm_of(lua);
    (void)debug;
    tell_work(vm, HOOK_UNITS);
    if (vm->stop != SCRIPT_RUNS)
        script_vm_end(lua, vm->stop);
}

int script_vm_end(lua_State *lua, enum script_stop stop) {
    struct script_vm *vm = script_vm_of(lua);
    vm->stop = stop;
    /* Whoever catches the error is interrupted at the next instruction. */
    lua_sethook(lua, on_count, LUA_MASKCOUNT, 1);
    return script_throw(lua, "the script was ended");
}

void script_vm_work(lua_State *lua, uint64_t units) {
    struct script_vm *vm = script_vm_of(lua);
    tell_work(vm, units);
    if (vm->stop != SCRIPT_RUNS)
        script_vm_end(lua, vm->stop);
}

int script_throw(lua_State *lua, const char *text) {
    lua_pushstring(lua, text);
    return lua_error(lua);
}

void *script_vm_user(lua_State *lua) {
    return script_vm_of(lua)->run->user;
}

/* ---- making and freeing ---- */

/* Keeps the value on top of the stack under a name of ours, and pops it. */
static void keep_in_registry(lua_State *lua, const char *name) {
    lua_pushlightuserdata(lua, (void *)name);
    lua_insert(lua, -2);
    lua_rawset(lua, LUA_REGISTRYINDEX);
}

static void push_kept(lua_State *lua, const char *name) {
    lua_pushlightuserdata(lua, (void *)name);
    lua_rawget(lua, LUA_REGISTRYINDEX);
}

struct opening {
    script_library *library;
};

static int open_state(lua_State *lua) {
    const struct opening *opening = lua_touserdata(lua, 1);
    script_sandbox_open(lua);
    opening->library(lua);
    lua_gc(lua, LUA_GCSETPAUSE, GC_PAUSE);
    lua_pushvalue(lua, -1);
    keep_in_registry(lua, &globals_name);
    lua_newtable(lua);
    keep_in_registry(lua, &functions_name);
    lua_pushcfunction(lua, script_error_handler);
    keep_in_registry(lua, &handler_name);
    lua_pushvalue(lua, -1);
    script_vm_protect(lua); /* the real table is below */
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -3, "_G");
    lua_replace(lua, LUA_GLOBALSINDEX);
    return 0;
}

struct script_vm *script_vm_new(script_library *library, size_t memory_max) {
    struct script_vm *vm = mem_zalloc(sizeof(*vm));
    struct opening opening = {library};
    uint64_t seed;
    vm->memory_max = memory_max;
    random_secure(&seed, sizeof(seed));
    random_seed(&vm->chance, seed);
    vm->lua = lua_newstate(allocate, vm);
    if (vm->lua == NULL || lua_cpcall(vm->lua, open_state, &opening) != 0) {
        script_vm_free(vm);
        return NULL;
    }
    return vm;
}

void script_vm_free(struct script_vm *vm) {
    if (vm == NULL)
        return;
    if (vm->lua != NULL)
        lua_close(vm->lua);
    mem_free(vm);
}

size_t script_vm_memory(const struct script_vm *vm) {
    return vm->memory;
}

void script_vm_collect(struct script_vm *vm) {
    lua_gc(vm->lua, LUA_GCCOLLECT, 0);
}

static int forget_functions(lua_State *lua) {
    lua_newtable(lua);
    keep_in_registry(lua, &functions_name);
    return 0;
}

void script_vm_forget(struct script_vm *vm) {
    lua_cpcall(vm->lua, forget_functions, NULL); /* without memory it keeps them */
    vm->cached = vm->cached_size = 0;
}

/* ---- running ---- */

static void note_fault(struct script_vm *vm, lua_State *lua) {
    size_t size;
    const char *text = lua_tolstring(lua, -1, &size);
    if (text == NULL)
        text = "?", size = 1;
    vm->fault_size = size < sizeof(vm->fault) ? size : sizeof(vm->fault);
    memcpy(vm->fault, text, vm->fault_size);
}

/* Bytecode is not checked by Lua, and can do anything to the process. */
static bool is_bytecode(struct bytes body) {
    return body.size != 0 && body.data[0] == LUA_SIGNATURE[0];
}

/* Pushes the compiled function; false, with the fault noted, if it cannot be compiled. */
static bool push_function(lua_State *lua, struct script_vm *vm, const struct script_run *run) {
    push_kept(lua, &functions_name);
    lua_pushlstring(lua, (const char *)run->sha.data, run->sha.size);
    lua_rawget(lua, -2);
    if (!lua_isnil(lua, -1))
        return true;
    lua_pop(lua, 1);
    if (is_bytecode(run->body))
        lua_pushliteral(lua, "user_script: bytecode is refused");
    else if (luaL_loadbuffer(lua, (const char *)run->body.data, run->body.size, "@user_script") ==
             0) {
        lua_pushlstring(lua, (const char *)run->sha.data, run->sha.size);
        lua_pushvalue(lua, -2);
        lua_rawset(lua, -4);
        vm->cached++;
        vm->cached_size += run->body.size;
        return true;
    }
    if (vm->stop == SCRIPT_RUNS)
        note_fault(vm, lua);
    return false;
}

static void push_list(lua_State *lua, const struct bytes *list, size_t count) {
    lua_createtable(lua, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushlstring(lua, (const char *)list[i].data, list[i].size);
        lua_rawseti(lua, -2, (int)i + 1);
    }
}

struct protected_run {
    struct script_vm *vm;
    struct script_run *run;
    enum script_result result;
};

static int run_protected(lua_State *lua) {
    struct protected_run *protected = lua_touserdata(lua, 1);
    struct script_vm *vm = protected->vm;
    struct script_run *run = protected->run;
    push_kept(lua, &handler_name);
    int handler = lua_gettop(lua);
    if (!push_function(lua, vm, run)) {
        protected->result = SCRIPT_FAULTY;
        return 0;
    }
    if (run->compile_only) {
        protected->result = SCRIPT_COMPILED;
        return 0;
    }
    push_kept(lua, &globals_name);
    push_list(lua, run->keys, run->key_count);
    lua_setfield(lua, -2, "KEYS");
    push_list(lua, run->args, run->arg_count);
    lua_setfield(lua, -2, "ARGV");
    lua_pop(lua, 1);
    int status = lua_pcall(lua, 0, 1, handler);
    if (status == LUA_ERRMEM && vm->stop == SCRIPT_RUNS)
        vm->stop = SCRIPT_TOO_LARGE;
    if (vm->stop != SCRIPT_RUNS)
        return 0;
    run->take(lua, status != 0, run->user);
    protected->result = SCRIPT_DONE;
    return 0;
}

enum script_result script_vm_run(struct script_vm *vm, struct script_run *run) {
    struct protected_run protected = {vm, run, SCRIPT_STOPPED};
    if (vm->cached >= LIMIT_SCRIPTS_COMPILED || vm->cached_size > LIMIT_SCRIPTS_COMPILED_SIZE)
        script_vm_forget(vm);
    vm->stop = SCRIPT_RUNS;
    vm->units = 0;
    vm->random = random_next(&vm->chance); /* whatever seed another script chose */
    vm->run = run;
    script_json_reset(vm);
    lua_sethook(vm->lua, on_count, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    int status = lua_cpcall(vm->lua, run_protected, &protected);
    vm->run = NULL;
    if (status != 0 && vm->stop == SCRIPT_RUNS)
        vm->stop = SCRIPT_TOO_LARGE; /* nothing else throws there */
    if (vm->stop != SCRIPT_RUNS)
    protected.result = SCRIPT_STOPPED;
    lua_settop(vm->lua, 0);
    if (vm->stop == SCRIPT_TOO_LARGE)
        script_vm_collect(vm); /* the next one begins with what there is */
    return protected.result;
}

enum script_stop script_vm_stop(const struct script_vm *vm) {
    return vm->stop;
}

struct bytes script_vm_fault(const struct script_vm *vm) {
    return bytes_of(vm->fault, vm->fault_size);
}

/* ---- texts ---- */

void script_text_init(struct script_text *text, lua_State *lua) {
    *text = (struct script_text){.lua = lua};
    luaL_checkstack(lua, 1, "too much at once");
    lua_pushnil(lua);
    text->slot = lua_gettop(lua);
}

char *script_text_grow(struct script_text *text, size_t more) {
    size_t room = text->room == 0 ? 256 : text->room * 2;
    if (room < text->size + more)
        room = text->size + more;
    char *data = lua_newuserdata(text->lua, room);
    if (text->size != 0)
        memcpy(data, text->data, text->size);
    lua_replace(text->lua, text->slot);
    text->data = data;
    text->room = room;
    return data + text->size;
}
