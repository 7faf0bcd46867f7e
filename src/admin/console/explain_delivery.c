/* explain_delivery.c - GET /console/delivery: why an account received a message or not.
 *
 * Intents, message content and permissions are checked with the functions and tables that the
 * gateway uses (events.def, message_content_is_hidden, explain_permission). */
#include "admin/console/internal.h"
#include "admin/console/recorded_delivery.h"
#include "base/snowflake.h"
#include "base/timestamp.h"
#include "gateway/gateway.h"
#include "model/permissions/message_content.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "platform/messages/messages.h"

struct delivery_query {
    struct str user;
    snowflake channel_id, message_id;
};

/* clang-format off */
static const struct type type_word = { .kind = KIND_STRING, .min = 1, .max = 200 };
static const struct type type_snowflake = { .kind = KIND_ID };
static const struct type type_any = { .kind = KIND_RAW };
static const struct field delivery_query_fields[] = {
    { FIELD(struct delivery_query, user), .type = &type_word,
      .doc = "Id or name of the bot or user" },
    { FIELD(struct delivery_query, channel_id), .type = &type_snowflake },
    { FIELD(struct delivery_query, message_id), .type = &type_snowflake },
    { 0 },
};
/* clang-format on */
static const struct schema delivery_query_schema = { .name = "DeliveryQuery",
                                                     .size = sizeof(struct delivery_query),
                                                     .fields = delivery_query_fields };

/* State that the stages of the call share: account, sessions, and steps of the explanation. */
struct delivery_explanation {
    struct user user;
    struct gateway_session_options sessions[DELIVERY_SESSIONS_MAX];
    size_t session_count;
    struct list steps; /* struct explained_permission_step */
    bool delivered, content_hidden;
};

static bool add_event_delivery_check_result(struct call *call, struct delivery_explanation *x,
                                            bool passed, struct str text)
{
    struct explained_permission_step *s = list_append(call->arena, &x->steps, sizeof *s);

    *s = (struct explained_permission_step){ text, passed };
    return passed;
}

static bool check_bot_has_session(struct call *call, struct delivery_explanation *x)
{
    size_t connected = 0;

    for (size_t i = 0; i < x->session_count; i++)
        connected += x->sessions[i].connected;
    if (!x->session_count)
        return add_event_delivery_check_result(
            call, x, false,
            str_printf(call->arena,
                       "%.*s has no session on this server: it is not connected; "
                       "start the bot and check its token",
                       STR_ARGS(x->user.username)));
    return add_event_delivery_check_result(
        call, x, connected > 0,
        str_printf(call->arena,
                   connected ? "%.*s has %zu sessions"
                             : "%.*s has %zu sessions, but no connection; it gets the "
                               "event when it resumes",
                   STR_ARGS(x->user.username), x->session_count));
}

/* Removes from the list the sessions on shards that receive no events of the guild. Events of
 * private channels go to shard 0. */
static bool check_shard_receives_guild(struct call *call, struct delivery_explanation *x,
                                       snowflake guild_id)
{
    uint32_t shard = 0, count = x->sessions[0].shard_count ? x->sessions[0].shard_count : 1;
    size_t n = 0;

    for (size_t i = 0; i < x->session_count; i++) {
        const struct gateway_session_options s = x->sessions[i];

        count = s.shard_count ? s.shard_count : 1;
        shard = guild_id ? (uint32_t)((guild_id >> 22) % count) : 0;
        if (s.shard_id == shard)
            x->sessions[n++] = s;
    }
    x->session_count = n;
    return add_event_delivery_check_result(
        call, x, n > 0,
        n ? str_printf(call->arena, "a session has shard %u, to which the event goes", shard)
          : str_printf(call->arena,
                       "the event goes to shard %u of %u, and no session has this "
                       "shard; start it",
                       shard, count));
}

static bool check_intents_allow_event(struct call *call, struct delivery_explanation *x,
                                      bool in_guild)
{
    unsigned wanted = get_properties_of_event_type(EVENT_MESSAGE_CREATE)->intents, has = 0;
    struct buf names, own;
    size_t n = 0;

    wanted &= in_guild ? ~INTENTS_PRIVATE_CHANNELS : INTENTS_PRIVATE_CHANNELS;
    for (size_t i = 0; i < x->session_count; i++) {
        const struct gateway_session_options s = x->sessions[i];

        has |= s.intents;
        if (s.intents & wanted || (!s.bot && !s.intents))
            x->sessions[n++] = s;
    }
    x->session_count = n;
    buf_init(&names, 1024);
    buf_init(&own, 1024);
    intent_set_append_names(&names, wanted);
    intent_set_append_names(&own, has);
    struct str text =
        n ? str_printf(call->arena, "a session receives MESSAGE_CREATE (intent %.*s)",
                       STR_ARGS(buf_as_str(&names)))
          : str_printf(call->arena,
                       "no session has the intent %.*s; their intents are %.*s; add it to the "
                       "intents of the bot",
                       STR_ARGS(buf_as_str(&names)), STR_ARGS(buf_as_str(&own)));
    buf_clear(&names);
    buf_clear(&own);
    return add_event_delivery_check_result(call, x, n > 0, text);
}

