/* Private to value/: the order of attribute names, which mostly differ in their first byte. */
#ifndef GT_VALUE_NAME_ORDER_H
#define GT_VALUE_NAME_ORDER_H

#include "base/bytes.h"

/* bytes_compare(), without a call when the first bytes decide. */
static inline int name_compare(struct bytes a, struct bytes b) {
    if (a.size != 0 && b.size != 0 && a.data[0] != b.data[0])
        return a.data[0] < b.data[0] ? -1 : 1;
    return bytes_compare(a, b);
}

static inline bool name_equal(struct bytes a, struct bytes b) {
    return a.size == b.size &&
           (a.size == 0 || (a.data[0] == b.data[0] && memcmp(a.data, b.data, a.size) == 0));
}

#endif
