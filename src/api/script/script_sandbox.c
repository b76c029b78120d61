/* The globals of scripts: those of Redis 7.0, read-only, without what reaches beyond the script.
 *
 * Debian's Lua has no read-only tables, so what is to be one is replaced by an empty table whose
 * metatable shows the real one and refuses writes. The functions that look past metatables (next,
 * pairs, rawget, rawset, setmetatable, table.insert) are replaced by ones that know of it.
 *
 * Not there: dofile, loadfile, require, print, getfenv, setfenv, newproxy (finalizers of a script
 * would run during another), os, io, debug, and bytecode for load() and loadstring(). */
#include "api/script/script_int.h"

#include <math.h>

#define READONLY_TEXT "Attempt to modify a readonly table"

/* The key in a metatable that marks its table as one of ours. */
static const char protected_mark;

/* ---- read-only tables ---- */

/* Pushes the metatable if the value is read-only. */
static bool push_protection(lua_State *lua, int index) {
    if (lua_type(lua, index) != LUA_TTABLE || !lua_getmetatable(lua, index))
        return false;
    lua_pushlightuserdata(lua, (void *)&protected_mark);
    lua_rawget(lua, -2);
    bool is = lua_toboolean(lua, -1);
    lua_pop(lua, is ? 1 : 2);
    return is;
}

/* Replaces the argument by the real table that it shows, if it is read-only. */
static void see_through(lua_State *lua, int index) {
    if (!push_protection(lua, index))
        return;
    lua_getfield(lua, -1, "__index");
    lua_replace(lua, index);
    lua_pop(lua, 1);
}

void script_check_writable(lua_State *lua, int index) {
    if (push_protection(lua, index))
        script_throw(lua, READONLY_TEXT);
}

static int refuse_write(lua_State *lua) {
    return luaL_error(lua, READONLY_TEXT);
}

void script_vm_protect(lua_State *lua) {
    lua_newtable(lua);          /* what is shown */
    lua_createtable(lua, 0, 4); /* its metatable */
    lua_pushlightuserdata(lua, (void *)&protected_mark);
    lua_pushboolean(lua, 1);
    lua_rawset(lua, -3);
    lua_pushvalue(lua, -3);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_write);
    lua_setfield(lua, -2, "__newindex");
    lua_pushboolean(lua, 0);
    lua_setfield(lua, -2, "__metatable");
    lua_setmetatable(lua, -2);
    lua_remove(lua, -2);
}

static int refuse_unknown(lua_State *lua) {
    const char *name = lua_tostring(lua, 2);
    return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
                      name != NULL ? name : "(null)");
}

/* ---- functions of the base library that look past metatables ---- */

static int base_next(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 2);
    see_through(lua, 1);
    if (lua_next(lua, 1))
        return 2;
    lua_pushnil(lua);
    return 1;
}

/* The function next() is its upvalue. */
static int base_pairs(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_pushvalue(lua, 1);
    lua_pushnil(lua);
    return 3;
}

static int base_rawget(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_checkany(lua, 2);
    lua_settop(lua, 2);
    see_through(lua, 1);
    lua_rawget(lua, 1);
    return 1;
}

static int base_rawset(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_checkany(lua, 2);
    luaL_checkany(lua, 3);
    lua_settop(lua, 3);
    script_check_writable(lua, 1);
    lua_rawset(lua, 1);
    return 1;
}

