/* For those who read and write items: the order of attribute names, which mostly differ in their
 * first byte. */
#ifndef GT_VALUE_NAME_ORDER_H
#define GT_VALUE_NAME_ORDER_H

#include "base/bytes.h"

/* bytes_compare(), without a call when the first bytes decide. */
static inline int name_compare(struct bytes a, struct bytes b) {
    if (a.size != 0 && b.size != 0 && a.data[0] != b.data[0])
        return a.data[0] < b.data[0] ? -1 : 1;
    return bytes_compare(a, b);
}

/* bytes_equal(), without a call when the first and the last bytes decide, as of "PK" and "SK". */
static inline bool name_equal(struct bytes a, struct bytes b) {
    if (a.size != b.size || a.size == 0)
        return a.size == b.size;
    return a.data[0] == b.data[0] && a.data[a.size - 1] == b.data[a.size - 1] &&
           (a.size <= 2 || memcmp(a.data, b.data, a.size) == 0);
}

#endif
