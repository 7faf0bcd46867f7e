/* last_messages.c - gateway opcode 34: the newest messages of requested channels. */
#include "platform/messages/last_messages.h"

#include "api/jobs/internal_call.h"
#include "model/fields/types.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "platform/messages/internal.h"

struct last_messages {
    snowflake guild_id;
    struct list channel_ids; /* snowflakes */
    uint64_t session;        /* session number; set by the gateway, not a field of the payload */
    struct list messages;
};

enum { CHANNELS_MAX = 100 };

static const struct type channel_ids = { .kind = KIND_ARRAY, .max = CHANNELS_MAX, .of = &type_id };
static const struct field request_fields[] = {
    { FIELD(struct last_messages, guild_id), .type = &type_id },
    { FIELD(struct last_messages, channel_ids), .type = &channel_ids },
    { 0 },
};
static const struct schema request_schema = { .size = sizeof(struct last_messages),
                                              .fields = request_fields };
static const struct type request_type = { .kind = KIND_OBJECT, .schema = &request_schema };

static const struct field reply_fields[] = {
    { FIELD(struct last_messages, guild_id), .type = &type_id },
    { FIELD(struct last_messages, messages), .type = &type_messages },
    { 0 },
};
static const struct schema reply_schema = {
    .name = "LastMessages",
    .size = sizeof(struct last_messages),
    .fields = reply_fields,
    .doc = "The newest messages of the requested channels.",
};

/* Returns false for channels that the user cannot read and for channels of other guilds. */
static enum err can_read_channel_messages(struct call *call, const struct member_access *who,
                                          snowflake id, bool *ret)
{
    const uint64_t reading = PERMISSION(VIEW_CHANNEL) | PERMISSION(READ_MESSAGE_HISTORY);
    struct channel c;
    uint64_t perms = 0;
    enum err e = channel_find(call->tx, id, &c);

    *ret = false;
    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    if (c.guild_id.given != GIVEN || c.guild_id.value != who->guild_id)
        return OK;
    e = member_permissions_in_channel(call->tx, who, &c, &perms);
    *ret = (perms & reading) == reading;
    return e;
}

static enum err append_newest_message_of_channel(struct call *call, snowflake channel_id,
                                                 struct list *ret)
{
    struct list newest = { 0 };
    enum err e = message_read_newest(call->tx, channel_id, &newest);

    if (!e)
        e = messages_read_referenced_objects(call, &newest);
    if (!e)
        e = messages_add_caller_specific_fields(call, &newest);
    if (!e && newest.count)
        *(struct message *)list_append(call->arena, ret, sizeof(struct message)) =
            *(struct message *)newest.items;
    return e;
}

static enum err read_last_messages(struct call *call)
{
    struct last_messages *in = call_get_stage_data(call, "last_messages");
    const snowflake *ids = in->channel_ids.items;
    struct member_access who;
    enum err e = member_access_find(call->tx, in->guild_id, call->caller->id, &who);

    in->messages = (struct list){ 0 };
    for (size_t i = 0; !e && i < in->channel_ids.count; i++) {
        bool readable;

        e = can_read_channel_messages(call, &who, ids[i], &readable);
        if (!e && readable)
            e = append_newest_message_of_channel(call, ids[i], &in->messages);
    }
    if (!e)
        call_emit_event(call, EVENT_LAST_MESSAGES, audience_of_session(in->session), &reply_schema,
                        in);
    return e;
}

/* A read transaction has no commit that would publish the event, so publish it now. */
static void on_last_messages_read(struct call *call, enum err e, void *arg)
{
    if (!e)
        call_publish_events(call);
    arena_free(arg);
}

bool handle_last_messages_opcode(struct api *api, const struct gateway_hook_session *who,
                                 struct str d)
{
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    void *decoded;

    if (schema_decode(&request_type, str_dup(arena, d), &form, &decoded)) {
        arena_free(arena);
        return false;
    }
    ((struct last_messages *)decoded)->session = who->session;
    internal_call_start(api, loop_get_current(),
                        &(struct internal_call){ .name = "last_messages",
                                                 .caller = who->caller,
                                                 .store = ROUTE_STORE_READ,
                                                 .run = read_last_messages,
                                                 .done = on_last_messages_read,
                                                 .type = "last_messages",
                                                 .data = decoded,
                                                 .arg = arena });
    return true;
}
