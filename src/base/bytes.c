#include "base/bytes.h"

size_t bytes_find(struct bytes whole, struct bytes part) {
    if (part.size == 0)
        return 0;
    if (whole.size < part.size) /* also keeps memmem() from the empty run's NULL */
        return SIZE_MAX;
    const uint8_t *at = memmem(whole.data, whole.size, part.data, part.size);
    return at == NULL ? SIZE_MAX : (size_t)(at - whole.data);
}
