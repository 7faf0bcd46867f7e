/* pins.c - messages that a channel keeps in sight. */
#include "platform/messages/internal.h"

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum { MOST_PINS = 50 };

struct pins_changed {
    struct opt_id guild_id;
    snowflake channel_id;
    struct opt_int last_pin_timestamp;
};

static const struct field changed_fields[] = {
    { FIELD(struct pins_changed, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct pins_changed, channel_id), .type = &type_id },
    { FIELD(struct pins_changed, last_pin_timestamp), .type = &type_time,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema changed_schema = {
    .name = "PinsChanged",
    .size = sizeof(struct pins_changed),
    .fields = changed_fields,
    .doc = "Pinned messages of a channel changed.",
};

enum err may_pin(struct call *call)
{
    const uint64_t any = PERMISSION(PIN_MESSAGES) | PERMISSION(MANAGE_MESSAGES);

    return call->target.rights & any ? OK : ERR_MISSING_PERMISSIONS;
}

static void announce(struct call *call, const struct channel *c, bool pinned)
{
    struct pins_changed p = { .channel_id = c->id };

    if (!channel_is_private(c->type))
        p.guild_id = given_id(c->guild_id.value);
    if (pinned)
        p.last_pin_timestamp = given_int(clock_us());
    call_emit(call, EVENT_CHANNEL_PINS_UPDATE, to_channel_viewers(c), &changed_schema, &p);
}

/* GET /channels/{channel.id}/pins: what is pinned, newest first. */
enum err list_pins(struct call *call)
{
    struct list out = { 0 };
    enum err e = OK;

    if (call->target.rights & PERMISSION(READ_MESSAGE_HISTORY))
        e = message_pins(call->tx, call->target.channel->id, &out);
    if (!e)
        e = messages_complete(call, &out);
    return e ? e : call_reply(call, &out);
}

/* The channel is told who pinned what. */
static enum err say_pinned(struct call *call, const struct channel *c, snowflake id)
{
    struct message_reference ref = { .message_id = given_id(id), .channel_id = c->id };
    struct message_draft draft = { .channel = c,
                                   .type = MESSAGE_CHANNEL_PINNED_MESSAGE,
                                   .message_reference = &ref };
    struct message said;
    struct user author;
    enum err e = user_find(call->tx, call->caller->id, &author);

    if (!channel_is_private(c->type))
        ref.guild_id = given_id(c->guild_id.value);
    draft.author = &author;
    return e ? e : message_create(call, &draft, &said);
}

/* PUT /channels/{channel.id}/pins/{message.id} */
enum err pin_message(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct message *m = call->target.message;
    int64_t count;

    if (m->pinned)
        return OK;
    if (message_is_system(m->type))
        return ERR_SYSTEM_MESSAGE;
    enum err e = message_count_pins(call->tx, c->id, &count);
    if (!e && count >= MOST_PINS)
        e = ERR_MAX_PINS;
    m->pinned = true;
    if (!e)
        e = message_save(call, c, m);
    if (e)
        return e;
    announce(call, c, true);
    return say_pinned(call, c, m->id);
}

/* DELETE /channels/{channel.id}/pins/{message.id} */
enum err unpin_message(struct call *call)
{
    struct message *m = call->target.message;

    if (!m->pinned)
        return OK;
    m->pinned = false;
    enum err e = message_save(call, call->target.channel, m);
    if (!e)
        announce(call, call->target.channel, false);
    return e;
}
