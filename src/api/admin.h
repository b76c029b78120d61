/* What is asked about the server itself:
 *
 *   GET  /admin/read-only                 {"read_only":false,"waiting":0}
 *   POST /admin/read-only {"on":true}     refuses what would be written from now on; answers as
 * GET. `waiting`: changes from before that are not done yet
 *
 * and for tests:
 *
 *   GET  /admin/clock                     {"now":"2026-01-01T00:00:00Z","forward_ms":0}
 *   POST /admin/clock {"forward":"24h"}   moves the clock (ms, s, m, h, d); answers as GET
 *   POST /admin/expire                    {"expired":3}: what has ended is gone when it answers,
 *                                         and periods of boards that ended are sealed
 *
 *   GET  /admin/faults                    {"faults":"throttle scores PutItem 3"}
 *   POST /admin/faults {"faults":"..."}   replaces them (dynamodb/test_faults.h); answers as GET
 *
 * 403 with a sentence unless the server was started for it. With keys it takes one that may
 * administer all tables, as Bearer ID:SECRET or Basic: 401, 403. */
#ifndef GT_API_ADMIN_H
#define GT_API_ADMIN_H

#include "api/access_control.h"
#include "api/background.h"
#include "api/dynamodb/test_faults.h"
#include "game/housekeeping.h"
#include "net/http.h"

struct admin {
    struct engine *engine;
    const struct keys *keys;           /* who may come in; NULL: anybody */
    bool test_clock;                   /* the clock may be moved */
    struct test_faults *faults;        /* that may be ordered; NULL: none */
    struct housekeeping *housekeeping; /* what is due by it is done as well; NULL: none */
    struct background *background;
};

/* Whether the path is one of these. */
bool admin_takes(struct bytes path);
/* An http_admit: whether the caller may at all. */
enum http_admission admin_admit(struct http_exchange *exchange, const struct admin *admin);
void admin_handle(struct http_exchange *exchange, const struct admin *admin);

#endif
