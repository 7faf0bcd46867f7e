/* acks.c - routes that mark messages and features as read. */
#include "platform/read_states/internal.h"

#include "model/fields/ids.h"
#include "model/fields/types.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"

/* --- bodies, responses and events ----------------------------------------------------- */

struct message_ack_draft {
    struct opt_str token;
    bool manual;
    struct opt_int mention_count, flags, last_viewed;
};
static const struct field ack_fields[] = {
    { FIELD(struct message_ack_draft, token), .type = &type_text, .flags = OPTIONAL | NULLABLE,
      .doc = "Token of the previous reply; ignored" },
    { FIELD(struct message_ack_draft, manual), .type = &type_bool, .flags = OPTIONAL,
      .doc = "The state may move backwards" },
    { FIELD(struct message_ack_draft, mention_count), .type = &type_count,
      .flags = OPTIONAL | NULLABLE, .doc = "With manual" },
    { FIELD(struct message_ack_draft, flags), .type = &type_flag_bits,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct message_ack_draft, last_viewed), .type = &type_count,
      .flags = OPTIONAL | NULLABLE, .doc = "Days since 2015" },
    { 0 },
};
static const struct schema ack_schema = {
    .name = "MessageAckDraft",
    .size = sizeof(struct message_ack_draft),
    .fields = ack_fields,
    .doc = "How far the caller has read.",
};
const struct type ack_body = { .kind = KIND_OBJECT, .schema = &ack_schema };

struct ack_token_reply {
    struct opt_str token;
};
static const struct field answer_fields[] = {
    { FIELD(struct ack_token_reply, token), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
static const struct schema answer_schema = {
    .name = "AckAnswer",
    .size = sizeof(struct ack_token_reply),
    .fields = answer_fields,
    .doc = "The token is always null.",
};
const struct type ack_reply = { .kind = KIND_OBJECT, .schema = &answer_schema };

struct message_ack {
    snowflake channel_id, message_id;
    int64_t version;
    struct opt_bool manual;
    struct opt_int mention_count, flags, last_viewed, ack_type;
};
static const struct field message_ack_fields[] = {
    { FIELD(struct message_ack, channel_id), .type = &type_id },
    { FIELD(struct message_ack, message_id), .type = &type_id },
    { FIELD(struct message_ack, version), .type = &type_count },
    { FIELD(struct message_ack, manual), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct message_ack, mention_count), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct message_ack, flags), .type = &type_flag_bits, .flags = OPTIONAL },
    { FIELD(struct message_ack, last_viewed), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct message_ack, ack_type), .type = &type_count, .flags = OPTIONAL },
    { 0 },
};
static const struct schema message_ack_schema = {
    .name = "MessageAck",
    .size = sizeof(struct message_ack),
    .fields = message_ack_fields,
    .doc = "How far the account has read a channel.",
};

struct pins_ack {
    snowflake channel_id;
    int64_t timestamp, version;
};
static const struct field pins_ack_fields[] = {
    { FIELD(struct pins_ack, channel_id), .type = &type_id },
    { FIELD(struct pins_ack, timestamp), .type = &type_time },
    { FIELD(struct pins_ack, version), .type = &type_count },
    { 0 },
};
static const struct schema pins_ack_schema = {
    .name = "PinsAck",
    .size = sizeof(struct pins_ack),
    .fields = pins_ack_fields,
    .doc = "The account has seen the pinned messages of a channel.",
};

struct feature_ack {
    int64_t ack_type, version;
    snowflake resource_id, entity_id;
};
static const struct field feature_ack_fields[] = {
    { FIELD(struct feature_ack, ack_type), .type = &type_count },
    { FIELD(struct feature_ack, resource_id), .type = &type_id },
    { FIELD(struct feature_ack, entity_id), .type = &type_id },
    { FIELD(struct feature_ack, version), .type = &type_count },
    { 0 },
};
static const struct schema feature_ack_schema = {
    .name = "FeatureAck",
    .size = sizeof(struct feature_ack),
    .fields = feature_ack_fields,
    .doc = "How far the account has read a feature that is not a channel.",
};

