/* opcodes.c - the table of opcodes that clients may send, with their schemas and handlers. */
#include "gateway/opcodes/opcodes.h"

#include "gateway/identify/greeting.h"
#include "gateway/member_lists/lists.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/resume.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/messages.h"
#include "model/fields/types.h"

enum { MAYBE = OPTIONAL | NULLABLE };

static const struct type any = { .kind = KIND_RAW };
static const struct type text = { .kind = KIND_STRING };
static const struct type word = { .kind = KIND_STRING };
static const struct type number = { .kind = KIND_INT };
static const struct type truth = { .kind = KIND_BOOL };
static const struct type one_id = { .kind = KIND_ID };
static const struct type words = { .kind = KIND_ARRAY, .max = 20, .of = &word };
static const struct type ids = { .kind = KIND_ARRAY, .max = 200, .of = &one_id };

static const struct field properties_fields[] = {
    { FIELD(struct client_properties, os), .type = &any, .flags = OPTIONAL },
    { FIELD(struct client_properties, browser), .type = &any, .flags = OPTIONAL },
    { FIELD(struct client_properties, device), .type = &any, .flags = OPTIONAL },
    { 0 },
};
static const struct schema properties_schema = { .size = sizeof(struct client_properties),
                                                 .fields = properties_fields };
static const struct type properties = { .kind = KIND_OBJECT, .schema = &properties_schema };

static const struct field presence_fields[] = {
    { FIELD(struct presence_update, status), .type = &text, .flags = MAYBE },
    { FIELD(struct presence_update, activities), .type = &any, .flags = OPTIONAL },
    { FIELD(struct presence_update, game), .type = &any, .flags = OPTIONAL },
    { FIELD(struct presence_update, since), .type = &any, .flags = OPTIONAL },
    { FIELD(struct presence_update, afk), .type = &any, .flags = OPTIONAL },
    { 0 },
};
static const struct schema presence_schema = { .size = sizeof(struct presence_update),
                                               .fields = presence_fields };
static const struct type presence = { .kind = KIND_OBJECT, .schema = &presence_schema };

static const struct field identify_fields[] = {
    { FIELD(struct identify, token), .type = &word },
    { FIELD(struct identify, properties), .type = &properties, .flags = MAYBE },
    { FIELD(struct identify, compress), .type = &truth, .flags = MAYBE },
    { FIELD(struct identify, large_threshold), .type = &number, .flags = MAYBE },
    { FIELD(struct identify, capabilities), .type = &number, .flags = MAYBE },
    { FIELD(struct identify, shard), .type = &any, .flags = OPTIONAL },
    { FIELD(struct identify, intents), .type = &any, .flags = OPTIONAL },
    { FIELD(struct identify, presence), .type = &presence, .flags = MAYBE },
    { 0 },
};
static const struct schema identify_schema = { .size = sizeof(struct identify),
                                               .fields = identify_fields };
static const struct type identify = { .kind = KIND_OBJECT, .schema = &identify_schema };

static const struct field resume_fields[] = {
    { FIELD(struct resume, token), .type = &word },
    { FIELD(struct resume, session_id), .type = &text },
    { FIELD(struct resume, seq), .type = &any, .flags = OPTIONAL },
    { 0 },
};
static const struct schema resume_schema = { .size = sizeof(struct resume),
                                             .fields = resume_fields };
static const struct type resume = { .kind = KIND_OBJECT, .schema = &resume_schema };

static const struct field request_members_fields[] = {
    { FIELD(struct request_members, guild_id), .type = &any },
    { FIELD(struct request_members, user_ids), .type = &any, .flags = OPTIONAL },
    { FIELD(struct request_members, nonce), .type = &any, .flags = OPTIONAL },
    { FIELD(struct request_members, query), .type = &text, .flags = MAYBE },
    { FIELD(struct request_members, limit), .type = &number, .flags = MAYBE },
    { FIELD(struct request_members, presences), .type = &truth, .flags = MAYBE },
    { 0 },
};
static const struct schema request_members_schema = { .size = sizeof(struct request_members),
                                                      .fields = request_members_fields };
static const struct type request_members = { .kind = KIND_OBJECT,
                                             .schema = &request_members_schema };

static const struct field search_recent_fields[] = {
    { FIELD(struct search_recent, guild_id), .type = &one_id },
    { FIELD(struct search_recent, query), .type = &text, .flags = MAYBE },
    { FIELD(struct search_recent, continuation_token), .type = &one_id, .flags = MAYBE },
    { FIELD(struct search_recent, nonce), .type = &any, .flags = OPTIONAL },
    { 0 },
};
static const struct schema search_recent_schema = { .size = sizeof(struct search_recent),
                                                    .fields = search_recent_fields };
