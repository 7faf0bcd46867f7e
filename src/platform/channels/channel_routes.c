/* channel_routes.c - GET, PATCH and DELETE /channels/{channel.id}.
 *
 * All channel types share these routes: guild channels are handled here, private channels and
 * threads in their own files. */
#include "model/fields/ids.h"
#include "platform/channels/deletion.h"
#include "platform/channels/internal.h"

/* Limits renames of a channel to two per 10 minutes, by all callers together, because each rename
 * emits an event to every viewer. */
static const struct rate_limit limit_rename = {
    .name = "channel-rename", .count = 2, .window_s = 600, .shared = true
};

enum err get_channel(struct call *call)
{
    struct channel *c = call->target.channel;
    enum err e = OK;

    if (channel_is_private(c->type))
        e = channel_read_recipients_and_last_pin_time(call->tx, c, call->caller->id);
    else if (channel_is_thread(c->type))
        e = thread_read_membership_of_user(call->tx, call->caller->id, c);
    return e ? e : call_reply_with_object(call, c);
}

/* --- PATCH /channels/{channel.id} ---------------------------------------------------- */

static enum err store_group_icon(struct call *call)
{
    const struct channel_edit *in = call->body;
    struct channel_edit_results *stages = call_get_stage_data(call, "channel_edit_results");

    return store_uploaded_picture(call, "channel-icons", call_get_path_id(call, "channel.id"),
                                  &in->icon, &stages->icon);
}

/* Stores the icon of the body if the channel is a group. Other channel types have no icon. */
static enum err store_icon_if_group(struct call *call)
{
    if (call->target.channel->type == CHANNEL_GROUP)
        call->compute = store_group_icon;
    return OK;
}

enum err schedule_storing_group_icon(struct call *call)
{
    const struct channel_edit *in = call->body;

    call_store_stage_data(call, "channel_edit_results", sizeof(struct channel_edit_results));
    if (in->icon.given != ABSENT)
        call->read = store_icon_if_group;
    return OK;
}

enum err check_modify_channel_permission(struct call *call)
{
    const struct channel *c = call->target.channel;

    if (c->type == CHANNEL_DM)
        return ERR_DM_CHANNEL;
    if (c->type == CHANNEL_GROUP)
        return OK;
    if (channel_is_thread(c->type))
        return hook_thread_edit_admitted(call, c);
    return call_require_permissions(call, PERMISSION(MANAGE_CHANNELS));
}

static bool optional_text_differs(const struct opt_str *in, const struct opt_str *now)
{
    if (in->given == ABSENT)
        return false;
    return in->given != now->given || (in->given == GIVEN && !str_eq(in->value, now->value));
}

/* Counts a rename towards the rate limit. A retry of the transaction is not counted again. */
static enum err count_channel_rename_against_limit(struct call *call)
{
    struct channel_edit_results *stages = call_get_stage_data(call, "channel_edit_results");
    struct str key = call_get_path_text(call, "channel.id");

    if (stages->counted)
        return OK;
    stages->counted = true;
    return call_count_against_rate_limit(call, &limit_rename, key);
}

static enum err change_channel_type(struct call *call, const struct channel_edit *in,
                                    struct channel *c)
{
    bool text = c->type == CHANNEL_TEXT || c->type == CHANNEL_ANNOUNCEMENT;

    if (in->type.given != GIVEN || in->type.value == c->type)
        return OK;
    if (!text || (in->type.value != CHANNEL_TEXT && in->type.value != CHANNEL_ANNOUNCEMENT))
        return call_add_field_error(
            call, "type", FORM_CHOICES,
            "Only text channels can become announcement channels, and the reverse.");
    c->type = in->type.value;
    return OK;
}

static enum err replace_overwrites(struct call *call, const struct channel_edit *in,
                                   const struct channel *c)
{
    const struct list *wanted = &in->permission_overwrites.value;
    const struct list *before = &c->permission_overwrites.value;

    if (in->permission_overwrites.given == ABSENT)
        return OK;
    if (!(call->target.permissions & PERMISSION(MANAGE_ROLES)))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_ROLES));
    enum err e = channel_overwrites_infer_types(call, wanted);
    if (!e)
        e = check_overwrites_permission(call, wanted, before, call->target.permissions);
    return e ? e : channel_overwrites_replace(call->tx, c->id, wanted);
}

