/* Expressions: text to something that can be asked of an item, or applied to one. Pure: no I/O,
 * no table, no clock. Everything made lives in the arena it was made in; strings and values are
 * borrowed from the text and the environment.
 *
 * Five kinds: condition and filter (the same grammar), key condition, projection, update. Faults
 * are INVALID with the service's text ("Invalid UpdateExpression: Syntax error; token: ..., near:
 * ...").
 */
#ifndef GT_EXPR_EXPR_H
#define GT_EXPR_EXPR_H

#include "base/status.h"
#include "value/value.h"

/* What #names and :values stand for, and which of them were used: one environment serves all the
 * expressions of a request, and expr_check_unused() comes after the last. */
struct expr_name {
    struct bytes alias; /* "#n" */
    struct bytes name;  /* "status" */
    bool used;
};

struct expr_value {
    struct bytes alias; /* ":v" */
    struct value value;
    bool used;
};

struct expr_env {
    struct expr_name *names;
    size_t name_count;
    struct expr_value *values;
    size_t value_count;
};

/* Whether every alias is well formed ("#" or ":", then letters, digits and _, 255 bytes at most);
 * before the first expression is parsed. */
enum status expr_check_names(const struct expr_env *env, struct scope in);
enum status expr_check_values(const struct expr_env *env, struct scope in);

/* "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}", and likewise
 * for values; names first. */
enum status expr_check_unused(const struct expr_env *env, struct scope in);

/* How a parser is told what it reads. */
struct expr_source {
    const char *parameter; /* "ConditionExpression": the name that faults carry */
    struct bytes text;
    struct expr_env *env;
    struct arena *arena;
    struct failure *failure;
};

/* --- conditions and filters --- */

struct condition;
enum status condition_parse(const struct expr_source *source, struct condition **out);
/* Whether it holds for the item; an absent item is one without attributes. Allocates from
 * `arena` only for what size() and the like make. Cannot fail. */
bool condition_holds(const struct condition *condition, const struct item *item,
                     struct arena *arena);
/* Calls `visit` with each top-level attribute name the condition mentions, in order of appearance;
 * stops when it returns false. */
typedef bool expr_visit(struct bytes name, void *context);
bool condition_visit(const struct condition *condition, expr_visit *visit, void *context);
/* Whether a path goes inside the attribute: "name.x" or "name[0]". */
bool condition_nests(const struct condition *condition, struct bytes name);

/* --- key conditions --- */

enum key_op { KEY_EQ, KEY_LT, KEY_LE, KEY_GT, KEY_GE, KEY_BETWEEN, KEY_BEGINS };

struct key_test {
    struct bytes name;
    enum key_op op;
    struct value low;  /* the operand; of BETWEEN the first */
    struct value high; /* of BETWEEN the second */
};

/* A conjunction of tests, each on another attribute, in order of appearance. At most
 * KEY_TESTS_MAX. Which are partition and which sort attributes the table decides. */
enum { KEY_TESTS_MAX = 8 };
struct key_condition {
    struct key_test tests[KEY_TESTS_MAX];
    unsigned count;
};
enum status key_condition_parse(const struct expr_source *source, struct key_condition *out);
/* The two halves of it, for whoever has other expressions to read between them: the syntax, whose
 * tree lives in the source's arena, and what the tree means as a condition on keys. */
struct node;
enum status key_condition_parse_tree(const struct expr_source *source, struct node **out);
enum status key_condition_read(const struct expr_source *source, const struct node *root,
                               struct key_condition *out);

/* --- projections --- */

struct projection;
enum status projection_parse(const struct expr_source *source, struct projection **out);
/* The parts of the item that the paths name, in shape: maps keep their names, lists close up. */
struct item projection_apply(const struct projection *projection, const struct item *item,
                             struct arena *arena);
bool projection_visit(const struct projection *projection, expr_visit *visit, void *context);
bool projection_nests(const struct projection *projection, struct bytes name);
/* A projection of whole top-level attributes. */
struct projection *projection_of_names(const struct bytes *names, size_t count,
                                       struct arena *arena);

/* --- updates --- */

struct update;
enum status update_parse(const struct expr_source *source, struct update **out);
/* The new item. All right-hand sides see the old one. INVALID with the service's text when a path
 * is not there or an operand has the wrong type. Does not check sizes or keys. */
enum status update_apply(const struct update *update, const struct item *old, struct scope in,
                         struct item *out);
/* Whether it makes an item where there is none: one that only takes away does not. */
bool update_creates(const struct update *update);
/* Each top-level attribute it writes. */
bool update_visit(const struct update *update, expr_visit *visit, void *context);
bool update_nests(const struct update *update, struct bytes name);
/* The value that it gives to the whole attribute, if that stands in the request and is not worked
 * out: of "SET name = :v", "ADD name :v", "DELETE name :v". NULL if there is none. */
const struct value *update_literal(const struct update *update, struct bytes name);
/* The parts of `item` at the paths the update writes: for the UPDATED_OLD and UPDATED_NEW
 * images. */
struct item update_touched(const struct update *update, const struct item *item,
                           struct arena *arena);

#endif