static const struct type search_recent = { .kind = KIND_OBJECT, .schema = &search_recent_schema };

static const struct field sounds_fields[] = {
    { FIELD(struct request_sounds, guild_ids), .type = &ids },
    { 0 },
};
static const struct schema sounds_schema = { .size = sizeof(struct request_sounds),
                                             .fields = sounds_fields };
static const struct type request_sounds = { .kind = KIND_OBJECT, .schema = &sounds_schema };

static const struct field channel_info_fields[] = {
    { FIELD(struct channel_info, guild_id), .type = &one_id },
    { FIELD(struct channel_info, fields), .type = &words, .flags = MAYBE },
    { 0 },
};
static const struct schema channel_info_schema = { .size = sizeof(struct channel_info),
                                                   .fields = channel_info_fields };
static const struct type channel_info = { .kind = KIND_OBJECT, .schema = &channel_info_schema };

/* Fields of op 14 and 37. Clients send null for fields that they do not use. */
static const struct type row_number = { .kind = KIND_INT, .min = 0, .max = 10 * 1000 * 1000 };
static const struct type row_range = { .kind = KIND_ARRAY, .min = 2, .max = 2, .of = &row_number };
static const struct type row_ranges = { .kind = KIND_ARRAY, .max = 5, .of = &row_range };
static const struct type shown_channels = {
    .kind = KIND_MAP, .flags = TYPE_NULL_NONE, .max = 10, .of = &row_ranges
};
static const struct type thread_ids = {
    .kind = KIND_ARRAY, .flags = TYPE_NULL_NONE, .max = 10, .of = &one_id
};
static const struct type member_ids = {
    .kind = KIND_ARRAY, .flags = TYPE_NULL_NONE, .max = 1000, .of = &one_id
};

/* clang-format off */
#define SUBSCRIPTION_FIELDS                                                                        \
    { FIELD(struct guild_subscription, channels), .type = &shown_channels, .flags = OPTIONAL },    \
    { FIELD(struct guild_subscription, members), .type = &member_ids, .flags = OPTIONAL },         \
    { FIELD(struct guild_subscription, thread_member_lists), .type = &thread_ids,                  \
      .flags = OPTIONAL },                                                                         \
    { FIELD(struct guild_subscription, typing), .type = &truth, .flags = MAYBE },                  \
    { FIELD(struct guild_subscription, activities), .type = &truth, .flags = MAYBE },              \
    { FIELD(struct guild_subscription, member_updates), .type = &truth, .flags = MAYBE },          \
    { FIELD(struct guild_subscription, threads), .type = &truth, .flags = MAYBE }
/* clang-format on */

static const struct field subscription_fields[] = {
    { FIELD(struct guild_subscription, guild_id), .type = &one_id },
    SUBSCRIPTION_FIELDS,
    { 0 },
};
static const struct schema subscription_schema = { .size = sizeof(struct guild_subscription),
                                                   .fields = subscription_fields };
static const struct type guild_subscription = { .kind = KIND_OBJECT,
                                                .schema = &subscription_schema };
static const struct field subscribed_fields[] = { SUBSCRIPTION_FIELDS, { 0 } };
static const struct schema subscribed_schema = { .size = sizeof(struct guild_subscription),
                                                 .fields = subscribed_fields };
static const struct type subscribed = { .kind = KIND_OBJECT, .schema = &subscribed_schema };
static const struct type subscribed_guilds = { .kind = KIND_MAP, .max = 200, .of = &subscribed };
static const struct field subscriptions_fields[] = {
    { FIELD(struct guild_subscriptions, subscriptions), .type = &subscribed_guilds },
    { 0 },
};
static const struct schema subscriptions_schema = { .size = sizeof(struct guild_subscriptions),
                                                    .fields = subscriptions_fields };
static const struct type guild_subscriptions = { .kind = KIND_OBJECT,
                                                 .schema = &subscriptions_schema };

static void handle_heartbeat(struct peer *p, int op, struct str raw, const void *d)
{
    (void)op, (void)raw, (void)d;
    peer_beat(p);
}

/* Calls the hook of a folder above the gateway. */
static void run_hook(struct peer *p, int op, struct str raw,
                     bool (*hook)(void *arg, const struct gateway_caller *who, int op,
                                  struct str d))
{
    struct gateway_caller who = session_caller(p->session);

