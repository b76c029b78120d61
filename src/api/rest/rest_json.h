/* Writing answers: members of objects and elements of lists, with the commas in between. */
#ifndef GT_API_REST_REST_JSON_H
#define GT_API_REST_REST_JSON_H

#include "api/rest/rest_call.h"
#include "game/board/standings.h"

/* Begins a member: a comma unless it is the first, then "name":. */
void rest_put_name(struct buf *to, const char *name);
/* Begins an element: a comma unless it is the first. */
void rest_put_comma(struct buf *to);

void rest_put_text(struct buf *to, const char *name, struct bytes text);
void rest_put_text_if(struct buf *to, const char *name, struct bytes text); /* nothing if empty */
void rest_put_str(struct buf *to, const char *name, const char *text);
void rest_put_int(struct buf *to, const char *name, int64_t number);
void rest_put_uint(struct buf *to, const char *name, uint64_t number);
void rest_put_bool(struct buf *to, const char *name, bool truth);
void rest_put_time(struct buf *to, const char *name, int64_t ms);
void rest_put_time_if(struct buf *to, const char *name, int64_t ms); /* nothing if 0 */
/* An exact number, as text if the client asked for that. */
void rest_put_number(struct rest_call *call, const char *name, struct bytes number);
void rest_put_number_value(struct rest_call *call, struct bytes number);
/* A map as plain JSON: {"level":3}; nothing if NULL. */
void rest_put_meta(struct rest_call *call, const char *name, const struct value *meta);
/* A value as plain JSON; numbers as they are, binaries as base64. */
void rest_put_value(struct buf *to, const struct value *value);

/* What says which board an answer is about: board, instance, scope, period, sealed. */
void rest_put_board(struct rest_call *call, const struct board *board);
/* The members of an entry and where it stands, without the braces. */
void rest_put_standing(struct rest_call *call, const struct board *board,
                       const struct standing *standing);
/* A member's name, and how to write it in a path if it is not text. */
void rest_put_member(struct buf *to, struct bytes member);
/* What is not text, as it has to stand in a path: %-encoded. Nothing for text. */
void rest_put_encoded_if(struct buf *to, const char *name, struct bytes bytes);

/* The members of an access key, without its secret and without the braces (rest_console.c). */
void rest_put_key(struct buf *to, const struct access_key *key);

/* --- plain JSON to values --- */

/* Objects, lists, texts, numbers of at most 38 digits, truths, null. INVALID with a sentence. */
enum status rest_value_read(const struct json *from, struct scope in, struct value *out);

#endif