static enum err check_session_may_view_channel(struct call *call, struct delivery_explanation *x,
                                               const struct channel *c, bool *ret)
{
    struct permission_explanation why;
    struct member_access access;
    enum err e = OK;

    *ret = false;
    if (channel_is_private(c->type)) {
        bool is_in = user_is_channel_recipient(call->tx, c->id, x->user.id, &e);

        *ret = !e && add_event_delivery_check_result(
                         call, x, is_in,
                         is_in ? STR("the account is in this direct message or group")
                               : STR("the account is not in this direct message or group"));
        return e;
    }
    e = member_access_find_of_other_user(call->tx, c->guild_id.value, x->user.id, &access);
    if (e == ERR_UNKNOWN_MEMBER) {
        add_event_delivery_check_result(
            call, x, false,
            STR("the account is not a member of the server; add the bot with its install "
                "link"));
        return OK;
    }
    if (!e)
        e = explain_permission(call->tx, &access, c, PERMISSION_BIT_VIEW_CHANNEL, &why);
    if (!e)
        *ret = add_event_delivery_check_result(
            call, x, why.allowed,
            why.allowed
                ? str_printf(call->arena, "%.*s can view the channel", STR_ARGS(x->user.username))
                : why.cause);
    return e;
}

static enum err check_message_content_is_visible(struct call *call, struct delivery_explanation *x,
                                                 const struct channel *c, const struct message *m)
{
    const struct mentioned_user *mentions = m->mentions.items;
    struct list ids = { 0 };
    struct rows row;
    bool found, granted = false;

    for (size_t i = 0; i < m->mentions.count; i++)
        *(snowflake *)list_append(call->arena, &ids, sizeof(snowflake)) = mentions[i].user.id;
    for (size_t i = 0; i < x->session_count; i++)
        granted |= x->sessions[i].intents & INTENT(MESSAGE_CONTENT) || !x->sessions[i].bot;
    enum err e = tx_one(call->tx, "select id from applications where bot_id = $1",
                        BIND(v_id(x->user.id)), &row, &found);
    if (e)
        return e;
    struct message_content_reader reader = { x->user.id, found ? row_id(&row, 0) : 0, found,
                                             granted };
    struct message_author_and_mentions origin = { m->author_id, m->application_id.value, ids.items,
                                                  ids.count };
    x->content_hidden = message_content_is_hidden(&reader, !channel_is_private(c->type), &origin);
    add_event_delivery_check_result(
        call, x, !x->content_hidden,
        x->content_hidden
            ? STR("the content is withheld: the session lacks the intent MESSAGE_CONTENT, and "
                  "the message does not mention the bot; add the intent, and enable it in "
                  "the settings of the application")
            : STR("the event has the content"));
    return OK;
}

/* Reads the account in the READ stage. The next stage, off the event loop, lists its sessions. */
static enum err read_user_of_delivery_explanation(struct call *call)
{
    const struct delivery_query *q = call->query;
    struct delivery_explanation *x = call_store_stage_data(call, "delivery_explanation", sizeof *x);

    return find_user_named_in_console_query(call, "user", q->user, &x->user);
}

static enum err list_sessions_of_delivery_explanation(struct call *call)
{
    struct delivery_explanation *x = call_get_stage_data(call, "delivery_explanation");
    struct gateway *g = api_get_options(call->api)->gateway;

    x->session_count =
        g ? gateway_list_account_sessions(g, x->user.id, x->sessions, DELIVERY_SESSIONS_MAX) : 0;
    return OK;
}

static enum err prepare_delivery_explanation(struct call *call)
{
    call->read = read_user_of_delivery_explanation;
    call->compute = list_sessions_of_delivery_explanation;
    return OK;
}

/* Removes the sessions that began after the message. The start of a session is known only if the
 * traffic log has its READY. */
