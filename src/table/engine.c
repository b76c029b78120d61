/* The table interface's calls go to whichever engine is below. */
#include "table/stream.h"

enum status engine_get(struct engine *engine, const struct get_request *request,
                       struct arena *arena, struct failure *failure, struct get_reply *out) {
    return engine->ops->get_many(engine, request, 1, arena, failure, out);
}

enum status engine_get_many(struct engine *engine, const struct get_request *requests, size_t count,
                            struct arena *arena, struct failure *failure,
                            struct get_reply *replies) {
    return engine->ops->get_many(engine, requests, count, arena, failure, replies);
}

enum status engine_page(struct engine *engine, const struct page_request *request,
                        struct arena *arena, struct failure *failure, struct page_reply *out) {
    return engine->ops->page(engine, request, arena, failure, out);
}

enum status engine_places(struct engine *engine, const struct place_request *request,
                          struct arena *arena, struct failure *failure, struct place *places) {
    return engine->ops->places(engine, request, arena, failure, places);
}

uint64_t engine_touched(struct engine *engine, struct bytes table, const struct value *partition) {
    uint32_t where;
    return engine->ops->touched(engine, table, partition, &where);
}

uint64_t engine_touched_where(struct engine *engine, struct bytes table,
                              const struct value *partition, uint32_t *where) {
    return engine->ops->touched(engine, table, partition, where);
}

uint64_t engine_touched_at(struct engine *engine, uint32_t where) {
    return engine->ops->touched_at(engine, where);
}

static _Thread_local bool gathers;
static _Thread_local struct engine *keeping; /* something of this thread's */

void engine_gather(void) {
    gathers = true;
}

bool engine_keeps(struct engine *engine) {
    if (gathers)
        keeping = engine;
    return gathers;
}

void engine_hand_over(void) {
    struct engine *engine = keeping;
    keeping = NULL;
    if (engine != NULL)
        engine->ops->hand_over(engine);
}

void engine_submit(struct engine *engine, struct change *change) {
    engine->ops->submit(engine, change);
}

enum status engine_describe(struct engine *engine, struct bytes table, struct arena *arena,
                            struct failure *failure, struct table_description *out) {
    return engine->ops->describe(engine, table, arena, failure, out);
}

enum status engine_list(struct engine *engine, struct bytes after, size_t limit,
                        struct arena *arena, struct name_list *out) {
    return engine->ops->list(engine, after, limit, arena, out);
}

enum status engine_streams(struct engine *engine, const struct stream_list_request *request,
                           struct arena *arena, struct stream_list *out) {
    return engine->ops->streams(engine, request, arena, out);
}

enum status engine_stream(struct engine *engine, struct bytes table, int64_t label_ms,
                          struct arena *arena, struct failure *failure, struct stream_info *out) {
    return engine->ops->stream(engine, table, label_ms, arena, failure, out);
}

enum status engine_stream_read(struct engine *engine, const struct stream_read_request *request,
                               struct arena *arena, struct failure *failure,
                               struct stream_read_reply *out) {
    return engine->ops->stream_read(engine, request, arena, failure, out);
}

uint64_t engine_stream_latest(struct engine *engine) {
    return engine->ops->stream_latest(engine);
}

void engine_figures(struct engine *engine, struct engine_figures *out) {
    engine->ops->figures(engine, out);
}

enum status engine_backup_create(struct engine *engine, const struct backup_request *request,
                                 struct arena *arena, struct failure *failure,
                                 struct backup_description *out) {
    return engine->ops->backup_create(engine, request, arena, failure, out);
}

enum status engine_backup_describe(struct engine *engine, struct bytes id, struct arena *arena,
                                   struct failure *failure, struct backup_description *out) {
    return engine->ops->backup_describe(engine, id, arena, failure, out);
}

enum status engine_backup_delete(struct engine *engine, struct bytes id, struct arena *arena,
                                 struct failure *failure, struct backup_description *out) {
    return engine->ops->backup_delete(engine, id, arena, failure, out);
}

enum status engine_backup_list(struct engine *engine, const struct backup_filter *filter,
                               struct arena *arena, struct failure *failure,
                               struct backup_list *out) {
    return engine->ops->backup_list(engine, filter, arena, failure, out);
}

enum status engine_read_table(struct engine *engine, const struct reader_request *request,
                              struct arena *arena, struct failure *failure,
                              struct table_reader **out) {
    return engine->ops->read_table(engine, request, arena, failure, out);
}

void engine_close(struct engine *engine) {
    engine->ops->close(engine);
}
