/* last_messages.c - gateway opcode 34: the newest messages of requested channels. */
#include "platform/messages/last_messages.h"

#include "api/jobs/errand.h"
#include "model/fields/types.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "platform/messages/internal.h"

struct last_messages {
    snowflake guild_id;
    struct list channel_ids; /* snowflakes */
    uint64_t session;        /* session id; this field and the next are not part of the payload */
    struct list messages;
};

enum { CHANNELS_MAX = 100 };

static const struct type channel_ids = { .kind = KIND_ARRAY, .max = CHANNELS_MAX, .of = &type_id };
static const struct field question_fields[] = {
    { FIELD(struct last_messages, guild_id), .type = &type_id },
    { FIELD(struct last_messages, channel_ids), .type = &channel_ids },
    { 0 },
};
static const struct schema question_schema = { .size = sizeof(struct last_messages),
                                               .fields = question_fields };
static const struct type question_type = { .kind = KIND_OBJECT, .schema = &question_schema };

static const struct field answer_fields[] = {
    { FIELD(struct last_messages, guild_id), .type = &type_id },
    { FIELD(struct last_messages, messages), .type = &type_messages },
    { 0 },
};
static const struct schema answer_schema = {
    .name = "LastMessages",
    .size = sizeof(struct last_messages),
    .fields = answer_fields,
    .doc = "The newest messages of the requested channels.",
};

/* Returns false for channels that the user cannot read and for channels of other guilds. */
static enum err may_read_last(struct call *call, const struct standing *who, snowflake id,
                              bool *ret)
{
    const uint64_t reading = PERMISSION(VIEW_CHANNEL) | PERMISSION(READ_MESSAGE_HISTORY);
    struct channel c;
    uint64_t rights = 0;
    enum err e = channel_find(call->tx, id, &c);

    *ret = false;
    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    if (c.guild_id.given != GIVEN || c.guild_id.value != who->guild_id)
        return OK;
    e = standing_rights_in(call->tx, who, &c, &rights);
    *ret = (rights & reading) == reading;
    return e;
}

static enum err add_last(struct call *call, snowflake channel_id, struct list *ret)
{
    struct list newest = { 0 };
    enum err e = message_last(call->tx, channel_id, &newest);

    if (!e)
        e = messages_complete(call, &newest);
    if (!e)
        e = messages_show(call, &newest);
    if (!e && newest.count)
        *(struct message *)list_add(call->arena, ret, sizeof(struct message)) =
            *(struct message *)newest.items;
    return e;
}

static enum err find_last_messages(struct call *call)
{
    struct last_messages *in = call_passed(call, "last_messages");
    const snowflake *ids = in->channel_ids.items;
    struct standing who;
    enum err e = standing_find(call->tx, in->guild_id, call->caller->id, &who);

    in->messages = (struct list){ 0 };
    for (size_t i = 0; !e && i < in->channel_ids.count; i++) {
        bool readable;

        e = may_read_last(call, &who, ids[i], &readable);
        if (!e && readable)
            e = add_last(call, ids[i], &in->messages);
    }
    if (!e)
        call_emit(call, EVENT_LAST_MESSAGES, to_session(in->session), &answer_schema, in);
    return e;
}

/* A read transaction has no commit that would publish the event, so publish it now. */
static void last_messages_done(struct call *call, enum err e, void *arg)
{
    if (!e)
        call_publish(call);
    arena_free(arg);
}

bool last_messages_asked(struct api *api, const struct gateway_caller *who, struct str d)
{
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    void *decoded;

    if (schema_decode(&question_type, str_dup(arena, d), &form, &decoded)) {
        arena_free(arena);
        return false;
    }
    ((struct last_messages *)decoded)->session = who->session;
    errand_start(api, loop_current(),
                 &(struct errand){ .name = "last_messages",
                                   .caller = who->caller,
                                   .store = ROUTE_STORE_READ,
                                   .run = find_last_messages,
                                   .done = last_messages_done,
                                   .type = "last_messages",
                                   .data = decoded,
                                   .arg = arena });
    return true;
}
