/* Patterns of Lua 5.1 (string.find, match, gmatch, gsub), and string.rep.
 *
 * Those of the Lua library can take for ever in one call, with a stack as deep as the pattern is
 * long, and no hook runs meanwhile. These have the same language and the same errors; each step is
 * counted as work, and the depth is bounded.
 *
 * A pattern is matched by trying its items from left to right. An item is one character's class
 * with an optional repeat, a capture's begin or end, a back-reference, %b or %f. Where there is a
 * choice (how often an item repeats) the rest of the pattern is tried after each: match_rest()
 * calls itself, once for each such item. */
#include "api/script/script_int.h"
#include "base/limits.h"

#include <ctype.h>

enum {
    CAPTURES_MAX = LUA_MAXCAPTURES,
    DEPTH_MAX = LIMIT_SCRIPT_PATTERN_DEPTH,
    STEPS_AT_ONCE = 512, /* that are told together */
    STEPS_A_UNIT = 16,
    OPEN = -1,     /* a capture that has not ended */
    POSITION = -2, /* "()": the place is captured */
};

struct matcher {
    lua_State *lua;
    const char *begin, *end; /* of the subject */
    const char *pattern_end;
    unsigned depth, steps;
    int count;
    struct capture {
        const char *at;
        ptrdiff_t size;
    } captures[CAPTURES_MAX];
};

static void count_step(struct matcher *m) {
    if (++m->steps % STEPS_AT_ONCE == 0)
        script_vm_work(m->lua, STEPS_AT_ONCE / STEPS_A_UNIT);
}

static unsigned char byte_at(const char *at) {
    return (unsigned char)*at;
}

/* ---- classes of characters ---- */

/* Where the class that begins here ends. */
static const char *class_end(const struct matcher *m, const char *p) {
    if (*p == '%') {
        if (p + 1 == m->pattern_end)
            luaL_error(m->lua, "malformed pattern (ends with '%%')");
        return p + 2;
    }
    if (*p++ != '[')
        return p;
    if (p < m->pattern_end && *p == '^')
        p++;
    do { /* a ']' in the first place stands for itself */
        if (p == m->pattern_end)
            luaL_error(m->lua, "malformed pattern (missing ']')");
        if (*p++ == '%' && p < m->pattern_end)
            p++;
    } while (p == m->pattern_end || *p != ']');
    return p + 1;
}

static bool letter_class_has(unsigned char c, unsigned char letter) {
    bool has;
    switch (tolower(letter)) {
    case 'a':
        has = isalpha(c);
        break;
    case 'c':
        has = iscntrl(c);
        break;
    case 'd':
        has = isdigit(c);
        break;
    case 'l':
        has = islower(c);
        break;
    case 'p':
        has = ispunct(c);
        break;
    case 's':
        has = isspace(c);
        break;
    case 'u':
        has = isupper(c);
        break;
    case 'w':
        has = isalnum(c);
        break;
    case 'x':
        has = isxdigit(c);
        break;
    case 'z':
        has = c == 0;
        break;
    default:
        return letter == c;
    }
    return isupper(letter) ? !has : has;
}

/* The set is from `p`, its '[', to `last`, its ']'. */
static bool set_has(unsigned char c, const char *p, const char *last) {
    bool inside = true;
    if (p[1] == '^') {
        inside = false;
        p++;
    }
    while (++p < last) {
        if (*p == '%') {
            p++;
            if (letter_class_has(c, byte_at(p)))
                return inside;
        } else if (p[1] == '-' && p + 2 < last) {
            if (byte_at(p) <= c && c <= byte_at(p + 2))
                return inside;
            p += 2;
        } else if (byte_at(p) == c)
            return inside;
    }
    return !inside;
}

static bool class_has(const char *s, const char *p, const char *p_end) {
    unsigned char c = byte_at(s);
    switch (*p) {
    case '.':
        return true;
    case '%':
        return letter_class_has(c, byte_at(p + 1));
    case '[':
        return set_has(c, p, p_end - 1);
    default:
        return byte_at(p) == c;
    }
}

/* ---- items ---- */

static const char *match_rest(struct matcher *m, const char *s, const char *p);

/* %bxy: from an x to the y that belongs to it. */
static const char *match_balance(struct matcher *m, const char *s, const char *p) {
    if (m->pattern_end - p < 2)
        luaL_error(m->lua, "unbalanced pattern");
    if (s >= m->end || *s != p[0])
        return NULL;
    size_t open = 1;
    while (++s < m->end) {
        count_step(m);
        if (*s == p[1]) {
            if (--open == 0)
                return s + 1;
        } else if (*s == p[0])
            open++;
    }
    return NULL;
}

