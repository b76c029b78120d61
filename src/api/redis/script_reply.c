/* Between RESP and Lua, by the rules of Redis 7.0:
 *
 *     :1              1                        a number        :1, what is behind the point is lost
 *     $1 a            "a"                      a text          $1 a
 *     +OK, -ERR x     {ok = ..}, {err = ..}    likewise
 *     *               a table from 1 on        likewise, up to the first nil
 *     $-1, *-1        false                    false           $-1;  true  :1
 *     after redis.setresp(3):
 *     _               nil                      nil             _
 *     #t              true                     true, false     #t, #f
 *     ,1.5            {double = 1.5}           likewise
 *     %, ~            {map = {..}}, {set = {k = true, ..}}      likewise */
#include "api/redis/script_call.h"
#include "base/limits.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdlib.h>

/* ---- RESP to Lua ---- */

/* The line after the kind, without its end; *rest is what follows it. */
static struct bytes take_line(struct bytes reply, struct bytes *rest) {
    const uint8_t *end = memchr(reply.data, '\r', reply.size);
    size_t size = (size_t)(end - reply.data);
    *rest = bytes_skip(reply, size + 2);
    return bytes_of(reply.data + 1, size - 1);
}

static long long line_number(struct bytes line) {
    char text[32] = "";
    memcpy(text, line.data, line.size < sizeof(text) - 1 ? line.size : sizeof(text) - 1);
    return strtoll(text, NULL, 10);
}

static void push_bytes(lua_State *lua, struct bytes bytes) {
    lua_pushlstring(lua, (const char *)bytes.data, bytes.size);
}

/* Pushes {name = the line}. */
static void push_tagged(lua_State *lua, const char *name, struct bytes line) {
    lua_createtable(lua, 0, 1);
    push_bytes(lua, line);
    lua_setfield(lua, -2, name);
}

static struct bytes push_array(lua_State *lua, struct bytes rest, long long count) {
    lua_createtable(lua, (int)count, 0);
    for (int i = 1; i <= count; i++) {
        rest = script_push_reply(lua, rest);
        lua_rawseti(lua, -2, i);
    }
    return rest;
}

/* {map = {key = value}} or {set = {key = true}} */
static struct bytes push_keyed(lua_State *lua, struct bytes rest, long long count, bool map) {
    lua_createtable(lua, 0, 1);
    lua_createtable(lua, 0, (int)count);
    for (long long i = 0; i < count; i++) {
        rest = script_push_reply(lua, rest);
        if (map)
            rest = script_push_reply(lua, rest);
        else
            lua_pushboolean(lua, 1);
        lua_rawset(lua, -3);
    }
    lua_setfield(lua, -2, map ? "map" : "set");
    return rest;
}

static void push_double(lua_State *lua, struct bytes line) {
    char text[RESP_DOUBLE_MAX + 1] = "";
    memcpy(text, line.data, line.size < RESP_DOUBLE_MAX ? line.size : RESP_DOUBLE_MAX);
    lua_createtable(lua, 0, 1);
    lua_pushnumber(lua, strtod(text, NULL));
    lua_setfield(lua, -2, "double");
}

static void push_verbatim(lua_State *lua, struct bytes text) {
    lua_createtable(lua, 0, 1);
    lua_createtable(lua, 0, 2);
    push_bytes(lua, bytes_of(text.data, 3));
    lua_setfield(lua, -2, "format");
    push_bytes(lua, bytes_skip(text, 4));
    lua_setfield(lua, -2, "string");
    lua_setfield(lua, -2, "verbatim_string");
}

/* A text whose size is in the line before it. */
static struct bytes push_bulk(lua_State *lua, struct bytes rest, long long size, bool verbatim) {
    if (size < 0) {
        lua_pushboolean(lua, 0);
        return rest;
    }
    struct bytes text = bytes_of(rest.data, (size_t)size);
    if (verbatim)
        push_verbatim(lua, text);
    else
        push_bytes(lua, text);
    return bytes_skip(rest, (size_t)size + 2);
}

