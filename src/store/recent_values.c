#include "store/recent_values.h"

#include "base/mem.h"

enum {
    NOTES = 8192,   /* a power of two: of so many values at most */
    LARGE_PART = 8, /* of the ring that one value may take */
};

/* Where a value stands: in the log, and in the ring. */
struct recent_note {
    uint64_t segment;
    uint32_t salt, offset, size;
    uint64_t at; /* counted since the first byte that was ever put */
};

void recent_values_init(struct recent_values *recent, size_t size) {
    *recent = (struct recent_values){.size = size};
    pthread_mutex_init(&recent->lock, NULL);
}

void recent_values_release(struct recent_values *recent) {
    mem_free(recent->ring);
    mem_free(recent->notes);
    pthread_mutex_destroy(&recent->lock);
}

static struct recent_note *note_at(const struct recent_values *recent, uint64_t number) {
    return &recent->notes[number % NOTES];
}

/* --- adding --- */

static void drop_oldest(struct recent_values *recent) {
    recent->first++;
    recent->count--;
}

/* Where `size` bytes go, in one piece: what is left behind the last value may be too short. */
static uint64_t find_room(const struct recent_values *recent, size_t size) {
    size_t at = recent->end % recent->size;
    return at + size <= recent->size ? recent->end : recent->end - at + recent->size;
}

/* Forgets those whose bytes are written over up to `end`, and one if there is no room for a note.
 */
static void make_room(struct recent_values *recent, uint64_t end) {
    if (recent->count == NOTES)
        drop_oldest(recent);
    while (recent->count != 0 && note_at(recent, recent->first)->at + recent->size < end)
        drop_oldest(recent);
}

static void put_value(struct recent_values *recent, const struct log_place *place,
                      struct bytes value) {
    if (recent->ring == NULL) {
        recent->ring = mem_alloc(recent->size);
        recent->notes = mem_alloc(NOTES * sizeof(recent->notes[0]));
    }
    uint64_t at = find_room(recent, value.size);
    make_room(recent, at + value.size);
    memcpy(recent->ring + at % recent->size, value.data, value.size);
    *note_at(recent, recent->first + recent->count++) =
        (struct recent_note){place->segment, place->salt, place->offset, (uint32_t)value.size, at};
    recent->end = at + value.size;
}

void recent_values_add(struct recent_values *recent, const struct log_place *place,
                       struct bytes value) {
    if (value.size == 0 || value.size > recent->size / LARGE_PART)
        return;
    pthread_mutex_lock(&recent->lock);
    put_value(recent, place, value);
    pthread_mutex_unlock(&recent->lock);
}

/* --- finding --- */

static bool is_before(const struct recent_note *note, const struct log_place *place) {
    return note->segment != place->segment ? note->segment < place->segment
                                           : note->offset < place->offset;
}

/* The note of the place, or NULL. */
static const struct recent_note *find_note(const struct recent_values *recent,
                                           const struct log_place *place) {
    uint64_t low = recent->first, high = recent->first + recent->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (is_before(note_at(recent, middle), place))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == recent->first + recent->count)
        return NULL;
    const struct recent_note *note = note_at(recent, low);
    bool same = note->segment == place->segment && note->offset == place->offset &&
                note->salt == place->salt && note->size == place->size;
    return same ? note : NULL;
}

bool recent_values_find(struct recent_values *recent, const struct log_place *place,
                        struct arena *arena, struct bytes *out) {
    if (place->size == 0 || place->size > recent->size / LARGE_PART)
        return false;
    pthread_mutex_lock(&recent->lock);
    const struct recent_note *note = find_note(recent, place);
    if (note != NULL)
        *out = arena_copy(arena, bytes_of(recent->ring + note->at % recent->size, note->size));
    pthread_mutex_unlock(&recent->lock);
    return note != NULL;
}

void recent_values_clear(struct recent_values *recent) {
    pthread_mutex_lock(&recent->lock);
    recent->count = 0;
    pthread_mutex_unlock(&recent->lock);
}

size_t recent_values_memory(struct recent_values *recent) {
    pthread_mutex_lock(&recent->lock);
    size_t size = recent->ring == NULL ? 0 : recent->size + NOTES * sizeof(recent->notes[0]);
    pthread_mutex_unlock(&recent->lock);
    return size;
}
