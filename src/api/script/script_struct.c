/* The library struct, as Redis has it: values to and from fixed layouts of bytes.
 *
 *     > < =     big-endian, little-endian, this machine's        ! [n]   aligned to at most n
 *     b B       a byte     h H  two     l L  eight     T  a size, eight     i[n] I[n]  n, or four
 *     f d       float, double     x  padding     s  text up to a NUL     c[n]  n characters, c0 as
 * many as the number before says */
#include "api/script/script_int.h"

#include <ctype.h>
#include <limits.h>

enum { INT_SIZE_MAX = 32, ALIGN_DEFAULT = 8 };

struct layout {
    lua_State *lua;
    const char *format; /* what is left of it */
    bool little;
    size_t align; /* at most */
};

static struct layout layout_begin(lua_State *lua, int index) {
    return (struct layout){lua, luaL_checkstring(lua, index), true, 1};
}

/* A number in the format, or what it is without one. */
static size_t take_size(struct layout *layout, size_t otherwise) {
    size_t size = 0;
    if (!isdigit((unsigned char)*layout->format))
        return otherwise;
    while (isdigit((unsigned char)*layout->format)) {
        size_t digit = (size_t)(*layout->format++ - '0');
        if (size > (INT_MAX - digit) / 10)
            luaL_error(layout->lua, "integral size overflow");
        size = size * 10 + digit;
    }
    return size;
}

/* The size of one value; for `s` 0, and for `c0` too. */
static size_t size_of(struct layout *layout, char kind) {
    switch (kind) {
    case 'b':
    case 'B':
    case 'x':
        return 1;
    case 'h':
    case 'H':
        return sizeof(short);
    case 'l':
    case 'L':
        return sizeof(long);
    case 'T':
        return sizeof(size_t);
    case 'f':
        return sizeof(float);
    case 'd':
        return sizeof(double);
    case 'c':
        return take_size(layout, 1);
    case 'i':
    case 'I': {
        size_t size = take_size(layout, sizeof(int));
        if (size > INT_SIZE_MAX)
            luaL_error(layout->lua, "integral size %d is larger than limit of %d", (int)size,
                       INT_SIZE_MAX);
        return size;
    }
    default:
        return 0;
    }
}

/* How many bytes stand before a value of that size at this place. */
static size_t padding_of(const struct layout *layout, size_t size, char kind, size_t at) {
    size_t align = size < layout->align ? size : layout->align;
    if (kind == 'c' || align <= 1)
        return 0;
    return (align - (at & (align - 1))) & (align - 1);
}

/* Whether it was a setting and not a value. */
static bool take_setting(struct layout *layout, char kind) {
    if (kind == ' ')
        return true;
    if (kind == '>' || kind == '<' || kind == '=') {
        layout->little = kind != '>';
        return true;
    }
    if (kind == '!') {
        size_t align = take_size(layout, ALIGN_DEFAULT);
        if (align == 0 || (align & (align - 1)) != 0)
            luaL_error(layout->lua, "alignment %d is not a power of 2", (int)align);
        layout->align = align;
        return true;
    }
    return false;
}

static int refuse_kind(struct layout *layout, char kind) {
    return luaL_argerror(layout->lua, 1,
                         lua_pushfstring(layout->lua, "invalid format option '%c'", kind));
}

/* ---- packing ---- */

static void put_integer(struct layout *layout, struct script_text *to, int index, size_t size) {
    double number = luaL_checknumber(layout->lua, index);
    uint64_t bits =
        number < 0
            ? (uint64_t)(int64_t)(number < -9223372036854775808.0 ? -9223372036854775808.0 : number)
        : number < 18446744073709551616.0 ? (uint64_t)number
                                          : 0;
    char bytes[INT_SIZE_MAX];
    for (size_t i = 0; i < size; i++) {
        size_t at = layout->little ? i : size - 1 - i;
        bytes[at] = (char)(i < 8 ? bits >> 8 * i : 0);
    }
    script_text_put(to, bytes, size);
}

static void put_float(struct layout *layout, struct script_text *to, int index, size_t size) {
    double number = luaL_checknumber(layout->lua, index);
    float single = (float)number;
    char bytes[8], turned[8];
    memcpy(bytes, size == sizeof(float) ? (void *)&single : (void *)&number, size);
    for (size_t i = 0; i < size; i++)
        turned[i] = bytes[layout->little ? i : size - 1 - i];
    script_text_put(to, turned, size);
}

static void put_text(struct layout *layout, struct script_text *to, int index, char kind,
                     size_t size) {
    size_t length;
    const char *text = luaL_checklstring(layout->lua, index, &length);
    if (size == 0)
        size = length;
    luaL_argcheck(layout->lua, length >= size, index + 1, "string too short");
    script_text_put(to, text, size);
    if (kind == 's')
        script_text_byte(to, 0);
}

/* Packs the argument `index`; false if this kind takes none. */
static bool put_value(struct layout *layout, struct script_text *to, int index, char kind) {
    size_t size = size_of(layout, kind);
    for (size_t pad = padding_of(layout, size, kind, to->size); pad > 0; pad--)
        script_text_byte(to, 0);
    if (strchr("bBhHlLTiI", kind) != NULL)
        put_integer(layout, to, index, size);
    else if (kind == 'f' || kind == 'd')
        put_float(layout, to, index, size);
    else if (kind == 'c' || kind == 's')
        put_text(layout, to, index, kind, size);
    else if (kind == 'x') {
        script_text_byte(to, 0);
        return false;
    } else
        refuse_kind(layout, kind);
    return true;
}

