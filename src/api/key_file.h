/* The key file of a running server, changed through it: a key is made, gets other rights or is
 * revoked, and that is in force when the call returns, as after SIGHUP.
 *
 * Every change reads the file anew, so what `gametable keys` has written meanwhile stays, and
 * writes it as a whole (keyring_save()). Keys of the environment are not in it and cannot be
 * changed here. The last key that may administer everything stays: without one nobody could come in
 * to make another.
 */
#ifndef GT_API_KEY_FILE_H
#define GT_API_KEY_FILE_H

#include "api/access_keys.h"

#include <pthread.h>

struct key_file {
    const char *path;        /* NULL or empty: the server was started without one */
    const struct keys *keys; /* that are in force; NULL: there are none */
    /* Reads the keys again, from the file and the environment, and has them in force. The server's;
     * called with the mutex held. */
    void (*reload)(void *context);
    void *context;
    pthread_mutex_t mutex; /* one change or reload at a time */
};

void key_file_init(struct key_file *file);
void key_file_release(struct key_file *file);
/* Reads the keys again, for SIGHUP. Any thread; blocks. */
void key_file_reload(struct key_file *file);

enum key_edit_kind { KEY_ADD, KEY_CHANGE, KEY_REMOVE };
struct key_edit {
    enum key_edit_kind kind;
    struct access_key key; /* of a change: `id`, and what of the rest is in `parts` */
    struct {
        bool name, allow, tables, partitions;
    } parts; /* of a change: what becomes another */
};
/* Carries out the edit. Of KEY_ADD id and secret are filled in, in the arena; of KEY_CHANGE all of
 * `key` but its secret becomes what it is now. INVALID for a key that cannot be, NOT_FOUND,
 * CONFLICT with a sentence for what cannot be done on this server. Any thread that may wait for the
 * disk. */
enum status key_file_edit(struct key_file *file, struct key_edit *edit, struct scope in);

#endif
