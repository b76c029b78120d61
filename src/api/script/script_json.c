/* The library cjson, as Redis has it: encode and decode, with the settings that change them.
 *
 * Debian's lua-cjson keeps its text outside of the state's memory, without a bound, and ends the
 * process when there is none left. Here a text grows within the state's limit. */
#include "api/script/script_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* What the functions that change settings change; of one copy of the library (cjson.new). */
struct json_settings {
    int sparse_convert, sparse_ratio, sparse_safe;
    int encode_depth, decode_depth;
    int encode_invalid; /* 0 refused, 1 as they are, 2 as null */
    int decode_invalid, precision, keep_buffer;
};

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

static struct json_settings *settings_of(lua_State *lua) {
    return lua_touserdata(lua, lua_upvalueindex(1));
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
    struct json_writer w = {.lua = lua, .settings = settings_of(lua)};
    luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
    script_text_init(&w.text, lua);
    lua_pushvalue(lua, 1);
    write_value(&w);
    lua_pop(lua, 1);
    script_text_push(&w.text);
    return 1;
}

/* ---- decoding ---- */

enum token {
    TOKEN_OBJECT,
    TOKEN_OBJECT_END,
    TOKEN_ARRAY,
    TOKEN_ARRAY_END,
    TOKEN_STRING, /* it is in reader->string */
    TOKEN_NUMBER,
    TOKEN_BOOLEAN,
    TOKEN_NULL,
    TOKEN_COLON,
    TOKEN_COMMA,
    TOKEN_END,
    TOKEN_ERROR, /* reader->fault */
};

struct json_reader {
    lua_State *lua;
    const struct json_settings *settings;
    const char *begin, *at, *end; /* a NUL stands at the end */
    struct script_text string;
    double number;
    bool truth;
    const char *fault;
    size_t token_at; /* where the token begins */
    int depth;
};

static const char *token_name(const struct json_reader *r, enum token token) {
    static const char *const names[] = {"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END",
                                        "T_STRING",    "T_NUMBER",  "T_BOOLEAN",   "T_NULL",
                                        "T_COLON",     "T_COMMA",   "T_END"};
    return token == TOKEN_ERROR ? r->fault : names[token];
}

static void refuse_token(const struct json_reader *r, const char *expected, enum token found) {
    luaL_error(r->lua, "Expected %s but found %s at character %d", expected, token_name(r, found),
               (int)r->token_at + 1);
}

static enum token fault_at(struct json_reader *r, const char *at, const char *fault) {
    r->token_at = (size_t)(at - r->begin);
    r->fault = fault;
    return TOKEN_ERROR;
}

static bool read_hex(const char *at, const char *end, unsigned *out) {
    *out = 0;
    for (int i = 0; i < 4; i++) {
        if (at + i >= end)
            return false;
        unsigned char c = (unsigned char)at[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)c - '0'
                         : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                         : c >= 'A' && c <= 'F' ? c - 'A' + 10u
                                                : 16;
        if (digit == 16)
            return false;
        *out = *out * 16 + digit;
    }
    return true;
}

static void put_code_point(struct script_text *to, unsigned code) {
    if (code < 0x80) {
        script_text_byte(to, (int)code);
        return;
    }
    if (code >= 0x10000) {
        script_text_byte(to, (int)(0xf0 | code >> 18));
        script_text_byte(to, (int)(0x80 | (code >> 12 & 0x3f)));
    } else if (code >= 0x800)
        script_text_byte(to, (int)(0xe0 | code >> 12));
    else {
        script_text_byte(to, (int)(0xc0 | code >> 6));
        script_text_byte(to, (int)(0x80 | (code & 0x3f)));
        return;
    }
    script_text_byte(to, (int)(0x80 | (code >> 6 & 0x3f)));
    script_text_byte(to, (int)(0x80 | (code & 0x3f)));
}