static bool check_session_is_older_than_event(struct call *call, struct delivery_explanation *x,
                                              const struct recorded_message_delivery *log,
                                              snowflake message_id)
{
    int64_t sent_ms = snowflake_to_ms(message_id), began_us = 0;
    size_t n = 0;

    for (size_t i = 0; i < x->session_count; i++) {
        if (log->began_us[i] / 1000 <= sent_ms)
            x->sessions[n++] = x->sessions[i];
        else
            began_us = log->began_us[i];
    }
    x->session_count = n;
    if (n)
        return true;
    char began[TIMESTAMP_TEXT_SIZE];
    timestamp_format(began_us, began);
    return add_event_delivery_check_result(
        call, x, false,
        str_printf(call->arena,
                   "the session began at %.12s, %lld ms after the message was sent; a session "
                   "receives only later messages; read older ones with GET "
                   "/channels/{channel.id}/messages",
                   began + 11, (long long)(began_us / 1000 - sent_ms)));
}

static void add_recorded_event(struct call *call, struct delivery_explanation *x,
                               const struct recorded_message_delivery *log)
{
    char sent[TIMESTAMP_TEXT_SIZE];

    if (!log->sent_us)
        return;
    timestamp_format(log->sent_us, sent);
    add_event_delivery_check_result(
        call, x, true,
        str_printf(call->arena, "MESSAGE_CREATE was sent to it at %.12s", sent + 11));
}

static enum err read_recorded_event_delivery(struct call *call,
                                             const struct delivery_explanation *x,
                                             snowflake message_id,
                                             struct recorded_message_delivery *ret)
{
    struct recorded_message_delivery_search wanted = { x->user.id, message_id, x->sessions,
                                                       x->session_count };
    enum err e =
        tx_require_background_thread(call->tx); /* searches the texts of up to 2000 records */

    return e ? e
             : find_recorded_message_delivery(call->tx, call_get_workbench(call)->traffic, &wanted,
                                              ret);
}

/* Runs the checks in the same order as the gateway, until one fails. */
static enum err run_event_delivery_checks(struct call *call, struct delivery_explanation *x,
                                          const struct channel *c, const struct message *m)
{
    struct recorded_message_delivery log;
    bool views = false;

    if (!check_bot_has_session(call, x) ||
        !check_shard_receives_guild(call, x, c->guild_id.value) ||
        !check_intents_allow_event(call, x, !channel_is_private(c->type)))
        return OK;
    enum err e = read_recorded_event_delivery(call, x, m->id, &log);
    if (e || !check_session_is_older_than_event(call, x, &log, m->id))
        return e;
    e = check_session_may_view_channel(call, x, c, &views);
    x->delivered = views;
    if (e || !views)
        return e;
    add_recorded_event(call, x, &log);
    return check_message_content_is_visible(call, x, c, m);
}

/* GET /console/delivery */
static enum err get_delivery_explanation(struct call *call)
{
    struct delivery_explanation x =
        *(const struct delivery_explanation *)call_get_stage_data(call, "delivery_explanation");
    const struct delivery_query *q = call->query;
    struct channel channel;
    struct message message;
    enum err e = channel_find(call->tx, q->channel_id, &channel);

    if (!e)
        e = message_find(call, channel.id, q->message_id, &message);
    if (!e)
        e = run_event_delivery_checks(call, &x, &channel, &message);
    if (e)
        return e;
    const struct explained_permission_step *steps = x.steps.items;
    struct json_writer j = call_get_reply_json_writer(call);

    json_begin_object(&j);
    json_write_name(&j, "delivered");
    json_write_bool(&j, x.delivered);
    json_write_name(&j, "content");
    json_write_bool(&j, x.delivered && !x.content_hidden);
    write_permission_steps_json(&j, &x.steps);
    json_write_name(&j, "cause");
    json_write_text(&j, x.delivered && !x.content_hidden ? STR("") : steps[x.steps.count - 1].text);
    json_end_object(&j);
    return OK;
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/delivery",
        .name = "get_delivery_explanation",
        .doc = "Explains whether an account receives the event of a message: session, shard, "
               "intent, permission, content. It describes the present state; with recorded "
               "traffic also whether the session began in time, and when the event was sent.",
        .service = true,
        .query = &delivery_query_schema,
        .reply = &type_any,
        .store = ROUTE_STORE_READ,
        .limit = &limit_console,
        .prepare = prepare_delivery_explanation,
        .admit = check_console_permission,
        .handle = get_delivery_explanation,
    },
    { 0 },
};

const struct domain console_delivery_domain = {
    .name = "Workbench: delivery",
    .doc = "For the operator: why a bot received a message or not. Paths begin with /console, not "
           "with /api.",
    .routes = routes,
};
