/* The library bit: operations on 32-bit integers. A number is taken modulo 2^32, rounded to the
 * nearest, and results are signed. */
#include "api/script/script_int.h"

#include <math.h>

static uint32_t bits_of(lua_State *lua, int index) {
    double number = fmod(nearbyint(luaL_checknumber(lua, index)), 4294967296.0);
    if (number < 0)
        number += 4294967296.0;
    return number >= 0 && number < 4294967296.0 ? (uint32_t)number : 0; /* NaN is 0 */
}

static int push_bits(lua_State *lua, uint32_t bits) {
    lua_pushnumber(lua, (double)(int32_t)bits);
    return 1;
}

static int bit_tobit(lua_State *lua) {
    return push_bits(lua, bits_of(lua, 1));
}

static int bit_bnot(lua_State *lua) {
    return push_bits(lua, ~bits_of(lua, 1));
}

static int bit_band(lua_State *lua) {
    uint32_t bits = bits_of(lua, 1);
    for (int i = lua_gettop(lua); i > 1; i--)
        bits &= bits_of(lua, i);
    return push_bits(lua, bits);
}

static int bit_bor(lua_State *lua) {
    uint32_t bits = bits_of(lua, 1);
    for (int i = lua_gettop(lua); i > 1; i--)
        bits |= bits_of(lua, i);
    return push_bits(lua, bits);
}

static int bit_bxor(lua_State *lua) {
    uint32_t bits = bits_of(lua, 1);
    for (int i = lua_gettop(lua); i > 1; i--)
        bits ^= bits_of(lua, i);
    return push_bits(lua, bits);
}

static int bit_lshift(lua_State *lua) {
    return push_bits(lua, bits_of(lua, 1) << (bits_of(lua, 2) & 31));
}

static int bit_rshift(lua_State *lua) {
    return push_bits(lua, bits_of(lua, 1) >> (bits_of(lua, 2) & 31));
}

static int bit_arshift(lua_State *lua) {
    uint32_t bits = bits_of(lua, 1), by = bits_of(lua, 2) & 31;
    uint32_t sign = (bits >> 31) != 0 && by != 0 ? ~(UINT32_MAX >> by) : 0;
    return push_bits(lua, bits >> by | sign);
}

static uint32_t rotate(uint32_t bits, uint32_t by) {
    by &= 31;
    return by == 0 ? bits : bits << by | bits >> (32 - by);
}

static int bit_rol(lua_State *lua) {
    return push_bits(lua, rotate(bits_of(lua, 1), bits_of(lua, 2)));
}

static int bit_ror(lua_State *lua) {
    return push_bits(lua, rotate(bits_of(lua, 1), 32 - (bits_of(lua, 2) & 31)));
}

static int bit_bswap(lua_State *lua) {
    return push_bits(lua, __builtin_bswap32(bits_of(lua, 1)));
}

/* The number of digits may be negative: then they are in upper case. */
static int bit_tohex(lua_State *lua) {
    uint32_t bits = bits_of(lua, 1);
    int32_t count = lua_isnone(lua, 2) ? 8 : (int32_t)bits_of(lua, 2);
    const char *digits = count < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[8];
    int size = count < -8 || count > 8 ? 8 : count < 0 ? -count : count;
    for (int i = size; --i >= 0; bits >>= 4)
        text[i] = digits[bits & 15];
    lua_pushlstring(lua, text, (size_t)size);
    return 1;
}

int script_open_bit(lua_State *lua) {
    static const luaL_Reg functions[] = {{"tobit", bit_tobit},
                                         {"bnot", bit_bnot},
                                         {"band", bit_band},
                                         {"bor", bit_bor},
                                         {"bxor", bit_bxor},
                                         {"lshift", bit_lshift},
                                         {"rshift", bit_rshift},
                                         {"arshift", bit_arshift},
                                         {"rol", bit_rol},
                                         {"ror", bit_ror},
                                         {"bswap", bit_bswap},
                                         {"tohex", bit_tohex},
                                         {NULL, NULL}};
    lua_newtable(lua);
    luaL_register(lua, NULL, functions);
    return 1;
}
