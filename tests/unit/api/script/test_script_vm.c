/* The sandbox of scripts: what they can do, what they cannot get out of, and what bounds them. */
#include "test.h"

#include "api/script/script_vm.h"
#include "base/arena.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdio.h>

enum { MEMORY = 16 << 20 };

struct fixture {
    struct script_vm *vm;
    uint64_t work, work_max; /* 0: any */
    char result[512];
    bool failed;
    unsigned serial;
};

static struct fixture f;

static int test_probe(lua_State *lua) {
    lua_pushinteger(lua, 7);
    return 1;
}

static void library(lua_State *lua) {
    lua_pushcfunction(lua, test_probe);
    lua_setfield(lua, -2, "probe");
}

static int setup(void **state) {
    (void)state;
    f = (struct fixture){.vm = script_vm_new(library, MEMORY)};
    assert_non_null(f.vm);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    script_vm_free(f.vm);
    return 0;
}

static enum script_stop count(void *user, uint64_t units) {
    struct fixture *fixture = user;
    fixture->work += units;
    return fixture->work_max != 0 && fixture->work > fixture->work_max ? SCRIPT_OVER : SCRIPT_RUNS;
}

static void take(lua_State *lua, bool failed, void *user) {
    struct fixture *fixture = user;
    fixture->failed = failed;
    if (lua_istable(lua, -1))
        lua_getfield(lua, -1, "err");
    const char *text = lua_isboolean(lua, -1) ? (lua_toboolean(lua, -1) ? "true" : "false")
                       : lua_isnil(lua, -1)   ? "nil"
                                              : lua_tostring(lua, -1);
    snprintf(fixture->result, sizeof(fixture->result), "%s", text != NULL ? text : "?");
}

static enum script_result run(const char *body) {
    char sha[41];
    snprintf(sha, sizeof(sha), "%040u", ++f.serial);
    struct script_run script = {
        .sha = bytes_of(sha, 40), .body = bytes_str(body), .tick = count, .take = take, .user = &f};
    f.work = 0;
    f.result[0] = '\0';
    return script_vm_run(f.vm, &script);
}

static void expect(const char *body, const char *result) {
    assert_int_equal(run(body), SCRIPT_DONE);
    if (f.failed)
        fail_msg("%s: %s", body, f.result);
    assert_string_equal(f.result, result);
}

static void expect_error(const char *body, const char *part) {
    assert_int_equal(run(body), SCRIPT_DONE);
    assert_true(f.failed);
    if (strstr(f.result, part) == NULL)
        fail_msg("%s: %s", body, f.result);
}

static void test_runs(void **state) {
    (void)state;
    expect("return 1 + 1", "2");
    expect("return probe()", "7");
    expect("return", "nil");
    expect("return #KEYS == 0 and #ARGV == 0", "true");
    assert_int_equal(run("return +"), SCRIPT_FAULTY);
    assert_true(bytes_find(script_vm_fault(f.vm), BYTES("unexpected symbol")) != SIZE_MAX);
}

/* Nothing is left behind for the next script. */
static void test_nothing_is_kept(void **state) {
    (void)state;
    expect_error("x = 1", "readonly");
    expect_error("return x", "nonexistent");
    expect_error("_G.x = 1", "readonly");
    expect_error("rawset(_G, 'x', 1)", "readonly");
    expect_error("string.x = 1", "readonly");
    expect_error("rawset(string, 'x', 1)", "readonly");
    expect_error("table.insert(string, 1)", "readonly");
    expect_error("table.sort(_G)", "readonly");
    expect_error("setmetatable(string, {})", "readonly");
    expect_error("setmetatable(_G, nil)", "readonly");
    expect_error("getmetatable('').__index = {}", "readonly");
    expect_error("getmetatable('').x = 1", "readonly");
    expect_error("getmetatable('').__index.x = 1", "readonly");
    expect_error("coroutine.x = 1", "readonly");
    expect_error("for k, v in pairs(_G) do if k == 'math' then v.pi = 3 end end", "readonly");
    expect("local _, t = pairs(_G) return rawequal(t, _G)", "true");
    expect("return getmetatable(_G)", "false");
    expect("KEYS[1] = 'mine' return KEYS[1]", "mine");
    expect("return KEYS[1]", "nil");
    expect("cjson.encode_sparse_array(true) return 1", "1");
    expect("return pcall(cjson.encode, {[100] = 1})", "false");
    expect("return string.x == nil and math.pi > 3.1", "true");
}

static void test_no_way_out(void **state) {
    (void)state;
    static const char *const names[] = {"os",       "io",       "debug", "package", "require",
                                        "dofile",   "loadfile", "print", "getfenv", "setfenv",
                                        "newproxy", "module",   "jit",   "ffi"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char body[64];
        snprintf(body, sizeof(body), "return %s", names[i]);
        expect_error(body, "nonexistent");
        snprintf(body, sizeof(body), "return rawget(_G, '%s')", names[i]);
        expect(body, "nil");
    }
}

