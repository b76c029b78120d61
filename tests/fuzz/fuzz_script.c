/* Any bytes as a script, and as what the libraries of scripts read: patterns, JSON, MessagePack,
 * layouts. Nothing gets out of the sandbox, takes for ever or takes all memory; what was packed and
 * unpacked again is the same. */
#include "api/script/script_vm.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_run {
    bool ours;
    uint64_t work;
};

static enum script_stop on_tick(void *user, uint64_t units) {
    struct fuzz_run *run = user;
    run->work += units;
    return run->work > 20000 ? SCRIPT_OVER : SCRIPT_RUNS;
}

static void on_result(lua_State *lua, bool failed, void *user) {
    const struct fuzz_run *run = user;
    /* A script of ours says `false` if what it asserts does not hold. */
    if (run->ours && !failed && lua_isboolean(lua, -1) && !lua_toboolean(lua, -1))
        abort();
}

static void no_library(lua_State *lua) {
    (void)lua;
}

/* The first byte chooses what the others are. */
static const char *const bodies[] = {
    NULL, /* the source itself */
    "return select(2, pcall(cjson.decode, ARGV[1])) ~= false or true",
    "local ok, v = pcall(cjson.decode, ARGV[1]) if not ok then return true end "
    "local ok2, t = pcall(cjson.encode, v) if not ok2 then return true end "
    "return cjson.encode(cjson.decode(t)) ~= nil",
    "local r = {pcall(cmsgpack.unpack, ARGV[1])} if not r[1] then return true end "
    "return cmsgpack.pack(unpack(r)) ~= nil",
    "local a, b = ARGV[1]:match('^(.-)\\0(.*)$') if not a then return true end "
    "pcall(string.find, b, a) pcall(string.gsub, b, a, '%0%1') "
    "pcall(function() for w in b:gmatch(a) do end end) return true",
    "local a, b = ARGV[1]:match('^(.-)\\0(.*)$') if not a then return true end "
    "pcall(struct.unpack, a, b) pcall(struct.size, a) pcall(struct.pack, a, 1, 2, b, b) "
    "return true",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct script_vm *vm;
    struct fuzz_run state = {0};
    if (size == 0)
        return 0;
    if (vm == NULL)
        vm = script_vm_new(no_library, 16 << 20);
    size_t which = data[0] % (sizeof(bodies) / sizeof(bodies[0]));
    state.ours = which != 0;
    struct bytes rest = bytes_of(data + 1, size - 1);
    char sha[40] = {0};
    sha[0] = (char)which;
    struct script_run run = {.sha = bytes_of(sha, sizeof(sha)),
                             .body = which == 0 ? rest : bytes_str(bodies[which]),
                             .args = &rest,
                             .arg_count = 1,
                             .tick = on_tick,
                             .take = on_result,
                             .user = &state};
    if (which == 0)
        script_vm_forget(vm); /* all of them have the same name */
    script_vm_run(vm, &run);
    return 0;
}