struct bytes script_push_reply(lua_State *lua, struct bytes reply) {
    struct bytes rest, line = take_line(reply, &rest);
    luaL_checkstack(lua, 4, "the reply has too many levels");
    switch (reply.data[0]) {
    case ':':
        lua_pushnumber(lua, (double)line_number(line));
        return rest;
    case '$':
    case '=':
        return push_bulk(lua, rest, line_number(line), reply.data[0] == '=');
    case '+':
        push_tagged(lua, "ok", line);
        return rest;
    case '-':
        push_tagged(lua, "err", line);
        return rest;
    case '(':
        push_tagged(lua, "big_number", line);
        return rest;
    case ',':
        push_double(lua, line);
        return rest;
    case '#':
        lua_pushboolean(lua, line.data[0] == 't');
        return rest;
    case '_':
        lua_pushnil(lua);
        return rest;
    case '%':
    case '~':
        return push_keyed(lua, rest, line_number(line), reply.data[0] == '%');
    default:
        if (line_number(line) >= 0)
            return push_array(lua, rest, line_number(line));
        lua_pushboolean(lua, 0);
        return rest;
    }
}

/* ---- Lua to RESP ---- */

/* Pushes the field, as it is in the table itself, if it has that type. */
static bool push_field(lua_State *lua, const char *name, int type) {
    lua_pushstring(lua, name);
    lua_rawget(lua, -2);
    if (lua_type(lua, -1) == type)
        return true;
    lua_pop(lua, 1);
    return false;
}

static struct bytes text_at(lua_State *lua, int index) {
    size_t size;
    const char *text = lua_tolstring(lua, index, &size);
    return bytes_of(text, size);
}

/* The text has no line ends: they would end the reply. */
static void put_line(struct script_answer *answer, uint8_t kind, struct bytes text) {
    struct buf *to = answer->out->to;
    size_t begin = to->size;
    buf_byte(to, kind);
    buf_put(to, text);
    for (size_t i = begin; i < to->size; i++)
        if (to->data[i] == '\r' || to->data[i] == '\n')
            to->data[i] = ' ';
    buf_lit(to, "\r\n");
}

static void put_big_number(struct script_answer *answer, struct bytes text) {
    if (answer->out->version >= 3)
        put_line(answer, '(', text);
    else
        resp_bulk(answer->out, text);
}

/* The elements from 1 on, up to the first nil. */
static void put_list(lua_State *lua, struct script_answer *answer, unsigned depth) {
    int count = 0;
    while (lua_rawgeti(lua, -1, count + 1), !lua_isnil(lua, -1)) {
        lua_pop(lua, 1);
        count++;
    }
    lua_pop(lua, 1);
    resp_array(answer->out, (size_t)count);
    for (int i = 1; i <= count && !answer->too_large; i++) {
        lua_rawgeti(lua, -1, i);
        script_put_value(lua, answer, depth + 1);
    }
}

static size_t count_pairs(lua_State *lua) {
    size_t count = 0;
    lua_pushnil(lua);
    while (lua_next(lua, -2)) {
        lua_pop(lua, 1);
        count++;
    }
    return count;
}

/* A map, or a set, whose elements are the keys. */
static void put_keyed(lua_State *lua, struct script_answer *answer, unsigned depth, bool map) {
    size_t count = count_pairs(lua);
    if (map)
        resp_map(answer->out, count);
    else
        resp_set(answer->out, count);
    lua_pushnil(lua);
    while (lua_next(lua, -2)) {
        lua_pushvalue(lua, -2);
        script_put_value(lua, answer, depth + 1);
        if (map)
            script_put_value(lua, answer, depth + 1);
        else
            lua_pop(lua, 1);
        if (answer->too_large) {
            lua_pop(lua, 1);
            break;
        }
    }
}

/* The table {format, string} on top; false if it is not one. */
static bool put_verbatim(lua_State *lua, struct script_answer *answer) {
    if (!push_field(lua, "format", LUA_TSTRING))
        return false;
    lua_pushvalue(lua, -2);
    if (!push_field(lua, "string", LUA_TSTRING)) {
        lua_pop(lua, 2);
        return false;
    }
    struct bytes text = text_at(lua, -1), format = text_at(lua, -3);
    if (answer->out->version >= 3) {
        char kind[3] = {' ', ' ', ' '};
        memcpy(kind, format.data, format.size < 3 ? format.size : 3);
        buf_printf(answer->out->to, "=%zu\r\n%.3s:", text.size + 4, kind);
        buf_put(answer->out->to, text);
        buf_lit(answer->out->to, "\r\n");
    } else
        resp_bulk(answer->out, text);
    lua_pop(lua, 3);
    return true;
}

