/* Private to json/: what passes for a boolean. */
#ifndef GT_JSON_BOOLEAN_H
#define GT_JSON_BOOLEAN_H

#include "json/json.h"

#include <strings.h>

static inline bool boolean_is(struct bytes text, const char *word) {
    return text.size == strlen(word) && strncasecmp((const char *)text.data, word, text.size) == 0;
}

/* false and true, also as the strings that clients get away with. False if it is neither. */
static inline bool boolean_of(const struct json *from, bool *out) {
    if (from->type == JSON_TRUE || from->type == JSON_FALSE) {
        *out = from->type == JSON_TRUE;
        return true;
    }
    if (from->type != JSON_STRING || from->text.size == 0)
        return false;
    struct bytes text = from->text;
    *out = boolean_is(text, "true") || boolean_is(text, "1") || boolean_is(text, "yes");
    return *out || boolean_is(text, "false") || boolean_is(text, "0") || boolean_is(text, "no");
}

#endif
