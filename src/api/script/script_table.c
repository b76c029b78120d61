/* table.insert, table.remove and table.sort with their work counted: in the middle of a long table
 * an insert moves much, and a sort without a comparing function runs no hook. */
#include "api/script/script_int.h"

enum { MOVES_A_UNIT = 16, MOVES_TOLD = 1024, COMPARISONS_A_UNIT = 4 };

static void count_move(lua_State *lua, unsigned *moves) {
    if (++*moves % MOVES_TOLD == 0)
        script_vm_work(lua, MOVES_TOLD / MOVES_A_UNIT);
}

static int table_insert(lua_State *lua) {
    unsigned moves = 0;
    luaL_checktype(lua, 1, LUA_TTABLE);
    script_check_writable(lua, 1);
    int end = (int)lua_objlen(lua, 1) + 1, at = end;
    if (lua_gettop(lua) == 3) {
        at = luaL_checkint(lua, 2);
        for (int i = at > end ? at : end; i > at; i--) {
            count_move(lua, &moves);
            lua_rawgeti(lua, 1, i - 1);
            lua_rawseti(lua, 1, i);
        }
    } else if (lua_gettop(lua) != 2)
        return luaL_error(lua, "wrong number of arguments to 'insert'");
    lua_rawseti(lua, 1, at);
    return 0;
}

static int table_remove(lua_State *lua) {
    unsigned moves = 0;
    luaL_checktype(lua, 1, LUA_TTABLE);
    script_check_writable(lua, 1);
    int end = (int)lua_objlen(lua, 1), at = luaL_optint(lua, 2, end);
    if (at < 1 || at > end)
        return 0;
    lua_rawgeti(lua, 1, at);
    for (; at < end; at++) {
        count_move(lua, &moves);
        lua_rawgeti(lua, 1, at + 1);
        lua_rawseti(lua, 1, at);
    }
    lua_pushnil(lua);
    lua_rawseti(lua, 1, end);
    return 1;
}

static int is_less(lua_State *lua) {
    struct script_vm *vm = script_vm_of(lua);
    lua_pushboolean(lua, lua_lessthan(lua, 1, 2));
    if (++vm->units % COMPARISONS_A_UNIT == 0)
        script_vm_work(lua, 0);
    return 1;
}

/* Upvalues: Lua's own function, and is_less. */
static int table_sort(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    script_check_writable(lua, 1);
    lua_settop(lua, 2);
    if (lua_isnil(lua, 2)) {
        lua_pushvalue(lua, lua_upvalueindex(2));
        lua_replace(lua, 2);
    }
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, 2, 0);
    return 0;
}

void script_open_tables(lua_State *lua) {
    lua_pushcfunction(lua, table_insert);
    lua_setfield(lua, -2, "insert");
    lua_pushcfunction(lua, table_remove);
    lua_setfield(lua, -2, "remove");
    lua_getfield(lua, -1, "sort");
    lua_pushcfunction(lua, is_less);
    lua_pushcclosure(lua, table_sort, 2);
    lua_setfield(lua, -2, "sort");
}
