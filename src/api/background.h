/* Work that takes its time, each piece on a thread of its own, so that no loop waits for it. */
#ifndef GT_API_BACKGROUND_H
#define GT_API_BACKGROUND_H

#include <stdbool.h>

struct background;

struct background *background_new(void);
/* Runs `work(argument)` soon. False, and nothing runs, if too much is under way or it is being
 * stopped. Any thread. */
bool background_run(struct background *background, void (*work)(void *argument), void *argument);
/* Takes no more, and waits for what runs. */
void background_stop(struct background *background);
/* Stops, then frees. */
void background_free(struct background *background);

#endif