static int base_setmetatable(lua_State *lua) {
    int type = lua_type(lua, 2);
    luaL_checktype(lua, 1, LUA_TTABLE);
    luaL_argcheck(lua, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table expected");
    script_check_writable(lua, 1);
    if (luaL_getmetafield(lua, 1, "__metatable"))
        luaL_error(lua, "cannot change a protected metatable");
    lua_settop(lua, 2);
    lua_setmetatable(lua, 1);
    return 1;
}

/* The collector's settings are not a script's business. */
static int base_collectgarbage(lua_State *lua) {
    static const char *const names[] = {"collect", "stop",     "restart",    "count",
                                        "step",    "setpause", "setstepmul", NULL};
    int what = luaL_checkoption(lua, 1, "collect", names);
    if (what == 0)
        lua_gc(lua, LUA_GCCOLLECT, 0);
    script_vm_work(lua, script_vm_of(lua)->memory / (what == 0 ? 1024 : 1 << 20));
    if (what == 3)
        lua_pushnumber(lua, (double)script_vm_of(lua)->memory / 1024);
    else
        lua_pushinteger(lua, 0);
    return 1;
}

/* ---- load ---- */

static int load_text(lua_State *lua, const char *text, size_t size, const char *name) {
    if (size != 0 && text[0] == LUA_SIGNATURE[0])
        lua_pushliteral(lua, "bytecode is refused");
    else if (luaL_loadbuffer(lua, text, size, name) == 0)
        return 1;
    lua_pushnil(lua);
    lua_insert(lua, -2);
    return 2;
}

static int base_loadstring(lua_State *lua) {
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    return load_text(lua, text, size, luaL_optstring(lua, 2, text));
}

/* The pieces are put together first: the first byte of all decides whether it is bytecode. */
static int base_load(lua_State *lua) {
    struct script_text text;
    luaL_checktype(lua, 1, LUA_TFUNCTION);
    const char *name = luaL_optstring(lua, 2, "=(load)");
    lua_settop(lua, 2);
    script_text_init(&text, lua);
    for (;;) {
        size_t size;
        lua_pushvalue(lua, 1);
        lua_call(lua, 0, 1);
        if (lua_isnil(lua, -1))
            break;
        if (!lua_isstring(lua, -1))
            return luaL_error(lua, "reader function must return a string");
        const char *piece = lua_tolstring(lua, -1, &size);
        if (size == 0)
            break;
        script_text_put(&text, piece, size);
        lua_pop(lua, 1);
    }
    return load_text(lua, text.size != 0 ? text.data : "", text.size, name);
}

/* ---- chance ---- */

/* The generator of lrand48(): 48 bits, of which the upper 31 are told. */
static double next_random(struct script_vm *vm) {
    enum { MAX = 0x7fffffff };
    vm->random = (vm->random * 0x5deece66dULL + 0xb) & 0xffffffffffffULL;
    return (double)(vm->random >> 17) == (double)MAX ? 0 : (double)(vm->random >> 17) / MAX;
}

static int math_random(lua_State *lua) {
    double r = next_random(script_vm_of(lua));
    if (lua_gettop(lua) == 0) {
        lua_pushnumber(lua, r);
        return 1;
    }
    if (lua_gettop(lua) > 2)
        return luaL_error(lua, "wrong number of arguments");
    bool one = lua_gettop(lua) == 1;
    int low = one ? 1 : luaL_checkint(lua, 1), high = luaL_checkint(lua, one ? 1 : 2);
    luaL_argcheck(lua, low <= high, one ? 1 : 2, "interval is empty");
    lua_pushnumber(lua, floor(r * ((double)high - low + 1)) + low);
    return 1;
}

static int math_randomseed(lua_State *lua) {
    uint32_t seed = (uint32_t)luaL_checkint(lua, 1);
    script_vm_of(lua)->random = (uint64_t)seed << 16 | 0x330e;
    return 0;
}

/* ---- errors ---- */

int script_error_handler(lua_State *lua) {
    lua_Debug at;
    lua_settop(lua, 1);
    bool known = false;
    for (int level = 1; lua_getstack(lua, level, &at); level++) {
        known = lua_getinfo(lua, "nSl", &at);
        if (known && at.what[0] != 'C')
            break;
    }
    if (!lua_istable(lua, 1)) {
        lua_newtable(lua);
        lua_pushliteral(lua, "ERR ");
        if (lua_isstring(lua, 1))
            lua_pushvalue(lua, 1);
        else
            lua_pushstring(lua, lua_isnil(lua, 1)        ? "nil"
                                : !lua_isboolean(lua, 1) ? luaL_typename(lua, 1)
                                : lua_toboolean(lua, 1)  ? "true"
                                                         : "false");
        lua_concat(lua, 2);
        lua_setfield(lua, 2, "err");
        lua_replace(lua, 1);
    }
    if (!known || push_protection(lua, 1))
        return 1;
    lua_pushliteral(lua, "source");
    lua_pushstring(lua, at.source);
    lua_rawset(lua, 1);
    lua_pushliteral(lua, "line");
    lua_pushinteger(lua, at.currentline);
    lua_rawset(lua, 1);
    return 1;
}

/* ---- opening ---- */

static void set_functions(lua_State *lua, const luaL_Reg *list) {
    for (; list->name != NULL; list++) {
        lua_pushcfunction(lua, list->func);
        lua_setfield(lua, -2, list->name);
    }
}

static void open_library(lua_State *lua, lua_CFunction open, const char *name) {
    lua_pushcfunction(lua, open);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 0);
}

