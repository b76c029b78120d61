/* RESP, the serialization protocol of sorted-set clients: requests out of bytes, replies into
 * bytes. Versions 2 and 3. Knows no socket and no command.
 *
 * A request is an array of strings, or a line of words ("inline", for people with telnet). It may
 * arrive in any pieces; nothing is parsed twice and nothing is copied:
 *
 *     resp_parse(p, bytes)   all bytes since the request began. MORE: call again with these and
 *                            more. READY: p->args points into `bytes`, p->used of them are its own
 *     resp_next(p)           on to the request that begins at byte p->used
 *
 * Until resp_next() a READY request can be asked for again, with its bytes somewhere else.
 */
#ifndef GT_NET_RESP_H
#define GT_NET_RESP_H

#include "base/buf.h"

struct resp_limits {
    size_t args_max; /* strings in a request */
    size_t bulk_max; /* bytes of each */
    size_t size_max; /* bytes of a whole request */
    /* For a client that has not said who it is: its requests are short. */
    bool strange;
};

enum { RESP_ARGS_INLINE = 8 };

struct resp_parser {
    /* a READY request */
    struct bytes *args;
    size_t count; /* 0: an empty line, which asks for nothing */
    size_t used;

    /* its own */
    enum resp_step { RESP_BEGIN, RESP_HEADER, RESP_SIZE, RESP_BULK, RESP_LINE, RESP_DONE } step;
    size_t at;           /* where it goes on, */
    size_t scanned;      /* and up to where there is no line end */
    size_t wanted;       /* strings of the array */
    size_t bulk;         /* size of the present one */
    const uint8_t *base; /* what the arguments' addresses count from: NULL while it arrives */
    struct bytes args_inline[RESP_ARGS_INLINE];
    size_t room;      /* of `args` */
    struct buf words; /* of a line, without quotes and escapes */
    char fault[64];   /* empty: none */
};

enum resp_state { RESP_MORE, RESP_READY, RESP_REFUSED };

void resp_init(struct resp_parser *parser);
void resp_release(struct resp_parser *parser);
/* REFUSED: nothing that follows can be understood; resp_fault() says why. */
enum resp_state resp_parse(struct resp_parser *parser, struct bytes bytes,
                           const struct resp_limits *limits);
/* "Protocol error: invalid multibulk length" and the like. */
const char *resp_fault(const struct resp_parser *parser);
/* Also after MORE and REFUSED, to begin anew with bytes that came before. */
void resp_next(struct resp_parser *parser);
/* Of a READY request: the first byte behind it. NULL if its arguments are not in the bytes that
 * arrived: it is a line. */
const uint8_t *resp_end(const struct resp_parser *parser);
/* And of one with many arguments: hands over their array, to be freed with mem_free(); only
 * resp_next() may follow. NULL if they are few. */
struct bytes *resp_take_args(struct resp_parser *parser);

/* ---- replies ---- */

/* Where a reply goes, and in which version. What version 2 has no word for is told in the words
 * it has: a map is an array of twice the length, a double a string, null a string of length -1. */
struct resp {
    struct buf *to;
    int version; /* 2 or 3 */
};

void resp_simple(struct resp *out, struct bytes text);
/* "ERR syntax error": the first word is the code. Line ends in it become spaces. */
void resp_error(struct resp *out, struct bytes text);
void resp_int(struct resp *out, int64_t number);
void resp_bulk(struct resp *out, struct bytes text);
void resp_null(struct resp *out);       /* $-1, or _ */
void resp_null_array(struct resp *out); /* *-1, or _ */
void resp_bool(struct resp *out, bool truth);
/* Text for people, which version 3 knows to be just that. */
void resp_verbatim(struct resp *out, struct bytes text);
/* A score, with the 17 digits that tell any two doubles apart; "inf", "-inf"; whole ones
 * without a point. */
void resp_double(struct resp *out, double number);
/* The elements follow. */
void resp_array(struct resp *out, size_t count);
void resp_map(struct resp *out, size_t pairs);
void resp_set(struct resp *out, size_t count);
void resp_push(struct resp *out, size_t count);

#define resp_ok(out) resp_simple((out), BYTES("OK"))

enum { RESP_DOUBLE_MAX = 40 };
/* The text of resp_double() alone; returns its length. */
size_t resp_double_text(double number, char to[RESP_DOUBLE_MAX]);

#endif