static void test_no_bytecode(void **state) {
    (void)state;
    assert_int_equal(run("\033Lua"), SCRIPT_FAULTY);
    expect("return loadstring(string.dump(function() return 1 end)) == nil", "true");
    expect("local d = string.dump(function() return 1 end) local n = 0 "
           "return load(function() n = n + 1 return n <= #d and d:sub(n, n) or nil end) == nil",
           "true");
    expect("local d, n = string.dump(function() return 1 end), 0 "
           "return load(function() n = n + 1 return ({'', d})[n] end) ~= nil",
           "true"); /* an empty piece ends it: nothing was loaded */
    expect("return loadstring('return 6 * 7')()", "42");
}

static void stops(const char *body, enum script_stop why) {
    assert_int_equal(run(body), SCRIPT_STOPPED);
    if (script_vm_stop(f.vm) != why)
        fail_msg("%s: %d", body, (int)script_vm_stop(f.vm));
    assert_int_equal(run("return 5"), SCRIPT_DONE); /* the state is as good as before */
    assert_string_equal(f.result, "5");
}

static void test_endless(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local function f() return pcall(f) end while true do f() end",
        "while true do xpcall(function() while true do end end, function() while true do end end) "
        "end",
        "local co = coroutine.wrap(function() while true do end end) co()",
        "while true do local co = coroutine.create(function() while true do end end) "
        "coroutine.resume(co) end",
        "local t = setmetatable({}, {__index = function(t, k) return t[k .. 'x'] end}) "
        "while true do pcall(function() return t.a end) end",
        "repeat until false",
        "for i = 1, math.huge do end",
        "local s = ('a'):rep(40) return s:find(('a-'):rep(30) .. 'b')",
        "return (('a'):rep(100000)):find('.-.-.-.-b')",
        "return (('x'):rep(200000)):gsub('', function() end):gsub('(.-)(.-)y', '')",
        "local t = {} for i = 1, 50000 do t[i] = i end while true do table.insert(t, 1, 0) end",
        "local t = {} for i = 1, 50000 do t[i] = i end while true do table.remove(t, 1) t[50000] = "
        "1 "
        "end",
        "local t = {1} table.insert(t, -2147483648, 1)",
        "local t = {} for i = 1, 100000 do t[i] = i end while true do table.sort(t) end",
        "while true do local s = ('x'):rep(100000) end",
        "local s = 'x' while true do s = (s .. s):sub(1, 100000) end",
        "while true do collectgarbage() end",
        "while true do cjson.decode('[[[[[1]]]]]') end",
        "load(function() return ' ' end)",
    };
    f.work_max = 100000;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        stops(bodies[i], SCRIPT_OVER);
}

static void test_memory(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "local t = {} while true do t[#t + 1] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1000) .. i end",
        "local s = ('x'):rep(1000000) local t = {} for i = 1, 20 do t[i] = s .. i end",
        "local s = ('x'):rep(100000) local t = {} for i = 1, 1000 do t[i] = s end "
        "return cjson.encode(t)",
        "local s = ('x'):rep(100000) local t = {} for i = 1, 1000 do t[i] = s end "
        "return cmsgpack.pack(t)",
        "local s = ('x'):rep(100000) local t = {} for i = 1, 1000 do t[i] = s end "
        "return table.concat(t)",
        "local s = ('x'):rep(10000) return s:gsub('x', s)",
        "return load(function() return ('x'):rep(100000) end)",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        stops(bodies[i], SCRIPT_TOO_LARGE);
        script_vm_collect(f.vm);
        assert_in_range(script_vm_memory(f.vm), 1, MEMORY / 4);
    }
    expect_error("return ('x'):rep(1e9)", "too large");
}

static void test_depth(void **state) {
    (void)state;
    expect_error("local function f() return 1 + f() end return f()", "stack overflow");
    expect_error("return ('a'):rep(5000):find(('a?'):rep(100000))", "too complex");
    expect_error("local t = {} t[1] = t return cjson.encode(t)", "excessive nesting");
    expect_error("return cjson.decode(('['):rep(100000))", "too many nested");
    expect_error("return cmsgpack.unpack(('\\145'):rep(100000))", "Bad data");
    expect_error("return unpack({}, 1, 1e7)", "too many results");
    expect_error("return string.byte(('x'):rep(100000), 1, -1)", "string slice too long");
    expect("local t = {} for i = 1, 100 do t = {t} end return #cmsgpack.pack(t)", "17");
    assert_int_equal(run("return loadstring(('('):rep(100000)) == nil"), SCRIPT_DONE);
    assert_string_equal(f.result, "true");
    expect_error("local function f(n) return (('x'):gsub('x', function() return f(n + 1) end)) end "
                 "return f(1)",
                 "C stack overflow");
}

/* Sources are compiled once, and forgotten when there are many. */
static void test_many_sources(void **state) {
    (void)state;
    for (int i = 0; i < 3000; i++) {
        char body[64], result[16];
        snprintf(body, sizeof(body), "return %d", i);
        snprintf(result, sizeof(result), "%d", i);
        expect(body, result);
    }
    assert_in_range(script_vm_memory(f.vm), 1, MEMORY / 2);
    script_vm_forget(f.vm);
    expect("return 1", "1");
}

/* Without memory for a state there is none, and nothing is lost. */
static void test_no_memory(void **state) {
    (void)state;
    for (size_t memory = 0; memory < 60000; memory += 1500) {
        struct script_vm *vm = script_vm_new(library, memory);
        script_vm_free(vm);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_way_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_bytecode, setup, teardown),
        cmocka_unit_test_setup_teardown(test_endless, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_depth, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_sources, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
