/* routes.c - routes of web push subscriptions, the option, and the server's key. */
#include "api/auth/auth.h"
#include "api/deletion.h"
#include "base/clock.h"
#include "model/fields/types.h"
#include "platform/web_push/internal.h"

/* --- option and key ------------------------------------------------------------------- */

static const char *operator_contact; /* NULL: web push is off */

bool web_push_configure(const char *contact, const char **ret_problem)
{
    struct str s = str_of(contact);

    if (contact && !str_starts_with(s, STR("mailto:")) && !str_starts_with(s, STR("https://"))) {
        *ret_problem = "must be the address of the operator and start with mailto: or https://";
        return false;
    }
    operator_contact = contact;
    return true;
}

const char *web_push_contact(void)
{
    return operator_contact;
}

bool web_push_get_server_key_pair(struct api *api, struct p256_key_pair *ret)
{
    unsigned char seed[48];

    auth_derive_key(api_get_options(api)->auth, "web-push", 0, STR(""), seed, sizeof seed);
    return p256_key_pair_from_seed(seed, ret);
}

/* --- schemas -------------------------------------------------------------------------- */

static const struct type type_endpoint = {
    .kind = KIND_STRING,
    .min = 1,
    .max = 2048,
    .doc = "https URL of the browser's push service; private addresses are refused unless the "
           "operator has set private-endpoints=on",
};
static const struct type type_key = {
    .kind = KIND_STRING, .min = 80, .max = 100, .doc = "P-256 point, uncompressed, in base64url"
};
static const struct type type_auth = {
    .kind = KIND_STRING, .min = 20, .max = 30, .doc = "16 bytes in base64url"
};

struct push_keys {
    struct str p256dh, auth;
};
static const struct field keys_fields[] = {
    { FIELD(struct push_keys, p256dh), .type = &type_key },
    { FIELD(struct push_keys, auth), .type = &type_auth },
    { 0 },
};
static const struct schema keys_schema = { .name = "WebPushKeys",
                                           .size = sizeof(struct push_keys),
                                           .fields = keys_fields,
                                           .doc = "Keys of a PushSubscription." };
static const struct type type_keys = { .kind = KIND_OBJECT, .schema = &keys_schema };

struct web_push_body {
    struct str endpoint;
    const struct push_keys *keys;
};
static const struct field subscription_fields[] = {
    { FIELD(struct web_push_body, endpoint), .type = &type_endpoint },
    { FIELD(struct web_push_body, keys), .type = &type_keys },
    { 0 },
};
static const struct schema subscription_schema = { .name = "WebPushSubscription",
                                                   .size = sizeof(struct web_push_body),
                                                   .fields = subscription_fields,
                                                   .doc = "A PushSubscription of a browser." };
static const struct type subscription_type = { .kind = KIND_OBJECT,
                                               .schema = &subscription_schema };

struct push_state {
    struct opt_str public_key;
    bool subscribed;
};
static const struct field state_fields[] = {
    { FIELD(struct push_state, public_key), .type = &type_text, .flags = NULLABLE,
      .doc = "applicationServerKey in base64url; null if the server sends no web push" },
    { FIELD(struct push_state, subscribed), .type = &type_bool,
      .doc = "Whether this login has a subscription" },
    { 0 },
};
static const struct schema state_schema = { .name = "WebPushState",
                                            .size = sizeof(struct push_state),
                                            .fields = state_fields,
                                            .doc = "Web push of the caller's login." };
static const struct type state_type = { .kind = KIND_OBJECT, .schema = &state_schema };

/* --- handlers ------------------------------------------------------------------------- */

static struct value sql_value_of_login_session(const struct call *call)
{
    return v_bytes(str_slice((const char *)call->caller->session, PUSH_TOKEN_BYTES));
}

static const char HAS_SUBSCRIPTION[] = "select 1 from web_push_subscriptions where token_id = $1";

/* GET /users/@me/web-push */
static enum err get_web_push_state(struct call *call)
{
    struct push_state out = { .public_key = { .given = GIVEN_NULL } };
    struct p256_key_pair key;

    if (!web_push_contact())
        return call_reply_with_object(call, &out);
    if (!web_push_get_server_key_pair(call->api, &key))
        return ERR_INTERNAL;
    out.public_key =
        opt_str_or_null(str_base64url_encode(call->arena, key.point, sizeof key.point));
    enum err e = tx_exists(call->tx, HAS_SUBSCRIPTION, BIND(sql_value_of_login_session(call)),
                           &out.subscribed);
    return e ? e : call_reply_with_object(call, &out);
}

/* Accepts https URLs. Accepts http URLs only if private addresses are allowed, for tests of a push
 * service on this machine. */
static bool is_push_endpoint_url(const struct call *call, struct str url)
{
    const struct api_options *o = api_get_options(call->api);
    bool private_allowed = o->private_endpoints && !o->private_for_local;

    if (!str_starts_with(url, STR("https://")) &&
        !(private_allowed && str_starts_with(url, STR("http://"))))
        return false;
    for (size_t i = 0; i < url.n; i++)
        if (url.p[i] <= ' ' || url.p[i] > '~')
            return false;
    return true;
}

