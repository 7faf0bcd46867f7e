/* delivery.c - the job that sends a message to the push services of its recipients.
 *
 * A step reads the subscriptions of at most eight accounts, at most 16 in all, encrypts and signs
 * one request for each on the loop and waits for the replies. A message is sent once: the push
 * service stores it for the browser. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "api/jobs/internal_call.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/client/fetcher.h"
#include "platform/channels/channels.h"
#include "platform/web_push/internal.h"

enum {
    REQUEST_TIMEOUT_MS = 10 * 1000,
    MAX_REPLY_BYTES = 64 * 1024,
    LEASE_MS = 60 * 1000,
    MAX_FAILURES = 10,              /* consecutive failures after which a subscription ends */
    TOKEN_SECONDS = 12 * 60 * 60,   /* validity of the signature; RFC 8292 allows 24 hours */
    MESSAGE_SECONDS = 24 * 60 * 60, /* how long the push service stores a message */
};

/* Limits the requests that an account can make the server send to a URL of the account's choice. */
static const struct rate_limit limit_notifications = { .name = "web-push-notifications",
                                                       .count = 60,
                                                       .window_s = 60 };

enum delivery_outcome { DELIVERY_SKIPPED, DELIVERY_ACCEPTED, DELIVERY_FAILED, DELIVERY_GONE };

struct push_run {
    struct job job;
    struct web_push_job_step step;
    struct web_push_batch batch;
    struct call *call;
    struct push_delivery *deliveries; /* one per subscription of the batch */
    size_t waiting;
};
struct push_delivery {
    struct push_run *run;
    const struct web_push_subscription *subscription;
    enum delivery_outcome outcome;
};

/* --- requests ------------------------------------------------------------------------- */

static struct str url_origin(struct str url)
{
    const char *host = memmem(url.p, url.n, "://", 3);
    size_t at = host ? (size_t)(host - url.p) + 3 : url.n;

    while (at < url.n && url.p[at] != '/' && url.p[at] != '?' && url.p[at] != '#')
        at++;
    return str_slice(url.p, at);
}

/* Converts the reply of a push service to an outcome. DELIVERY_GONE ends the subscription: the
 * service no longer knows it, refuses the server's key, or has an address that is not allowed. */
static enum delivery_outcome delivery_outcome_of_reply(enum fetch_result result, int status)
{
    if (result == FETCH_FORBIDDEN || result == FETCH_BAD_URL)
        return DELIVERY_GONE;
    if (result != FETCH_OK)
        return DELIVERY_FAILED;
    if (status == 404 || status == 410 || status == 401 || status == 403)
        return DELIVERY_GONE;
    if (status == 429)
        return DELIVERY_SKIPPED;
    return status >= 200 && status < 300 ? DELIVERY_ACCEPTED : DELIVERY_FAILED;
}

static void on_push_service_reply(void *arg, enum fetch_result result, int status,
                                  struct str content_type, struct buf *body)
{
    struct push_delivery *d = arg;
    struct push_run *run = d->run;

    (void)content_type;
    (void)body;
    d->outcome = api_is_draining(run->call->api) ? DELIVERY_SKIPPED
                                                 : delivery_outcome_of_reply(result, status);
    if (d->outcome == DELIVERY_FAILED)
        log_debug("web push: a push service did not accept a message (result %d, HTTP status %d)",
                  (int)result, status);
    if (--run->waiting == 0)
        call_resume_after_await(run->call, OK);
}

static bool encrypt_for_subscription(struct call *call, const struct web_push_subscription *s,
                                     struct str text, struct str *ret)
{
    unsigned char salt[PUSH_SALT_BYTES];
    struct p256_key_pair sender;

    randombytes_buf(salt, sizeof salt);
    bool ok = p256_key_pair_new(&sender) &&
              web_push_encrypt(call->arena, &s->receiver, &sender, salt, text, ret);

    sodium_memzero(&sender, sizeof sender);
    return ok;
}

/* Private addresses are allowed only by private-endpoints=on, not by "auto", because the job does
 * not know from where the caller subscribed. */
static bool may_push_to_private_addresses(const struct api *api)
{
    return api_get_options(api)->private_endpoints && !api_get_options(api)->private_for_local;
}

static bool start_push_request(struct call *call, const struct p256_key_pair *server_key,
                               struct push_delivery *d)
{
    const struct push_run *run = d->run;
    const struct web_push_subscription *s = d->subscription;
    struct str body, authorization = vapid_create_authorization_header(
                         call->arena, server_key, url_origin(s->endpoint),
                         str_of(web_push_contact()), clock_s() + TOKEN_SECONDS);

    if (!authorization.p || !encrypt_for_subscription(call, s, run->batch.text, &body))
        return false;
    const struct fetch_header headers[] = {
        { STR("Authorization"), authorization },
        { STR("Content-Encoding"), STR("aes128gcm") },
        { STR("Content-Type"), STR("application/octet-stream") },
        { STR("TTL"), str_printf(call->arena, "%d", MESSAGE_SECONDS) },
        { STR("Topic"), run->batch.topic },
        { STR("Urgency"), STR("high") },
        { STR("User-Agent"),
          str_printf(call->arena, "Guildhall/%s", api_get_options(call->api)->version) },
    };
    fetcher_start_request(api_get_http_client_of_loop(call->api, call->loop),
                          &(struct fetch_request){
                              .method = "POST",
                              .url = str_dup_cstring(call->arena, s->endpoint),
                              .headers = headers,
                              .header_count = COUNT_OF(headers),
                              .body = body,
                              .timeout_ms = REQUEST_TIMEOUT_MS,
                              .max_response = MAX_REPLY_BYTES,
                              .public_only = !may_push_to_private_addresses(call->api),
                              .done = on_push_service_reply,
                              .arg = d,
                          });
    return true;
}

