/* What the two halves of the library cjson share: its settings (script_json.c), and the reader of
 * JSON texts that they bound (script_json_reader.c). Private to this folder. A state is used by one
 * thread at a time, so nothing is locked; all memory is the state's own, which its collector frees,
 * so an error may be thrown at any place. */
#ifndef GT_API_SCRIPT_SCRIPT_JSON_H
#define GT_API_SCRIPT_SCRIPT_JSON_H

#include "api/script/script_int.h"

/* What the functions that change settings change; of one copy of the library (cjson.new). */
struct json_settings {
    int sparse_convert, sparse_ratio, sparse_safe;
    int encode_depth, decode_depth;
    int encode_invalid; /* 0 refused, 1 as they are, 2 as null */
    int decode_invalid, precision, keep_buffer;
};

/* In a function of the library: the settings of the copy that it belongs to. */
static inline struct json_settings *script_json_settings(lua_State *lua) {
    return lua_touserdata(lua, lua_upvalueindex(1));
}

/* cjson.decode(text): pushes the value and returns 1, or throws what is wrong and where. A null is
 * cjson.null, a light userdata of NULL. */
int script_json_decode(lua_State *lua);

#endif
