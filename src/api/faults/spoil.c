/* spoil.c - applies an injected fault to a call. */
#include "api/internal.h"

#include "base/clock.h"
#include "base/mem.h"

enum { LOOK_MS = 20 };

/* A delayed call. Allocated separately, because libuv closes the timer after the call's memory is
 * freed. */
struct fault_wait {
    uv_timer_t timer;
    struct call_run *run;
    struct fault fault;
    int64_t until; /* clock_mono */
};

static void fault_wait_free(uv_handle_t *handle)
{
    mem_free(handle->data);
}

/* Responds as if the rate limit of the route were exceeded. */
static void answer_with_limit(struct call_run *run, const struct fault *f)
{
    int64_t after = f->retry_after_ms ? f->retry_after_ms : 1000;

    run->verdict = (struct verdict){ .limit = run->match.limit->count,
                                     .reset_after_ms = after,
                                     .reset_at_ms = clock_ms() + after };
    answer_error(run, ERR_RATE_LIMITED);
}

static void fault_happens(struct call_run *run, const struct fault *f)
{
    if (f->drop)
        answer_cut(run);
    else if (f->status == 429)
        answer_with_limit(run, f);
    else if (f->status)
        answer_status(run, f->status);
    else
        run_identify(run);
}

static void fault_look(uv_timer_t *timer)
{
    struct fault_wait *w = timer->data;

    if (clock_mono() < w->until && !api_draining(w->run->call.api))
        return;
    struct fault fault = w->fault;
    struct call_run *run = w->run;
    uv_close((uv_handle_t *)timer, fault_wait_free);
    loop_part("fault");
    fault_happens(run, &fault);
}

bool run_spoil(struct call_run *run)
{
    const struct http_request *r = run->call.exchange->request;
    struct fault_wait *w;
    struct fault fault;

    if (!faults_meet(run->call.api->faults, r->method, r->path, &fault))
        return false;
    /* Only a timer callback may close the connection: here its bytes are still being parsed. */
    if (!fault.delay_ms && !fault.drop) {
        fault_happens(run, &fault);
        return true;
    }
    w = mem_new(sizeof *w);
    *w = (struct fault_wait){ .run = run, .fault = fault };
    w->until = clock_mono() + fault.delay_ms * 1000000;
    w->timer.data = w;
    uv_timer_init(loop_uv(run->call.loop), &w->timer);
    uv_timer_start(&w->timer, fault_look,
                   fault.delay_ms < LOOK_MS ? (uint64_t)fault.delay_ms : LOOK_MS, LOOK_MS);
    return true;
}