static enum err reply_with_null_token(struct call *call)
{
    return call_reply_with_object(call,
                                  &(struct ack_token_reply){ .token = { .given = GIVEN_NULL } });
}

/* --- channels ------------------------------------------------------------------------- */

static snowflake guild_id_of_channel(const struct channel *c)
{
    return channel_is_private(c->type) ? 0 : c->guild_id.value;
}

/* Sets the read state of a channel. If `manual` is false, a message id older than the stored one is
 * ignored. */
static enum err acknowledge_channel(struct call *call, const struct channel *c,
                                    snowflake message_id, const struct message_ack_draft *in)
{
    struct read_state s;
    bool found;
    snowflake me = call->caller->id;
    enum err e = find_read_state(call->tx, me, READ_CHANNEL, c->id, &s, &found);

    if (e || (found && !in->manual && message_id < s.last_id))
        return e;
    s = (struct read_state){ .id = c->id,
                             .guild_id = guild_id_of_channel(c),
                             .last_id = message_id,
                             .mentions = in->manual ? in->mention_count.value : 0,
                             .flags = in->flags,
                             .last_viewed = in->last_viewed };
    struct message_ack event = { .channel_id = c->id, .message_id = message_id };
    e = read_state_save(call->tx, me, &s);
    if (!e)
        e = read_state_increment_version(call->tx, me, &event.version);
    if (e)
        return e;
    if (in->manual) {
        event.manual = opt_true_or_absent(true);
        event.mention_count = opt_int_present(s.mentions);
    }
    if (in->flags.given == GIVEN)
        event.flags = in->flags;
    if (in->last_viewed.given == GIVEN)
        event.last_viewed = in->last_viewed;
    call_emit_event(call, EVENT_MESSAGE_ACK, audience_of_user(me), &message_ack_schema, &event);
    return OK;
}

/* POST /channels/{channel.id}/messages/{acked.id}/ack */
enum err ack_message(struct call *call)
{
    enum err e = acknowledge_channel(call, call->target.channel, call_get_path_id(call, "acked.id"),
                                     call->body);

    return e ? e : reply_with_null_token(call);
}

/* POST /channels/{channel.id}/pins/ack */
enum err ack_pins(struct call *call)
{
    struct channel *c = call->target.channel;
    struct read_state s;
    struct pins_ack event = { .channel_id = c->id };
    bool found;
    enum err e = channel_read_last_pin_time(call->tx, c);

    if (e || c->last_pin_timestamp.given != GIVEN)
        return e;
    e = find_read_state(call->tx, call->caller->id, READ_CHANNEL, c->id, &s, &found);
    s.guild_id = guild_id_of_channel(c);
    s.pins_at = c->last_pin_timestamp;
    if (!e)
        e = read_state_save(call->tx, call->caller->id, &s);
    if (!e)
        e = read_state_increment_version(call->tx, call->caller->id, &event.version);
    event.timestamp = s.pins_at.value;
    if (!e)
        call_emit_event(call, EVENT_CHANNEL_PINS_ACK, audience_of_user(call->caller->id),
                        &pins_ack_schema, &event);
    return e;
}

static bool can_view_channel(const struct call *call, const struct channel *c)
{
    const struct list *o = &c->permission_overwrites.value;

    return permissions_in_channel(&call->target.member_access->input, c->type, o->items, o->count,
                                  false) &
           PERMISSION(VIEW_CHANNEL);
}

/* POST /guilds/{guild.id}/ack: marks up to 500 channels that the caller can view as read. */
enum err ack_guild(struct call *call)
{
    struct list channels, threads;
    enum err e = guild_channels_list(call->tx, call->target.guild->id, &channels, &threads);
    const struct channel *c = channels.items;

