/* call_log.c - the call log on standard output, written in batches by a timer.
 *
 * A call only writes its traffic record. A timer later reads the account names and prints one line
 * per call. If it cannot print all calls, it prints how many were skipped. */
#include <stdio.h>

#include "api/jobs/internal_call.h"
#include "base/mem.h"
#include "admin/console/internal.h"

enum { LOG_TICK_MS = 50, LOG_PAGE = 200 };

struct call_log {
    struct workbench *workbench;
    struct loop *loop;
    uv_timer_t timer;
    bool reading, ending;
    struct traffic_record_page page;
    struct buf lines;
};

static void append_record_line(const struct displayed_traffic_record *s, void *arg)
{
    append_traffic_record_line(s, &((struct call_log *)arg)->lines);
}

static enum err format_new_records_as_lines(struct call *call)
{
    struct call_log *l = call_get_stage_data(call, "call_log");

    buf_reset(&l->lines);
    return traffic_for_each_record(call->tx, l->workbench->traffic, &l->page, append_record_line,
                                   l);
}

static void print_log_lines(struct call_log *l)
{
    if (l->page.lost)
        printf("%llu older requests are missing here\n", (unsigned long long)l->page.lost);
    if (l->lines.n)
        fwrite(l->lines.p, 1, l->lines.n, stdout);
    fflush(stdout);
}

static void on_log_timer_closed(uv_handle_t *handle)
{
    struct call_log *l = handle->data;

    buf_clear(&l->lines);
    mem_free(l);
}

static void start_reading_new_records(struct call_log *l);

static void on_log_records_read(struct call *call, enum err e, void *arg)
{
    struct call_log *l = arg;

    (void)call;
    if (!e) {
        print_log_lines(l);
        l->page.after = l->page.last;
    }
    l->reading = false;
    if (l->ending && e)
        uv_close((uv_handle_t *)&l->timer, on_log_timer_closed);
    else if (l->ending)
        start_reading_new_records(l);
}

/* Prints the new records. When the log stops, continues until no records are left. */
static void start_reading_new_records(struct call_log *l)
{
    uint64_t oldest, newest;

    if (l->reading)
        return;
    traffic_read_record_number_range(l->workbench->traffic, &oldest, &newest);
    if (newest <= l->page.after) {
        if (l->ending)
            uv_close((uv_handle_t *)&l->timer, on_log_timer_closed);
        return;
    }
    l->reading = true;
    internal_call_start(l->workbench->api, l->loop,
                        &(struct internal_call){ .name = "call log",
                                                 .store = ROUTE_STORE_READ,
                                                 .run = format_new_records_as_lines,
                                                 .done = on_log_records_read,
                                                 .type = "call_log",
                                                 .data = l,
                                                 .arg = l });
}

static void on_log_timer(uv_timer_t *timer)
{
    struct call_log *l = timer->data;

    if (!l->ending)
        start_reading_new_records(l);
}

static void start_log_timer(struct loop *loop, void *arg)
{
    struct call_log *l = arg;

    uv_timer_init(loop_get_uv_loop(loop), &l->timer);
    l->timer.data = l;
    uv_timer_start(&l->timer, on_log_timer, LOG_TICK_MS, LOG_TICK_MS);
}

struct call_log *call_log_start_printing(struct workbench *w, struct loop *loop)
{
    struct call_log *l = mem_new(sizeof *l);

    l->workbench = w;
    l->loop = loop;
    l->page.filter.kind = STR("request");
    l->page.limit = LOG_PAGE;
    buf_init(&l->lines, 4 * 1024 * 1024);
    traffic_start_watching(w->traffic);
    loop_run_function_and_wait(loop, start_log_timer, l);
    return l;
}

static void begin_closing_call_log(struct loop *loop, void *arg)
{
    struct call_log *l = arg;

    (void)loop;
    l->ending = true;
    start_reading_new_records(l);
}

void call_log_stop_printing(struct call_log *l)
{
    if (l)
        loop_run_function_and_wait(l->loop, begin_closing_call_log, l);
}
