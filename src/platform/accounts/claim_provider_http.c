/* claim_provider_http.c - asks the server from which guilds were copied who has logged in there:
 * exchanges an OAuth2 code for an access token, then reads the account of the token.
 *
 * Both requests run on the event loop of the call and block no thread. The other server is not
 * trusted: a response that is late, too large, invalid or unexpected becomes
 * CLAIM_PROVIDER_FAILED. Secrets, codes and tokens are never logged. The access token is not
 * stored. */
#include "platform/accounts/internal.h"

#include "base/log.h"
#include "base/mem.h"
#include "model/configured/claim_provider.h"
#include "model/fields/types.h"
#include "net/client/fetcher.h"

/* The answers are parsed on the event loop, so they must be small. */
enum { TIMEOUT_MS = 5000, MAX_ANSWER = 64 * 1024 };

/* --- schemas of answers --------------------------------------------------------------- */

struct provider_access_token {
    struct str access_token;
};
static const struct type type_access_token = { .kind = KIND_STRING, .min = 1, .max = 4096 };
static const struct field token_fields[] = {
    { FIELD(struct provider_access_token, access_token), .type = &type_access_token },
    { 0 },
};
static const struct schema token_schema = { .size = sizeof(struct provider_access_token),
                                            .fields = token_fields };
static const struct type type_token_answer = { .kind = KIND_OBJECT, .schema = &token_schema };

struct provider_refusal {
    struct str error;
};
static const struct type type_refusal_word = { .kind = KIND_STRING, .max = 100 };
static const struct field refusal_fields[] = {
    { FIELD(struct provider_refusal, error), .type = &type_refusal_word },
    { 0 },
};
static const struct schema refusal_schema = { .size = sizeof(struct provider_refusal),
                                              .fields = refusal_fields };
static const struct type type_refusal = { .kind = KIND_OBJECT, .schema = &refusal_schema };

struct provider_account {
    snowflake id;
};
static const struct field account_fields[] = {
    { FIELD(struct provider_account, id), .type = &type_id },
    { 0 },
};
static const struct schema account_schema = { .size = sizeof(struct provider_account),
                                              .fields = account_fields };
static const struct type type_account = { .kind = KIND_OBJECT, .schema = &account_schema };

/* --- requests ------------------------------------------------------------------------- */

static void finish_provider_requests(struct call *call, enum claim_provider_result result,
                                     snowflake user_id)
{
    struct claimed_identity *r = call_get_stage_data(call, "claimed_identity");

    r->result = result;
    r->user_id = user_id;
    call_resume_after_await(call, OK);
}

static void log_provider_failure(const char *what, enum fetch_result result, int status)
{
    log_warn("accounts: %s at claim-api failed: %s (HTTP status %d)", what,
             fetch_result_describe(result), status);
}

static struct str provider_user_agent(struct call *call)
{
    const struct api_options *o = api_get_options(call->api);

    /* Discord requires this form and refuses other clients. */
    return str_printf(call->arena, "DiscordBot (%s, %s)", o->public_url, o->version);
}

/* Sends a request: POST if it has a body, else GET. `header` is the header that the request needs
 * besides those of all requests. */
static void send_provider_request(struct call *call, struct str path, struct fetch_header header,
                                  struct str body,
                                  void (*done)(void *arg, enum fetch_result result, int status,
                                               struct str content_type, struct buf *body))
{
    const struct fetch_header headers[] = {
        { STR("Accept"), STR("application/json") },
        { STR("User-Agent"), provider_user_agent(call) },
        header,
    };
    struct str url = STR_CONCAT(call->arena, claim_provider_get_api_url(), path);

    fetcher_start_request(api_get_http_client_of_loop(call->api, call->loop),
                          &(struct fetch_request){ .method = body.n ? "POST" : "GET",
                                                   .url = str_dup_cstring(call->arena, url),
                                                   .headers = headers,
                                                   .header_count = COUNT_OF(headers),
                                                   .body = body,
                                                   .timeout_ms = TIMEOUT_MS,
                                                   .max_response = MAX_ANSWER,
                                                   .done = done,
                                                   .arg = call });
}

static void on_account_answer(void *arg, enum fetch_result result, int status,
                              struct str content_type, struct buf *body)
{
    struct call *call = arg;
    const struct provider_account *account =
        result == FETCH_OK && status == 200
            ? schema_decode_or_null(&type_account, buf_as_str(body), call->arena)
            : NULL;

    (void)content_type;
    if (!account || !account->id) {
        log_provider_failure("reading the account", result, status);
        finish_provider_requests(call, CLAIM_PROVIDER_FAILED, 0);
        return;
    }
    finish_provider_requests(call, CLAIM_PROVIDER_OK, account->id);
}

static void request_provider_account(struct call *call, struct str access_token)
{
    struct str bearer = STR_CONCAT(call->arena, STR("Bearer "), access_token);

    send_provider_request(call, STR("/users/@me"),
                          (struct fetch_header){ STR("Authorization"), bearer }, STR(""),
                          on_account_answer);
}

/* Returns true if the provider refuses the code. Other refusals are about this server. */
static bool provider_refuses_code(struct call *call, struct str body)
{
    const struct provider_refusal *r = schema_decode_or_null(&type_refusal, body, call->arena);

    return r && str_is(r->error, "invalid_grant");
}

static void on_token_answer(void *arg, enum fetch_result result, int status,
                            struct str content_type, struct buf *body)
{
    struct call *call = arg;

    (void)content_type;
    if (result == FETCH_OK && status == 200) {
        const struct provider_access_token *t =
            schema_decode_or_null(&type_token_answer, buf_as_str(body), call->arena);

        if (t) {
            request_provider_account(call, str_dup(call->arena, t->access_token));
            return;
        }
    }
    if (result == FETCH_OK && status == 400 && provider_refuses_code(call, buf_as_str(body))) {
        finish_provider_requests(call, CLAIM_PROVIDER_REFUSES_CODE, 0);
        return;
    }
    log_provider_failure("exchanging the code", result, status);
    finish_provider_requests(call,
                             result == FETCH_OK && (status == 400 || status == 401)
                                 ? CLAIM_PROVIDER_REFUSES_SERVER
                                 : CLAIM_PROVIDER_FAILED,
                             0);
}

static struct str encode_token_form(struct call *call, struct str code)
{
    struct arena *a = call->arena;

    return STR_CONCAT(a, STR("grant_type=authorization_code&client_id="),
                      claim_provider_get_client_id(), STR("&client_secret="),
                      str_percent_encode(a, claim_provider_get_client_secret()), STR("&code="),
                      str_percent_encode(a, code), STR("&redirect_uri="),
                      str_percent_encode(a, claim_provider_get_redirect_uri()));
}

void request_identity_from_claim_provider(struct call *call)
{
    const struct claimed_identity *r = call_get_stage_data(call, "claimed_identity");

    send_provider_request(
        call, STR("/oauth2/token"),
        (struct fetch_header){ STR("Content-Type"), STR("application/x-www-form-urlencoded") },
        encode_token_form(call, r->code), on_token_answer);
}
