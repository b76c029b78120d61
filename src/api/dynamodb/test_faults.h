/* Faults that a test orders, so that it sees its client meet what the service does on bad days:
 * throttled and slow requests, small pages, capacity that is used up.
 *
 * Orders are text, separated by ';' or line ends, from --test-faults and POST /admin/faults:
 *
 *   throttle TABLE OPERATION N     every Nth such request is refused with
 *                                  ProvisionedThroughputExceededException; 1: all
 *   delay TABLE OPERATION TIME     such requests are answered that much later ("20ms", "2s")
 *   page TABLE OPERATION ITEMS     a Query or Scan looks at no more items in one answer
 *   capacity TABLE                 the capacity that the table is provisioned with is enforced:
 *                                  what a second gives may be spent at once, more is refused
 *
 * TABLE and OPERATION may be *. All orders that fit a request hold; of delays the longest, of pages
 * the smallest. Any thread may call; without orders a request pays the look at one atomic flag. */
#ifndef GT_API_DYNAMODB_TEST_FAULTS_H
#define GT_API_DYNAMODB_TEST_FAULTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

struct test_faults;

struct test_faults *test_faults_new(void);
void test_faults_free(struct test_faults *faults);
/* Replaces all orders, and forgets what was counted. INVALID, and nothing changes, if the text is
 * none of the above; "" and "none" order nothing. */
enum status test_faults_set(struct test_faults *faults, struct bytes text, struct scope in);
/* Appends the orders as they were given. */
void test_faults_get(struct test_faults *faults, struct buf *to);

/* Whether there are orders at all. */
bool test_faults_active(const struct test_faults *faults);

/* What is ordered for a request to one of its tables. It counts as one request. */
struct test_fault {
    bool throttled;
    bool enforced; /* its capacity: see test_faults_left() */
    int64_t delay_ms;
    uint32_t page; /* 0: as large as any */
};
struct test_fault test_faults_look(struct test_faults *faults, struct bytes table,
                                   struct bytes operation);

/* Units of a second that a table is provisioned with, or that a request has used. */
struct test_units {
    double read, write;
};
/* What a table that may spend `provisioned` in a second can still spend: nothing, or less, once it
 * has. */
struct test_units test_faults_left(struct test_faults *faults, struct bytes table,
                                   struct test_units provisioned);
/* What a request has spent, of a table whose capacity is enforced; else nothing happens. */
void test_faults_charge(struct test_faults *faults, struct bytes table, struct test_units used);

#endif
