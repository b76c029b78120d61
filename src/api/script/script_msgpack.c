/* The library cmsgpack, as Redis has it: MessagePack.
 *
 *     nil c0   false c2   true c3
 *     00..7f, e0..ff: small integers    cc cd ce cf: unsigned of 1 2 4 8 bytes   d0 d1 d2 d3:
 * signed ca: float   cb: double a0..bf, d9 da db: text, its size in 5 bits, 1 2 4 bytes    c4 c5
 * c6: bytes, likewise 90..9f, dc dd: array, its size in 4 bits, 2 4 bytes   80..8f, de df: map,
 * likewise
 *
 * Sizes and numbers are big-endian. */
#include "api/script/script_int.h"
#include "base/limits.h"

#include <limits.h>
#include <math.h>

enum { NESTING_MAX = LIMIT_SCRIPT_MSGPACK_DEPTH };

/* ---- packing ---- */

struct packer {
    lua_State *lua;
    struct script_text text;
};

static void put_number(struct packer *p, int kind, uint64_t number, int size) {
    char bytes[9];
    bytes[0] = (char)kind;
    for (int i = 0; i < size; i++)
        bytes[1 + i] = (char)(number >> 8 * (size - 1 - i));
    script_text_put(&p->text, bytes, 1 + (size_t)size);
}

static void pack_integer(struct packer *p, int64_t number) {
    uint64_t bits = (uint64_t)number;
    if (number >= -32 && number <= 127)
        script_text_byte(&p->text, (int)(bits & 0xff));
    else if (number >= 0)
        number <= 0xff         ? put_number(p, 0xcc, bits, 1)
        : number <= 0xffff     ? put_number(p, 0xcd, bits, 2)
        : number <= 0xffffffff ? put_number(p, 0xce, bits, 4)
                               : put_number(p, 0xcf, bits, 8);
    else
        number >= INT8_MIN    ? put_number(p, 0xd0, bits, 1)
        : number >= INT16_MIN ? put_number(p, 0xd1, bits, 2)
        : number >= INT32_MIN ? put_number(p, 0xd2, bits, 4)
                              : put_number(p, 0xd3, bits, 8);
}

static void pack_number(struct packer *p, double number) {
    float single = (float)number;
    uint32_t bits;
    uint64_t wide;
    if (number >= -9223372036854775808.0 && number < 9223372036854775808.0 &&
        floor(number) == number)
        pack_integer(p, (int64_t)number);
    else if ((double)single == number) {
        memcpy(&bits, &single, sizeof(bits));
        put_number(p, 0xca, bits, 4);
    } else {
        memcpy(&wide, &number, sizeof(wide));
        put_number(p, 0xcb, wide, 8);
    }
}

static void pack_string(struct packer *p, const char *text, size_t size) {
    if (size < 32)
        script_text_byte(&p->text, (int)(0xa0 | size));
    else
        size <= 0xff     ? put_number(p, 0xd9, size, 1)
        : size <= 0xffff ? put_number(p, 0xda, size, 2)
                         : put_number(p, 0xdb, size, 4);
    script_text_put(&p->text, text, size);
}

static void put_count(struct packer *p, bool map, size_t count) {
    if (count < 16)
        script_text_byte(&p->text, (int)((map ? 0x80 : 0x90) | count));
    else
        count <= 0xffff ? put_number(p, map ? 0xde : 0xdc, count, 2)
                        : put_number(p, map ? 0xdf : 0xdd, count, 4);
}

/* Counts the pairs; whether the keys are 1 to that number. */
static bool is_array(lua_State *lua, size_t *count) {
    double max = 0;
    bool whole = true;
    *count = 0;
    lua_pushnil(lua);
    while (lua_next(lua, -2)) {
        lua_pop(lua, 1);
        double key = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : 0;
        whole = whole && key > 0 && floor(key) == key;
        max = key > max ? key : max;
        ++*count;
    }
    return whole && max == (double)*count;
}

static void pack_value(struct packer *p, int level);

