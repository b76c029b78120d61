/* The library cjson, as Redis has it: encode, and the settings; decode is in script_json_reader.c.
 *
 * Debian's lua-cjson keeps its text outside of the state's memory, without a bound, and ends the
 * process when there is none left. Here a text grows within the state's limit. */
#include "api/script/script_json.h"

#include <math.h>
#include <stdio.h>

static const struct json_settings defaults = {.sparse_ratio = 2,
                                              .sparse_safe = 10,
                                              .encode_depth = 1000,
                                              .decode_depth = 1000,
                                              .decode_invalid = 1,
                                              .precision = 14,
                                              .keep_buffer = 1};

void script_json_reset(struct script_vm *vm) {
    *(struct json_settings *)vm->json = defaults;
}

/* ---- encoding ---- */

struct json_writer {
    lua_State *lua;
    const struct json_settings *settings;
    struct script_text text;
    int depth;
};

static void write_value(struct json_writer *w);

static int refuse_value(struct json_writer *w, int index, const char *why) {
    return luaL_error(w->lua, "Cannot serialise %s: %s", luaL_typename(w->lua, index), why);
}

static void write_string(struct json_writer *w, int index) {
    static const char *const short_forms[] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['/'] = "\\/",  ['\b'] = "\\b",
        ['\t'] = "\\t", ['\n'] = "\\n",  ['\f'] = "\\f", ['\r'] = "\\r"};
    size_t size;
    const char *text = lua_tolstring(w->lua, index, &size);
    script_text_byte(&w->text, '"');
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < sizeof(short_forms) / sizeof(short_forms[0]) && short_forms[c] != NULL)
            script_text_put(&w->text, short_forms[c], 2);
        else if (c < 32 || c == 127) {
            char escape[8];
            script_text_put(&w->text, escape,
                            (size_t)snprintf(escape, sizeof(escape), "\\u%04x", c));
        } else
            script_text_byte(&w->text, c);
    }
    script_text_byte(&w->text, '"');
}

static void write_number(struct json_writer *w, int index) {
    double number = lua_tonumber(w->lua, index);
    int invalid = w->settings->encode_invalid;
    char text[64];
    if (isinf(number) || isnan(number)) {
        if (invalid == 0)
            refuse_value(w, index, "must not be NaN or Inf");
        if (invalid == 2) {
            script_text_put(&w->text, "null", 4);
            return;
        }
    }
    int size = snprintf(text, sizeof(text), "%.*g", w->settings->precision, number);
    script_text_put(&w->text, text, (size_t)size);
}

static void deepen(struct json_writer *w) {
    if (++w->depth > w->settings->encode_depth || !lua_checkstack(w->lua, 4))
        luaL_error(w->lua, "Cannot serialise, excessive nesting (%d)", w->depth);
    script_vm_work(w->lua, 1);
}

/* The length of the table if it is an array: all of its keys are whole and positive, and not too
 * many are missing. Else -1. */
static int array_length(struct json_writer *w) {
    lua_State *lua = w->lua;
    const struct json_settings *settings = w->settings;
    double max = 0;
    int count = 0;
    lua_pushnil(lua);
    while (lua_next(lua, -2)) {
        double key = lua_type(lua, -2) == LUA_TNUMBER ? lua_tonumber(lua, -2) : 0;
        if (key < 1 || floor(key) != key) {
            lua_pop(lua, 2);
            return -1;
        }
        max = key > max ? key : max;
        count++;
        lua_pop(lua, 1);
    }
    if (settings->sparse_ratio > 0 && max > (double)count * settings->sparse_ratio &&
        max > settings->sparse_safe) {
        if (!settings->sparse_convert)
            refuse_value(w, -1, "excessively sparse array");
        return -1;
    }
    return max > INT32_MAX ? -1 : (int)max;
}

static void write_array(struct json_writer *w, int length) {
    script_text_byte(&w->text, '[');
    for (int i = 1; i <= length; i++) {
        if (i > 1)
            script_text_byte(&w->text, ',');
        lua_rawgeti(w->lua, -1, i);
        write_value(w);
        lua_pop(w->lua, 1);
        if (i % 1024 == 0)
            script_vm_work(w->lua, 16);
    }
    script_text_byte(&w->text, ']');
}

static void write_key(struct json_writer *w) {
    int type = lua_type(w->lua, -2);
    if (type == LUA_TNUMBER) {
        script_text_byte(&w->text, '"');
        write_number(w, -2);
        script_text_byte(&w->text, '"');
    } else if (type == LUA_TSTRING)
        write_string(w, -2);
    else
        refuse_value(w, -2, "table key must be a number or string");
    script_text_byte(&w->text, ':');
}

static void write_object(struct json_writer *w) {
    bool more = false;
    script_text_byte(&w->text, '{');
    lua_pushnil(w->lua);
    while (lua_next(w->lua, -2)) {
        if (more)
            script_text_byte(&w->text, ',');
        more = true;
        write_key(w);
        write_value(w);
        lua_pop(w->lua, 1);
    }
    script_text_byte(&w->text, '}');
}