static bool decode_base64_of_exact_length(struct str text, unsigned char *out, size_t n)
{
    size_t got;

    return str_base64url_decode(text, out, n, &got) && got == n;
}

static enum err refuse_key_of_push_subscription(struct call *call, const char *name,
                                                const char *message)
{
    struct json_path keys = json_path_key(NULL, STR("keys"));
    struct json_path at = json_path_key(&keys, str_of(name));

    form_add_error(&call->form, &at, "WEB_PUSH_INVALID_KEY", "%s", message);
    return ERR_INVALID_FORM_BODY;
}

static enum err check_subscription_body(struct call *call, struct web_push_receiver_keys *ret)
{
    const struct web_push_body *in = call->body;

    if (!is_push_endpoint_url(call, in->endpoint))
        return call_add_field_error(call, "endpoint", "URL_TYPE_INVALID_URL",
                                    "The endpoint must be an https URL.");
    if (!decode_base64_of_exact_length(in->keys->p256dh, ret->point, sizeof ret->point) ||
        !p256_point_is_valid(str_slice((const char *)ret->point, sizeof ret->point)))
        return refuse_key_of_push_subscription(
            call, "p256dh", "The key must be an uncompressed P-256 point in base64url.");
    if (!decode_base64_of_exact_length(in->keys->auth, ret->auth, sizeof ret->auth))
        return refuse_key_of_push_subscription(call, "auth",
                                               "The secret must be 16 bytes in base64url.");
    return OK;
}

static const char SUBSCRIBE[] =
    "insert into web_push_subscriptions (token_id, user_id, endpoint, receiver_key, auth_secret, "
    "created_at) values ($1, $2, $3, $4, $5, $6) on conflict (token_id) do update set "
    "endpoint = $3, receiver_key = $4, auth_secret = $5, created_at = $6, failures = 0";
static const char DROP_OLDEST[] =
    "delete from web_push_subscriptions where user_id = $1 and token_id in (select token_id from "
    "web_push_subscriptions where user_id = $1 order by created_at desc, token_id limit 100 "
    "offset $2)";

/* PUT /users/@me/web-push */
static enum err subscribe_web_push(struct call *call)
{
    const struct web_push_body *in = call->body;
    struct web_push_receiver_keys keys;
    enum err e = web_push_contact() ? OK : ERR_FEATURE_DISABLED;

    if (!e)
        e = check_subscription_body(call, &keys);
    if (!e)
        e = tx_exec(
            call->tx, SUBSCRIBE,
            BIND(sql_value_of_login_session(call), v_id(call->caller->id), v_text(in->endpoint),
                 v_bytes(str_slice((const char *)keys.point, sizeof keys.point)),
                 v_bytes(str_slice((const char *)keys.auth, sizeof keys.auth)), v_int(clock_us())),
            NULL);
    return e ? e
             : tx_exec(call->tx, DROP_OLDEST,
                       BIND(v_id(call->caller->id), v_int(PUSH_ACCOUNT_SUBSCRIPTIONS)), NULL);
}

static const char UNSUBSCRIBE[] = "delete from web_push_subscriptions where token_id = $1";

/* DELETE /users/@me/web-push */
static enum err unsubscribe_web_push(struct call *call)
{
    return tx_exec(call->tx, UNSUBSCRIBE, BIND(sql_value_of_login_session(call)), NULL);
}

static const struct rate_limit limit_subscribe = { .name = "web-push",
                                                   .count = 20,
                                                   .window_s = 60 };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/@me/web-push",
        .name = "get_web_push_state",
        .doc = "The server's key for web push, and whether this login has a subscription.",
        .auth = AUTH_USER,
        .reply = &state_type,
        .handle = get_web_push_state,
    },
    {
        .method = PUT,
        .path = "/users/@me/web-push",
        .name = "subscribe_web_push",
        .doc = "Send notifications to a browser while no page is open, until this login ends. An "
               "account has at most five subscriptions; the oldest ends.",
        .auth = AUTH_USER,
        .body = &subscription_type,
        .limit = &limit_subscribe,
        .handle = subscribe_web_push,
    },
    {
        .method = DELETE,
        .path = "/users/@me/web-push",
        .name = "unsubscribe_web_push",
        .doc = "End the subscription of this login.",
        .auth = AUTH_USER,
        .limit = &limit_subscribe,
        .handle = unsubscribe_web_push,
    },
    { 0 },
};

const struct domain web_push_domain = {
    .name = "Web push",
    .doc = "Notifications for browsers in which no page of this server is open.",
    .routes = routes,
    .jobs = (const struct job_kind *const[]){ &web_push_job, NULL },
    .hooks = &(const struct hook_listeners){ .message_created = web_push_on_message_create },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_FEW(WITH_ACCOUNT, "web_push_subscriptions", "user_id") }, { 0 } },
};
