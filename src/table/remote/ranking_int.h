/* Private to the ranking of the remote engine: its parts and its threads.
 *
 *   remote_ranking.c     what the engine calls: after a commit, and for ranks
 *   ranking_page.c       pages of the index `ranks`
 *   ranking_builder.c    threads that build rankings which are missing
 *   ranking_build.c      building one
 *   ranking_projector.c  the thread that follows the table's stream
 *   ranking_news.c       threads that tell other nodes what has changed, and hear from them
 */
#ifndef GT_TABLE_REMOTE_RANKING_INT_H
#define GT_TABLE_REMOTE_RANKING_INT_H

#include "table/remote/rank_store.h"
#include "table/remote/ranking_keys.h"
#include "table/remote/remote_int.h"

#include <pthread.h>

struct ranking_builder;
struct ranking_projector;
struct ranking_news;

enum { RANKING_SEEN_SLOTS = 4096 };

struct remote_ranking {
    struct remote *remote;
    struct rank_redis *redis;
    struct rank_store store;
    struct ranking_builder *builder;
    struct ranking_projector *projector; /* NULL until it is started */
    struct ranking_news *news;
    atomic_bool ending; /* nobody begins or goes on to build a ranking here */
    /* Hashes of partitions whose ranking was seen whole, each in the slot it falls on; the client's
     * epoch is part of the hash. */
    atomic_uint_fast64_t seen[RANKING_SEEN_SLOTS];
};

/* The microseconds of a version (remote_int.h); 0 if it is none. */
uint64_t ranking_written_us(struct bytes version);
/* What of a write concerns the ranking. False: nothing. */
bool ranking_move_of(const struct remote_write *write, struct arena *arena, struct rank_move *out);
/* Moves entries of one partition, and sees to what is in doubt and to a ranking that is not whole.
 * IO_FAILED. */
enum status ranking_move(struct remote_ranking *ranking, struct rank_moves *moves, struct scope in);
/* The same for who builds it, who is likely to have entries that the ranking does not
 * (rank_store.h).
 */
enum status ranking_fill(struct remote_ranking *ranking, struct rank_moves *moves, struct scope in);

/* --- building --- */

/* Moves all entries of the partition, for who has begun to build it under that token. Waits for all
 * of it, in up to four threads. */
enum status ranking_build(struct remote_ranking *ranking, struct bytes partition,
                          struct bytes token);

struct ranking_builder *ranking_builder_start(struct remote_ranking *ranking);
void ranking_builder_stop(struct ranking_builder *builder);
/* The ranking of the partition is not whole: somebody has to build it. Any thread; does not wait.
 */
void ranking_builder_want(struct ranking_builder *builder, struct bytes partition);
/* The same, and waits for it to be done, unless it was asked for longer ago than
 * LIMIT_RANK_AWAIT_MS: large ones nobody waits for. */
void ranking_builder_await(struct ranking_builder *builder, struct bytes partition);
/* How many are waiting or being built. */
size_t ranking_builder_count(struct ranking_builder *builder);

/* --- the stream --- */

struct ranking_projector *ranking_projector_start(struct remote_ranking *ranking);
void ranking_projector_stop(struct ranking_projector *projector);

/* --- other nodes --- */

struct ranking_news *ranking_news_start(struct remote_ranking *ranking);
void ranking_news_stop(struct ranking_news *news);
/* A partition was written here, up to that version: raises its number and tells the others, soon.
 * Does not wait. */
void ranking_news_wrote(struct ranking_news *news, struct bytes partition, struct bytes version);
/* The stream tells of it: for those who have not heard of it, because who wrote it died. */
void ranking_news_repeat(struct ranking_news *news, struct bytes partition, struct bytes version);

#endif