static void write_table(struct json_writer *w) {
    deepen(w);
    int length = array_length(w);
    if (length > 0)
        write_array(w, length);
    else
        write_object(w);
    w->depth--;
}

/* The value on top of the stack. */
static void write_value(struct json_writer *w) {
    switch (lua_type(w->lua, -1)) {
    case LUA_TSTRING:
        write_string(w, -1);
        break;
    case LUA_TNUMBER:
        write_number(w, -1);
        break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(w->lua, -1))
            script_text_put(&w->text, "true", 4);
        else
            script_text_put(&w->text, "false", 5);
        break;
    case LUA_TTABLE:
        write_table(w);
        break;
    case LUA_TNIL:
        script_text_put(&w->text, "null", 4);
        break;
    case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(w->lua, -1) == NULL) {
            script_text_put(&w->text, "null", 4);
            break;
        }
        /* fall through */
    default:
        refuse_value(w, -1, "type not supported");
    }
}

static int json_encode(lua_State *lua) {
    struct json_writer w = {.lua = lua, .settings = script_json_settings(lua)};
    luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
    script_text_init(&w.text, lua);
    lua_pushvalue(lua, 1);
    write_value(&w);
    lua_pop(lua, 1);
    script_text_push(&w.text);
    return 1;
}

/* ---- settings ---- */

static int integer_option(lua_State *lua, int index, int *to, int low, int high) {
    if (!lua_isnoneornil(lua, index)) {
        int value = luaL_checkint(lua, index);
        luaL_argcheck(lua, low <= value && value <= high, index,
                      lua_pushfstring(lua, "expected integer between %d and %d", low, high));
        *to = value;
    }
    lua_pushinteger(lua, *to);
    return 1;
}

static int word_option(lua_State *lua, int index, int *to, const char *const *words) {
    if (lua_isboolean(lua, index))
        *to = lua_toboolean(lua, index);
    else if (!lua_isnoneornil(lua, index))
        *to = luaL_checkoption(lua, index, NULL, words);
    if (*to < 2)
        lua_pushboolean(lua, *to);
    else
        lua_pushstring(lua, words[*to]);
    return 1;
}

static const char *const on_off[] = {"off", "on", NULL};
static const char *const on_off_null[] = {"off", "on", "null", NULL};

static int json_encode_sparse_array(lua_State *lua) {
    struct json_settings *settings = script_json_settings(lua);
    lua_settop(lua, 3);
    word_option(lua, 1, &settings->sparse_convert, on_off);
    integer_option(lua, 2, &settings->sparse_ratio, 0, INT32_MAX);
    integer_option(lua, 3, &settings->sparse_safe, 0, INT32_MAX);
    return 3;
}

static int json_encode_max_depth(lua_State *lua) {
    return integer_option(lua, 1, &script_json_settings(lua)->encode_depth, 1, 1000);
}

static int json_decode_max_depth(lua_State *lua) {
    return integer_option(lua, 1, &script_json_settings(lua)->decode_depth, 1, 1000);
}

static int json_encode_number_precision(lua_State *lua) {
    return integer_option(lua, 1, &script_json_settings(lua)->precision, 1, 14);
}

static int json_encode_keep_buffer(lua_State *lua) {
    return word_option(lua, 1, &script_json_settings(lua)->keep_buffer, on_off);
}

static int json_encode_invalid_numbers(lua_State *lua) {
    return word_option(lua, 1, &script_json_settings(lua)->encode_invalid, on_off_null);
}

static int json_decode_invalid_numbers(lua_State *lua) {
    return word_option(lua, 1, &script_json_settings(lua)->decode_invalid, on_off);
}

static int json_new(lua_State *lua);

int script_open_json(lua_State *lua) {
    static const luaL_Reg functions[] = {
        {"encode", json_encode},
        {"decode", script_json_decode},
        {"encode_sparse_array", json_encode_sparse_array},
        {"encode_max_depth", json_encode_max_depth},
        {"decode_max_depth", json_decode_max_depth},
        {"encode_number_precision", json_encode_number_precision},
        {"encode_keep_buffer", json_encode_keep_buffer},
        {"encode_invalid_numbers", json_encode_invalid_numbers},
        {"decode_invalid_numbers", json_decode_invalid_numbers},
        {"new", json_new},
    };
    lua_newtable(lua);
    struct json_settings *settings = lua_newuserdata(lua, sizeof(*settings));
    *settings = defaults;
    if (script_vm_of(lua)->json == NULL)
        script_vm_of(lua)->json = settings;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        lua_pushvalue(lua, -1);
        lua_pushcclosure(lua, functions[i].func, 1);
        lua_setfield(lua, -3, functions[i].name);
    }
    lua_pop(lua, 1);
    lua_pushlightuserdata(lua, NULL);
    lua_setfield(lua, -2, "null");
    lua_pushliteral(lua, "cjson");
    lua_setfield(lua, -2, "_NAME");
    lua_pushliteral(lua, "2.1.0");
    lua_setfield(lua, -2, "_VERSION");
    return 1;
}

static int json_new(lua_State *lua) {
    return script_open_json(lua);
}
