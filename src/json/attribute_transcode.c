/* Encoded items (value/codec.h) to typed JSON in one pass, checking what item_decode() checks.
 *
 * Most items have the same attributes as others, so that what stands before a value,
 *     ,"name":{"S":"
 * is made once for each name and kind of value, and copied for each item. The slots are found by
 * the name's code; two that want the same slot take turns. */
#include "json/attribute.h"

#include "value/codec.h"
#include "value/codec_steps.h"
#include "value/name_order.h"
#include "json/scan.h"

struct attribute_transcoder *attribute_transcoder_of_thread(const struct names *names,
                                                            struct arena *arena) {
    static _Thread_local struct attribute_transcoder own;
    static _Thread_local uint64_t serial;
    if (serial != names_serial(names)) {
        own = (struct attribute_transcoder){.names = names};
        serial = names_serial(names);
    }
    own.arena = arena;
    return &own;
}

/* How what stands before a value ends. */
enum kind { KIND_OTHER, KIND_STRING, KIND_NUMBER, KIND_BOOL };

/* A name's code, and the size of a value, that take one byte. */
enum { QUICK_MAX = 0x80 };
/* Bytes that such an attribute can take: a whole head is copied, whatever it holds. */
enum { QUICK_ROOM = sizeof(((struct transcoder_slot *)0)->head) + QUICK_MAX + 2 };

/* One item on its way. */
struct pass {
    struct attribute_transcoder *by;
    struct bytes in; /* what is left of the item */
    struct buf *to;
    struct bytes before; /* the name of the attribute before this one */
    /* The same if it is one of the dictionary, which never moves; NULL: there is none before. */
    const uint8_t *known;
    size_t size; /* what has been read counts so much */
};

static void put_head(struct buf *to, struct bytes name, enum kind kind) {
    buf_byte(to, ',');
    json_put_string(to, name);
    buf_byte(to, ':');
    if (kind == KIND_STRING)
        buf_lit(to, "{\"S\":\"");
    else if (kind == KIND_NUMBER)
        buf_lit(to, "{\"N\":\"");
    else if (kind == KIND_BOOL)
        buf_lit(to, "{\"BOOL\":");
}

/* The slot of a name, made if it is another's. NULL: there is no name of that code. */
static struct transcoder_slot *slot_of(struct attribute_transcoder *by, size_t code,
                                       enum kind kind) {
    size_t key = code << 2 | kind;
    struct transcoder_slot *slot = &by->slots[key % TRANSCODER_SLOTS];
    if (slot->key == key)
        return slot;
    if (code > LIMIT_NAME_CODES)
        return NULL;
    struct bytes name = names_get(by->names, (int)code - 1);
    if (name.data == NULL)
        return NULL;
    struct buf head = buf_in(slot->head, sizeof(slot->head));
    put_head(&head, name, kind);
    slot->key = key;
    slot->name = name;
    slot->after = NULL;
    slot->size = head.borrowed ? head.size : 0; /* 0: too long to be kept */
    buf_release(&head);
    return slot;
}

static const uint8_t of_no_dictionary; /* where no name of a dictionary is */

/* Whether the name comes after that of the attribute before it. What was found of two names that
 * stay where they are need not be found again. */
static inline bool rises(const struct pass *pass, struct transcoder_slot *slot, struct bytes name) {
    if (pass->before.data == NULL || (slot != NULL && slot->after == pass->known))
        return true;
    if (name_compare(pass->before, name) >= 0)
        return false;
    if (slot != NULL && pass->known != &of_no_dictionary)
        slot->after = pass->known;
    return true;
}

/* Reads the name, and writes it with what stands before a value of that kind. False: damaged, or
 * the names do not rise. */
static inline bool pass_name(struct pass *pass, size_t code, enum kind kind) {
    struct transcoder_slot *slot = NULL;
    struct buf *to = pass->to;
    struct bytes name;
    if (code != 0) {
        slot = slot_of(pass->by, code, kind);
        if (slot == NULL)
            return false;
        name = slot->name;
    } else if (!take_string(&pass->in, &name))
        return false;
    if (!rises(pass, slot, name))
        return false;
    pass->before = name;
    pass->known = slot != NULL ? name.data : &of_no_dictionary;
    pass->size += name.size;
    if (slot != NULL && slot->size != 0) {
        memcpy(buf_reserve(to, sizeof(slot->head)), slot->head, sizeof(slot->head));
        to->size += slot->size;
    } else
        put_head(to, name, kind);
    return true;
}

/* The value of a string, whose opening quote stands there already. */
static inline bool pass_string(struct pass *pass) {
    struct buf *to = pass->to;
    struct bytes text;
    if (!take_string(&pass->in, &text))
        return false;
    pass->size += text.size;
    uint8_t *out = buf_reserve(to, text.size + 2);
    if (scan_copy(out, text.data, text.size) == text.size) {
        memcpy(out + text.size, "\"}", 2);
        to->size += text.size + 2;
        return true;
    }
    to->size--;
    json_put_string(to, text);
    buf_byte(to, '}');
    return true;
}

static inline bool pass_number(struct pass *pass) {
    struct buf *to = pass->to;
    struct bytes number;
    if (!take_scalar(&pass->in, VALUE_N, &number))
        return false;
    pass->size += number_size(number);
    uint8_t *out = buf_reserve(to, NUMBER_MAX_TEXT + 2);
    size_t size = number_text(number, (char *)out);
    memcpy(out + size, "\"}", 2);
    to->size += size + 2;
    return true;
}

