/* Updates as lists of actions; private to this folder. */
#ifndef GT_EXPR_UPDATE_H
#define GT_EXPR_UPDATE_H

#include "expr/path.h"

enum action_type { ACTION_SET, ACTION_REMOVE, ACTION_ADD, ACTION_DELETE };

struct action {
    enum action_type type;
    struct path path;
    struct node *value; /* NULL for REMOVE; a NODE_VALUE for ADD and DELETE */
};

struct update {
    struct action *actions; /* in the order of the text */
    uint32_t count, room;
    struct path_set set; /* of the actions' paths; positions are indexes into actions */
    bool legacy;         /* ADD takes lists too, and the faults of types are told in other words */
};

/* Appends an action. It moves when more are added. */
struct action *update_add(struct update *update, struct arena *arena, enum action_type type);
/* Fills the set, unsorted, once all actions are there. */
void update_fill_set(struct update *update, struct arena *arena);
/* Pass 3: binds all paths, which must not clash, then all values. */
enum status update_bind(const struct expr_source *source, struct update *update);

#endif
