/* log.c - the call log on standard output, written in batches by a timer.
 *
 * A call only costs its traffic record; names are read and lines are written in batches. If
 * calls come faster than they can be printed, the log reports the number that it skipped. */
#include <stdio.h>

#include "api/jobs/errand.h"
#include "base/mem.h"
#include "admin/console/internal.h"

enum { LOG_TICK_MS = 50, LOG_PAGE = 200 };

struct call_log {
    struct workbench *workbench;
    struct loop *loop;
    uv_timer_t timer;
    bool reading, ending;
    struct traffic_page page;
    struct buf lines;
};

static void add_line(const struct shown *s, void *arg)
{
    shown_line(s, &((struct call_log *)arg)->lines);
}

static enum err log_read(struct call *call)
{
    struct call_log *l = call_passed(call, "call_log");

    buf_reset(&l->lines);
    return traffic_each(call->tx, l->workbench->traffic, &l->page, add_line, l);
}

static void log_print(struct call_log *l)
{
    if (l->page.lost)
        printf("%llu calls were too fast to be shown\n", (unsigned long long)l->page.lost);
    if (l->lines.n)
        fwrite(l->lines.p, 1, l->lines.n, stdout);
    fflush(stdout);
}

static void log_free(uv_handle_t *handle)
{
    struct call_log *l = handle->data;

    buf_clear(&l->lines);
    mem_free(l);
}

static void log_look(struct call_log *l);

static void log_was_read(struct call *call, enum err e, void *arg)
{
    struct call_log *l = arg;

    (void)call;
    if (!e) {
        log_print(l);
        l->page.after = l->page.last;
    }
    l->reading = false;
    if (l->ending && e)
        uv_close((uv_handle_t *)&l->timer, log_free);
    else if (l->ending)
        log_look(l);
}

/* Reads new records; when stopping, until none are left. */
static void log_look(struct call_log *l)
{
    uint64_t oldest, newest;

    if (l->reading)
        return;
    traffic_range(l->workbench->traffic, &oldest, &newest);
    if (newest <= l->page.after) {
        if (l->ending)
            uv_close((uv_handle_t *)&l->timer, log_free);
        return;
    }
    l->reading = true;
    errand_start(l->workbench->api, l->loop,
                 &(struct errand){ .name = "call log",
                                   .store = ROUTE_STORE_READ,
                                   .run = log_read,
                                   .done = log_was_read,
                                   .type = "call_log",
                                   .data = l,
                                   .arg = l });
}

static void log_tick(uv_timer_t *timer)
{
    struct call_log *l = timer->data;

    if (!l->ending)
        log_look(l);
}

static void log_begin(struct loop *loop, void *arg)
{
    struct call_log *l = arg;

    uv_timer_init(loop_uv(loop), &l->timer);
    l->timer.data = l;
    uv_timer_start(&l->timer, log_tick, LOG_TICK_MS, LOG_TICK_MS);
}

struct call_log *call_log_start(struct workbench *w, struct loop *loop)
{
    struct call_log *l = mem_new(sizeof *l);

    l->workbench = w;
    l->loop = loop;
    l->page.filter.kind = STR("request");
    l->page.limit = LOG_PAGE;
    buf_init(&l->lines, 4 * 1024 * 1024);
    traffic_hold(w->traffic);
    loop_call(loop, log_begin, l);
    return l;
}

static void log_end(struct loop *loop, void *arg)
{
    struct call_log *l = arg;

    (void)loop;
    l->ending = true;
    log_look(l);
}

void call_log_stop(struct call_log *l)
{
    if (l)
        loop_call(l->loop, log_end, l);
}
