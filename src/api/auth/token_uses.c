/* token_uses.c - writes when tokens were last used: for session lists, and to find inactive
 * accounts.
 *
 * Calls only mark the token in the cache. Once an hour the marks are collected and written, in
 * steps of a few rows. Marks of the last hour are lost when the process ends. */
#include <stdlib.h>
#include <string.h>

#include "api/auth/auth.h"
#include "api/jobs/errand.h"
#include "api/internal.h"
#include "base/clock.h"
#include "base/mem.h"

enum { NOTE_MS = 60 * 60 * 1000, STEP = 128 };

struct token_uses {
    struct api *api;
    struct loop *loop;
    struct deadlines *hours;
    struct deadline hour;
    bool busy; /* a write of last-used times is in progress */
    unsigned part;
    struct token_name names[AUTH_PART_MOST]; /* used tokens of the current shard; next: index of the
                                                first unwritten one */
    size_t count, next;
    int64_t now;
};

static void write_next(struct token_uses *u);

static const char NOTE_USE[] =
    "update tokens set last_used_at = $2 where id = $1 and coalesce(last_used_at, 0) < $2";

static size_t step_end(const struct token_uses *u)
{
    return u->next + STEP < u->count ? u->next + STEP : u->count;
}

static enum err write_step(struct call *call)
{
    const struct token_uses *u = call_passed(call, "token_uses");
    enum err e = OK;

    for (size_t i = u->next; i < step_end(u) && !e; i++)
        e = tx_exec(call->tx, NOTE_USE,
                    BIND(v_bytes(str_slice((const char *)u->names[i].session, sizeof u->names[i])),
                         v_int(u->now)),
                    NULL);
    return e;
}

/* Ignores errors: a token whose use could not be written is marked again at its next use. */
static void step_written(struct call *call, enum err e, void *arg)
{
    struct token_uses *u = arg;

    (void)call, (void)e;
    u->next = step_end(u);
    write_next(u);
}

static int compare_names(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct token_name));
}

/* Collects the used tokens of the next shard, sorted, so that nodes that update the same rows do
 * not deadlock. */
static bool take_part(struct token_uses *u)
{
    for (; u->part < AUTH_PARTS; u->part++) {
        u->next = 0;
        u->count = auth_take_used(u->api->options.auth, u->part, u->names);
        if (!u->count)
            continue;
        qsort(u->names, u->count, sizeof *u->names, compare_names);
        u->part++;
        return true;
    }
    return false;
}

static void write_next(struct token_uses *u)
{
    if (api_draining(u->api) || (u->next == u->count && !take_part(u))) {
        u->busy = false;
        return;
    }
    errand_start(u->api, u->loop,
                 &(struct errand){ .name = "token uses",
                                   .store = ROUTE_STORE_WRITE,
                                   .run = write_step,
                                   .done = step_written,
                                   .type = "token_uses",
                                   .data = u,
                                   .arg = u });
}

static void hour_passed(struct deadline *d)
{
    struct token_uses *u = container_of(d, struct token_uses, hour);

    deadline_touch(u->hours, d);
    if (u->busy)
        return;
    u->busy = true;
    u->part = 0;
    u->next = u->count = 0;
    u->now = clock_us();
    write_next(u);
}

struct token_uses *token_uses_new(struct api *api)
{
    struct token_uses *u = mem_new(sizeof *u);

    u->api = api;
    return u;
}

static void begin_hours(struct loop *loop, void *arg)
{
    struct token_uses *u = arg;

    u->loop = loop;
    u->hours = deadlines_new(loop, NOTE_MS, true, hour_passed);
    deadline_touch(u->hours, &u->hour);
}

void token_uses_start(struct token_uses *u, struct loop *loop)
{
    loop_call(loop, begin_hours, u);
}

static void end_hours(struct loop *loop, void *arg)
{
    struct token_uses *u = arg;

    (void)loop;
    deadlines_free(u->hours);
    u->hours = NULL;
}

void token_uses_stop(struct token_uses *u)
{
    loop_call(u->loop, end_hours, u);
}

void token_uses_free(struct token_uses *u)
{
    mem_free(u);
}
