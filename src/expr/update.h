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
    uint32_t count;
    struct path_set set; /* of the actions' paths; positions are indexes into actions */
    bool legacy;         /* ADD takes lists too, and the faults of types are told in other words */
};

struct update *update_new(struct arena *arena, size_t room);
/* The next free action. */
struct action *update_add(struct update *update, enum action_type type);

#endif
