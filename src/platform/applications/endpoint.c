/* endpoint.c - signed requests to an app's interactions endpoint, and probing of the endpoint. */
#include "platform/applications/endpoint.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/rows.h"
#include "platform/applications/internal.h"

/* Limits of the PING reply, which is parsed on the event loop. */
enum { PROBE_MAX = 64 * 1024, PROBE_MS = 3000 };

void endpoint_post(const struct call *call, const struct endpoint_request *r)
{
    struct api *api = call->api;
    struct arena *arena = arena_new();
    unsigned char signature[crypto_sign_BYTES];
    struct str at = str_printf(arena, "%" PRId64, clock_s());

    application_sign(api_options(api)->auth, r->application, STR_CONCAT(arena, at, r->body),
                     signature);
    if (r->wrong_signature)
        signature[0] ^= 1;
    const struct fetch_header headers[] = {
        { STR("Content-Type"), STR("application/json") },
        { STR("User-Agent"), str_printf(arena, "Guildhall/%s", api_options(api)->version) },
        { STR("X-Signature-Ed25519"), str_hex(arena, signature, sizeof signature) },
        { STR("X-Signature-Timestamp"), at },
    };
    fetcher_start(api_fetcher(api, call->loop), &(struct fetch){
                                                    .method = "POST",
                                                    .url = str_dupz(arena, r->url),
                                                    .headers = headers,
                                                    .header_count = COUNT_OF(headers),
                                                    .body = r->body,
                                                    .timeout_ms = r->timeout_ms,
                                                    .max_answer = r->max_answer,
                                                    .public_only = !api_may_call_private(call),
                                                    .done = r->done,
                                                    .arg = r->arg,
                                                });
    arena_free(arena);
}

/* --- probe: does the endpoint verify signatures? ---------------------------------------- */

struct ping {
    snowflake id, application_id;
    int64_t type, version;
    struct str token;
    struct list entitlements;
    struct str authorizing_integration_owners;
};

static const struct field ping_fields[] = {
    { FIELD(struct ping, application_id), .type = &type_id },
    { FIELD(struct ping, authorizing_integration_owners), .type = &type_raw },
    { FIELD(struct ping, entitlements), .type = &type_none },
    { FIELD(struct ping, id), .type = &type_id },
    { FIELD(struct ping, token), .type = &type_text },
    { FIELD(struct ping, type), .type = &type_int },
    { FIELD(struct ping, version), .type = &type_int },
    { 0 },
};
static const struct schema ping_schema = {
    .name = "Ping",
    .size = sizeof(struct ping),
    .fields = ping_fields,
    .doc = "A PING interaction.",
};
static const struct type type_ping = { .kind = KIND_OBJECT, .schema = &ping_schema };

struct endpoint_pong {
    struct opt_int type;
};
static const struct field pong_fields[] = {
    { FIELD(struct endpoint_pong, type), .type = &type_int, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema pong_schema = {
    .name = "Pong",
    .size = sizeof(struct endpoint_pong),
    .fields = pong_fields,
};
static const struct type type_pong = { .kind = KIND_OBJECT, .schema = &pong_schema };

static bool is_pong(struct call *call, struct str body)
{
    struct form form = { .arena = call->arena };
    void *pong;

    return body.n > 0 && schema_decode(&type_pong, body, &form, &pong) == OK &&
           ((struct endpoint_pong *)pong)->type.given == GIVEN &&
           ((struct endpoint_pong *)pong)->type.value == 1;
}

static void endpoint_refuse(struct call *call)
{
    call_resume(call,
                call_invalid(call, "interactions_endpoint_url",
                             "APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID",
                             "The specified interactions endpoint url could not be verified."));
}

static void send_ping(struct call *call, bool wrong_signature,
                      void (*done)(void *arg, enum fetch_result result, int status,
                                   struct str content_type, struct buf *body))
{
    const struct application_patch *in = call->body;
    const struct application *a = call->target.application;
    unsigned char secret[32];
    struct ping ping = {
        .id = snowflake_new(),
        .application_id = a->id,
        .type = 1,
        .version = 1,
        .authorizing_integration_owners = STR("{}"),
    };

    randombytes_buf(secret, sizeof secret);
    ping.token = str_base64url(call->arena, secret, sizeof secret);
    endpoint_post(call, &(struct endpoint_request){
                            .application = a,
                            .url = in->interactions_endpoint_url.value,
                            .body = column_encode(call->arena, &type_ping, &ping),
                            .timeout_ms = PROBE_MS,
                            .max_answer = PROBE_MAX,
                            .wrong_signature = wrong_signature,
                            .done = done,
                            .arg = call,
                        });
}

/* An endpoint must reply with 401 to a PING that has a wrong signature. */
static void wrong_signature_answered(void *arg, enum fetch_result result, int status,
                                     struct str content_type, struct buf *body)
{
    (void)content_type;
    (void)body;
    if (result == FETCH_OK && status == 401)
        call_resume(arg, OK);
    else
        endpoint_refuse(arg);
}

static void ping_answered(void *arg, enum fetch_result result, int status, struct str content_type,
                          struct buf *body)
{
    bool good = result == FETCH_OK && status == 200 &&
                http_media_type_is(content_type, STR("application/json")) &&
                is_pong(arg, buf_str(body));

    if (good)
        send_ping(arg, true, wrong_signature_answered);
    else
        endpoint_refuse(arg);
}

void endpoint_probe(struct call *call)
{
    send_ping(call, false, ping_answered);
}
