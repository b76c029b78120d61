/* What a JSON value looks like: one description checks what clients send, and is what the OpenAPI
 * document is written from, so that neither can be out of step with the other. */
#ifndef GT_API_REST_REST_FORM_H
#define GT_API_REST_REST_FORM_H

#include "base/status.h"
#include "json/json.h"

enum form_kind {
    FORM_TEXT,   /* min to max characters (bytes of UTF-8) */
    FORM_NUMBER, /* exact decimal: a JSON number, or a string that has one in it */
    FORM_COUNT,  /* a whole number, min to max */
    FORM_FLAG,   /* true, false */
    FORM_CHOICE, /* one of `choices` */
    FORM_TIME,   /* 2026-11-16T13:00:00Z */
    FORM_MAP,    /* an object of whatever the client likes */
    FORM_OBJECT, /* `form` */
    FORM_LIST,   /* of `element`s, min to max of them */
    FORM_ANY,
};

enum form_flags {
    FORM_REQUIRED = 1,
    FORM_NULLABLE = 2, /* null is as good as nothing */
    FORM_SHARE = 4,    /* FORM_NUMBER: a plain double that is never told as text */
};

struct form_field {
    const char *name;
    enum form_kind kind;
    unsigned flags;
    const char *about;
    int64_t min, max;           /* 0 and 0: any */
    const char *const *choices; /* ends with NULL */
    const struct form *form;    /* of an object, or of a list's objects */
    enum form_kind element;     /* of a list */
};

struct form {
    const char *name; /* in the document's components */
    const char *about;
    const struct form_field *fields; /* ends with one that has no name */
};

/* Where a value is wrong: "seasons[0].name". */
struct form_fault {
    struct bytes member;
};

/* INVALID with a sentence, and the member it is about. Members that the form does not have are
 * faults: a slip of the pen must not be taken for a default. */
enum status form_check(const struct form *form, const struct json *value, struct scope in,
                       struct form_fault *fault);
/* form_check() for one parameter of a path or query, which comes as text. */
enum status form_check_text(const struct form_field *field, struct bytes text, struct scope in);

/* --- reading what has been checked --- */

/* The member, or NULL if it is absent or null. */
const struct json *form_get(const struct json *object, const char *name);
struct bytes form_text(const struct json *object, const char *name); /* empty if absent */
int64_t form_count(const struct json *object, const char *name, int64_t otherwise);
bool form_flag(const struct json *object, const char *name, bool otherwise);
int64_t form_time(const struct json *object, const char *name, int64_t otherwise);
/* The encoded number; empty if absent. */
struct bytes form_number(const struct json *object, const char *name, struct arena *arena);
int64_t form_int(struct bytes text); /* of digits that were checked */

/* Appends the JSON Schema of a field's value. Objects are told by reference. */
void form_put_schema(struct buf *to, const struct form_field *field);
/* Appends {"type":"object",...} of a form. */
void form_put_object(struct buf *to, const struct form *form);

#endif
