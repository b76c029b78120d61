#include "api/redis/call_groups.h"

#include "api/redis/call_errors.h"
#include "api/redis/presence_events.h"
#include "api/redis/slow_calls.h"
#include "api/redis/write_calls.h"
#include "api/redis/zset_txn_int.h"
#include "base/clock.h"
#include "base/limits.h"

#include <assert.h>

static bool is_script(const struct redis_command *command) {
    return command != NULL && (command->flags & COMMAND_COMMITS) != 0;
}

/* ---- on the engine's thread ---- */

/* Keeps what an error says of the call, which may outlive the leader's memory. */
static void keep_texts(struct redis_call *call) {
    call->error = arena_copy(&call->own_arena, call->error);
    call->failure.text = arena_copy(&call->own_arena, call->failure.text);
}

/* Runs one call over the leader's transaction, in the leader's memory, which what was written
 * refers to until the commit. False if nothing of the group may be kept. */
static bool run_member(struct redis_call *leader, struct redis_call *call) {
    call_reset_run(call);
    slow_set_writer_budget(call);
    call->wrote = false;
    call->txn = zset_txn_of(leader);
    call->arena = leader->arena;
    int64_t begin_us = clock_ticks_us();
    enum status status = presence_run(call);
    call->usec += (uint64_t)(clock_ticks_us() - begin_us);
    call->arena = &call->own_arena;
    if (call != leader) {
        call->txn = NULL;
        keep_texts(call);
    }
    return !slow_is_over(call) && !call->own_budget.exhausted && !call->waits && !call->again &&
           !leader->txn->busy && (status == OK || !call->wrote);
}

/* The change's `prepare`: runs the calls until there is no time left for another. */
static enum status prepare_group(struct change *change) {
    struct redis_call *leader =
        (struct redis_call *)((char *)change - offsetof(struct redis_call, change));
    uint64_t work = 0;
    bool together = true;
    assert(change != NULL);
    for (struct redis_call *call = leader; call != NULL && together && work <= LIMIT_WRITER_WORK;
         call = call->grouped.next) {
        call->grouped.ran = true;
        if (slow_defers(call))
            continue;
        together = run_member(leader, call);
        work += call->own_budget.work;
    }
    change->actions = NULL;
    change->action_count = 0;
    if (together && leader->txn != NULL)
        together = zset_txn_actions(leader) == OK;
    if (!together) {
        change->action_count = 0;
        change->failure = (struct failure){0};
    }
    leader->grouped.apart = !together;
    return OK;
}

/* ---- on the loop ---- */

static void schedule(struct redis_client *client);

/* Whether the group failed by what its own actions are, and not by the disk or for want of room. */
static bool is_refused(enum status status) {
    return status == CANCELLED || status == CONFLICT || status == INVALID ||
           status == LIMIT_EXCEEDED;
}

static void leave_group(struct redis_call *call) {
    call->client->loop->under_way--;
    call->client->grouped--;
}

/* Makes it a change of its own again. */
static void renew_change(struct redis_call *call) {
    call->change = (struct change){.kind = CHANGE_WRITE, .arena = call->arena};
    call_fall_back(call);
}

static void list_add(struct call_list *list, struct redis_call *call) {
    call->grouped.next = NULL;
    if (list->first == NULL)
        list->first = call;
    else
        list->last->grouped.next = call;
    list->last = call;
}

static struct redis_call *list_take(struct call_list *list) {
    struct redis_call *call = list->first;
    if (call != NULL)
        list->first = call->grouped.next;
    return call;
}

/* Those that wait come behind those that the group had no time for. */
static void wait_again(struct call_groups *groups, struct call_list *left) {
    for (struct redis_call *call; (call = list_take(&groups->waiting)) != NULL;)
        list_add(left, call);
    groups->waiting = *left;
}

/* What has become of a group. */
enum group_fate { GROUP_COMMITTED, GROUP_APART, GROUP_FAILED };

static enum group_fate fate_of(const struct redis_call *leader) {
    enum status status = leader->change.failure.status;
    if (leader->grouped.apart || is_refused(status))
        return GROUP_APART;
    return status == OK ? GROUP_COMMITTED : GROUP_FAILED;
}