static const char *match_longest(struct matcher *m, const char *s, const char *p,
                                 const char *p_end) {
    const char *to = s;
    while (to < m->end && class_has(to, p, p_end)) {
        count_step(m);
        to++;
    }
    for (;; to--) {
        const char *found = match_rest(m, to, p_end + 1);
        if (found != NULL || to == s)
            return found;
    }
}

static const char *match_shortest(struct matcher *m, const char *s, const char *p,
                                  const char *p_end) {
    for (;; s++) {
        const char *found = match_rest(m, s, p_end + 1);
        if (found != NULL)
            return found;
        if (s >= m->end || !class_has(s, p, p_end))
            return NULL;
    }
}

static const char *match_open(struct matcher *m, const char *s, const char *p, ptrdiff_t kind) {
    if (m->count >= CAPTURES_MAX)
        luaL_error(m->lua, "too many captures");
    m->captures[m->count++] = (struct capture){s, kind};
    const char *found = match_rest(m, s, p);
    if (found == NULL)
        m->count--;
    return found;
}

static const char *match_close(struct matcher *m, const char *s, const char *p) {
    int i = m->count - 1;
    while (i >= 0 && m->captures[i].size != OPEN)
        i--;
    if (i < 0)
        luaL_error(m->lua, "invalid pattern capture");
    m->captures[i].size = s - m->captures[i].at;
    const char *found = match_rest(m, s, p);
    if (found == NULL)
        m->captures[i].size = OPEN;
    return found;
}

static const char *match_back_reference(struct matcher *m, const char *s, unsigned char digit) {
    int i = digit - '1';
    if (i < 0 || i >= m->count || m->captures[i].size == OPEN) {
        luaL_error(m->lua, "invalid capture index");
        return NULL; /* which it does not come to */
    }
    size_t size = m->captures[i].size < 0 ? SIZE_MAX : (size_t)m->captures[i].size;
    if ((size_t)(m->end - s) < size || memcmp(m->captures[i].at, s, size) != 0)
        return NULL;
    return s + size;
}

/* %f[set]: between a character that is not in the set and one that is. */
static bool is_frontier(const struct matcher *m, const char *s, const char *p, const char *p_end) {
    unsigned char before = s == m->begin ? 0 : byte_at(s - 1), after = s < m->end ? byte_at(s) : 0;
    return !set_has(before, p, p_end - 1) && set_has(after, p, p_end - 1);
}

/* An item that begins with %: whether it is one of the special ones, which move *s and *p on. *s is
 * NULL if it does not match. */
static bool match_special(struct matcher *m, const char **s, const char **p) {
    const char *at = *p;
    if (at + 1 == m->pattern_end)
        return false;
    if (at[1] == 'b') {
        *s = match_balance(m, *s, at + 2);
        *p = at + 4;
    } else if (at[1] == 'f') {
        at += 2;
        if (at == m->pattern_end || *at != '[')
            luaL_error(m->lua, "missing '[' after '%%f' in pattern");
        const char *end = class_end(m, at);
        if (!is_frontier(m, *s, at, end))
            *s = NULL;
        *p = end;
    } else if (isdigit(byte_at(at + 1))) {
        *s = match_back_reference(m, *s, byte_at(at + 1));
        *p = at + 2;
    } else
        return false;
    return true;
}

/* One class with its repeat. True if the rest of the pattern was tried, and *s is the outcome. */
static bool match_single(struct matcher *m, const char **s, const char **p) {
    const char *end = class_end(m, *p);
    bool fits = *s < m->end && class_has(*s, *p, end);
    char repeat = end < m->pattern_end ? *end : '\0';
    const char *found = NULL;
    switch (repeat) {
    case '?':
        if (fits && (found = match_rest(m, *s + 1, end + 1)) != NULL) {
            *s = found;
            return true;
        }
        *p = end + 1;
        return false;
    case '*':
        *s = match_longest(m, *s, *p, end);
        return true;
    case '+':
        *s = fits ? match_longest(m, *s + 1, *p, end) : NULL;
        return true;
    case '-':
        *s = match_shortest(m, *s, *p, end);
        return true;
    default:
        *s = fits ? *s + 1 : NULL;
        *p = end;
        return false;
    }
}

/* Where the match of the pattern from `p` on ends, or NULL. */
static const char *match_rest(struct matcher *m, const char *s, const char *p) {
    bool done = false;
    if (++m->depth > DEPTH_MAX)
        luaL_error(m->lua, "pattern too complex");
    while (!done && s != NULL && p < m->pattern_end) {
        count_step(m);
        if (*p == '(') {
            bool place = p + 1 < m->pattern_end && p[1] == ')';
            s = match_open(m, s, p + (place ? 2 : 1), place ? POSITION : OPEN);
            done = true;
        } else if (*p == ')') {
            s = match_close(m, s, p + 1);
            done = true;
        } else if (*p == '$' && p + 1 == m->pattern_end) {
            s = s == m->end ? s : NULL;
            done = true;
        } else if (*p != '%' || !match_special(m, &s, &p))
            done = match_single(m, &s, &p);
    }
    m->depth--;
    return s;
}