static void drop_globals(lua_State *lua) {
    static const char *const names[] = {"dofile",   "loadfile", "print",   "getfenv", "setfenv",
                                        "newproxy", "module",   "require", "package", NULL};
    for (size_t i = 0; names[i] != NULL; i++) {
        lua_pushnil(lua);
        lua_setfield(lua, -2, names[i]);
    }
}

static void replace_base(lua_State *lua) {
    static const luaL_Reg functions[] = {{"next", base_next},
                                         {"rawget", base_rawget},
                                         {"rawset", base_rawset},
                                         {"setmetatable", base_setmetatable},
                                         {"collectgarbage", base_collectgarbage},
                                         {"loadstring", base_loadstring},
                                         {"load", base_load},
                                         {NULL, NULL}};
    set_functions(lua, functions);
    lua_getfield(lua, -1, "next");
    lua_pushcclosure(lua, base_pairs, 1);
    lua_setfield(lua, -2, "pairs");
}

static void open_math(lua_State *lua) {
    static const luaL_Reg functions[] = {
        {"random", math_random}, {"randomseed", math_randomseed}, {NULL, NULL}};
    set_functions(lua, functions);
}

/* Replaces functions in the global library `name`, then makes it read-only. */
static void finish_library(lua_State *lua, const char *name, void (*replace)(lua_State *lua)) {
    lua_getfield(lua, -1, name);
    if (replace != NULL)
        replace(lua);
    script_vm_protect(lua);
    lua_setfield(lua, -2, name);
}

static void add_library(lua_State *lua, const char *name, int (*open)(lua_State *lua)) {
    open(lua);
    script_vm_protect(lua);
    lua_setfield(lua, -2, name);
}

/* What ("x"):len() looks up: the read-only library. Scripts are shown a copy of the metatable. */
static void protect_strings(lua_State *lua) {
    lua_pushliteral(lua, "");
    lua_getmetatable(lua, -1);
    lua_getfield(lua, -3, "string");
    lua_setfield(lua, -2, "__index");
    lua_newtable(lua);
    lua_getfield(lua, -4, "string");
    lua_setfield(lua, -2, "__index");
    script_vm_protect(lua);
    lua_setfield(lua, -2, "__metatable");
    lua_pop(lua, 2);
}

static void refuse_unknown_globals(lua_State *lua) {
    lua_newtable(lua);
    lua_pushcfunction(lua, refuse_unknown);
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, -2);
}

void script_sandbox_open(lua_State *lua) {
    open_library(lua, luaopen_base, "");
    open_library(lua, luaopen_table, LUA_TABLIBNAME);
    open_library(lua, luaopen_string, LUA_STRLIBNAME);
    open_library(lua, luaopen_math, LUA_MATHLIBNAME);
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    drop_globals(lua);
    replace_base(lua);
    finish_library(lua, "string", script_open_patterns);
    finish_library(lua, "table", script_open_tables);
    finish_library(lua, "math", open_math);
    finish_library(lua, "coroutine", NULL);
    add_library(lua, "cjson", script_open_json);
    add_library(lua, "cmsgpack", script_open_msgpack);
    add_library(lua, "struct", script_open_struct);
    add_library(lua, "bit", script_open_bit);
    protect_strings(lua);
    refuse_unknown_globals(lua);
}