/* Sorts the calls of a group that is over into those that are done and those that have not run yet.
 * Those that have to run by themselves are submitted, in their order. */
static void sort_calls(struct call_list *calls, enum group_fate fate, struct call_list *done,
                       struct call_list *left) {
    struct failure failure = calls->first->change.failure;
    for (struct redis_call *call; (call = list_take(calls)) != NULL;) {
        if (call->ahead.put_off) {
            renew_change(call);
            list_add(done, call);
        } else if (fate != GROUP_FAILED && !call->grouped.ran)
            list_add(left, call);
        else if (fate == GROUP_APART) {
            leave_group(call);
            renew_change(call);
            call_submit(call);
        } else {
            call->change.failure =
                (struct failure){failure.status, arena_copy(&call->own_arena, failure.text)};
            list_add(done, call);
        }
    }
}

static void group_returned(struct change_submit *submit) {
    struct redis_call *leader =
        (struct redis_call *)((char *)submit - offsetof(struct redis_call, submit));
    struct redis_client *client = leader->client;
    struct call_groups *groups = &client->loop->groups;
    struct call_list calls = {.first = leader}, done = {0}, left = {0};
    enum group_fate fate = fate_of(leader);
    stream_hold(client->stream);
    if (fate == GROUP_COMMITTED)
        zset_txn_committed(leader);
    if (leader->txn != NULL)
        zset_txn_release(leader->txn);
    leader->txn = NULL;
    groups->under_way = false;
    sort_calls(&calls, fate, &done, &left);
    wait_again(groups, &left);
    for (struct redis_call *call; (call = list_take(&done)) != NULL;) {
        leave_group(call);
        call_take_result(call);
    }
    schedule(client);
    client_resume_throttled(client->loop);
    stream_release(client->stream);
}

/* The change of the group comes after what each of its clients has submitted before. */
static void set_sources(struct call_groups *groups, struct change *change,
                        const struct call_list *group) {
    change->sources = groups->sources;
    for (const struct redis_call *call = group->first; call != NULL; call = call->grouped.next) {
        groups->sources[change->source_count++] = call->client->source;
        change->bytes += call_args_size(call);
    }
}

/* Submits the next group. */
static void submit_group(struct call_groups *groups) {
    struct call_list group = {0};
    for (size_t i = 0; i < LIMIT_CALL_GROUP && groups->waiting.first != NULL; i++) {
        struct redis_call *call = list_take(&groups->waiting);
        call->grouped.ran = call->grouped.apart = false;
        list_add(&group, call);
    }
    struct redis_call *leader = group.first;
    assert(leader != NULL); /* there is one that waits */
    groups->under_way = true;
    leader->change = (struct change){.kind = CHANGE_WRITE,
                                     .arena = leader->arena,
                                     .prepare = prepare_group,
                                     .all_or_nothing = true};
    set_sources(groups, &leader->change, &group);
    leader->submit.back = group_returned;
    change_submit(leader->frontend->game->engine, &leader->change, &leader->submit);
}

static void run_flush(struct task *task) {
    struct call_groups *groups =
        (struct call_groups *)((char *)task - offsetof(struct call_groups, flush));
    groups->flushing = false;
    submit_group(groups);
}

/* Has the next group submitted at the end of this turn, unless the last one is still under way. */
static void schedule(struct redis_client *client) {
    struct call_groups *groups = &client->loop->groups;
    if (groups->waiting.first == NULL || groups->under_way || groups->flushing)
        return;
    groups->flushing = true;
    groups->flush.run = run_flush;
    loop_after(client->stream->loop, &groups->flush);
}

/* What is watched is compared by versions, which say nothing of what was not committed yet. */
bool call_groups_take(const struct redis_call *call) {
    bool exec = command_is_exec(call->command) && call->client->queue.watched_count == 0;
    return (is_script(call->command) || exec) && call->change.prepare != NULL &&
           !call->frontend->blocks;
}

void call_groups_add(struct redis_call *call) {
    struct redis_client *client = call->client;
    list_add(&client->loop->groups.waiting, call);
    client->grouped++;
    client->loop->under_way++;
    schedule(client);
}

bool call_groups_hold(const struct redis_client *client, const struct redis_command *command) {
    return client->grouped != 0 && !is_script(command);
}