/* Matches from `s` on, and nowhere else. */
static const char *match_at(struct matcher *m, const char *s, const char *p) {
    m->count = 0;
    m->depth = 0;
    return match_rest(m, s, p);
}

/* ---- captures ---- */

/* Pushes capture i; the whole match stands for the first one if there is none. */
static void push_capture(struct matcher *m, int i, const char *s, const char *e) {
    if (i >= m->count) {
        if (i != 0)
            luaL_error(m->lua, "invalid capture index");
        lua_pushlstring(m->lua, s, (size_t)(e - s));
        return;
    }
    const struct capture *capture = &m->captures[i];
    if (capture->size == OPEN)
        luaL_error(m->lua, "unfinished capture");
    if (capture->size == POSITION)
        lua_pushinteger(m->lua, capture->at - m->begin + 1);
    else
        lua_pushlstring(m->lua, capture->at, (size_t)capture->size);
}

/* Pushes all captures, or the whole match (if there is an `s`), and returns their number. */
static int push_captures(struct matcher *m, const char *s, const char *e) {
    int count = m->count == 0 && s != NULL ? 1 : m->count;
    luaL_checkstack(m->lua, count, "too many captures");
    for (int i = 0; i < count; i++)
        push_capture(m, i, s, e);
    return count;
}

/* ---- find and match ---- */

static ptrdiff_t begin_of(lua_Integer init, size_t size) {
    if (init < 0)
        init += (lua_Integer)size + 1;
    if (init < 1)
        return 0;
    return init - 1 > (lua_Integer)size ? (ptrdiff_t)size : (ptrdiff_t)init - 1;
}

static bool has_specials(const char *pattern, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (pattern[i] != '\0' && strchr("^$*+?.([%-", pattern[i]) != NULL)
            return true;
    return false;
}

static int find_plain(lua_State *lua, struct bytes subject, struct bytes part, ptrdiff_t from) {
    script_vm_work(lua, (subject.size + part.size) / 1024);
    size_t at = bytes_find(bytes_skip(subject, (size_t)from), part);
    if (at == SIZE_MAX) {
        lua_pushnil(lua);
        return 1;
    }
    lua_pushinteger(lua, (lua_Integer)at + from + 1);
    lua_pushinteger(lua, (lua_Integer)at + from + (lua_Integer)part.size);
    return 2;
}

/* The first match at or after `s`; *s is where it begins. */
static const char *search(struct matcher *m, const char **s, const char *p) {
    bool anchored = p < m->pattern_end && *p == '^';
    for (;; ++*s) {
        const char *e = match_at(m, *s, anchored ? p + 1 : p);
        if (e != NULL || anchored || *s >= m->end)
            return e;
    }
}

static int find_or_match(lua_State *lua, bool find) {
    size_t size, pattern_size;
    const char *subject = luaL_checklstring(lua, 1, &size);
    const char *pattern = luaL_checklstring(lua, 2, &pattern_size);
    ptrdiff_t from = begin_of(luaL_optinteger(lua, 3, 1), size);
    if (find && (lua_toboolean(lua, 4) || !has_specials(pattern, pattern_size)))
        return find_plain(lua, bytes_of(subject, size), bytes_of(pattern, pattern_size), from);
    struct matcher m = {
        .lua = lua, .begin = subject, .end = subject + size, .pattern_end = pattern + pattern_size};
    const char *s = subject + from, *e = search(&m, &s, pattern);
    if (e == NULL) {
        lua_pushnil(lua);
        return 1;
    }
    if (!find)
        return push_captures(&m, s, e);
    lua_pushinteger(lua, s - subject + 1);
    lua_pushinteger(lua, e - subject);
    return 2 + push_captures(&m, NULL, NULL);
}

static int string_find(lua_State *lua) {
    return find_or_match(lua, true);
}

static int string_match(lua_State *lua) {
    return find_or_match(lua, false);
}

/* ---- gmatch ---- */

/* Upvalues: subject, pattern, where it goes on. */
static int gmatch_next(lua_State *lua) {
    size_t size, pattern_size;
    const char *subject = lua_tolstring(lua, lua_upvalueindex(1), &size);
    const char *pattern = lua_tolstring(lua, lua_upvalueindex(2), &pattern_size);
    struct matcher m = {
        .lua = lua, .begin = subject, .end = subject + size, .pattern_end = pattern + pattern_size};
    for (const char *s = subject + lua_tointeger(lua, lua_upvalueindex(3)); s <= m.end; s++) {
        const char *e = match_at(&m, s, pattern);
        if (e == NULL)
            continue;
        lua_pushinteger(lua, e - subject + (e == s)); /* an empty match goes on behind it */
        lua_replace(lua, lua_upvalueindex(3));
        return push_captures(&m, s, e);
    }
    return 0;
}

