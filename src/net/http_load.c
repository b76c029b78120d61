#include "net/http_load.h"

#include <stdint.h>

/* Counts `size` bytes for one connection instead of *counted. False, and nothing has changed, if it
 * would be more than before and more than `most` together. */
static bool count_bytes(atomic_size_t *total, size_t *counted, size_t size, size_t most) {
    if (size == *counted)
        return true;
    size_t now =
        atomic_fetch_add_explicit(total, size - *counted, memory_order_relaxed) + (size - *counted);
    if (size > *counted && now > most) {
        atomic_fetch_sub_explicit(total, size - *counted, memory_order_relaxed);
        return false;
    }
    *counted = size;
    return true;
}

void http_load_wait(struct http_load *load, struct http_load_part *part, bool waits) {
    if (part->in_flight == waits)
        return;
    part->in_flight = waits;
    if (waits)
        atomic_fetch_add_explicit(&load->in_flight, 1, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&load->in_flight, 1, memory_order_relaxed);
}

bool http_load_is_full(const struct http_load *load) {
    return atomic_load_explicit(&load->in_flight, memory_order_relaxed) >= load->in_flight_max;
}

bool http_load_has_room(const struct http_load *load) {
    return atomic_load_explicit(&load->held, memory_order_relaxed) <= load->held_max;
}

void http_load_doubt_body(struct http_load *load, struct http_load_part *part) {
    /* One byte is counted before any has come, so that http_load_hold_body() knows. */
    count_bytes(&load->unproved, &part->unproved, 1, SIZE_MAX);
}

void http_load_trust_body(struct http_load *load, struct http_load_part *part) {
    count_bytes(&load->unproved, &part->unproved, 0, 0);
}

bool http_load_hold_body(struct http_load *load, struct http_load_part *part, size_t size) {
    bool unproved = part->unproved != 0;
    return count_bytes(&load->held, &part->held, size, load->held_max) &&
           (!unproved || count_bytes(&load->unproved, &part->unproved, size, load->unproved_max));
}

void http_load_hold_answer(struct http_load *load, struct http_load_part *part, size_t size) {
    count_bytes(&load->held, &part->held, size, SIZE_MAX);
}

void http_load_let_go(struct http_load *load, struct http_load_part *part) {
    count_bytes(&load->held, &part->held, 0, 0);
    count_bytes(&load->unproved, &part->unproved, 0, 0);
}
