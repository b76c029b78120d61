/* What is asked of the engine, and the model of what it has acknowledged (tests/disk/ack_model.h).
 * One thread, which sends some changes at once and waits for all. */
#ifndef GT_TEST_SIM_LOAD_H
#define GT_TEST_SIM_LOAD_H

#include "ack_model.h"
#include "base/random.h"
#include "table/engine.h"

/* An item alone, items that are written together, or an item that ends. */
enum { SIM_SINGLES = 12, SIM_GROUPS = 3, SIM_ENDING = 4 };
enum { SIM_UNITS = SIM_SINGLES + SIM_GROUPS + SIM_ENDING };

struct sim_load {
    struct engine *engine; /* the caller's */
    struct random *random;
    struct ack_model *model;
    bool has_table; /* it was acknowledged */
    uint64_t next_id;
    int64_t next_version;
    int64_t set_ms; /* by how much the wall clock was set, and has proved itself */
    struct sim_end {
        int64_t first_ms, last_ms; /* a write that failed leaves one of two ends; 0: none */
    } ends[SIM_ENDING];
};

/* Makes the table unless it is there. Whether it is. A table that was acknowledged and is not
 * there, or another failure than the disk's, ends the program. */
bool sim_load_table(struct sim_load *load);
/* Sends some writes at once. Whether all were acknowledged. */
bool sim_load_write(struct sim_load *load);
/* Deletes what has ended. Whether that was acknowledged. */
bool sim_load_expire(struct sim_load *load);
/* Holds all that the engine has against the model. */
bool sim_load_check(struct sim_load *load);

#endif