/* r->at is at the 'u'. A surrogate needs its other half behind it. */
static bool read_unicode(struct json_reader *r) {
    unsigned code, low;
    const char *at = r->at + 1;
    if (!read_hex(at, r->end, &code))
        return false;
    at += 4;
    if ((code & 0xf800) == 0xd800) {
        if ((code & 0x400) != 0 || r->end - at < 6 || at[0] != '\\' || at[1] != 'u' ||
            !read_hex(at + 2, r->end, &low) || (low & 0xfc00) != 0xdc00)
            return false;
        code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
        at += 6;
    }
    put_code_point(&r->string, code);
    r->at = at;
    return true;
}

static bool read_escape(struct json_reader *r) {
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = *++r->at;
    if (c == 'u')
        return read_unicode(r);
    const char *found = c == '\0' ? NULL : strchr(letters, c);
    if (found == NULL)
        return false;
    script_text_byte(&r->string, meanings[found - letters]);
    r->at++;
    return true;
}

static enum token read_string(struct json_reader *r) {
    r->string.size = 0;
    r->at++;
    while (r->at < r->end && *r->at != '"') {
        if (*r->at != '\\')
            script_text_byte(&r->string, *r->at++);
        else {
            const char *escape = r->at;
            if (!read_escape(r))
                return fault_at(r, escape,
                                escape[1] == 'u' ? "invalid unicode escape code"
                                                 : "invalid escape code");
        }
    }
    if (r->at == r->end)
        return fault_at(r, r->at, "unexpected end of string");
    r->at++;
    return TOKEN_STRING;
}

/* What strtod() takes and JSON does not: hexadecimal, infinities, leading zeros. */
static bool is_invalid_number(const char *p) {
    if (*p == '+')
        return true;
    if (*p == '-')
        p++;
    if (*p == '0')
        return (p[1] | 0x20) == 'x' || (p[1] >= '0' && p[1] <= '9');
    return strncasecmp(p, "inf", 3) == 0 || strncasecmp(p, "nan", 3) == 0;
}

static enum token read_number(struct json_reader *r) {
    char *end;
    r->number = strtod(r->at, &end);
    if (end == r->at)
        return fault_at(r, r->at, "invalid number");
    r->at = end;
    return TOKEN_NUMBER;
}

static bool takes_word(struct json_reader *r, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0)
        return false;
    r->at += size;
    return true;
}

static enum token read_word(struct json_reader *r) {
    r->truth = *r->at == 't';
    if (takes_word(r, "true") || takes_word(r, "false"))
        return TOKEN_BOOLEAN;
    if (takes_word(r, "null"))
        return TOKEN_NULL;
    bool digit = *r->at == '-' || (*r->at >= '0' && *r->at <= '9');
    bool invalid = is_invalid_number(r->at);
    if (digit && invalid && !r->settings->decode_invalid)
        return fault_at(r, r->at, "invalid number");
    if (digit || (invalid && r->settings->decode_invalid))
        return read_number(r);
    return fault_at(r, r->at, "invalid token");
}

static enum token next_token(struct json_reader *r) {
    static const char single[] = "{}[]", others[] = ":,";
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
    r->token_at = (size_t)(r->at - r->begin);
    if (r->at == r->end)
        return TOKEN_END;
    char c = *r->at;
    if (c == '"')
        return read_string(r);
    const char *found = c == '\0' ? NULL : strchr(single, c);
    if (found == NULL && c != '\0' && strchr(others, c) == NULL)
        return read_word(r);
    if (c == '\0')
        return fault_at(r, r->at, "invalid token");
    r->at++;
    if (found != NULL)
        return (enum token)(TOKEN_OBJECT + (found - single));
    return c == ':' ? TOKEN_COLON : TOKEN_COMMA;
}

static void read_value(struct json_reader *r, enum token token);

static void descend(struct json_reader *r, int slots) {
    if (++r->depth > r->settings->decode_depth || !lua_checkstack(r->lua, slots))
        luaL_error(r->lua, "Found too many nested data structures (%d) at character %d", r->depth,
                   (int)(r->at - r->begin));
    script_vm_work(r->lua, 1);
}

