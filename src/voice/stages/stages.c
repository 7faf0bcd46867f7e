/* stages.c - stage instances: routes, rows, and stages of scheduled events. */
#include "api/hooks.h"
#include "base/utf8.h"
#include "model/fields/rows.h"
#include "model/scheduled_event.h"
#include "model/stage.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/messages/messages.h"
#include "platform/scheduled_events/scheduled_events.h"
#include "voice/states.h"

static const uint64_t STAGE_MODERATOR_PERMISSIONS =
    PERMISSION(MANAGE_CHANNELS) | PERMISSION(MUTE_MEMBERS) | PERMISSION(MOVE_MEMBERS);

struct stage_draft {
    snowflake channel_id;
    struct str topic;
    int64_t privacy_level;
    struct opt_id guild_scheduled_event_id;
    struct opt_bool send_start_notification;
};
struct stage_patch {
    struct opt_str topic;
    struct opt_int privacy_level;
};

static const struct field draft_fields[] = {
    { FIELD(struct stage_draft, channel_id), .type = &type_id },
    { FIELD(struct stage_draft, topic), .type = &type_stage_topic },
    { FIELD(struct stage_draft, privacy_level), .type = &type_stage_privacy,
      .flags = OPTIONAL | NULLABLE, .fallback = STAGE_GUILD_ONLY },
    { FIELD(struct stage_draft, guild_scheduled_event_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "An event of this channel that has not ended" },
    { FIELD(struct stage_draft, send_start_notification), .type = &type_bool,
      .flags = OPTIONAL | NULLABLE, .doc = "Needs MENTION_EVERYONE; has no effect on this server" },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "StageDraft",
    .size = sizeof(struct stage_draft),
    .fields = draft_fields,
    .doc = "A stage to open.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

static const struct field patch_fields[] = {
    { FIELD(struct stage_patch, topic), .type = &type_stage_topic, .flags = OPTIONAL },
    { FIELD(struct stage_patch, privacy_level), .type = &type_stage_privacy, .flags = OPTIONAL },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "StagePatch",
    .size = sizeof(struct stage_patch),
    .fields = patch_fields,
    .doc = "Changes to a stage.",
};
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

/* --- SQL ------------------------------------------------------------------------------ */

#define STAGE_COLUMNS \
    "id, guild_id, channel_id, topic, privacy_level, discoverable_disabled, scheduled_event_id"

static void stage_from_row(const struct rows *r, void *ret)
{
    struct stage_instance *s = ret;

    *s = (struct stage_instance){
        .id = row_id(r, 0),
        .guild_id = row_id(r, 1),
        .channel_id = row_id(r, 2),
        .topic = row_text(r, 3),
        .privacy_level = row_int(r, 4),
        .discoverable_disabled = row_bool(r, 5),
        .guild_scheduled_event_id = row_optional_id(r, 6),
    };
}

static const char FIND_STAGE[] =
    "select " STAGE_COLUMNS " from stage_instances where channel_id = $1";

static enum err stage_find(struct tx *tx, snowflake channel_id, struct stage_instance *ret)
{
    return tx_read_first(tx, FIND_STAGE, BIND(v_id(channel_id)), stage_from_row, ret,
                         ERR_UNKNOWN_STAGE_INSTANCE);
}

static const char STAGES_OF_GUILD[] =
    "select " STAGE_COLUMNS " from stage_instances where guild_id = $1 order by id";

static bool has_stage_channel(const struct list *channels)
{
    const struct channel *c = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (c[i].type == CHANNEL_STAGE)
            return true;
    return false;
}

enum err read_visible_stage_instances(struct tx *tx, struct gateway_guild *ret)
{
    struct stage_instance s;
    struct rows rows;

    /* Skip the query if the guild has no stage channel. */
    if (!has_stage_channel(&ret->channels))
        return OK;
    enum err e = tx_query(tx, STAGES_OF_GUILD, BIND(v_id(ret->guild.id)), &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        stage_from_row(&rows, &s);
        if (channel_list_contains_id(&ret->channels, s.channel_id))
            *(struct stage_instance *)list_append(tx_arena(tx), &ret->stage_instances, sizeof s) =
                s;
    }
    return rows_end(&rows);
}

static const char INSERT_STAGE[] =
    "insert into stage_instances (" STAGE_COLUMNS ", silent_since) values ($1, $2, $3, $4, $5, $6, "
    "$7, $8) on conflict (channel_id) do update set topic = excluded.topic, "
    "privacy_level = excluded.privacy_level, scheduled_event_id = excluded.scheduled_event_id";
static const char UPDATE_STAGE[] =
    "update stage_instances set topic = $2, privacy_level = $3 where id = $1";
static const char DELETE_STAGE[] = "delete from stage_instances where id = $1";

static void emit_stage_event(struct call *call, enum event event, const struct stage_instance *s)
{
    call_emit_event(call, event, audience_of_channel_viewers(s->guild_id, s->channel_id),
                    &stage_instance_schema, s);
}

enum err stage_instance_close(struct call *call, snowflake channel_id)
{
    struct stage_instance s;
    enum err e = stage_find(call->tx, channel_id, &s);

    if (e)
        return e == ERR_UNKNOWN_STAGE_INSTANCE ? OK : e;
    e = tx_exec(call->tx, DELETE_STAGE, BIND(v_id(s.id)), NULL);
    if (!e)
        emit_stage_event(call, EVENT_STAGE_INSTANCE_DELETE, &s);
    return e;
}

enum err stage_instance_insert(struct tx *tx, const struct stage_instance *s,
                               struct opt_int silent_since)
{
    return tx_exec(tx, INSERT_STAGE,
                   BIND(v_id(s->id), v_id(s->guild_id), v_id(s->channel_id), v_text(s->topic),
                        v_int(s->privacy_level), v_int(s->discoverable_disabled),
                        sql_value_of_optional_id(s->guild_scheduled_event_id),
                        sql_value_of_optional_int(silent_since)),
                   NULL);
}

/* --- stages of scheduled events ------------------------------------------------------- */

enum { MAX_TOPIC_LENGTH = 120 };

static struct str truncate_topic(struct str name)
{
    while (utf8_length(name) > MAX_TOPIC_LENGTH)
        do
            name.n--;
        while (((unsigned char)name.p[name.n] & 0xc0) == 0x80);
    return name;
}

/* Opens a stage for a scheduled event. Replaces an open stage in the channel. */
static enum err stage_open_for_event(struct call *call, struct scheduled_event_stage_change *about)
{
    const struct scheduled_event *event = about->event;
    snowflake author = call->caller ? call->caller->id : event->creator_id.value;
    struct channel c;
    struct stage_instance s = { .id = snowflake_new(),
                                .guild_id = event->guild_id,
                                .channel_id = event->channel_id.value,
                                .topic = truncate_topic(event->name),
                                .privacy_level = STAGE_GUILD_ONLY,
                                .guild_scheduled_event_id = opt_id_or_null(event->id) };
    enum err e = channel_find(call->tx, s.channel_id, &c);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? ERR_EVENT_STAGE : e;
    e = stage_instance_close(call, s.channel_id);
    if (!e)
        e = stage_instance_insert(call->tx, &s, (struct opt_int){ 0 });
    if (!e)
        e = stage_schedule_close_if_silent(call, s.channel_id);
    if (e)
        return e;
    about->stage_id = s.id;
    emit_stage_event(call, EVENT_STAGE_INSTANCE_CREATE, &s);
    return message_create_system_message(call, &c, MESSAGE_STAGE_START, author, 0, s.topic);
}

static enum err stage_close_for_event(struct call *call,
                                      const struct scheduled_event_stage_change *about)
{
    return stage_instance_close(call, about->event->channel_id.value);
}

static enum err send_stage_message(struct call *call, enum message_type type,
                                   const struct stage_instance *s)
{
    return message_create_system_message(call, call->target.channel, type, call->caller->id, 0,
                                         s->topic);
}

/* Resolves the channel in the body. Checks visibility and permissions here, because the path of the
 * route has no channel. */
static enum err resolve_stage_channel(struct call *call, snowflake channel_id)
{
    enum err e = resolve_channel_by_id(call, channel_id);

    if (e)
        return e;
    if (!call->target.member_access)
        return ERR_DM_CHANNEL;
    if ((call->target.permissions & STAGE_MODERATOR_PERMISSIONS) != STAGE_MODERATOR_PERMISSIONS)
        return call_get_missing_permissions_error(call, STAGE_MODERATOR_PERMISSIONS);
    return call->target.channel->type == CHANNEL_STAGE ? OK : ERR_CHANNEL_TYPE;
}

/* Checks that the scheduled event in the body belongs to this channel and has not ended. */
static enum err check_stage_instance_draft(struct call *call, const struct stage_draft *in)
{
    struct scheduled_event event;

    if (in->send_start_notification.value &&
        !(call->target.permissions & PERMISSION(MENTION_EVERYONE)))
        return call_get_missing_permissions_error(call, PERMISSION(MENTION_EVERYONE));
    if (in->guild_scheduled_event_id.given != GIVEN)
        return OK;
    enum err e = scheduled_event_find(call->tx, call->target.channel->guild_id.value,
                                      in->guild_scheduled_event_id.value, &event);
    if (e)
        return e;
    return event.channel_id.value == in->channel_id && event.status <= EVENT_ACTIVE
               ? OK
               : ERR_UNKNOWN_SCHEDULED_EVENT;
}

static const struct field audited_stage[] = {
    { FIELD(struct stage_instance, topic), .type = &type_text },
    { FIELD(struct stage_instance, privacy_level), .type = &type_int },
    { 0 },
};

/* POST /stage-instances */
static enum err open_stage(struct call *call)
{
    const struct stage_draft *in = call->body;
    struct stage_instance s;

    enum err e = resolve_stage_channel(call, in->channel_id);
    if (!e)
        e = check_stage_instance_draft(call, in);
    if (e)
        return e;
    e = stage_find(call->tx, in->channel_id, &s);
    if (e != ERR_UNKNOWN_STAGE_INSTANCE)
        return e ? e : ERR_STAGE_OPEN;

    s = (struct stage_instance){
        .id = snowflake_new(),
        .guild_id = call->target.channel->guild_id.value,
        .channel_id = in->channel_id,
        .topic = in->topic,
        .privacy_level = in->privacy_level,
        .guild_scheduled_event_id = in->guild_scheduled_event_id,
    };
    e = stage_instance_insert(call->tx, &s, (struct opt_int){ 0 });
    if (!e)
        e = audit_log_record_object_change(call, s.guild_id, AUDIT_STAGE_CREATE, s.id,
                                           audited_stage, NULL, &s);
    if (!e)
        e = stage_schedule_close_if_silent(call, s.channel_id);
    if (e)
        return e;
    emit_stage_event(call, EVENT_STAGE_INSTANCE_CREATE, &s);
    e = send_stage_message(call, MESSAGE_STAGE_START, &s);
    return e ? e : call_reply_with_object(call, &s);
}

/* GET /stage-instances/{channel.id} */
static enum err get_stage(struct call *call)
{
    struct stage_instance s;
    enum err e = stage_find(call->tx, call->target.channel->id, &s);

    return e ? e : call_reply_with_object(call, &s);
}

/* PATCH /stage-instances/{channel.id} */
static enum err modify_stage(struct call *call)
{
    const struct stage_patch *in = call->body;
    struct stage_instance s;

    enum err e = stage_find(call->tx, call->target.channel->id, &s);
    if (e)
        return e;
    const struct stage_instance before = s;
    bool new_topic = in->topic.given == GIVEN && !str_eq(s.topic, in->topic.value);
    if (new_topic)
        s.topic = in->topic.value;
    if (in->privacy_level.given == GIVEN)
        s.privacy_level = in->privacy_level.value;
    e = tx_exec(call->tx, UPDATE_STAGE, BIND(v_id(s.id), v_text(s.topic), v_int(s.privacy_level)),
                NULL);
    if (!e)
        e = audit_log_record_object_change(call, s.guild_id, AUDIT_STAGE_UPDATE, s.id,
                                           audited_stage, &before, &s);
    if (e)
        return e;
    emit_stage_event(call, EVENT_STAGE_INSTANCE_UPDATE, &s);
    if (new_topic)
        e = send_stage_message(call, MESSAGE_STAGE_TOPIC, &s);
    return e ? e : call_reply_with_object(call, &s);
}

/* DELETE /stage-instances/{channel.id} */
static enum err close_stage(struct call *call)
{
    struct stage_instance s;
    enum err e = stage_find(call->tx, call->target.channel->id, &s);

    if (!e)
        e = stage_instance_close(call, s.channel_id);
    if (!e)
        e = audit_log_record_object_change(call, s.guild_id, AUDIT_STAGE_DELETE, s.id,
                                           audited_stage, &s, NULL);
    return e ? e : send_stage_message(call, MESSAGE_STAGE_END, &s);
}

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/stage-instances",
        .name = "open_stage",
        .doc = "Open a stage in a stage channel. Needs MANAGE_CHANNELS, MUTE_MEMBERS and "
               "MOVE_MEMBERS in it.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &draft_body,
        .reply = &type_stage,
        .fires = (const enum event[]){ EVENT_STAGE_INSTANCE_CREATE, EVENT_MESSAGE_CREATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = open_stage,
    },
    {
        .method = GET,
        .path = "/stage-instances/{channel.id}",
        .name = "get_stage",
        .doc = "The stage that is open in a channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_stage,
        .handle = get_stage,
    },
    {
        .method = PATCH,
        .path = "/stage-instances/{channel.id}",
        .name = "modify_stage",
        .doc = "Change the topic or the privacy level of a stage.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_CHANNELS) | PERMISSION(MUTE_MEMBERS) | PERMISSION(MOVE_MEMBERS),
        .body = &patch_body,
        .reply = &type_stage,
        .fires = (const enum event[]){ EVENT_STAGE_INSTANCE_UPDATE, EVENT_MESSAGE_CREATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = modify_stage,
    },
    {
        .method = DELETE,
        .path = "/stage-instances/{channel.id}",
        .name = "close_stage",
        .doc = "Close a stage.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_CHANNELS) | PERMISSION(MUTE_MEMBERS) | PERMISSION(MOVE_MEMBERS),
        .fires = (const enum event[]){ EVENT_STAGE_INSTANCE_DELETE, EVENT_MESSAGE_CREATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = close_stage,
    },
    { 0 },
};

static const struct job_kind *const jobs[] = { &stage_silence_job, NULL };

const struct domain stages_domain = {
    .name = "Stages",
    .doc = "Stage channels: speakers with an audience.",
    .routes = routes,
    .world = &stages_world,
    .jobs = jobs,
    .hooks = &(const struct hook_listeners){ .voice_left = stage_on_voice_leave,
                                             .scheduled_event_started = stage_open_for_event,
                                             .scheduled_event_ended = stage_close_for_event },
};
