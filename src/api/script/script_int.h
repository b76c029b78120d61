/* The inside of a script's state. Private to this folder. */
#ifndef GT_API_SCRIPT_SCRIPT_INT_H
#define GT_API_SCRIPT_SCRIPT_INT_H

#include "api/script/script_vm.h"
#include "base/random.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <lua5.1/lualib.h>

struct script_vm {
    lua_State *lua;
    size_t memory, memory_max;
    uint64_t units; /* of work that the allocator did and `tick` was not told of yet */
    enum script_stop stop;
    struct script_run *run;     /* NULL between runs */
    uint64_t random;            /* the state of math.random(), 48 bits, */
    struct random chance;       /* and what it begins with */
    void *json;                 /* the settings of cjson */
    size_t cached, cached_size; /* functions that are compiled, and bytes of their sources */
    char fault[512];
    size_t fault_size;
};

static inline struct script_vm *script_vm_of(lua_State *lua) {
    void *vm;
    lua_getallocf(lua, &vm);
    return vm;
}

/* Opens the libraries and leaves the real table of globals on the stack (script_sandbox.c). */
void script_sandbox_open(lua_State *lua);
/* Throws if the value is a table that script_vm_protect() made. */
void script_check_writable(lua_State *lua, int index);
/* The function that makes a table {err, source, line} of an error. */
int script_error_handler(lua_State *lua);
/* Throws the text as it is, without the place where it happened. */
int script_throw(lua_State *lua, const char *text);

/* Each puts its functions into the table on top of the stack. */
void script_open_patterns(lua_State *lua); /* into `string` (script_pattern.c) */
void script_open_tables(lua_State *lua);   /* into `table` (script_table.c) */
/* Each leaves a table of functions on the stack. */
int script_open_json(lua_State *lua);
/* The settings of cjson are what they were in the beginning. */
void script_json_reset(struct script_vm *vm);
int script_open_msgpack(lua_State *lua);
int script_open_struct(lua_State *lua);
int script_open_bit(lua_State *lua);

/* ---- a growing text, in memory of the state, so that an error leaves nothing behind ---- */

struct script_text {
    lua_State *lua;
    int slot; /* where its memory stands on the stack */
    char *data;
    size_t size, room;
};

/* Takes the next slot of the stack. */
void script_text_init(struct script_text *text, lua_State *lua);
char *script_text_grow(struct script_text *text, size_t more);
static inline void script_text_put(struct script_text *text, const void *data, size_t size) {
    if (size == 0)
        return;
    char *to =
        text->room - text->size >= size ? text->data + text->size : script_text_grow(text, size);
    memcpy(to, data, size);
    text->size += size;
}
static inline void script_text_byte(struct script_text *text, int byte) {
    char *to = text->room != text->size ? text->data + text->size : script_text_grow(text, 1);
    *to = (char)byte;
    text->size++;
}
/* Pushes it as a string. */
static inline void script_text_push(struct script_text *text) {
    lua_pushlstring(text->lua, text->size != 0 ? text->data : "", text->size);
}

#endif
