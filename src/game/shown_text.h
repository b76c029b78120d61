/* Texts that people give themselves and others are shown: names and titles. */
#ifndef GT_GAME_SHOWN_TEXT_H
#define GT_GAME_SHOWN_TEXT_H

#include "base/arena.h"

/* The text without what changes how others read what stands around it, or makes two names look the
 * same: bidirectional controls, zero-width and other invisible characters, spaces at either end and
 * several in a row. Joiners stay between two characters that are seen, since Hindi and emoji are
 * written with them. Returns the text itself if there is nothing to take out, else one in the
 * arena; bytes that are not UTF-8 are left as they are, for whoever checks them. Any thread. */
struct bytes shown_text(struct bytes text, struct arena *arena);

/* How many characters a text has. */
size_t shown_text_length(struct bytes text);

/* Whether two texts read alike: without case in ASCII. */
bool shown_text_alike(struct bytes a, struct bytes b);

#endif