/* The await stage of a step. */
static void send_web_push_batch(struct call *call)
{
    struct push_run *run = call_get_stage_data(call, "push_run");
    const struct web_push_subscription *all = run->batch.subscriptions.items;
    struct p256_key_pair server_key;
    bool has_key = web_push_contact() && web_push_get_server_key_pair(call->api, &server_key);

    run->call = call;
    run->deliveries =
        arena_alloc(call->arena, run->batch.subscriptions.count * sizeof *run->deliveries);
    for (size_t i = 0; has_key && i < run->batch.subscriptions.count; i++) {
        struct push_delivery *d = &run->deliveries[i];
        struct str account = str_slice((const char *)&all[i].user_id, sizeof all[i].user_id);

        *d = (struct push_delivery){ run, &all[i], DELIVERY_SKIPPED };
        if (call_count_against_rate_limit(call, &limit_notifications, account) == OK &&
            start_push_request(call, &server_key, d))
            run->waiting++;
    }
    sodium_memzero(&server_key, sizeof server_key);
    if (!run->waiting)
        call_resume_after_await(call, OK);
}

/* --- steps ---------------------------------------------------------------------------- */

static const char END_SUBSCRIPTION[] =
    "delete from web_push_subscriptions where token_id = $1 and endpoint = $2";
static const char SET_FAILURES[] =
    "update web_push_subscriptions set failures = $3 where token_id = $1 and endpoint = $2";

static enum err store_outcome_of_web_push(struct call *call, const struct push_delivery *d)
{
    const struct web_push_subscription *s = d->subscription;
    struct value token = v_bytes(str_slice((const char *)s->token_id, sizeof s->token_id));

    if (d->outcome == DELIVERY_GONE ||
        (d->outcome == DELIVERY_FAILED && s->failures + 1 >= MAX_FAILURES))
        return tx_exec(call->tx, END_SUBSCRIPTION, BIND(token, v_text(s->endpoint)), NULL);
    if (d->outcome == DELIVERY_FAILED)
        return tx_exec(call->tx, SET_FAILURES,
                       BIND(token, v_text(s->endpoint), v_int(s->failures + 1)), NULL);
    if (d->outcome == DELIVERY_ACCEPTED && s->failures)
        return tx_exec(call->tx, SET_FAILURES, BIND(token, v_text(s->endpoint), v_int(0)), NULL);
    return OK;
}

static struct str encode_web_push_step(struct arena *a, const struct web_push_job_step *step)
{
    return str_printf(a, "%d %" PRIu64, (int)step->phase, step->after);
}

static void decode_web_push_step(const struct job *job, struct web_push_job_step *ret)
{
    struct str data = job->data, phase = str_cut(&data, ' ');
    int64_t number = 0;

    *ret = (struct web_push_job_step){ .message_id = job->key };
    if (str_to_i64(phase, &number) && number == PUSH_TO_GROUPS)
        ret->phase = PUSH_TO_GROUPS;
    str_to_u64(data, &ret->after);
}

static enum err finish_web_push_step(struct call *call)
{
    struct push_run *run = call_get_stage_data(call, "push_run");
    bool held;
    enum err e = OK;

    for (size_t i = 0; !e && run->deliveries && i < run->batch.subscriptions.count; i++)
        if (run->deliveries[i].subscription)
            e = store_outcome_of_web_push(call, &run->deliveries[i]);
    if (e)
        return e;
    if (run->batch.next.phase == PUSH_DONE)
        return job_finish(call, &run->job);
    return job_renew_lease(call, &run->job, clock_us(),
                           encode_web_push_step(call->arena, &run->batch.next), &held);
}

static enum err read_web_push_step(struct call *call)
{
    struct push_run *run = call_get_stage_data(call, "push_run");

    call->await = NULL;
    enum err e = web_push_batch_read(call, &run->step, &run->batch);
    if (!e && run->batch.subscriptions.count)
        call->await = send_web_push_batch;
    return e;
}

static enum err schedule_web_push_batch_read(struct call *call)
{
    call->read = read_web_push_step;
    return OK;
}

static void start_web_push_job(struct api *api, struct loop *loop, const struct job *job)
{
    struct push_run run = { .job = *job };

    decode_web_push_step(job, &run.step);
    run.job.data = (struct str){ 0 };
    internal_call_start(api, loop,
                        &(struct internal_call){ .name = job->kind->name,
                                                 .store = ROUTE_STORE_WRITE,
                                                 .decode = schedule_web_push_batch_read,
                                                 .run = finish_web_push_step,
                                                 .type = "push_run",
                                                 .data = &run,
                                                 .size = sizeof run });
}

const struct job_kind web_push_job = {
    .name = "web-push",
    .doc = "Sends a message to the push services of its recipients' browsers.",
    .start = start_web_push_job,
    .lease_ms = LEASE_MS,
};

/* --- new messages --------------------------------------------------------------------- */

enum err web_push_on_message_create(struct call *call, const struct message_creation *made)
{
    const struct message *m = made->message;
    bool subscribed;

    if (!web_push_contact() || m->ephemeral_for || (m->flags & MESSAGE_SUPPRESS_NOTIFICATIONS))
        return OK;
    if (!channel_is_private(made->channel->type) && !m->mention_everyone &&
        !m->mention_roles.count && !m->mentions.count)
        return OK;
    enum err e =
        tx_exists(call->tx, "select 1 from web_push_subscriptions limit 1", NO_BIND, &subscribed);

    return e || !subscribed ? e : job_schedule(call, &web_push_job, m->id, clock_us(), STR("0 0"));
}
