/* app_delivery.c - sends an interaction to the app: through the gateway or to its endpoint URL. */
#include "interactions/invoke.h"

#include "api/jobs/internal_call.h"
#include "base/clock.h"
#include "base/mem.h"
#include "platform/applications/endpoint.h"
#include "traffic/traffic.h"

enum { MOST_ANSWER = 32 * 1024 * 1024 };

struct endpoint_delivery {
    struct api *api;
    struct loop *loop;
    snowflake id, application;
};

struct interaction_failure {
    snowflake id;
    enum interaction_failure_reason reason;
};

static enum err mark_interaction_failed(struct call *call)
{
    const struct interaction_failure *f = call_get_stage_data(call, "interaction_failure");

    return fail_interaction(call, f->id, f->reason);
}

void fail_interaction_in_background(struct api *api, struct loop *loop, snowflake id,
                                    enum interaction_failure_reason reason)
{
    struct interaction_failure f = { id, reason };

    /* While the process stops, do not store the failure: the timeout job fails the interaction
     * later. */
    if (api_is_draining(api))
        return;
    internal_call_start(api, loop,
                        &(struct internal_call){ .name = "interaction",
                                                 .store = ROUTE_STORE_WRITE,
                                                 .run = mark_interaction_failed,
                                                 .type = "interaction_failure",
                                                 .data = &f,
                                                 .size = sizeof f });
}

static void record_endpoint_request_in_traffic_log(const struct endpoint_delivery *d,
                                                   enum fetch_result result, int status)
{
    static const char *const descriptions[] = {
        [FETCH_OK] = "responded",
        [FETCH_BAD_URL] = "has a malformed URL",
        [FETCH_FORBIDDEN] = "is at an address that is not allowed",
        [FETCH_UNREACHABLE] = "refused the connection, or cannot be found",
        [FETCH_TIMEOUT] = "timed out",
        [FETCH_TOO_LARGE] = "sent a response that is too large",
    };
    struct traffic_ring *t = api_get_options(d->api)->traffic;
    struct traffic_record r = { .kind = TRAFFIC_DELIVERED,
                                .at_us = clock_us(),
                                .status = result == FETCH_OK ? status : 0,
                                .application_id = d->application };
    struct arena *arena;

    if (!traffic_is_recorded(t))
        return;
    arena = arena_new();
    struct str texts[TRAFFIC_TEXTS] = {
        [TRAFFIC_TARGET] = str_printf(arena, "/interactions/%llu", (unsigned long long)d->id),
        [TRAFFIC_PROBLEM] = str_of(descriptions[result]),
    };
    traffic_add_record(t, &r, texts);
    arena_free(arena);
}

static void on_endpoint_response(void *arg, enum fetch_result result, int status,
                                 struct str content_type, struct buf *body)
{
    struct endpoint_delivery *d = arg;

    record_endpoint_request_in_traffic_log(d, result, status);
    if (result == FETCH_OK && status == 200)
        apply_http_response_as_interaction_callback(d->api, d->loop, d->id, content_type, body);
    else if (result != FETCH_OK || status != 202)
        fail_interaction_in_background(d->api, d->loop, d->id,
                                       result == FETCH_TIMEOUT ? FAILURE_TIMEOUT : FAILURE_UNKNOWN);
    mem_free(d);
}

static void post_to_endpoint(struct call *call)
{
    const struct invocation_state *v = call_get_invocation_state(call);
    int64_t left = (interaction_creation_time(&v->it) + INTERACTION_TIMEOUT_US - clock_us()) / 1000;
    struct endpoint_delivery *d = mem_new(sizeof *d);

    *d = (struct endpoint_delivery){ call->api, call->loop, v->it.id, v->application.id };
    interactions_endpoint_send_request(call,
                                       &(struct interactions_endpoint_request){
                                           .application = &v->application,
                                           .url = v->application.interactions_endpoint_url.value,
                                           .body = v->payload,
                                           .timeout_ms = left > 1 ? left : 1,
                                           .max_reply_bytes = MOST_ANSWER,
                                           .done = on_endpoint_response,
                                           .arg = d,
                                       });
}

void deliver_interaction_to_app(struct call *call)
{
    const struct invocation_state *v = call_get_invocation_state(call);
    const struct application *a = &v->application;

    if (a->interactions_endpoint_url.given == GIVEN)
        call->after = post_to_endpoint;
    else if (a->bot_id)
        call_emit_json_event(call, EVENT_INTERACTION_CREATE, audience_of_user(a->bot_id),
                             v->bot_is_member ? v->it.guild_id : 0, v->payload);
}