const struct field audited_channel[] = {
    { FIELD(struct channel, name), .type = &type_text },
    { FIELD(struct channel, type), .type = &type_int },
    { FIELD(struct channel, topic), .type = &type_text },
    { FIELD(struct channel, nsfw), .type = &type_bool },
    { FIELD(struct channel, position), .type = &type_int },
    { FIELD(struct channel, parent_id), .type = &type_id },
    { FIELD(struct channel, rate_limit_per_user), .type = &type_int },
    { FIELD(struct channel, bitrate), .type = &type_int },
    { FIELD(struct channel, user_limit), .type = &type_int },
    { FIELD(struct channel, rtc_region), .type = &type_text },
    { FIELD(struct channel, video_quality_mode), .type = &type_int },
    { FIELD(struct channel, default_auto_archive_duration), .type = &type_int },
    { FIELD(struct channel, default_thread_rate_limit_per_user), .type = &type_int },
    { FIELD(struct channel, available_tags), .type = &type_forum_tags },
    { FIELD(struct channel, default_reaction_emoji), .type = &type_default_reaction },
    { FIELD(struct channel, default_sort_order), .type = &type_int },
    { FIELD(struct channel, default_forum_layout), .type = &type_int },
    { FIELD(struct channel, flags), .type = &type_int },
    { FIELD(struct channel, permission_overwrites), .type = &type_overwrites },
    { 0 },
};

static enum err modify_guild_channel(struct call *call)
{
    const struct channel_edit *in = call->body;
    const struct channel before = *call->target.channel;
    struct channel c = before;

    enum err type = change_channel_type(call, in, &c),
             e = channel_edit_validate(call, NULL, in, &c);
    if (!e)
        e = type;
    if (!e)
        e = replace_overwrites(call, in, &before);
    if (!e && (optional_text_differs(&in->name, &before.name) ||
               optional_text_differs(&in->topic, &before.topic)))
        e = count_channel_rename_against_limit(call);
    if (e)
        return e;

    channel_edit_apply(in, &c);
    e = channel_update(call->tx, &c);
    bool singly = in->permission_overwrites.given != ABSENT &&
                  overwrites_need_separate_audit_entries(&before.permission_overwrites.value,
                                                         &in->permission_overwrites.value);
    if (in->permission_overwrites.given != ABSENT && !singly)
        c.permission_overwrites.value = in->permission_overwrites.value;
    if (!e)
        e = audit_log_record_object_change(call, before.guild_id.value, AUDIT_CHANNEL_UPDATE, c.id,
                                           audited_channel, &before, &c);
    if (!e && singly)
        e = audit_log_record_overwrite_changes(call, &before.permission_overwrites.value,
                                               &in->permission_overwrites.value);
    if (!e)
        e = channel_emit_update(call, c.id);
    if (!e && in->rtc_region.given == GIVEN)
        e = hook_channel_region_set(call, &c);
    if (!e && in->permission_overwrites.given != ABSENT)
        e = category_copy_overwrites_to_channels(call, &before,
                                                 in->permission_overwrites.value.count);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    return e ? e : call_reply_with_object(call, &c);
}

enum err modify_channel(struct call *call)
{
    const struct channel *c = call->target.channel;

    if (c->type == CHANNEL_GROUP)
        return modify_group_channel(call, call_get_stage_data(call, "channel_edit_results"));
    return channel_is_thread(c->type) ? hook_thread_edited(call, c) : modify_guild_channel(call);
}

/* --- DELETE /channels/{channel.id} --------------------------------------------------- */

/* Moves the channels of a deleted category to the top level, and emits THREAD_DELETE for the
 * threads of a deleted channel. */