/* A table that says what it is by a field. */
static bool put_tagged(lua_State *lua, struct script_answer *answer, unsigned depth) {
    bool done = true;
    if (push_field(lua, "err", LUA_TSTRING))
        put_line(answer, '-', text_at(lua, -1));
    else if (push_field(lua, "ok", LUA_TSTRING))
        put_line(answer, '+', text_at(lua, -1));
    else if (push_field(lua, "double", LUA_TNUMBER))
        resp_double(answer->out, lua_tonumber(lua, -1));
    else if (push_field(lua, "map", LUA_TTABLE))
        put_keyed(lua, answer, depth, true);
    else if (push_field(lua, "set", LUA_TTABLE))
        put_keyed(lua, answer, depth, false);
    else if (push_field(lua, "big_number", LUA_TSTRING))
        put_big_number(answer, text_at(lua, -1));
    else if (push_field(lua, "verbatim_string", LUA_TTABLE))
        done = put_verbatim(lua, answer);
    else
        return false;
    lua_pop(lua, 1);
    return done;
}

/* What is behind the point is lost; what does not fit is the least there is. */
static int64_t whole_number(double number) {
    bool fits = number >= -9223372036854775808.0 && number < 9223372036854775808.0;
    return fits ? (int64_t)number : INT64_MIN;
}

static void put_truth(struct script_answer *answer, bool truth) {
    if (answer->version >= 3)
        resp_bool(answer->out, truth);
    else if (truth)
        resp_int(answer->out, 1);
    else
        resp_null(answer->out);
}

void script_put_value(lua_State *lua, struct script_answer *answer, unsigned depth) {
    if (answer->out->to->size - answer->begin > LIMIT_SCRIPT_REPLY)
        answer->too_large = true;
    script_vm_work(lua, 1);
    if (depth > LIMIT_SCRIPT_DEPTH || !lua_checkstack(lua, 6))
        put_line(answer, '-', BYTES("ERR reached lua stack limit"));
    else
        switch (lua_type(lua, -1)) {
        case LUA_TSTRING:
            resp_bulk(answer->out, text_at(lua, -1));
            break;
        case LUA_TNUMBER:
            resp_int(answer->out, whole_number(lua_tonumber(lua, -1)));
            break;
        case LUA_TBOOLEAN:
            put_truth(answer, lua_toboolean(lua, -1));
            break;
        case LUA_TTABLE:
            if (!put_tagged(lua, answer, depth))
                put_list(lua, answer, depth);
            break;
        default:
            resp_null(answer->out);
        }
    lua_pop(lua, 1);
}

/* ---- errors ---- */

void script_put_error(lua_State *lua, struct script_answer *answer, struct bytes sha) {
    struct buf *to = answer->out->to;
    size_t begin = to->size;
    bool table = lua_istable(lua, -1);
    if (!table) {
        struct bytes text = lua_isstring(lua, -1) ? text_at(lua, -1) : BYTES("unknown error");
        resp_error(answer->out, text);
        return;
    }
    buf_byte(to, '-');
    if (push_field(lua, "err", LUA_TSTRING)) {
        buf_put(to, text_at(lua, -1));
        lua_pop(lua, 1);
    } else
        buf_lit(to, "ERR unknown error");
    if (push_field(lua, "source", LUA_TSTRING)) {
        if (lua_getfield(lua, -2, "line"), lua_isstring(lua, -1))
            buf_printf(to, " script: %.*s, on %.*s:%.*s.", BYTES_ARG(sha),
                       BYTES_ARG(text_at(lua, -2)), BYTES_ARG(text_at(lua, -1)));
        lua_pop(lua, 2);
    }
    for (size_t i = begin; i < to->size; i++)
        if (to->data[i] == '\r' || to->data[i] == '\n')
            to->data[i] = ' ';
    buf_lit(to, "\r\n");
}

void script_push_error(lua_State *lua, struct bytes text) {
    struct bytes code = BYTES("ERR");
    while (text.size != 0 && (text.data[text.size - 1] == '\r' || text.data[text.size - 1] == '\n'))
        text.size--;
    if (text.size != 0 && text.data[0] == '-') {
        size_t blank = bytes_find(text, BYTES(" "));
        if (blank == SIZE_MAX)
            text = bytes_skip(text, 1);
        else {
            code = bytes_of(text.data + 1, blank - 1);
            text = bytes_skip(text, blank + 1);
        }
    }
    lua_createtable(lua, 0, 3);
    push_bytes(lua, code);
    lua_pushliteral(lua, " ");
    push_bytes(lua, text);
    lua_concat(lua, 3);
    lua_setfield(lua, -2, "err");
}
