/* Settings and clients, for operators. No secret is told. */
#include "api/metrics/monitor.h"
#include "api/redis/redis_frontend.h"
#include "api/rest/rest_forms.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "base/limits.h"

enum status rest_settings_list(struct rest_call *call) {
    struct bytes in_force = call->rest->settings.in_force;
    buf_lit(call->reply, "{\"settings\":");
    buf_put(call->reply, in_force.size != 0 ? in_force : BYTES("[]"));
    buf_byte(call->reply, '}');
    return OK;
}

/* --- clients --- */

struct client_list {
    struct buf *to;
    size_t left;
};

static void put_client(const struct redis_client_figures *client, void *user) {
    struct client_list *list = user;
    struct buf *to = list->to;
    if (list->left == 0)
        return;
    list->left--;
    rest_put_comma(to);
    buf_byte(to, '{');
    rest_put_str(to, "frontEnd", "redis");
    rest_put_uint(to, "id", client->id);
    rest_put_str(to, "address", client->address);
    rest_put_text_if(to, "name", client->name);
    rest_put_text_if(to, "library", client->library);
    rest_put_text_if(to, "who", client->who);
    if (client->last != NULL)
        rest_put_str(to, "last", client->last);
    rest_put_int(to, "seconds", client->age_ms / 1000);
    rest_put_int(to, "idleSeconds", client->idle_ms / 1000);
    buf_byte(to, '}');
}

static uint64_t connections_of(const struct listener *listener) {
    return listener == NULL ? 0 : listener_connections(listener);
}

enum status rest_clients_list(struct rest_call *call) {
    static const struct monitor_sources none;
    const struct monitor *monitor = call->rest->settings.monitor;
    const struct monitor_sources *sources = monitor == NULL ? NULL : atomic_load(&monitor->sources);
    struct client_list list = {call->reply, (size_t)rest_query_count(call, "limit", 100)};
    if (sources == NULL)
        sources = &none;
    buf_byte(call->reply, '{');
    rest_put_uint(call->reply, "httpConnections", connections_of(sources->http));
    rest_put_uint(call->reply, "redisConnections", connections_of(sources->redis_listener));
    rest_put_name(call->reply, "clients");
    buf_byte(call->reply, '[');
    if (sources->redis != NULL)
        redis_frontend_clients(sources->redis, put_client, &list);
    buf_lit(call->reply, "]}");
    return OK;
}

/* --- forms --- */

static const struct form_field setting_fields[] = {
    {"name", FORM_TEXT, FORM_REQUIRED, NULL},
    {"value", FORM_TEXT, FORM_REQUIRED, "As it was given; *** may hold a secret"},
    {"default", FORM_TEXT, FORM_REQUIRED, NULL},
    {"from", FORM_TEXT, FORM_REQUIRED, "default, command line, environment, or a file's line"},
    {"about", FORM_TEXT, FORM_REQUIRED, NULL},
    {0},
};
static const struct form form_setting = {"Setting", "A setting as in force", setting_fields};
static const struct form_field settings_fields[] = {
    {"settings", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_setting, .element = FORM_OBJECT},
    {0},
};
const struct form form_settings = {"Settings", "All settings", settings_fields};

static const struct form_field client_fields[] = {
    {"frontEnd", FORM_TEXT, FORM_REQUIRED, NULL},
    {"id", FORM_COUNT, FORM_REQUIRED, "For CLIENT KILL"},
    {"address", FORM_TEXT, FORM_REQUIRED, NULL},
    {"name", FORM_TEXT, 0, "As it calls itself"},
    {"library", FORM_TEXT, 0, NULL},
    {"who", FORM_TEXT, 0, "The id of its key"},
    {"last", FORM_TEXT, 0, "Its last command"},
    {"seconds", FORM_COUNT, FORM_REQUIRED, "Since it came"},
    {"idleSeconds", FORM_COUNT, FORM_REQUIRED, "Since its last command"},
    {0},
};
static const struct form form_client = {"Client", "A client", client_fields};
static const struct form_field clients_fields[] = {
    {"httpConnections", FORM_COUNT, FORM_REQUIRED, "Open now"},
    {"redisConnections", FORM_COUNT, FORM_REQUIRED, NULL},
    {"clients", FORM_LIST, FORM_REQUIRED, "Of Redis, the newest first", .form = &form_client,
     .element = FORM_OBJECT},
    {0},
};
const struct form form_clients = {"Clients", "Who is connected", clients_fields};
