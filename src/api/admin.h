/* What is asked about the server itself, for tests:
 *
 *   GET  /admin/clock                     {"now":"2026-01-01T00:00:00Z","forward_ms":0}
 *   POST /admin/clock {"forward":"24h"}   moves the clock (ms, s, m, h, d); answers as GET
 *   POST /admin/expire                    {"expired":3}: what has ended is gone when it answers,
 *                                         and periods of boards that ended are sealed
 *
 * 403 with a sentence unless the server was started for it. */
#ifndef GT_API_ADMIN_H
#define GT_API_ADMIN_H

#include "api/background.h"
#include "game/keeper.h"
#include "net/http.h"
#include "table/table.h"

struct admin {
    struct engine *engine;
    bool test_clock;       /* the clock may be moved */
    struct keeper *keeper; /* what is due by it is done as well; NULL: none */
    struct background *background;
};

/* Whether the path is one of these. */
bool admin_takes(struct bytes path);
void admin_handle(struct http_exchange *exchange, const struct admin *admin);

#endif