static int struct_pack(lua_State *lua) {
    struct layout layout = layout_begin(lua, 1);
    struct script_text to;
    int index = 2;
    lua_pushnil(lua); /* between the arguments and what follows */
    script_text_init(&to, lua);
    while (*layout.format != '\0') {
        char kind = *layout.format++;
        if (!take_setting(&layout, kind) && put_value(&layout, &to, index, kind))
            index++;
    }
    script_text_push(&to);
    return 1;
}

/* ---- unpacking ---- */

static void push_integer(struct layout *layout, const char *from, char kind, size_t size) {
    uint64_t bits = 0;
    size_t used = size < 8 ? size : 8;
    for (size_t i = 0; i < used; i++)
        bits |= (uint64_t)(unsigned char)from[layout->little ? i : size - 1 - i] << 8 * i;
    if (isupper((unsigned char)kind))
        lua_pushnumber(layout->lua, (double)bits);
    else {
        unsigned shift = used == 0 ? 0 : (unsigned)(64 - 8 * used);
        lua_pushnumber(layout->lua, (double)((int64_t)(bits << shift) >> shift));
    }
}

static void push_float(struct layout *layout, const char *from, size_t size) {
    char bytes[8] = {0};
    float single;
    double number = 0;
    for (size_t i = 0; i < size; i++)
        bytes[i] = from[layout->little ? i : size - 1 - i];
    if (size == sizeof(float)) {
        memcpy(&single, bytes, size);
        number = (double)single;
    } else
        memcpy(&number, bytes, sizeof(number));
    lua_pushnumber(layout->lua, number);
}

struct unpacking {
    const char *data;
    size_t size, at;
    int count; /* values pushed */
};

/* `c0` takes as many characters as the value before it says, which it replaces. */
static size_t counted_size(struct layout *layout, struct unpacking *u) {
    if (u->count == 0 || !lua_isnumber(layout->lua, -1))
        luaL_error(layout->lua, "format 'c0' needs a previous size");
    double size = lua_tonumber(layout->lua, -1);
    lua_pop(layout->lua, 1);
    u->count--;
    luaL_argcheck(layout->lua, size >= 0 && size <= (double)(u->size - u->at), 2,
                  "data string too short");
    return (size_t)size;
}

static void push_text(struct layout *layout, struct unpacking *u, char kind, size_t size) {
    const char *from = u->data + u->at;
    if (kind == 's') {
        const char *end = memchr(from, '\0', u->size - u->at);
        if (end == NULL)
            luaL_error(layout->lua, "unfinished string in data");
        lua_pushlstring(layout->lua, from, (size_t)(end - from));
        u->at += (size_t)(end - from) + 1;
        return;
    }
    lua_pushlstring(layout->lua, from, size);
    u->at += size;
}

static void push_value(struct layout *layout, struct unpacking *u, char kind) {
    size_t size = size_of(layout, kind);
    size_t pad = padding_of(layout, size, kind, u->at);
    luaL_argcheck(layout->lua, pad <= u->size - u->at && size <= u->size - u->at - pad, 2,
                  "data string too short");
    u->at += pad;
    if (kind == 'c' && size == 0)
        size = counted_size(layout, u);
    luaL_checkstack(layout->lua, 2, "too many results");
    const char *from = u->data + u->at;
    if (kind == 'c' || kind == 's')
        push_text(layout, u, kind, size);
    else if (strchr("bBhHlLTiI", kind) != NULL)
        push_integer(layout, from, kind, size);
    else if (kind == 'f' || kind == 'd')
        push_float(layout, from, size);
    else if (kind != 'x')
        refuse_kind(layout, kind);
    if (kind != 'c' && kind != 's')
        u->at += size;
    u->count += kind != 'x';
}

static int struct_unpack(lua_State *lua) {
    struct layout layout = layout_begin(lua, 1);
    struct unpacking u = {0};
    u.data = luaL_checklstring(lua, 2, &u.size);
    lua_Integer from = luaL_optinteger(lua, 3, 1) - 1;
    luaL_argcheck(lua, from >= 0, 3, "offset must be 1 or greater");
    u.at = (size_t)from;
    luaL_argcheck(lua, u.at <= u.size, 2, "data string too short");
    while (*layout.format != '\0') {
        char kind = *layout.format++;
        if (!take_setting(&layout, kind))
            push_value(&layout, &u, kind);
    }
    lua_pushinteger(lua, (lua_Integer)u.at + 1);
    return u.count + 1;
}

static int struct_size(lua_State *lua) {
    struct layout layout = layout_begin(lua, 1);
    size_t at = 0;
    while (*layout.format != '\0') {
        char kind = *layout.format++;
        if (take_setting(&layout, kind))
            continue;
        size_t size = size_of(&layout, kind);
        at += padding_of(&layout, size, kind, at);
        if (kind == 's')
            luaL_argerror(lua, 1, "option 's' has no fixed size");
        if (kind == 'c' && size == 0)
            luaL_argerror(lua, 1, "option 'c0' has no fixed size");
        at += size;
    }
    lua_pushinteger(lua, (lua_Integer)at);
    return 1;
}

int script_open_struct(lua_State *lua) {
    static const luaL_Reg functions[] = {
        {"pack", struct_pack}, {"unpack", struct_unpack}, {"size", struct_size}, {NULL, NULL}};
    lua_newtable(lua);
    luaL_register(lua, NULL, functions);
    return 1;
}
