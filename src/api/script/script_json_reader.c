/* cjson.decode: tokens out of the text, and values out of tokens, which are left on Lua's stack.
 * What is wrong with a text is told in the words of lua-cjson. */
#include "api/script/script_json.h"

#include <stdlib.h>
#include <strings.h>

/* ---- tokens ---- */

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

/* ---- values ---- */

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

int script_json_decode(lua_State *lua) {
    size_t size;
    struct json_reader r = {.lua = lua, .settings = script_json_settings(lua)};
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
