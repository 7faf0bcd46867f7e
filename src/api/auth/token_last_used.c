/* token_last_used.c - writes the times at which tokens were last used, for session lists and to
 * find inactive accounts. A call only marks its token in the cache. Once an hour the last-used
 * times of all marked tokens are written, in steps of a few rows. When the process ends, marks that
 * were not written yet are lost. */
#include <stdlib.h>
#include <string.h>

#include "api/auth/auth.h"
#include "api/jobs/internal_call.h"
#include "api/internal.h"
#include "base/clock.h"
#include "base/mem.h"

enum { WRITE_INTERVAL_MS = 60 * 60 * 1000, STEP = 128 };

struct token_use_writer {
    struct api *api;
    struct loop *loop;
    struct deadline_list *hours;
    struct deadline hour;
    bool busy; /* whether last-used times are being written at the moment */
    unsigned part;
    /* Used tokens of the current cache shard; next is the index of the first token that is not
     * written yet. */
    struct login_session_id names[AUTH_SHARD_ENTRIES];
    size_t count, next;
    int64_t now;
};

static void write_next_token_batch(struct token_use_writer *u);

static const char UPDATE_LAST_USED[] =
    "update tokens set last_used_at = $2 where id = $1 and coalesce(last_used_at, 0) < $2";

static size_t get_token_batch_end_index(const struct token_use_writer *u)
{
    return u->next + STEP < u->count ? u->next + STEP : u->count;
}

static enum err update_last_used_times(struct call *call)
{
    const struct token_use_writer *u = call_get_stage_data(call, "token_use_writer");
    enum err e = OK;

    for (size_t i = u->next; i < get_token_batch_end_index(u) && !e; i++)
        e = tx_exec(call->tx, UPDATE_LAST_USED,
                    BIND(v_bytes(str_slice((const char *)u->names[i].session, sizeof u->names[i])),
                         v_int(u->now)),
                    NULL);
    return e;
}

/* Ignores errors: if the last use of a token could not be written, the token is marked again at its
 * next use. */
static void on_token_batch_written(struct call *call, enum err e, void *arg)
{
    struct token_use_writer *u = arg;

    (void)call, (void)e;
    u->next = get_token_batch_end_index(u);
    write_next_token_batch(u);
}

static int compare_session_ids(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct login_session_id));
}

/* Collects the used tokens of the next cache shard. Sorts them, because two nodes that update the
 * same rows in different orders could deadlock. */
static bool collect_used_tokens_of_shard(struct token_use_writer *u)
{
    for (; u->part < AUTH_CACHE_SHARDS; u->part++) {
        u->next = 0;
        u->count = auth_collect_recently_used_tokens(u->api->options.auth, u->part, u->names);
        if (!u->count)
            continue;
        qsort(u->names, u->count, sizeof *u->names, compare_session_ids);
        u->part++;
        return true;
    }
    return false;
}

static void write_next_token_batch(struct token_use_writer *u)
{
    if (api_is_draining(u->api) || (u->next == u->count && !collect_used_tokens_of_shard(u))) {
        u->busy = false;
        return;
    }
    internal_call_start(u->api, u->loop,
                        &(struct internal_call){ .name = "token uses",
                                                 .store = ROUTE_STORE_WRITE,
                                                 .run = update_last_used_times,
                                                 .done = on_token_batch_written,
                                                 .type = "token_use_writer",
                                                 .data = u,
                                                 .arg = u });
}

static void on_hourly_token_use_timer(struct deadline *d)
{
    struct token_use_writer *u = container_of(d, struct token_use_writer, hour);

    deadline_restart(u->hours, d);
    if (u->busy)
        return;
    u->busy = true;
    u->part = 0;
    u->next = u->count = 0;
    u->now = clock_us();
    write_next_token_batch(u);
}

struct token_use_writer *token_last_use_writer_new(struct api *api)
{
    struct token_use_writer *u = mem_new(sizeof *u);

    u->api = api;
    return u;
}

static void start_hourly_timer(struct loop *loop, void *arg)
{
    struct token_use_writer *u = arg;

    u->loop = loop;
    u->hours = deadline_list_new(loop, WRITE_INTERVAL_MS, true, on_hourly_token_use_timer);
    deadline_restart(u->hours, &u->hour);
}

void token_last_use_writer_start(struct token_use_writer *u, struct loop *loop)
{
    loop_run_function_and_wait(loop, start_hourly_timer, u);
}

static void stop_hourly_timer(struct loop *loop, void *arg)
{
    struct token_use_writer *u = arg;

    (void)loop;
    deadline_list_free(u->hours);
    u->hours = NULL;
}

void token_last_use_writer_stop(struct token_use_writer *u)
{
    loop_run_function_and_wait(u->loop, stop_hourly_timer, u);
}

void token_last_use_writer_free(struct token_use_writer *u)
{
    mem_free(u);
}
