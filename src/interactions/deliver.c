/* deliver.c - how an app hears of an interaction: through the gateway, or at its own
 * address, never both. */
#include "interactions/invoke.h"

#include "api/errand.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/http.h"
#include "platform/applications/endpoint.h"

enum {
    MOST_READ_AT_ONCE = 64 * 1024, /* bytes of an answer, inside a transaction */
    MOST_ANSWER = 32 * 1024 * 1024,
};

/* --- at its address ------------------------------------------------------------------- */

struct interaction_post {
    struct api *api;
    struct loop *loop;
    snowflake id;
};

/* What came back, as it travels with an errand. A body may be 32 MiB: it is never copied. */
struct returned {
    snowflake id;
    struct buf type, body;
    enum failure_reason reason;  /* of a failure */
    struct inline_answer answer; /* what the type and the body say, once they were read */
};

static enum err deliver_fail(struct call *call)
{
    const struct returned *r = call->data;

    return interaction_fail(call, r->id, r->reason);
}

static void start_failing(struct api *api, struct loop *loop, snowflake id,
                          enum failure_reason reason)
{
    struct returned r = { .id = id, .reason = reason };

    /* Who is on the way out leaves it to the job that is kept for it. */
    if (api_draining(api))
        return;
    errand_start(api, loop,
                 &(struct errand){ .name = "interaction",
                                   .store = ROUTE_STORE_WRITE,
                                   .run = deliver_fail,
                                   .data = &r,
                                   .size = sizeof r });
}

static enum err read_answer(struct call *call)
{
    struct returned *r = call->data;

    return inline_answer_read(call, buf_str(&r->type), buf_str(&r->body), &r->answer);
}

static enum err take_answer(struct call *call)
{
    const struct returned *r = call->data;
    struct interaction it;
    enum err e = r->answer.in ? OK : read_answer(call);

    if (!e)
        e = interaction_find(call->tx, r->id, &it);
    return e ? e : inline_answer_apply(call, &it, &r->answer);
}

/* An answer that cannot be used is a failure; one that came twice is not. */
static void answer_taken(struct call *call, enum err e, void *arg)
{
    struct returned *r = call->data;

    (void)arg;
    inline_answer_clear(call, &r->answer);
    buf_clear(&r->type);
    buf_clear(&r->body);
    if (e)
        start_failing(call->api, call->loop, r->id, FAILURE_UNKNOWN);
}

/* Files are written, and much text is read, on the pool; the rest is not worth the way. */
static bool is_long(struct str content_type, struct str body)
{
    return body.n > MOST_READ_AT_ONCE || !http_media_type_is(content_type, STR("application/json"));
}

static void start_taking(const struct interaction_post *d, struct str content_type,
                         struct buf *body)
{
    struct returned r = { .id = d->id, .body = *body };

    buf_init(body, 0);
    buf_init(&r.type, content_type.n);
    buf_add_str(&r.type, content_type);
    errand_start(
        d->api, d->loop,
        &(struct errand){ .name = "interaction",
                          .store = ROUTE_STORE_WRITE,
                          .compute = is_long(content_type, buf_str(&r.body)) ? read_answer : NULL,
                          .run = take_answer,
                          .done = answer_taken,
                          .data = &r,
                          .size = sizeof r });
}

static void deliver_answered(void *arg, enum fetch_result result, int status,
                             struct str content_type, struct buf *body)
{
    struct interaction_post *d = arg;

    if (result == FETCH_OK && status == 200)
        start_taking(d, content_type, body);
    else if (result != FETCH_OK || status != 202)
        start_failing(d->api, d->loop, d->id,
                      result == FETCH_TIMEOUT ? FAILURE_TIMEOUT : FAILURE_UNKNOWN);
    mem_free(d);
}

static void deliver_post(struct call *call)
{
    const struct invoking *v = call->data;
    int64_t left = (interaction_created(&v->it) + INTERACTION_PATIENCE - clock_us()) / 1000;
    struct interaction_post *d = mem_new(sizeof *d);

    *d = (struct interaction_post){ call->api, call->loop, v->it.id };
    endpoint_post(call->api, call->loop,
                  &(struct endpoint_request){
                      .application = &v->application,
                      .url = v->application.interactions_endpoint_url.value,
                      .body = v->payload,
                      .timeout_ms = left > 1 ? left : 1,
                      .max_answer = MOST_ANSWER,
                      .done = deliver_answered,
                      .arg = d,
                  });
}

/* --- or through the gateway ----------------------------------------------------------- */

void interaction_deliver(struct call *call)
{
    const struct invoking *v = call->data;
    const struct application *a = &v->application;

    if (a->interactions_endpoint_url.given == GIVEN)
        call->after = deliver_post;
    else if (a->bot_id)
        call_emit_text(call, EVENT_INTERACTION_CREATE, to_user(a->bot_id),
                       v->bot_is_member ? v->it.guild_id : 0, v->payload);
}
