/* What the DynamoDB operations that were asked here would cost on AWS in a month, at the rate of
 * now.
 *
 * The prices are those of on-demand tables of the standard class in us-east-1, as of November 2026,
 * in US dollars: assumptions for the arithmetic, which change and differ by region. Whoever decides
 * by them looks at the price list, and gives other prices as parameters. */
#include "api/dynamodb/operation.h"
#include "api/metrics/monitor.h"
#include "api/rest/rest_forms.h"
#include "api/rest/rest_handlers.h"
#include "api/rest/rest_json.h"
#include "base/clock.h"
#include "value/number.h"

#include <stdlib.h>

static const struct {
    const char *region, *as_of;
    double write, read; /* a million units */
    double storage;     /* a GB and month */
} usual = {"us-east-1", "2026-11", 0.625, 0.125, 0.25};

enum { MONTH_SECONDS = 30 * 24 * 3600 };

static void put_double(struct buf *to, const char *name, double value) {
    rest_put_name(to, name);
    buf_printf(to, "%.10g", value);
}

/* Rows of several loops are added up. */
struct use_list {
    struct capacity_use *uses;
    size_t count, room;
    struct arena *arena;
};

static void gather(const struct capacity_use *use, void *user) {
    struct use_list *list = user;
    for (size_t i = 0; i < list->count; i++)
        if (list->uses[i].operation == use->operation &&
            bytes_equal(list->uses[i].table, use->table)) {
            list->uses[i].read += use->read;
            list->uses[i].write += use->write;
            return;
        }
    if (list->count == list->room) {
        size_t size = list->room * sizeof *list->uses;
        list->room = list->room == 0 ? 64 : list->room * 2;
        list->uses = arena_grow(list->arena, list->uses, size, list->room * sizeof *list->uses);
    }
    list->uses[list->count++] = *use;
}

static void put_use(struct buf *to, const struct capacity_use *use) {
    rest_put_comma(to);
    buf_byte(to, '{');
    rest_put_text(to, "table", use->table);
    rest_put_text(to, "operation", operation_name(use->operation));
    put_double(to, "readUnits", use->read);
    put_double(to, "writeUnits", use->write);
    buf_byte(to, '}');
}

/* A price of the query, which was checked to be a number. */
static double price_of(struct rest_call *call, const char *name, double otherwise) {
    struct bytes number = rest_query_number(call, name);
    char text[NUMBER_MAX_TEXT + 1];
    if (number.size == 0)
        return otherwise;
    text[number_text(number, text)] = '\0';
    return strtod(text, NULL);
}

static void put_prices(struct rest_call *call, double write, double read, double storage) {
    struct buf *to = call->reply;
    rest_put_name(to, "prices");
    buf_byte(to, '{');
    rest_put_str(to, "region", usual.region);
    rest_put_str(to, "asOf", usual.as_of);
    rest_put_str(to, "currency", "USD");
    put_double(to, "millionWriteUnits", write);
    put_double(to, "millionReadUnits", read);
    put_double(to, "gigabyteMonth", storage);
    buf_byte(to, '}');
}

static void put_month(struct buf *to, double reads, double writes, double storage) {
    rest_put_name(to, "month");
    buf_byte(to, '{');
    put_double(to, "reads", reads);
    put_double(to, "writes", writes);
    put_double(to, "storage", storage);
    put_double(to, "total", reads + writes + storage);
    buf_byte(to, '}');
}

enum status rest_costs_list(struct rest_call *call) {
    const struct monitor *monitor = call->rest->settings.monitor;
    struct use_list list = {.arena = call->arena};
    struct engine_figures figures;
    double read = 0, write = 0;
    if (monitor == NULL)
        return rest_fail(call, NOT_FOUND, "this server does not watch itself");
    capacity_each(monitor->capacity, gather, &list);
    engine_figures(call->game->engine, &figures);
    double seconds = (double)(clock_ticks_us() - monitor->started_us) / 1e6;
    double months = MONTH_SECONDS / (seconds < 1 ? 1 : seconds);
    buf_byte(call->reply, '{');
    rest_put_uint(call->reply, "seconds", (uint64_t)seconds);
    rest_put_name(call->reply, "uses");
    buf_byte(call->reply, '[');
    for (size_t i = 0; i < list.count; i++) {
        put_use(call->reply, &list.uses[i]);
        read += list.uses[i].read;
        write += list.uses[i].write;
    }
    buf_byte(call->reply, ']');
    double write_price = price_of(call, "writePrice", usual.write);
    double read_price = price_of(call, "readPrice", usual.read);
    double storage_price = price_of(call, "storagePrice", usual.storage);
    put_prices(call, write_price, read_price, storage_price);
    put_month(call->reply, read / 1e6 * read_price * months, write / 1e6 * write_price * months,
              (double)figures.item_bytes / 1e9 * storage_price);
    buf_byte(call->reply, '}');
    return OK;
}

/* --- forms --- */

const struct form_field query_costs[] = {
    {"writePrice", FORM_NUMBER, 0, "Of a million write units, in place of the usual"},
    {"readPrice", FORM_NUMBER, 0, "Of a million read units"},
    {"storagePrice", FORM_NUMBER, 0, "Of a GB and month"},
    {0},
};
static const struct form_field use_fields[] = {
    {"table", FORM_TEXT, FORM_REQUIRED, "Of a batch over several: the first"},
    {"operation", FORM_TEXT, FORM_REQUIRED, NULL},
    {"readUnits", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, "Since the start"},
    {"writeUnits", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, "With those of indexes"},
    {0},
};
static const struct form form_use = {"CapacityUse", "Consumed capacity", use_fields};
static const struct form_field prices_fields[] = {
    {"region", FORM_TEXT, FORM_REQUIRED, "That the usual prices are of"},
    {"asOf", FORM_TEXT, FORM_REQUIRED, "Check the price list"},
    {"currency", FORM_TEXT, FORM_REQUIRED, NULL},
    {"millionWriteUnits", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"millionReadUnits", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"gigabyteMonth", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {0},
};
static const struct form form_prices = {"Prices", "Of on-demand tables", prices_fields};
static const struct form_field month_fields[] = {
    {"reads", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"writes", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"storage", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {"total", FORM_NUMBER, FORM_REQUIRED | FORM_SHARE, NULL},
    {0},
};
static const struct form form_month = {"MonthCost", "Thirty days at this rate", month_fields};
static const struct form_field costs_fields[] = {
    {"seconds", FORM_COUNT, FORM_REQUIRED, "That were counted: since the start"},
    {"uses", FORM_LIST, FORM_REQUIRED, NULL, .form = &form_use, .element = FORM_OBJECT},
    {"prices", FORM_OBJECT, FORM_REQUIRED, NULL, .form = &form_prices},
    {"month", FORM_OBJECT, FORM_REQUIRED, NULL, .form = &form_month},
    {0},
};
const struct form form_costs = {"Costs", "What this traffic would cost", costs_fields};