    for (size_t i = 0; !e && i < channels.count; i++) {
        struct read_state s;
        bool found;

        if (c[i].last_message_id.given != GIVEN || !can_view_channel(call, &c[i]))
            continue;
        e = find_read_state(call->tx, call->caller->id, READ_CHANNEL, c[i].id, &s, &found);
        if (!e && s.last_id < c[i].last_message_id.value)
            e = acknowledge_channel(call, &c[i], c[i].last_message_id.value,
                                    &(struct message_ack_draft){ 0 });
    }
    return e;
}

/* --- features (not channels) ---------------------------------------------------------- */

static enum err acknowledge_feature_of_read_state_type(struct call *call, int64_t kind,
                                                       snowflake resource_id, snowflake entity_id,
                                                       enum event event)
{
    struct read_state s = { .id = resource_id, .kind = kind, .last_id = entity_id };
    struct feature_ack out = { .ack_type = kind,
                               .resource_id = resource_id,
                               .entity_id = entity_id };
    enum err e = read_state_save(call->tx, call->caller->id, &s);

    if (!e)
        e = read_state_increment_version(call->tx, call->caller->id, &out.version);
    if (!e)
        call_emit_event(call, event, audience_of_user(call->caller->id), &feature_ack_schema, &out);
    return e;
}

static bool is_guild_read_state(int64_t kind)
{
    return kind == READ_GUILD_EVENT || kind == READ_GUILD_HOME || kind == READ_ONBOARDING_QUESTION;
}

static bool is_account_read_state(int64_t kind)
{
    return kind == READ_NOTIFICATION_CENTER || kind == READ_MESSAGE_REQUESTS;
}

static enum err refuse_read_state_type(struct call *call, const char *field)
{
    return call_add_field_error(call, field, "BASE_TYPE_CHOICES",
                                "This type of read state cannot be used here.");
}

/* POST /guilds/{guild.id}/ack/{read_state.type}/{acked.id} */
enum err ack_guild_feature(struct call *call)
{
    int64_t kind = (int64_t)call_get_path_id(call, "read_state.type");

    if (!is_guild_read_state(kind))
        return refuse_read_state_type(call, "type");
    enum err e = acknowledge_feature_of_read_state_type(call, kind, call->target.guild->id,
                                                        call_get_path_id(call, "acked.id"),
                                                        EVENT_GUILD_FEATURE_ACK);
    return e ? e : reply_with_null_token(call);
}

/* POST /users/@me/{read_state.type}/{acked.id}/ack */
enum err ack_user_feature(struct call *call)
{
    int64_t kind = (int64_t)call_get_path_id(call, "read_state.type");

    if (!is_account_read_state(kind))
        return refuse_read_state_type(call, "type");
    enum err e = acknowledge_feature_of_read_state_type(call, kind, call->caller->id,
                                                        call_get_path_id(call, "acked.id"),
                                                        EVENT_USER_NON_CHANNEL_ACK);
    return e ? e : reply_with_null_token(call);
}

/* --- bulk ----------------------------------------------------------------------------- */

