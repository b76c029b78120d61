/* Writing answers: members of objects and elements of lists, with the commas in between. */
#ifndef GT_API_REST_OUT_H
#define GT_API_REST_OUT_H

#include "api/rest/call.h"
#include "game/standings.h"

/* Begins a member: a comma unless it is the first, then "name":. */
void out_name(struct buf *to, const char *name);
/* Begins an element: a comma unless it is the first. */
void out_next(struct buf *to);

void out_text(struct buf *to, const char *name, struct bytes text);
void out_text_if(struct buf *to, const char *name, struct bytes text); /* nothing if empty */
void out_word(struct buf *to, const char *name, const char *text);
void out_int(struct buf *to, const char *name, int64_t number);
void out_uint(struct buf *to, const char *name, uint64_t number);
void out_flag(struct buf *to, const char *name, bool truth);
void out_time(struct buf *to, const char *name, int64_t ms);
void out_time_if(struct buf *to, const char *name, int64_t ms); /* nothing if 0 */
/* An exact number, as text if the client asked for that. */
void out_number(struct rest_call *call, const char *name, struct bytes number);
void out_number_value(struct rest_call *call, struct bytes number);
/* A map as plain JSON: {"level":3}; nothing if NULL. */
void out_meta(struct rest_call *call, const char *name, const struct value *meta);
/* A value as plain JSON; numbers as they are, binaries as base64. */
void out_value(struct buf *to, const struct value *value);

/* What says which board an answer is about: board, instance, scope, period, sealed. */
void out_board(struct rest_call *call, const struct board *board);
/* The members of an entry and where it stands, without the braces. */
void out_standing(struct rest_call *call, const struct board *board,
                  const struct standing *standing);
/* A member's name, and how to write it in a path if it is not text. */
void out_member(struct buf *to, struct bytes member);

/* --- plain JSON to values --- */

/* Objects, lists, texts, numbers of at most 38 digits, truths, null. INVALID with a sentence. */
enum status plain_read(const struct json *from, struct arena *arena, struct failure *failure,
                       struct value *out);

#endif
