/* apply_fault.c - applies an injected fault to a call. */
#include "api/internal.h"

#include "base/clock.h"
#include "base/mem.h"

enum { POLL_MS = 20 };

/* A call that waits for the delay of a fault. Not allocated in the call's arena, because libuv
 * closes the timer after the call's memory was freed. */
struct delayed_fault {
    uv_timer_t timer;
    struct call_context *run;
    struct injected_fault fault;
    int64_t until; /* end of the delay (clock_monotonic_ns) */
};

static void free_delayed_fault(uv_handle_t *handle)
{
    mem_free(handle->data);
}

/* Responds as if the rate limit of the route were exceeded. */
static void respond_rate_limited(struct call_context *run, const struct injected_fault *f)
{
    int64_t after = f->retry_after_ms ? f->retry_after_ms : 1000;

    run->limit_result = (struct rate_limit_result){ .limit = run->match.limit->count,
                                                    .reset_after_ms = after,
                                                    .reset_at_ms = clock_ms() + after };
    response_send_error(run, ERR_RATE_LIMITED);
}

static void apply_fault_effect(struct call_context *run, const struct injected_fault *f)
{
    if (f->drop)
        response_close_connection(run);
    else if (f->status == 429)
        respond_rate_limited(run, f);
    else if (f->status)
        response_send_status_without_error_code(run, f->status);
    else
        call_authenticate(run);
}

static void on_fault_timer(uv_timer_t *timer)
{
    struct delayed_fault *w = timer->data;

    if (clock_monotonic_ns() < w->until && !api_is_draining(w->run->call.api))
        return;
    struct injected_fault fault = w->fault;
    struct call_context *run = w->run;
    uv_close((uv_handle_t *)timer, free_delayed_fault);
    loop_set_measured_activity("fault");
    apply_fault_effect(run, &fault);
}

bool call_apply_injected_fault(struct call_context *run)
{
    const struct http_request *r = run->call.exchange->request;
    struct delayed_fault *w;
    struct injected_fault fault;

    if (!injected_faults_find_fault_for_call(run->call.api->faults, r->method, r->path, &fault))
        return false;
    /* Drop the connection in a timer callback and not here, because the connection's input is still
     * being parsed. */
    if (!fault.delay_ms && !fault.drop) {
        apply_fault_effect(run, &fault);
        return true;
    }
    w = mem_new(sizeof *w);
    *w = (struct delayed_fault){ .run = run, .fault = fault };
    w->until = clock_monotonic_ns() + fault.delay_ms * 1000000;
    w->timer.data = w;
    uv_timer_init(loop_get_uv_loop(run->call.loop), &w->timer);
    uv_timer_start(&w->timer, on_fault_timer,
                   fault.delay_ms < POLL_MS ? (uint64_t)fault.delay_ms : POLL_MS, POLL_MS);
    return true;
}
