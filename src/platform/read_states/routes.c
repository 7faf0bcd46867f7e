/* routes.c - the table of read states and of the inbox of mentions. */
#include "api/deletion.h"
#include "platform/read_states/internal.h"

static const struct resolver resolvers[] = {
    {
        .name = "acked.id",
        .field = "message_id",
        .prefix = "",
        .doc = "What was read last; it need not be there any more.",
    },
    {
        .name = "read_state.type",
        .field = "type",
        .prefix = "",
        .doc = "A type of read state.",
    },
    {
        .name = "resource.id",
        .field = "channel_id",
        .prefix = "",
        .doc = "What a read state is of.",
    },
    { 0 },
};

static const struct limit ack_limit = { .name = "acks", .count = 20, .window_s = 10 };

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/channels/{channel.id}/messages/{acked.id}/ack",
        .name = "ack_message",
        .doc = "Say that a channel was read up to a message. An older one than before is "
               "answered and not kept, unless it is said by hand.",
        .auth = AUTH_USER,
        .body = &ack_body,
        .reply = &ack_reply,
        .fires = (const enum event[]){ EVENT_MESSAGE_ACK, 0 },
        .limit = &ack_limit,
        .quiet = true,
        .handle = ack_message,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/pins/ack",
        .name = "ack_pins",
        .doc = "Say that what is pinned was seen.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_CHANNEL_PINS_ACK, 0 },
        .limit = &ack_limit,
        .quiet = true,
        .handle = ack_pins,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/ack",
        .name = "ack_guild",
        .doc = "Say that all channels of a guild were read.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_MESSAGE_ACK, 0 },
        .limit = &ack_limit,
        .quiet = true,
        .handle = ack_guild,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/ack/{read_state.type}/{acked.id}",
        .name = "ack_guild_feature",
        .doc = "The same for a guild's events, home or questions.",
        .auth = AUTH_USER,
        .body = &ack_body,
        .reply = &ack_reply,
        .fires = (const enum event[]){ EVENT_GUILD_FEATURE_ACK, 0 },
        .limit = &ack_limit,
        .quiet = true,
        .handle = ack_guild_feature,
    },
    {
        .method = POST,
        .path = "/users/@me/{read_state.type}/{acked.id}/ack",
        .name = "ack_user_feature",
        .doc = "The same for the account's notifications or message requests.",
        .auth = AUTH_USER,
        .body = &ack_body,
        .reply = &ack_reply,
        .fires = (const enum event[]){ EVENT_USER_NON_CHANNEL_ACK, 0 },
        .limit = &ack_limit,
        .handle = ack_user_feature,
    },
    {
        .method = POST,
        .path = "/read-states/ack-bulk",
        .name = "ack_bulk",
        .doc = "Say how far several things were read. What the caller cannot see is passed over.",
        .auth = AUTH_USER,
        .body = &ack_bulk_body,
        .fires = (const enum event[]){ EVENT_MESSAGE_ACK, EVENT_GUILD_FEATURE_ACK,
                                       EVENT_USER_NON_CHANNEL_ACK, 0 },
        .limit = &ack_limit,
        .handle = ack_bulk,
    },
    {
        .method = DELETE,
        .path = "/channels/{resource.id}/messages/ack",
        .name = "delete_read_state",
        .doc = "Forget how far something was read.",
        .auth = AUTH_USER,
        .body = &read_state_deletion_body,
        .limit = &ack_limit,
        .handle = delete_read_state,
    },
    {
        .method = GET,
        .path = "/users/@me/mentions",
        .name = "list_mentions",
        .doc = "Messages of the last seven days that mention the caller, newest first.",
        .auth = AUTH_USER,
        .query = &mentions_query_schema,
        .reply = &type_messages,
        .aside = true,
        .handle = list_mentions,
    },
    {
        .method = DELETE,
        .path = "/users/@me/mentions/{acked.id}",
        .name = "hide_mention",
        .doc = "Take a message off that list.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_RECENT_MENTION_DELETE, 0 },
        .handle = hide_mention,
    },
    { 0 },
};

const struct domain read_states_domain = {
    .name = "Read states",
    .doc = "How far people have read, and what calls them.",
    .routes = routes,
    .resolvers = resolvers,
    .hooks =
        &(const struct hooks){ .message_made = read_states_hear, .member_left = read_states_leave },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_CHANNEL, "read_states", "user_id, kind, entity_id",
                           "entity_id = $1") },
            { DELETE_WHERE(WITH_GUILD, "read_states", "user_id, kind, entity_id",
                           "entity_id = $1") },
            { DELETE_OF(WITH_ACCOUNT, "read_states", "user_id", "entity_id") },
            { DELETE_WHERE(WITH_CHANNEL, "mention_notes", "channel_id, message_id, kind, target_id",
                           "channel_id = $1") },
            { DELETE_OF(WITH_ACCOUNT, "mentions_hidden", "user_id", "message_id") },
            { 0 } },
};
