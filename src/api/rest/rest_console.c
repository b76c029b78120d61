/* The console's session: opened by an access key that may administer everything, then carried by a
 * cookie (api/console_sessions.h). On a server without keys there is nothing to open: whoever may
 * ask at all may do everything. */
#include "api/console_sessions.h"
#include "api/origin.h"
#include "api/rest/rest_forms.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "base/limits.h"

static const char *const words_session[] = {"open", "key", NULL};

static void put_list(struct buf *to, const char *name, const struct bytes *list, size_t count) {
    rest_put_name(to, name);
    buf_byte(to, '[');
    for (size_t i = 0; i < count; i++) {
        rest_put_comma(to);
        json_put_string(to, list[i]);
    }
    buf_byte(to, ']');
}

void rest_put_key(struct buf *to, const struct access_key *key) {
    static const struct bytes names[] = {
        {(const uint8_t *)"read", 4}, {(const uint8_t *)"write", 5}, {(const uint8_t *)"admin", 5}};
    struct bytes allow[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        if ((key->allow & 1U << i) != 0)
            allow[count++] = names[i];
    rest_put_text(to, "id", key->id);
    rest_put_text_if(to, "name", key->name);
    rest_put_str(to, "role", key->client ? "client" : "server");
    put_list(to, "allow", allow, count);
    put_list(to, "tables", key->tables, key->table_count);
    if (key->partition_count != 0)
        put_list(to, "partitions", key->partitions, key->partition_count);
}

static enum status answer_open(struct rest_call *call) {
    buf_lit(call->reply, "{\"session\":\"open\",\"csrf\":\"\"}");
    return OK;
}

static enum status answer_session(struct rest_call *call, const struct console_session *session) {
    struct buf *to = call->reply;
    int64_t left_ms = (session->expires_us - clock_ticks_us()) / 1000;
    buf_lit(to, "{\"session\":\"key\"");
    rest_put_str(to, "csrf", session->token);
    rest_put_name(to, "key");
    buf_byte(to, '{');
    rest_put_key(to, session->key);
    buf_byte(to, '}');
    rest_put_time(to, "expires", clock_now_ms() + left_ms);
    buf_byte(to, '}');
    return OK;
}

/* An empty value takes the cookie away. */
static void put_cookie(struct rest_call *call, const char *value, int seconds) {
    buf_printf(&call->headers,
               "Set-Cookie: " CONSOLE_COOKIE
               "=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d%s\r\n",
               value, seconds, call->rest->settings.encrypted ? "; Secure" : "");
}

static enum status refuse_login(struct rest_call *call, int status, const char *sentence) {
    call->status = status;
    return rest_fail(call, DENIED, "%s", sentence);
}

enum status rest_console_open(struct rest_call *call) {
    const struct rest_settings *settings = &call->rest->settings;
    struct touch touch = {.what = TOUCHES_SERVER, .access = ACCESS_ADMIN, .table = BYTES("*")};
    struct console_session session;
    struct caller caller = {0};
    struct bytes id = form_text(&call->body, "id");
    if (settings->sessions == NULL)
        return answer_open(call);
    if (!origin_is_own(call->exchange))
        return refuse_login(call, 403, "only this server's own pages open a session");
    if (console_sessions_guessed(settings->sessions))
        return refuse_login(call, 429, "too many wrong secrets: try again in a minute");
    if (id.size == 0 ||
        !caller_find_secret(settings->keys, id, form_text(&call->body, "secret"), &caller)) {
        console_sessions_note_guess(settings->sessions);
        return refuse_login(call, 403, "there is no such key");
    }
    if (access_decide(&caller, &touch) != DENIAL_NONE)
        return refuse_login(call, 403, "the console needs a key that may administer all tables");
    console_session_open(settings->sessions, caller.key, &session);
    put_cookie(call, session.cookie, LIMIT_CONSOLE_SESSION_MS / 1000);
    return answer_session(call, &session);
}

enum status rest_console_get(struct rest_call *call) {
    struct console_sessions *sessions = call->rest->settings.sessions;
    struct console_session session;
    if (sessions == NULL)
        return answer_open(call);
    if (!console_session_find(sessions, call->exchange, &session))
        return refuse_login(call, 401, "there is no session: open one with an access key");
    return answer_session(call, &session);
}

enum status rest_console_close(struct rest_call *call) {
    struct console_sessions *sessions = call->rest->settings.sessions;
    struct console_session session;
    if (sessions == NULL || !console_session_find(sessions, call->exchange, &session))
        return OK;
    if (!console_session_proved(&session, call->exchange))
        return refuse_login(call, 403, "a session is ended with its token in X-Console-Token");
    console_session_close(sessions, &session);
    put_cookie(call, "", 0);
    return OK;
}

/* --- forms --- */

static const struct form_field login_fields[] = {
    {"id", FORM_TEXT, FORM_REQUIRED, "Of an access key that may administer all tables", 1, 128},
    {"secret", FORM_TEXT, FORM_REQUIRED, "Its secret", 0, 512},
    {0},
};
const struct form form_console_login = {"ConsoleLogin", "Who opens the console", login_fields};

static const struct form_field key_fields[] = {
    {"id", FORM_TEXT, FORM_REQUIRED, NULL},
    {"name", FORM_TEXT, 0, "Who it is for"},
    {"role", FORM_TEXT, FORM_REQUIRED, "server or client"},
    {"allow", FORM_LIST, FORM_REQUIRED, "read, write, admin", .element = FORM_TEXT},
    {"tables", FORM_LIST, FORM_REQUIRED, "By name, or by a beginning and *", .element = FORM_TEXT},
    {"partitions", FORM_LIST, 0, "That it is kept to", .element = FORM_TEXT},
    {"lastUsed", FORM_TIME, 0, "Since the start; absent: not"},
    {0},
};
const struct form form_key = {"AccessKey", "An access key, without its secret", key_fields};

static const struct form_field session_fields[] = {
    {"session", FORM_CHOICE, FORM_REQUIRED, "open: the server has no keys",
     .choices = words_session},
    {"csrf", FORM_TEXT, FORM_REQUIRED, "For X-Console-Token; empty: none is needed"},
    {"key", FORM_OBJECT, 0, "Whose it is", .form = &form_key},
    {"expires", FORM_TIME, 0, "At the latest"},
    {0},
};
const struct form form_console_session = {"ConsoleSession", "A session of the console",
                                          session_fields};
