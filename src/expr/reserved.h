#ifndef GT_EXPR_RESERVED_H
#define GT_EXPR_RESERVED_H

#include "base/bytes.h"

/* Whether the name, in any case, is one of the 573 reserved words. */
bool reserved_word(struct bytes name);

#endif