static enum err detach_child_channels(struct call *call, const struct channel *c)
{
    struct list children, freed = { 0 };
    enum err e = channel_list_children(call->tx, c->id, &children);

    for (size_t i = 0; !e && i < children.count; i++) {
        struct channel *child = (struct channel *)children.items + i;

        if (channel_is_thread(child->type)) {
            emit_thread_delete(call, child);
            continue;
        }
        child->parent_id.given = GIVEN_NULL;
        e = channel_update(call->tx, child);
        id_list_add(call->arena, &freed, child->id);
    }
    return e ? e : channels_emit_updates(call, &freed);
}

static const char CLEAR_GUILD_REFERENCES[] =
    "update guilds set "
    "afk_channel_id = case when afk_channel_id = $2 then null else afk_channel_id end, "
    "system_channel_id = case when system_channel_id = $2 then null else system_channel_id end, "
    "rules_channel_id = case when rules_channel_id = $2 then null else rules_channel_id end, "
    "public_updates_channel_id = case when public_updates_channel_id = $2 then null "
    "else public_updates_channel_id end, "
    "safety_alerts_channel_id = case when safety_alerts_channel_id = $2 then null "
    "else safety_alerts_channel_id end "
    "where id = $1 and (afk_channel_id = $2 or system_channel_id = $2 or rules_channel_id = $2 "
    "or public_updates_channel_id = $2 or safety_alerts_channel_id = $2)";

static enum err clear_guild_references_to_channel(struct call *call, const struct channel *c)
{
    struct guild guild;
    int64_t changed;

    enum err e = tx_exec(call->tx, CLEAR_GUILD_REFERENCES,
                         BIND(v_id(c->guild_id.value), v_id(c->id)), &changed);
    if (e || !changed)
        return e;
    e = guild_find(call->tx, c->guild_id.value, &guild);
    if (!e)
        e = guild_read_roles_emojis_and_other_lists(call, &guild);
    if (!e)
        call_emit_event(call, EVENT_GUILD_UPDATE, audience_of_guild(guild.id), &guild_schema,
                        &guild);
    return e;
}

/* True if the channel is the rules channel or the public updates channel of a Community guild. Such
 * channels cannot be deleted. */
static bool channel_is_required_by_community(const struct guild *g, snowflake channel_id)
{
    return guild_has_feature(g, "COMMUNITY") &&
           ((g->rules_channel_id.given == GIVEN && g->rules_channel_id.value == channel_id) ||
            (g->public_updates_channel_id.given == GIVEN &&
             g->public_updates_channel_id.value == channel_id));
}

enum err guild_channel_delete(struct call *call, const struct channel *c)
{
    enum err e = hook_channel_deleting(call, c);

    if (!e)
        e = detach_child_channels(call, c);
    if (!e)
        e = clear_guild_references_to_channel(call, c);
    if (!e)
        e = channel_delete(call, c->id);
    if (!e)
        e = audit_log_record_object_change(call, c->guild_id.value, AUDIT_CHANNEL_DELETE, c->id,
                                           audited_channel, c, NULL);
    if (!e)
        call_emit_event(call, EVENT_CHANNEL_DELETE, audience_of_channel(c), &channel_schema, c);
    return e;
}

static enum err delete_guild_channel(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct guild guild;

    if (!(call->target.permissions & PERMISSION(MANAGE_CHANNELS)))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_CHANNELS));
    enum err e = guild_find(call->tx, c->guild_id.value, &guild);
    if (!e && channel_is_required_by_community(&guild, c->id))
        return ERR_COMMUNITY_CHANNEL_REQUIRED;
    if (!e)
        e = guild_channel_delete(call, c);
    return e ? e : call_reply_with_object(call, c);
}

enum err delete_or_leave_channel(struct call *call)
{
    const struct channel_leave_query *query = call->query;
    const struct channel *c = call->target.channel;

    if (channel_is_private(c->type))
        return leave_private_channel(call, query->silent);
    return channel_is_thread(c->type) ? hook_thread_deleted(call, c) : delete_guild_channel(call);
}