static inline bool pass_other(struct pass *pass) {
    struct bytes in = pass->in; /* a copy, so that the pass can stay in registers */
    struct value value;
    if (value_decode(&in, pass->by->arena, &value) != OK)
        return false;
    pass->in = in;
    attribute_write(pass->to, &value);
    pass->size += value_size(&value);
    return true;
}

static void put_bool(struct buf *to, bool truth) {
    if (truth)
        buf_lit(to, "true}");
    else
        buf_lit(to, "false}");
}

static inline bool pass_bool(struct pass *pass) {
    if (pass->in.size == 0 || pass->in.data[0] > 1)
        return false;
    put_bool(pass->to, pass->in.data[0] == 1);
    pass->in = bytes_skip(pass->in, 1);
    pass->size++;
    return true;
}

/* Of a value whose first byte this is. */
static inline enum kind kind_of(uint8_t type) {
    return type == VALUE_S      ? KIND_STRING
           : type == VALUE_N    ? KIND_NUMBER
           : type == VALUE_BOOL ? KIND_BOOL
                                : KIND_OTHER;
}

static bool pass_pair(struct pass *pass) {
    struct bytes rest, name;
    size_t code;
    if (!take_size(&pass->in, &code))
        return false;
    rest = pass->in;
    if (code == 0 && !take_string(&rest, &name))
        return false;
    enum kind kind = rest.size == 0 ? KIND_OTHER : kind_of(rest.data[0]);
    if (!pass_name(pass, code, kind))
        return false;
    if (kind == KIND_OTHER)
        return pass_other(pass);
    pass->in = bytes_skip(pass->in, 1);
    return kind == KIND_STRING   ? pass_string(pass)
           : kind == KIND_NUMBER ? pass_number(pass)
                                 : pass_bool(pass);
}

/* The same pass while attributes are taken quickly. Nothing points at it, so that it is kept in
 * registers. */
struct quick {
    const uint8_t *in, *end;
    uint8_t *out, *room; /* where the next byte goes, and where the buffer ends */
    const uint8_t *known;
    const struct transcoder_slot *last; /* that was taken; NULL: none since quick_begin() */
    size_t size;
};

static inline struct quick quick_begin(const struct pass *pass) {
    struct buf *to = pass->to;
    buf_reserve(to, QUICK_ROOM);
    return (struct quick){.in = pass->in.data,
                          .end = pass->in.data + pass->in.size,
                          .out = to->data + to->size,
                          .room = to->data + to->room,
                          .known = pass->known,
                          .size = pass->size};
}

static inline void quick_end(const struct quick *quick, struct pass *pass) {
    pass->in = bytes_of(quick->in, (size_t)(quick->end - quick->in));
    pass->to->size = (size_t)(quick->out - pass->to->data);
    pass->size = quick->size;
    pass->known = quick->known;
    if (quick->last != NULL)
        pass->before = quick->last->name;
}

/* Writes a string without anything to escape, or a short number. Returns its size; SIZE_MAX: it is
 * none of these. */
static inline size_t quick_value(uint8_t *out, enum kind kind, const uint8_t *value, size_t size) {
    if (kind == KIND_STRING)
        return scan_copy(out, value, size) == size ? size : SIZE_MAX;
    size_t text = kind == KIND_NUMBER ? number_text_whole(bytes_of(value, size), (char *)out) : 0;
    return text != 0 ? text : SIZE_MAX;
}

/* Takes what most attributes are: one of the dictionary's first names, met behind the same one
 * before, and a string or number that is short and has nothing special. False, with nothing taken:
 * any other. */
static inline bool quick_pair(struct quick *quick, const struct transcoder_slot *slots) {
    const uint8_t *in = quick->in; /* the name's code, type, size, value */
    if (quick->end - in < 3 || in[0] - 1u >= QUICK_MAX - 1 || in[2] >= QUICK_MAX ||
        quick->end - in < 3 + in[2] || quick->room - quick->out < QUICK_ROOM)
        return false;
    enum kind kind = kind_of(in[1]);
    size_t key = (size_t)in[0] << 2 | kind;
    const struct transcoder_slot *slot = &slots[key % TRANSCODER_SLOTS];
    if (slot->key != key || slot->size == 0 || slot->after != quick->known)
        return false;
    memcpy(quick->out, slot->head, sizeof(slot->head));
    uint8_t *out = quick->out + slot->size;
    size_t size = quick_value(out, kind, in + 3, in[2]);
    if (size == SIZE_MAX)
        return false;
    memcpy(out + size, "\"}", 2);
    quick->out = out + size + 2;
    quick->in = in + 3 + in[2];
    quick->size += slot->name.size + in[2];
    quick->known = slot->name.data;
    quick->last = slot;
    return true;
}

static bool pass_pairs(struct pass *pass, uint32_t count) {
    struct quick quick = quick_begin(pass);
    for (uint32_t i = 0; i < count; i++) {
        if (quick_pair(&quick, pass->by->slots))
            continue;
        quick_end(&quick, pass);
        if (!pass_pair(pass))
            return false;
        quick = quick_begin(pass);
    }
    quick_end(&quick, pass);
    return pass->in.size == 0;
}

bool attribute_transcode(struct attribute_transcoder *by, struct bytes stored, struct buf *to,
                         size_t *size) {
    struct pass pass = {.by = by, .in = stored, .to = to};
    size_t start = to->size;
    uint32_t count;
    if (!take_count(&pass.in, PAIR_LEAST, &count) || !pass_pairs(&pass, count))
        return false;
    if (count == 0)
        buf_byte(to, '{');
    to->data[start] = '{'; /* rather than the first comma */
    buf_byte(to, '}');
    *size = pass.size;
    return true;
}