static void read_object(struct json_reader *r) {
    descend(r, 3);
    lua_newtable(r->lua);
    enum token token = next_token(r);
    while (token != TOKEN_OBJECT_END) {
        if (token != TOKEN_STRING)
            refuse_token(r, "object key string", token);
        script_text_push(&r->string);
        if ((token = next_token(r)) != TOKEN_COLON)
            refuse_token(r, "colon", token);
        read_value(r, next_token(r));
        lua_rawset(r->lua, -3);
        if ((token = next_token(r)) == TOKEN_OBJECT_END)
            break;
        if (token != TOKEN_COMMA)
            refuse_token(r, "comma or object end", token);
        token = next_token(r);
        if (token == TOKEN_OBJECT_END)
            refuse_token(r, "object key string", token);
    }
    r->depth--;
}

static void read_array(struct json_reader *r) {
    descend(r, 2);
    lua_newtable(r->lua);
    enum token token = next_token(r);
    for (int i = 1; token != TOKEN_ARRAY_END; i++) {
        read_value(r, token);
        lua_rawseti(r->lua, -2, i);
        if ((token = next_token(r)) == TOKEN_ARRAY_END)
            break;
        if (token != TOKEN_COMMA)
            refuse_token(r, "comma or array end", token);
        token = next_token(r);
        if (token == TOKEN_ARRAY_END)
            refuse_token(r, "value", token);
    }
    r->depth--;
}

static void read_value(struct json_reader *r, enum token token) {
    switch (token) {
    case TOKEN_STRING:
        script_text_push(&r->string);
        break;
    case TOKEN_NUMBER:
        lua_pushnumber(r->lua, r->number);
        break;
    case TOKEN_BOOLEAN:
        lua_pushboolean(r->lua, r->truth);
        break;
    case TOKEN_NULL:
        lua_pushlightuserdata(r->lua, NULL);
        break;
    case TOKEN_OBJECT:
        read_object(r);
        break;
    case TOKEN_ARRAY:
        read_array(r);
        break;
    default:
        refuse_token(r, "value", token);
    }
}

static int json_decode(lua_State *lua) {
    size_t size;
    struct json_reader r = {.lua = lua, .settings = settings_of(lua)};
    luaL_argcheck(lua, lua_gettop(lua) == 1, 1, "expected 1 argument");
    r.begin = r.at = luaL_checklstring(lua, 1, &size);
    r.end = r.begin + size;
    if (size >= 2 && (r.begin[0] == '\0' || r.begin[1] == '\0'))
        return luaL_error(lua, "JSON parser does not support UTF-16 or UTF-32");
    script_vm_work(lua, size / 128);
    script_text_init(&r.string, lua);
    read_value(&r, next_token(&r));
    enum token token = next_token(&r);
    if (token != TOKEN_END)
        refuse_token(&r, "the end", token);
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
    struct json_settings *settings = settings_of(lua);
    lua_settop(lua, 3);
    word_option(lua, 1, &settings->sparse_convert, on_off);
    integer_option(lua, 2, &settings->sparse_ratio, 0, INT32_MAX);
    integer_option(lua, 3, &settings->sparse_safe, 0, INT32_MAX);
    return 3;
}

static int json_encode_max_depth(lua_State *lua) {
    return integer_option(lua, 1, &settings_of(lua)->encode_depth, 1, 1000);
}

static int json_decode_max_depth(lua_State *lua) {
    return integer_option(lua, 1, &settings_of(lua)->decode_depth, 1, 1000);
}

static int json_encode_number_precision(lua_State *lua) {
    return integer_option(lua, 1, &settings_of(lua)->precision, 1, 14);
}

static int json_encode_keep_buffer(lua_State *lua) {
    return word_option(lua, 1, &settings_of(lua)->keep_buffer, on_off);
}

static int json_encode_invalid_numbers(lua_State *lua) {
    return word_option(lua, 1, &settings_of(lua)->encode_invalid, on_off_null);
}

static int json_decode_invalid_numbers(lua_State *lua) {
    return word_option(lua, 1, &settings_of(lua)->decode_invalid, on_off);
}

static int json_new(lua_State *lua);

int script_open_json(lua_State *lua) {
    static const luaL_Reg functions[] = {
        {"encode", json_encode},
        {"decode", json_decode},
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
