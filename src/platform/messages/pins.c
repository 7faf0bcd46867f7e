/* pins.c - routes of pinned messages. */
#include "platform/messages/internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum { MOST_PINS = 250, PINS_A_PAGE = 50 };

struct pins_update_event {
    struct opt_id guild_id;
    snowflake channel_id;
    struct opt_int last_pin_timestamp;
};

static const struct field changed_fields[] = {
    { FIELD(struct pins_update_event, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct pins_update_event, channel_id), .type = &type_id },
    { FIELD(struct pins_update_event, last_pin_timestamp), .type = &type_time,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema changed_schema = {
    .name = "PinsChanged",
    .size = sizeof(struct pins_update_event),
    .fields = changed_fields,
    .doc = "Pinned messages of a channel changed.",
};

enum err check_pin_permission(struct call *call)
{
    const uint64_t any = PERMISSION(PIN_MESSAGES) | PERMISSION(MANAGE_MESSAGES);

    return call->target.permissions & any ? OK : call_get_missing_any_permission_error(call, any);
}

static void emit_channel_pins_update(struct call *call, const struct channel *c, bool pinned)
{
    struct pins_update_event p = { .channel_id = c->id };

    if (!channel_is_private(c->type))
        p.guild_id = opt_id_or_null(c->guild_id.value);
    if (pinned)
        p.last_pin_timestamp = opt_int_present(clock_us());
    call_emit_event(call, EVENT_CHANNEL_PINS_UPDATE, audience_of_channel(c), &changed_schema, &p);
}

static enum err read_pins(struct call *call, struct list *ret)
{
    struct list authors;

    *ret = (struct list){ 0 };
    if (!(call->target.permissions & PERMISSION(READ_MESSAGE_HISTORY)))
        return OK;
    enum err e = messages_read_pinned(call->tx, call->target.channel->id, ret, &authors);
    return e ? e : messages_read_referenced_objects_except_users(call, ret, &authors);
}

/* GET /channels/{channel.id}/pins: pinned messages, newest first. */
enum err list_pins(struct call *call)
{
    struct list out;
    enum err e = read_pins(call, &out);

    if (!e)
        e = call_reply_with_object(call, &out);
    return e ? e : messages_hide_content_in_reply_to_bot(call);
}

/* --- paginated list of pins ---------------------------------------------------------- */

struct pins_query {
    struct opt_int before;
    int64_t limit;
};
struct pin {
    int64_t pinned_at;
    const struct message *message;
};
struct pins_page {
    struct list items; /* struct pin */
    bool has_more;
};

static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = PINS_A_PAGE };
static const struct field query_fields[] = {
    { FIELD(struct pins_query, before), .type = &type_time, .flags = OPTIONAL,
      .doc = "Only messages pinned before this time" },
    { FIELD(struct pins_query, limit), .type = &type_limit, .flags = OPTIONAL,
      .fallback = PINS_A_PAGE },
    { 0 },
};
const struct schema pins_query_schema = {
    .size = sizeof(struct pins_query),
    .fields = query_fields,
    .doc = "Which pinned messages.",
};

static const struct field pin_fields[] = {
    { FIELD(struct pin, pinned_at), .type = &type_time },
    { FIELD(struct pin, message), .type = &type_message },
    { 0 },
};
static const struct schema pin_schema = {
    .name = "Pin",
    .size = sizeof(struct pin),
    .fields = pin_fields,
    .doc = "A message, and when it was pinned.",
};
static const struct type type_pin = { .kind = KIND_OBJECT, .schema = &pin_schema };
static const struct type type_pins = { .kind = KIND_ARRAY, .of = &type_pin };
static const struct field page_fields[] = {
    { FIELD(struct pins_page, items), .type = &type_pins },
    { FIELD(struct pins_page, has_more), .type = &type_bool },
    { 0 },
};
static const struct schema page_schema = {
    .name = "PinsPage",
    .size = sizeof(struct pins_page),
    .fields = page_fields,
    .doc = "Pinned messages, last pinned first.",
};
const struct type pins_page_reply = { .kind = KIND_OBJECT, .schema = &page_schema };

static int compare_pins_newest_first(const void *one, const void *two)
{
    const struct pin *a = one, *b = two;

    if (a->pinned_at != b->pinned_at)
        return a->pinned_at < b->pinned_at ? 1 : -1;
    return a->message->id < b->message->id ? 1 : -1;
}

/* GET /channels/{channel.id}/messages/pins. Sorts in memory, because a channel has at most 250
 * pins. */
enum err list_pins_page(struct call *call)
{
    const struct pins_query *q = call->query;
    struct list messages;
    struct pins_page page = { 0 };
    enum err e = read_pins(call, &messages);

    if (e)
        return e;
    for (size_t i = 0; i < messages.count; i++) {
        const struct message *m = (const struct message *)messages.items + i;
        int64_t at = m->pinned_at ? m->pinned_at : m->timestamp;

        if (q->before.given != GIVEN || at < q->before.value)
            *(struct pin *)list_append(call->arena, &page.items, sizeof(struct pin)) =
                (struct pin){ at, m };
    }
    if (page.items.count)
        qsort(page.items.items, page.items.count, sizeof(struct pin), compare_pins_newest_first);
    page.has_more = page.items.count > (size_t)q->limit;
    if (page.has_more)
        page.items.count = (size_t)q->limit;
    e = call_reply_with_object(call, &page);
    return e ? e : messages_hide_content_in_reply_to_bot(call);
}

/* --- pinning and unpinning ----------------------------------------------------------- */

/* Creates the system message that names the user who pinned the message. */
static enum err create_pin_message(struct call *call, const struct channel *c, snowflake id)
{
    struct message_reference ref = { .message_id = opt_id_or_null(id), .channel_id = c->id };
    struct new_message draft = { .channel = c,
                                 .type = MESSAGE_CHANNEL_PINNED_MESSAGE,
                                 .message_reference = &ref };
    struct message said;
    struct user author;
    enum err e = user_find(call->tx, call->caller->id, &author);

    if (!channel_is_private(c->type))
        ref.guild_id = opt_id_or_null(c->guild_id.value);
    draft.author = &author;
    return e ? e : message_create(call, &draft, &said);
}

static enum err record_pin_in_audit_log(struct call *call, enum audit_log_action action)
{
    const struct channel *c = call->target.channel;
    const struct message *m = call->target.message;
    struct audit_log_options options = { .channel_id = opt_id_or_null(c->id),
                                         .message_id = opt_id_or_null(m->id) };

    if (channel_is_private(c->type))
        return OK;
    return audit_log_record_changes(call, c->guild_id.value, action, m->author_id, &options,
                                    (struct list){ 0 });
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
    m->pinned_at = clock_us();
    if (!e)
        e = message_update_row_and_emit(call, c, m);
    if (e)
        return e;
    emit_channel_pins_update(call, c, true);
    e = record_pin_in_audit_log(call, AUDIT_MESSAGE_PIN);
    return e ? e : create_pin_message(call, c, m->id);
}

enum err message_unpin_and_emit(struct call *call, const struct channel *c, struct message *m)
{
    m->pinned = false;
    m->pinned_at = 0;
    enum err e = message_update_row_and_emit(call, c, m);
    if (!e)
        emit_channel_pins_update(call, c, false);
    return e;
}

/* DELETE /channels/{channel.id}/pins/{message.id} */
enum err unpin_message(struct call *call)
{
    struct message *m = call->target.message;

    if (!m->pinned)
        return OK;
    enum err e = message_unpin_and_emit(call, call->target.channel, m);
    return e ? e : record_pin_in_audit_log(call, AUDIT_MESSAGE_UNPIN);
}