static int string_gmatch(lua_State *lua) {
    luaL_checkstring(lua, 1);
    luaL_checkstring(lua, 2);
    lua_settop(lua, 2);
    lua_pushinteger(lua, 0);
    lua_pushcclosure(lua, gmatch_next, 3);
    return 1;
}

/* ---- gsub ---- */

/* The replacement is a string, in which %0 to %9 are captures. */
static void put_template(struct matcher *m, struct script_text *to, const char *s, const char *e) {
    size_t size, part_size;
    const char *text = lua_tolstring(m->lua, 3, &size);
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '%' || i + 1 == size) {
            script_text_byte(to, text[i]);
            continue;
        }
        unsigned char next = byte_at(&text[++i]);
        if (!isdigit(next))
            script_text_byte(to, next);
        else if (next == '0')
            script_text_put(to, s, (size_t)(e - s));
        else {
            push_capture(m, next - '1', s, e);
            const char *part = lua_tolstring(m->lua, -1, &part_size);
            script_text_put(to, part, part_size);
            lua_pop(m->lua, 1);
        }
    }
}

/* It is a function or a table, whose answer replaces the match unless it is false or nil. */
static void put_answer(struct matcher *m, struct script_text *to, const char *s, const char *e) {
    lua_State *lua = m->lua;
    if (lua_type(lua, 3) == LUA_TFUNCTION) {
        lua_pushvalue(lua, 3);
        lua_call(lua, push_captures(m, s, e), 1);
    } else {
        push_capture(m, 0, s, e);
        lua_gettable(lua, 3);
    }
    size_t size = (size_t)(e - s);
    const char *text = s;
    if (lua_toboolean(lua, -1)) {
        if (!lua_isstring(lua, -1))
            luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
        text = lua_tolstring(lua, -1, &size);
    }
    script_text_put(to, text, size);
    lua_pop(lua, 1);
}

static int string_gsub(lua_State *lua) {
    size_t size, pattern_size;
    const char *subject = luaL_checklstring(lua, 1, &size);
    const char *pattern = luaL_checklstring(lua, 2, &pattern_size);
    int type = lua_type(lua, 3);
    luaL_argcheck(lua,
                  type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
                      type == LUA_TTABLE,
                  3, "string/function/table expected");
    lua_Integer max = luaL_optinteger(lua, 4, (lua_Integer)size + 1), count = 0;
    bool anchored = pattern_size != 0 && *pattern == '^';
    struct matcher m = {
        .lua = lua, .begin = subject, .end = subject + size, .pattern_end = pattern + pattern_size};
    struct script_text to;
    lua_settop(lua, 4);
    script_text_init(&to, lua);
    const char *s = subject;
    while (count < max) {
        const char *e = match_at(&m, s, pattern + anchored);
        if (e != NULL) {
            count++;
            if (type == LUA_TFUNCTION || type == LUA_TTABLE)
                put_answer(&m, &to, s, e);
            else
                put_template(&m, &to, s, e);
        }
        if (e != NULL && e > s)
            s = e;
        else if (s < m.end)
            script_text_byte(&to, *s++);
        else
            break;
        if (anchored)
            break;
    }
    script_text_put(&to, s, (size_t)(m.end - s));
    script_text_push(&to);
    lua_pushinteger(lua, count);
    return 2;
}

/* ---- rep ---- */

static int string_rep(lua_State *lua) {
    size_t size;
    const char *text = luaL_checklstring(lua, 1, &size);
    lua_Integer count = luaL_checkint(lua, 2);
    struct script_text to;
    if (count <= 0 || size == 0) {
        lua_pushliteral(lua, "");
        return 1;
    }
    if (size > script_vm_of(lua)->memory_max / (size_t)count)
        return luaL_error(lua, "resulting string too large");
    script_text_init(&to, lua);
    script_text_grow(&to, size * (size_t)count);
    for (lua_Integer i = 0; i < count; i++)
        script_text_put(&to, text, size);
    script_text_push(&to);
    return 1;
}

void script_open_patterns(lua_State *lua) {
    static const luaL_Reg functions[] = {{"find", string_find},     {"match", string_match},
                                         {"gmatch", string_gmatch}, {"gfind", string_gmatch},
                                         {"gsub", string_gsub},     {"rep", string_rep}};
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        lua_pushcfunction(lua, functions[i].func);
        lua_setfield(lua, -2, functions[i].name);
    }
}