static void pack_table(struct packer *p, int level) {
    size_t count;
    bool array = is_array(p->lua, &count);
    luaL_checkstack(p->lua, 4, "too much at once");
    script_vm_work(p->lua, 1 + count / 64);
    put_count(p, !array, count);
    for (size_t i = 1; array && i <= count; i++) {
        lua_rawgeti(p->lua, -1, (int)i);
        pack_value(p, level + 1);
    }
    if (array)
        return;
    lua_pushnil(p->lua);
    while (lua_next(p->lua, -2)) {
        lua_pushvalue(p->lua, -2);
        pack_value(p, level + 1);
        pack_value(p, level + 1);
    }
}

/* Packs and pops the value on top of the stack. */
static void pack_value(struct packer *p, int level) {
    size_t size;
    int type = lua_type(p->lua, -1);
    if (type == LUA_TSTRING) {
        const char *text = lua_tolstring(p->lua, -1, &size);
        pack_string(p, text, size);
    } else if (type == LUA_TNUMBER)
        pack_number(p, lua_tonumber(p->lua, -1));
    else if (type == LUA_TBOOLEAN)
        script_text_byte(&p->text, lua_toboolean(p->lua, -1) ? 0xc3 : 0xc2);
    else if (type == LUA_TTABLE && level < NESTING_MAX)
        pack_table(p, level);
    else
        script_text_byte(&p->text, 0xc0);
    lua_pop(p->lua, 1);
}

static int msgpack_pack(lua_State *lua) {
    struct packer p = {.lua = lua};
    int count = lua_gettop(lua);
    if (count == 0)
        return luaL_argerror(lua, 0, "MessagePack pack needs input.");
    script_text_init(&p.text, lua);
    for (int i = 1; i <= count; i++) {
        luaL_checkstack(lua, 1, "in function mp_check");
        lua_pushvalue(lua, i);
        pack_value(&p, 0);
    }
    script_text_push(&p.text);
    return 1;
}

/* ---- unpacking ---- */

struct unpacker {
    lua_State *lua;
    const uint8_t *at, *end;
};

static void refuse_short(struct unpacker *u, size_t size) {
    if ((size_t)(u->end - u->at) < size)
        luaL_error(u->lua, "Missing bytes in input.");
}

static uint64_t take_number(struct unpacker *u, int size) {
    uint64_t number = 0;
    refuse_short(u, (size_t)size);
    for (int i = 0; i < size; i++)
        number = number << 8 | *u->at++;
    return number;
}

static void unpack_text(struct unpacker *u, uint64_t size) {
    refuse_short(u, size);
    lua_pushlstring(u->lua, (const char *)u->at, size);
    u->at += size;
}

static void unpack_value(struct unpacker *u, int level);

static void descend(struct unpacker *u, int level) {
    /* Each level has a byte at least, and the C stack has to hold all of them. */
    if (level > 1000)
        luaL_error(u->lua, "Bad data format in input.");
    luaL_checkstack(u->lua, 4, "in function mp_decode_to_lua_hash");
    script_vm_work(u->lua, 1);
}

static void unpack_array(struct unpacker *u, uint64_t count, int level) {
    descend(u, level);
    lua_newtable(u->lua);
    for (uint64_t i = 1; i <= count; i++) {
        unpack_value(u, level + 1);
        lua_rawseti(u->lua, -2, (int)i);
    }
}

static void unpack_map(struct unpacker *u, uint64_t count, int level) {
    descend(u, level);
    lua_newtable(u->lua);
    while (count-- > 0) {
        unpack_value(u, level + 1);
        if (lua_isnil(u->lua, -1))
            script_throw(u->lua, "table index is nil");
        if (lua_type(u->lua, -1) == LUA_TNUMBER && isnan(lua_tonumber(u->lua, -1)))
            script_throw(u->lua, "table index is NaN");
        unpack_value(u, level + 1);
        lua_rawset(u->lua, -3);
    }
}

static void unpack_signed(struct unpacker *u, int size) {
    uint64_t number = take_number(u, size);
    int shift = 64 - 8 * size;
    lua_pushnumber(u->lua, (double)((int64_t)(number << shift) >> shift));
}

