/* opcodes.c - the table of opcodes that clients may send, with their schemas and handlers. */
#include "gateway/opcodes/opcodes.h"

#include "gateway/identify/authentication.h"
#include "gateway/member_lists/lists.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/resume.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/messages.h"
#include "model/fields/types.h"

enum { OPTIONAL_OR_NULL = OPTIONAL | NULLABLE };

static const struct type type_any_json = { .kind = KIND_RAW };
static const struct type type_any_text = { .kind = KIND_STRING };
static const struct type type_word = { .kind = KIND_STRING };
static const struct type type_integer = { .kind = KIND_INT };
static const struct type type_boolean = { .kind = KIND_BOOL };
static const struct type type_snowflake = { .kind = KIND_ID };
static const struct type type_words = { .kind = KIND_ARRAY, .max = 20, .of = &type_word };
static const struct type ids = { .kind = KIND_ARRAY, .max = 200, .of = &type_snowflake };

static const struct field properties_fields[] = {
    { FIELD(struct client_properties, os), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct client_properties, browser), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct client_properties, device), .type = &type_any_json, .flags = OPTIONAL },
    { 0 },
};
static const struct schema properties_schema = { .size = sizeof(struct client_properties),
                                                 .fields = properties_fields };
static const struct type type_properties = { .kind = KIND_OBJECT, .schema = &properties_schema };

static const struct field presence_fields[] = {
    { FIELD(struct presence_update, status), .type = &type_any_text, .flags = OPTIONAL_OR_NULL },
    { FIELD(struct presence_update, activities), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct presence_update, game), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct presence_update, since), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct presence_update, afk), .type = &type_any_json, .flags = OPTIONAL },
    { 0 },
};
static const struct schema presence_schema = { .size = sizeof(struct presence_update),
                                               .fields = presence_fields };
static const struct type type_presence = { .kind = KIND_OBJECT, .schema = &presence_schema };

static const struct field identify_fields[] = {
    { FIELD(struct identify_message, token), .type = &type_word },
    { FIELD(struct identify_message, properties), .type = &type_properties,
      .flags = OPTIONAL_OR_NULL },
    { FIELD(struct identify_message, compress), .type = &type_boolean, .flags = OPTIONAL_OR_NULL },
    { FIELD(struct identify_message, large_threshold), .type = &type_integer,
      .flags = OPTIONAL_OR_NULL },
    { FIELD(struct identify_message, capabilities), .type = &type_integer,
      .flags = OPTIONAL_OR_NULL },
    { FIELD(struct identify_message, shard), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct identify_message, intents), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct identify_message, presence), .type = &type_presence, .flags = OPTIONAL_OR_NULL },
    { 0 },
};
static const struct schema identify_schema = { .size = sizeof(struct identify_message),
                                               .fields = identify_fields };
static const struct type type_identify = { .kind = KIND_OBJECT, .schema = &identify_schema };

static const struct field resume_fields[] = {
    { FIELD(struct resume_message, token), .type = &type_word },
    { FIELD(struct resume_message, session_id), .type = &type_any_text },
    { FIELD(struct resume_message, seq), .type = &type_any_json, .flags = OPTIONAL },
    { 0 },
};
static const struct schema resume_schema = { .size = sizeof(struct resume_message),
                                             .fields = resume_fields };
static const struct type type_resume = { .kind = KIND_OBJECT, .schema = &resume_schema };

static const struct field request_members_fields[] = {
    { FIELD(struct request_members_message, guild_id), .type = &type_any_json },
    { FIELD(struct request_members_message, user_ids), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct request_members_message, nonce), .type = &type_any_json, .flags = OPTIONAL },
    { FIELD(struct request_members_message, query), .type = &type_any_text,
      .flags = OPTIONAL_OR_NULL },
    { FIELD(struct request_members_message, limit), .type = &type_integer,
      .flags = OPTIONAL_OR_NULL },
    { FIELD(struct request_members_message, presences), .type = &type_boolean,
      .flags = OPTIONAL_OR_NULL },
    { 0 },
};
static const struct schema request_members_schema = { .size =
                                                          sizeof(struct request_members_message),
                                                      .fields = request_members_fields };
static const struct type type_request_members = { .kind = KIND_OBJECT,
                                                  .schema = &request_members_schema };

