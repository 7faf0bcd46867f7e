/* deliver.c - sends an interaction to the app: through the gateway or to its endpoint URL. */
#include "interactions/invoke.h"

#include "api/jobs/errand.h"
#include "base/clock.h"
#include "base/mem.h"
#include "platform/applications/endpoint.h"
#include "traffic/traffic.h"

enum { MOST_ANSWER = 32 * 1024 * 1024 };

struct interaction_post {
    struct api *api;
    struct loop *loop;
    snowflake id, application;
};

struct interaction_failure {
    snowflake id;
    enum failure_reason reason;
};

static enum err deliver_fail(struct call *call)
{
    const struct interaction_failure *f = call_passed(call, "interaction_failure");

    return interaction_fail(call, f->id, f->reason);
}

void interaction_start_failing(struct api *api, struct loop *loop, snowflake id,
                               enum failure_reason reason)
{
    struct interaction_failure f = { id, reason };

    /* While the process stops, no failure is written: the timeout job fails the interaction. */
    if (api_draining(api))
        return;
    errand_start(api, loop,
                 &(struct errand){ .name = "interaction",
                                   .store = ROUTE_STORE_WRITE,
                                   .run = deliver_fail,
                                   .type = "interaction_failure",
                                   .data = &f,
                                   .size = sizeof f });
}

/* Records the result in the traffic log. */
static void deliver_note(const struct interaction_post *d, enum fetch_result result, int status)
{
    static const char *const words[] = {
        [FETCH_OK] = "responded",
        [FETCH_BAD_URL] = "has a malformed URL",
        [FETCH_FORBIDDEN] = "is at an address that is not allowed",
        [FETCH_UNREACHABLE] = "refused the connection, or cannot be found",
        [FETCH_TIMEOUT] = "timed out",
        [FETCH_TOO_LARGE] = "sent a response that is too large",
    };
    struct traffic *t = api_options(d->api)->traffic;
    struct traffic_record r = { .kind = TRAFFIC_DELIVERED,
                                .at_us = clock_us(),
                                .status = result == FETCH_OK ? status : 0,
                                .application_id = d->application };
    struct arena *arena;

    if (!traffic_is_on(t))
        return;
    arena = arena_new();
    struct str texts[TRAFFIC_TEXTS] = {
        [TRAFFIC_TARGET] = str_printf(arena, "/interactions/%llu", (unsigned long long)d->id),
        [TRAFFIC_PROBLEM] = str_of(words[result]),
    };
    traffic_add(t, &r, texts);
    arena_free(arena);
}

static void deliver_answered(void *arg, enum fetch_result result, int status,
                             struct str content_type, struct buf *body)
{
    struct interaction_post *d = arg;

    deliver_note(d, result, status);
    if (result == FETCH_OK && status == 200)
        inline_answer_take(d->api, d->loop, d->id, content_type, body);
    else if (result != FETCH_OK || status != 202)
        interaction_start_failing(d->api, d->loop, d->id,
                                  result == FETCH_TIMEOUT ? FAILURE_TIMEOUT : FAILURE_UNKNOWN);
    mem_free(d);
}

static void deliver_post(struct call *call)
{
    const struct invoking *v = invoking_of(call);
    int64_t left = (interaction_created(&v->it) + INTERACTION_PATIENCE - clock_us()) / 1000;
    struct interaction_post *d = mem_new(sizeof *d);

    *d = (struct interaction_post){ call->api, call->loop, v->it.id, v->application.id };
    endpoint_post(call, &(struct endpoint_request){
                            .application = &v->application,
                            .url = v->application.interactions_endpoint_url.value,
                            .body = v->payload,
                            .timeout_ms = left > 1 ? left : 1,
                            .max_answer = MOST_ANSWER,
                            .done = deliver_answered,
                            .arg = d,
                        });
}

void interaction_deliver(struct call *call)
{
    const struct invoking *v = invoking_of(call);
    const struct application *a = &v->application;

    if (a->interactions_endpoint_url.given == GIVEN)
        call->after = deliver_post;
    else if (a->bot_id)
        call_emit_text(call, EVENT_INTERACTION_CREATE, to_user(a->bot_id),
                       v->bot_is_member ? v->it.guild_id : 0, v->payload);
}