struct bulk_ack_entry {
    int64_t read_state_type;
    snowflake channel_id, message_id;
};
struct bulk_ack {
    struct list read_states; /* struct bulk_ack_entry */
};
static const struct enum_choice kind_choices[] = {
    { READ_CHANNEL, NULL, "CHANNEL", "A channel" },
    { READ_GUILD_EVENT, NULL, "GUILD_EVENT", "A guild's events" },
    { READ_NOTIFICATION_CENTER, NULL, "NOTIFICATION_CENTER", "The account's notifications" },
    { READ_GUILD_HOME, NULL, "GUILD_HOME", "A guild's home" },
    { READ_ONBOARDING_QUESTION, NULL, "GUILD_ONBOARDING_QUESTION", "A guild's onboarding prompts" },
    { READ_MESSAGE_REQUESTS, NULL, "MESSAGE_REQUESTS", "The account's message requests" },
    { 0 },
};
static const struct type type_state_kind = { .kind = KIND_INT, .choices = kind_choices };
static const struct field entry_fields[] = {
    { FIELD(struct bulk_ack_entry, read_state_type), .type = &type_state_kind, .flags = OPTIONAL },
    { FIELD(struct bulk_ack_entry, channel_id), .type = &type_id,
      .doc = "Or the guild, or the account" },
    { FIELD(struct bulk_ack_entry, message_id), .type = &type_id, .doc = "0: no effect" },
    { 0 },
};
static const struct schema entry_schema = {
    .name = "BulkAckEntry",
    .size = sizeof(struct bulk_ack_entry),
    .fields = entry_fields,
    .doc = "How far a channel or feature was read.",
};
static const struct type type_entry = { .kind = KIND_OBJECT, .schema = &entry_schema };
static const struct type type_entries = {
    .kind = KIND_ARRAY, .min = 1, .max = 100, .of = &type_entry
};
static const struct field bulk_fields[] = {
    { FIELD(struct bulk_ack, read_states), .type = &type_entries },
    { 0 },
};
static const struct schema bulk_schema = {
    .name = "BulkAck",
    .size = sizeof(struct bulk_ack),
    .fields = bulk_fields,
    .doc = "How far several channels or features were read.",
};
const struct type ack_bulk_body = { .kind = KIND_OBJECT, .schema = &bulk_schema };

/* Returns true for errors of a channel that the caller cannot view. The request skips such
 * channels, because clients may send outdated ids. */
static bool is_channel_not_visible_error(enum err e)
{
    return e == ERR_UNKNOWN_CHANNEL || e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_GUILD;
}

static enum err apply_bulk_ack_entry(struct call *call, const struct bulk_ack_entry *in)
{
    int64_t kind = in->read_state_type;
    enum err e = OK;

    if (!in->message_id)
        return OK;
    if (is_account_read_state(kind))
        return acknowledge_feature_of_read_state_type(call, kind, call->caller->id, in->message_id,
                                                      EVENT_USER_NON_CHANNEL_ACK);
    if (is_guild_read_state(kind)) {
        struct member_access s;

        e = member_access_find(call->tx, in->channel_id, call->caller->id, &s);
        if (!e)
            e = acknowledge_feature_of_read_state_type(call, kind, in->channel_id, in->message_id,
                                                       EVENT_GUILD_FEATURE_ACK);
    } else {
        e = resolve_channel_by_id(call, in->channel_id);
        if (!e)
            e = acknowledge_channel(call, call->target.channel, in->message_id,
                                    &(struct message_ack_draft){ 0 });
    }
    return is_channel_not_visible_error(e) ? OK : e;
}

/* POST /read-states/ack-bulk */
enum err ack_bulk(struct call *call)
{
    const struct bulk_ack *in = call->body;
    const struct bulk_ack_entry *entries = in->read_states.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < in->read_states.count; i++)
        e = apply_bulk_ack_entry(call, &entries[i]);
    return e;
}

/* --- deletion ------------------------------------------------------------------------- */

struct read_state_deletion {
    int64_t read_state_type, version;
};
static const struct field deletion_fields[] = {
    { FIELD(struct read_state_deletion, read_state_type), .type = &type_state_kind,
      .flags = OPTIONAL },
    { FIELD(struct read_state_deletion, version), .type = &type_count, .flags = OPTIONAL,
      .doc = "Must be 2, else no effect" },
    { 0 },
};
static const struct schema deletion_schema = {
    .name = "ReadStateDeletion",
    .size = sizeof(struct read_state_deletion),
    .fields = deletion_fields,
    .doc = "A read state to delete.",
};
const struct type read_state_deletion_body = { .kind = KIND_OBJECT, .schema = &deletion_schema };

/* DELETE /channels/{resource.id}/messages/ack */
enum err delete_read_state(struct call *call)
{
    const struct read_state_deletion *in = call->body;

    if (in->version < 2)
        return OK;
    return read_state_delete(call->tx, call->caller->id, in->read_state_type,
                             call_get_path_id(call, "resource.id"));
}