    if (raw.n == 0 || raw.p[0] != '{')
        peer_close(p, CLOSE_BAD_OPCODE, "data of the wrong type");
    else if (hook && !hook(p->hub->gateway->options.hooks.arg, &who, op, raw))
        peer_close(p, CLOSE_BAD_PAYLOAD, "data of the wrong type");
}

static void handle_voice(struct peer *p, int op, struct str raw, const void *d)
{
    (void)d;
    run_hook(p, op, raw, p->hub->gateway->options.hooks.voice);
}

static void handle_last_messages(struct peer *p, int op, struct str raw, const void *d)
{
    (void)d;
    run_hook(p, op, raw, p->hub->gateway->options.hooks.last_messages);
}

enum { EARLY = OP_STRANGERS | OP_BEAT };

const struct opcode_row opcode_rows[] = {
    { OP_HEARTBEAT, "heartbeat", EARLY, NULL, handle_heartbeat },
    { OP_IDENTIFY, "identify", OP_STRANGERS, &identify, handle_identify },
    { OP_PRESENCE, "presence update", 0, &presence, handle_presence },
    { OP_VOICE_STATE, "voice state update", 0, NULL, handle_voice },
    { OP_VOICE_PING, "voice server ping", 0, NULL, NULL },
    { OP_RESUME, "resume", OP_STRANGERS, &resume, handle_resume },
    { OP_REQUEST_MEMBERS, "request guild members", 0, &request_members, handle_request_members },
    { 12, "guild sync", 0, NULL, NULL },
    { OP_CALL_CONNECT, "call connect", OP_USERS, NULL, handle_voice },
    { OP_SUBSCRIBE, "guild subscriptions", OP_USERS, &guild_subscription,
      handle_guild_subscription },
    { 15, "lobby connect", OP_USERS, NULL, NULL },
    { 16, "lobby disconnect", OP_USERS, NULL, NULL },
    { 17, "lobby voice states", OP_USERS, NULL, NULL },
    { 18, "stream create", OP_USERS, NULL, handle_voice },
    { 19, "stream delete", OP_USERS, NULL, handle_voice },
    { 20, "stream watch", OP_USERS, NULL, handle_voice },
    { 21, "stream ping", OP_USERS, NULL, handle_voice },
    { 22, "stream set paused", OP_USERS, NULL, handle_voice },
    { 23, "retired", 0, NULL, NULL },
    { 24, "retired", OP_USERS, NULL, NULL },
    { 25, "retired", OP_USERS, NULL, NULL },
    { 26, "retired", OP_USERS, NULL, NULL },
    { 27, "retired", OP_USERS, NULL, NULL },
    { 28, "forum unreads", OP_USERS, NULL, NULL },
    { 29, "remote command", OP_USERS, NULL, NULL },
    { 30, "deleted ids", OP_USERS, NULL, NULL },
    { OP_REQUEST_SOUNDS, "request soundboard sounds", 0, &request_sounds, handle_request_sounds },
    { 32, "speed test create", OP_USERS, NULL, NULL },
    { 33, "speed test delete", OP_USERS, NULL, NULL },
    { OP_LAST_MESSAGES, "last messages", OP_USERS, NULL, handle_last_messages },
    { OP_SEARCH_RECENT, "search recent members", OP_USERS, &search_recent, handle_search_recent },
    { OP_CHANNEL_STATUSES, "channel statuses", OP_USERS, &channel_info, handle_channel_info },
    { OP_SUBSCRIBE_BULK, "bulk guild subscriptions", OP_USERS, &guild_subscriptions,
      handle_guild_subscriptions },
    { 38, "channel resync", OP_USERS, NULL, NULL },
    { 39, "member count", OP_USERS, NULL, NULL },
    { OP_QOS_HEARTBEAT, "QoS heartbeat", EARLY, NULL, handle_heartbeat },
    { OP_TIME_SPENT, "time spent", OP_STRANGERS | OP_USERS, NULL, NULL },
    { 42, "lobby voice", OP_USERS, NULL, NULL },
    { OP_CHANNEL_INFO, "channel info", 0, &channel_info, handle_channel_info },
    { 0 },
};

const struct opcode_row *opcode_find(int64_t op)
{
    for (const struct opcode_row *r = opcode_rows; r->name; r++)
        if (r->op == op)
            return r;
    return NULL;
}
