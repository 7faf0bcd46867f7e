/* endpoint.c - signed requests to an app's interactions endpoint, and the test of a new
 * endpoint. */
#include "platform/applications/endpoint.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/rows.h"
#include "platform/applications/internal.h"

/* Limits of the reply to a PING: bytes and milliseconds. The reply is parsed on the event loop, so
 * it must be small. */
enum { PROBE_MAX = 64 * 1024, PROBE_MS = 3000 };

void interactions_endpoint_send_request(const struct call *call,
                                        const struct interactions_endpoint_request *r)
{
    struct api *api = call->api;
    struct arena *arena = arena_new();
    unsigned char signature[crypto_sign_BYTES];
    struct str at = str_printf(arena, "%" PRId64, clock_s());

    application_sign_bytes(api_get_options(api)->auth, r->application,
                           STR_CONCAT(arena, at, r->body), signature);
    if (r->wrong_signature)
        signature[0] ^= 1;
    const struct fetch_header headers[] = {
        { STR("Content-Type"), STR("application/json") },
        { STR("User-Agent"), str_printf(arena, "Guildhall/%s", api_get_options(api)->version) },
        { STR("X-Signature-Ed25519"), str_hex_encode(arena, signature, sizeof signature) },
        { STR("X-Signature-Timestamp"), at },
    };
    fetcher_start_request(api_get_http_client_of_loop(api, call->loop),
                          &(struct fetch_request){
                              .method = "POST",
                              .url = str_dup_cstring(arena, r->url),
                              .headers = headers,
                              .header_count = COUNT_OF(headers),
                              .body = r->body,
                              .timeout_ms = r->timeout_ms,
                              .max_response = r->max_reply_bytes,
                              .public_only = !api_may_request_private_address(call),
                              .done = r->done,
                              .arg = r->arg,
                          });
    arena_free(arena);
}

/* --- testing whether the endpoint verifies signatures -------------------------------- */

struct interaction_ping {
    snowflake id, application_id;
    int64_t type, version;
    struct str token;
    struct list entitlements;
    struct str authorizing_integration_owners;
};

static const struct field ping_fields[] = {
    { FIELD(struct interaction_ping, application_id), .type = &type_id },
    { FIELD(struct interaction_ping, authorizing_integration_owners), .type = &type_raw },
    { FIELD(struct interaction_ping, entitlements), .type = &type_always_empty_list },
    { FIELD(struct interaction_ping, id), .type = &type_id },
    { FIELD(struct interaction_ping, token), .type = &type_text },
    { FIELD(struct interaction_ping, type), .type = &type_int },
    { FIELD(struct interaction_ping, version), .type = &type_int },
    { 0 },
};
static const struct schema ping_schema = {
    .name = "Ping",
    .size = sizeof(struct interaction_ping),
    .fields = ping_fields,
    .doc = "A PING interaction.",
};
static const struct type type_ping = { .kind = KIND_OBJECT, .schema = &ping_schema };

struct interaction_pong {
    struct opt_int type;
};
static const struct field pong_fields[] = {
    { FIELD(struct interaction_pong, type), .type = &type_int, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema pong_schema = {
    .name = "Pong",
    .size = sizeof(struct interaction_pong),
    .fields = pong_fields,
};
static const struct type type_pong = { .kind = KIND_OBJECT, .schema = &pong_schema };

static bool is_pong_reply(struct call *call, struct str body)
{
    struct form form = { .arena = call->arena };
    void *pong;

    return body.n > 0 && schema_decode(&type_pong, body, &form, &pong) == OK &&
           ((struct interaction_pong *)pong)->type.given == GIVEN &&
           ((struct interaction_pong *)pong)->type.value == 1;
}

static void refuse_interactions_endpoint(struct call *call)
{
    call_resume_after_await(
        call,
        call_add_field_error(call, "interactions_endpoint_url",
                             "APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID",
                             "The specified interactions endpoint url could not be verified."));
}

static void send_interaction_ping(struct call *call, bool wrong_signature,
                                  void (*done)(void *arg, enum fetch_result result, int status,
                                               struct str content_type, struct buf *body))
{
    const struct application_patch *in = call->body;
    const struct application *a = call->target.application;
    unsigned char secret[32];
    struct interaction_ping ping = {
        .id = snowflake_new(),
        .application_id = a->id,
        .type = 1,
        .version = 1,
        .authorizing_integration_owners = STR("{}"),
    };

    randombytes_buf(secret, sizeof secret);
    ping.token = str_base64url_encode(call->arena, secret, sizeof secret);
    interactions_endpoint_send_request(
        call, &(struct interactions_endpoint_request){
                  .application = a,
                  .url = in->interactions_endpoint_url.value,
                  .body = json_column_encode(call->arena, &type_ping, &ping),
                  .timeout_ms = PROBE_MS,
                  .max_reply_bytes = PROBE_MAX,
                  .wrong_signature = wrong_signature,
                  .done = done,
                  .arg = call,
              });
}

/* Checks the second reply of the test: the endpoint must reply with status 401 to a PING with a
 * wrong signature. */
static void on_reply_to_wrong_signature(void *arg, enum fetch_result result, int status,
                                        struct str content_type, struct buf *body)
{
    (void)content_type;
    (void)body;
    if (result == FETCH_OK && status == 401)
        call_resume_after_await(arg, OK);
    else
        refuse_interactions_endpoint(arg);
}

static void on_ping_reply(void *arg, enum fetch_result result, int status, struct str content_type,
                          struct buf *body)
{
    bool good = result == FETCH_OK && status == 200 &&
                http_media_type_is(content_type, STR("application/json")) &&
                is_pong_reply(arg, buf_as_str(body));

    if (good)
        send_interaction_ping(arg, true, on_reply_to_wrong_signature);
    else
        refuse_interactions_endpoint(arg);
}

void interactions_endpoint_verify_with_pings(struct call *call)
{
    send_interaction_ping(call, false, on_ping_reply);
}