static void unpack_float(struct unpacker *u, bool wide) {
    float single;
    double number;
    uint64_t bits = take_number(u, wide ? 8 : 4);
    uint32_t half = (uint32_t)bits;
    memcpy(&number, &bits, sizeof(number));
    memcpy(&single, &half, sizeof(single));
    lua_pushnumber(u->lua, wide ? number : (double)single);
}

/* A kind from c0 to df. */
static void unpack_long(struct unpacker *u, uint8_t kind, int level) {
    switch (kind) {
    case 0xc0:
        lua_pushnil(u->lua);
        break;
    case 0xc2:
        lua_pushboolean(u->lua, 0);
        break;
    case 0xc3:
        lua_pushboolean(u->lua, 1);
        break;
    case 0xca:
    case 0xcb:
        unpack_float(u, kind == 0xcb);
        break;
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        lua_pushnumber(u->lua, (double)take_number(u, 1 << (kind - 0xcc)));
        break;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        unpack_signed(u, 1 << (kind - 0xd0));
        break;
    case 0xc4:
    case 0xc5:
    case 0xc6:
        unpack_text(u, take_number(u, 1 << (kind - 0xc4)));
        break;
    case 0xd9:
    case 0xda:
    case 0xdb:
        unpack_text(u, take_number(u, 1 << (kind - 0xd9)));
        break;
    case 0xdc:
    case 0xdd:
        unpack_array(u, take_number(u, kind == 0xdc ? 2 : 4), level);
        break;
    case 0xde:
    case 0xdf:
        unpack_map(u, take_number(u, kind == 0xde ? 2 : 4), level);
        break;
    default:
        luaL_error(u->lua, "Bad data format in input.");
    }
}

static void unpack_value(struct unpacker *u, int level) {
    refuse_short(u, 1);
    uint8_t kind = *u->at++;
    luaL_checkstack(u->lua, 1, "too many return values at once; use unpack_one or unpack_limit");
    if (kind < 0x80 || kind >= 0xe0)
        lua_pushnumber(u->lua, kind < 0x80 ? kind : kind - 256);
    else if (kind < 0x90)
        unpack_map(u, kind & 15, level);
    else if (kind < 0xa0)
        unpack_array(u, kind & 15, level);
    else if (kind < 0xc0)
        unpack_text(u, kind & 31);
    else
        unpack_long(u, kind, level);
}

/* With a limit the first result is where the next value begins, or -1 at the end. */
static int unpack_all(lua_State *lua, int limit, int offset) {
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    bool all = limit == 0 && offset == 0;
    if (offset < 0 || limit < 0)
        return luaL_error(lua, "Invalid request to unpack with offset of %d and limit of %d.",
                          offset, (int)size);
    if ((size_t)offset > size)
        return luaL_error(lua, "Start offset %d greater than input length %d.", offset, (int)size);
    struct unpacker u = {lua, (const uint8_t *)text + offset, (const uint8_t *)text + size};
    int count = 0;
    while (u.at < u.end && (all || count < (limit == 0 ? INT_MAX : limit))) {
        unpack_value(&u, 0);
        count++;
    }
    if (all)
        return count;
    lua_pushinteger(lua, u.at == u.end ? -1 : u.at - (const uint8_t *)text);
    lua_insert(lua, -(count + 1));
    return count + 1;
}

static int msgpack_unpack(lua_State *lua) {
    return unpack_all(lua, 0, 0);
}

static int msgpack_unpack_one(lua_State *lua) {
    int offset = luaL_optint(lua, 2, 0);
    return unpack_all(lua, 1, offset);
}

static int msgpack_unpack_limit(lua_State *lua) {
    int limit = luaL_checkint(lua, 2), offset = luaL_optint(lua, 3, 0);
    return unpack_all(lua, limit, offset);
}

int script_open_msgpack(lua_State *lua) {
    static const luaL_Reg functions[] = {{"pack", msgpack_pack},
                                         {"unpack", msgpack_unpack},
                                         {"unpack_one", msgpack_unpack_one},
                                         {"unpack_limit", msgpack_unpack_limit},
                                         {NULL, NULL}};
    lua_newtable(lua);
    luaL_register(lua, NULL, functions);
    lua_pushliteral(lua, "cmsgpack");
    lua_setfield(lua, -2, "_NAME");
    return 1;
}
