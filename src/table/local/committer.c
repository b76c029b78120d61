/* The committer: a thread that brings one group after the other to the disk and tells its
 * submitters, while the writer fills the next one. */
#include "table/local/writer.h"

/* The group that was handed over, or NULL when it is time to end. */
static struct group *wait_for_group(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    while (writer->commit != COMMIT_HANDED && !writer->ending)
        pthread_cond_wait(&writer->work, &writer->lock);
    struct group *group = writer->commit == COMMIT_HANDED ? writer->committing : NULL;
    pthread_mutex_unlock(&writer->lock);
    return group;
}

/* From here on the group is the writer's again. */
static void give_back(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    bool wake = writer->wake_at != 0;
    writer->commit = COMMIT_DONE;
    writer->wake_at = 0;
    pthread_mutex_unlock(&writer->lock);
    if (wake)
        pthread_cond_signal(&writer->wake);
}

static void *committer_main(void *argument) {
    pthread_setname_np(pthread_self(), "committer");
    struct writer *writer = ((struct local *)argument)->writer;
    for (struct group *group; (group = wait_for_group(writer)) != NULL;) {
        group_commit(group);
        struct change *change = group_take(group);
        give_back(writer);
        while (change != NULL) {
            struct change *next = change->next; /* done() may free it */
            writer_finish(writer, change);
            change = next;
        }
    }
    return NULL;
}

bool committer_start(struct local *local) {
    return pthread_create(&local->writer->committer, NULL, committer_main, local) == 0;
}

void committer_end(struct writer *writer) {
    pthread_mutex_lock(&writer->lock);
    writer->ending = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->committer, NULL);
}
