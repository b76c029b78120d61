/* Scores as lines of text: member,score[,name], with fields in quotes where they have commas, or an
 * object a line: {"member":"ann","score":4200,"subscore":1,"name":"Ann","meta":{...}}. */
#ifndef GT_API_REST_SCORE_LINES_H
#define GT_API_REST_SCORE_LINES_H

#include "base/status.h"
#include "value/value.h"

struct score_line {
    size_t number; /* from 1 */
    struct bytes member, name;
    struct bytes score, subscore; /* encoded; subscore may be empty */
    const struct value *meta;
};

struct score_lines {
    struct bytes left;
    size_t number;
    bool json;
};

/* Takes the next line that is not blank; a first line of "member,score" is left out, too. OK,
 * NOT_FOUND at the end, or INVALID with a sentence; the line is taken in any case and its number is
 * in *out. Bytes are borrowed from the text or live in the arena. */
enum status score_lines_next(struct score_lines *score_lines, struct scope in,
                             struct score_line *out);

#endif