static const struct field search_recent_fields[] = {
    { FIELD(struct search_recent_members_message, guild_id), .type = &type_snowflake },
    { FIELD(struct search_recent_members_message, query), .type = &type_any_text,
      .flags = OPTIONAL_OR_NULL },
    { FIELD(struct search_recent_members_message, continuation_token), .type = &type_snowflake,
      .flags = OPTIONAL_OR_NULL },
    { FIELD(struct search_recent_members_message, nonce), .type = &type_any_json,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema search_recent_schema = {
    .size = sizeof(struct search_recent_members_message), .fields = search_recent_fields
};
static const struct type type_search_recent_members = { .kind = KIND_OBJECT,
                                                        .schema = &search_recent_schema };

static const struct field sounds_fields[] = {
    { FIELD(struct request_sounds_message, guild_ids), .type = &ids },
    { 0 },
};
static const struct schema sounds_schema = { .size = sizeof(struct request_sounds_message),
                                             .fields = sounds_fields };
static const struct type type_request_sounds = { .kind = KIND_OBJECT, .schema = &sounds_schema };

static const struct field channel_info_fields[] = {
    { FIELD(struct request_channel_info_message, guild_id), .type = &type_snowflake },
    { FIELD(struct request_channel_info_message, fields), .type = &type_words,
      .flags = OPTIONAL_OR_NULL },
    { 0 },
};
static const struct schema channel_info_schema = { .size =
                                                       sizeof(struct request_channel_info_message),
                                                   .fields = channel_info_fields };
static const struct type type_channel_info = { .kind = KIND_OBJECT,
                                               .schema = &channel_info_schema };

/* Fields of op 14 and 37. Clients send null for fields that they do not use. */
static const struct type row_number = { .kind = KIND_INT, .min = 0, .max = 10 * 1000 * 1000 };
static const struct type row_range = { .kind = KIND_ARRAY, .min = 2, .max = 2, .of = &row_number };
static const struct type row_ranges = { .kind = KIND_ARRAY, .max = 5, .of = &row_range };
static const struct type type_list_channels = {
    .kind = KIND_MAP, .flags = TYPE_NULL_NONE, .max = 10, .of = &row_ranges
};
static const struct type thread_ids = {
    .kind = KIND_ARRAY, .flags = TYPE_NULL_NONE, .max = 10, .of = &type_snowflake
};
static const struct type member_ids = {
    .kind = KIND_ARRAY, .flags = TYPE_NULL_NONE, .max = 1000, .of = &type_snowflake
};

/* clang-format off */
#define SUBSCRIPTION_FIELDS                                                                        \
    { FIELD(struct guild_subscription, channels), .type = &type_list_channels, .flags = OPTIONAL },    \
    { FIELD(struct guild_subscription, members), .type = &member_ids, .flags = OPTIONAL },         \
    { FIELD(struct guild_subscription, thread_member_lists), .type = &thread_ids,                  \
      .flags = OPTIONAL },                                                                         \
    { FIELD(struct guild_subscription, typing), .type = &type_boolean, .flags = OPTIONAL_OR_NULL },                  \
    { FIELD(struct guild_subscription, activities), .type = &type_boolean, .flags = OPTIONAL_OR_NULL },              \
    { FIELD(struct guild_subscription, member_updates), .type = &type_boolean, .flags = OPTIONAL_OR_NULL },          \
    { FIELD(struct guild_subscription, threads), .type = &type_boolean, .flags = OPTIONAL_OR_NULL }
/* clang-format on */

static const struct field subscription_fields[] = {
    { FIELD(struct guild_subscription, guild_id), .type = &type_snowflake },
    SUBSCRIPTION_FIELDS,
    { 0 },
};
static const struct schema subscription_schema = { .size = sizeof(struct guild_subscription),
                                                   .fields = subscription_fields };
static const struct type type_guild_subscription = { .kind = KIND_OBJECT,
                                                     .schema = &subscription_schema };
static const struct field subscribed_fields[] = { SUBSCRIPTION_FIELDS, { 0 } };
static const struct schema subscribed_schema = { .size = sizeof(struct guild_subscription),
                                                 .fields = subscribed_fields };
static const struct type type_subscribed_guild = { .kind = KIND_OBJECT,
                                                   .schema = &subscribed_schema };
static const struct type type_subscribed_guilds = { .kind = KIND_MAP,
                                                    .max = 200,
                                                    .of = &type_subscribed_guild };
static const struct field subscriptions_fields[] = {
    { FIELD(struct guild_subscriptions, subscriptions), .type = &type_subscribed_guilds },
    { 0 },
};
static const struct schema subscriptions_schema = { .size = sizeof(struct guild_subscriptions),
                                                    .fields = subscriptions_fields };
static const struct type type_guild_subscriptions = { .kind = KIND_OBJECT,
                                                      .schema = &subscriptions_schema };

static void handle_heartbeat_opcode(struct gateway_socket *p, int op, struct str raw, const void *d)
{
    (void)op, (void)raw, (void)d;
    gateway_socket_on_heartbeat(p);
}

/* Passes the message to its handler in struct gateway_hooks, for example to the voice handler. */
static void run_opcode_hook(struct gateway_socket *p, int op, struct str raw,
                            bool (*hook)(void *arg, const struct gateway_hook_session *who, int op,
                                         struct str d))
{
    struct gateway_hook_session who = gateway_hook_session_from_session(p->session);

    if (raw.n == 0 || raw.p[0] != '{')
        gateway_socket_close(p, CLOSE_BAD_OPCODE, "field d has the wrong type");
    else if (hook && !hook(p->gateway_loop->gateway->options.hooks.arg, &who, op, raw))
        gateway_socket_close(p, CLOSE_BAD_PAYLOAD, "field d has the wrong type");
}

static void handle_voice_opcode(struct gateway_socket *p, int op, struct str raw, const void *d)
{
    (void)d;
    run_opcode_hook(p, op, raw, p->gateway_loop->gateway->options.hooks.voice);
}

static void handle_request_last_messages(struct gateway_socket *p, int op, struct str raw,
                                         const void *d)
{
    (void)d;
    run_opcode_hook(p, op, raw, p->gateway_loop->gateway->options.hooks.last_messages);
}

enum { BEFORE_IDENTIFY_HEARTBEAT = OP_BEFORE_IDENTIFY | OP_IS_HEARTBEAT };

const struct gateway_opcode_declaration opcode_rows[] = {
    { OP_HEARTBEAT, "heartbeat", BEFORE_IDENTIFY_HEARTBEAT, NULL, handle_heartbeat_opcode },
    { OP_IDENTIFY, "identify", OP_BEFORE_IDENTIFY, &type_identify, handle_identify_opcode },
    { OP_PRESENCE, "presence update", 0, &type_presence, handle_presence_update_opcode },
    { OP_VOICE_STATE, "voice state update", 0, NULL, handle_voice_opcode },
    { OP_VOICE_PING, "voice server ping", 0, NULL, NULL },
    { OP_RESUME, "resume", OP_BEFORE_IDENTIFY, &type_resume, handle_resume_opcode },
    { OP_REQUEST_MEMBERS, "request guild members", 0, &type_request_members,
      handle_request_members_opcode },
    { 12, "guild sync", 0, NULL, NULL },
    { OP_CALL_CONNECT, "call connect", OP_NOT_FOR_BOTS, NULL, handle_voice_opcode },
    { OP_SUBSCRIBE, "guild subscriptions", OP_NOT_FOR_BOTS, &type_guild_subscription,
      handle_guild_subscription_opcode },
    { 15, "lobby connect", OP_NOT_FOR_BOTS, NULL, NULL },
    { 16, "lobby disconnect", OP_NOT_FOR_BOTS, NULL, NULL },
    { 17, "lobby voice states", OP_NOT_FOR_BOTS, NULL, NULL },
    { 18, "stream create", OP_NOT_FOR_BOTS, NULL, handle_voice_opcode },
    { 19, "stream delete", OP_NOT_FOR_BOTS, NULL, handle_voice_opcode },
    { 20, "stream watch", OP_NOT_FOR_BOTS, NULL, handle_voice_opcode },
    { 21, "stream ping", OP_NOT_FOR_BOTS, NULL, handle_voice_opcode },
    { 22, "stream set paused", OP_NOT_FOR_BOTS, NULL, handle_voice_opcode },
    { 23, "retired", 0, NULL, NULL },
    { 24, "retired", OP_NOT_FOR_BOTS, NULL, NULL },
    { 25, "retired", OP_NOT_FOR_BOTS, NULL, NULL },
    { 26, "retired", OP_NOT_FOR_BOTS, NULL, NULL },
    { 27, "retired", OP_NOT_FOR_BOTS, NULL, NULL },
    { 28, "forum unreads", OP_NOT_FOR_BOTS, NULL, NULL },
    { 29, "remote command", OP_NOT_FOR_BOTS, NULL, NULL },
    { 30, "deleted ids", OP_NOT_FOR_BOTS, NULL, NULL },
    { OP_REQUEST_SOUNDS, "request soundboard sounds", 0, &type_request_sounds,
      handle_request_sounds_opcode },
    { 32, "speed test create", OP_NOT_FOR_BOTS, NULL, NULL },
    { 33, "speed test delete", OP_NOT_FOR_BOTS, NULL, NULL },
    { OP_LAST_MESSAGES, "last messages", OP_NOT_FOR_BOTS, NULL, handle_request_last_messages },
    { OP_SEARCH_RECENT, "search recent members", OP_NOT_FOR_BOTS, &type_search_recent_members,
      handle_search_recent_members_opcode },
    { OP_CHANNEL_STATUSES, "channel statuses", OP_NOT_FOR_BOTS, &type_channel_info,
      handle_channel_info_opcode },
    { OP_SUBSCRIBE_BULK, "bulk guild subscriptions", OP_NOT_FOR_BOTS, &type_guild_subscriptions,
      handle_guild_subscriptions_opcode },
    { 38, "channel resync", OP_NOT_FOR_BOTS, NULL, NULL },
    { 39, "member count", OP_NOT_FOR_BOTS, NULL, NULL },
    { OP_QOS_HEARTBEAT, "QoS heartbeat", BEFORE_IDENTIFY_HEARTBEAT, NULL, handle_heartbeat_opcode },
    { OP_TIME_SPENT, "time spent", OP_BEFORE_IDENTIFY | OP_NOT_FOR_BOTS, NULL, NULL },
    { 42, "lobby voice", OP_NOT_FOR_BOTS, NULL, NULL },
    { OP_CHANNEL_INFO, "channel info", 0, &type_channel_info, handle_channel_info_opcode },
    { 0 },
};

const struct gateway_opcode_declaration *opcode_find(int64_t op)
{
    for (const struct gateway_opcode_declaration *r = opcode_rows; r->name; r++)
        if (r->op == op)
            return r;
    return NULL;
}
