/* settings.c - routes that change notification settings, and their READY fields. */
#include "platform/guild_settings/internal.h"

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "api/deletion.h"
#include "platform/members/members.h"

static struct guild_settings default_guild_settings(snowflake guild_id)
{
    return (struct guild_settings){
        .guild_id = { guild_id ? GIVEN : GIVEN_NULL, guild_id },
        .message_notifications = NOTIFY_INHERITED,
        .mobile_push = true,
        .mute_config = { .given = GIVEN_NULL },
    };
}

static const char FIND_SETTINGS[] =
    "select settings from user_guild_settings where user_id = $1 and guild_id = $2";

enum err read_user_guild_settings(struct tx *tx, snowflake user_id, snowflake guild_id,
                                  struct guild_settings *ret)
{
    struct rows row;
    bool found = false;
    enum err e = tx_one(tx, FIND_SETTINGS, BIND(v_id(user_id), v_id(guild_id)), &row, &found);

    *ret = default_guild_settings(guild_id);
    if (e || !found)
        return e;
    const struct guild_settings *retained =
        json_column_decode(tx_arena(tx), &guild_settings_type, row_text(&row, 0));
    if (retained)
        *ret = *retained;
    return OK;
}

static const char PUT_SETTINGS[] =
    "insert into user_guild_settings (user_id, guild_id, version, suppress_everyone, "
    "suppress_roles, settings) values ($1, $2, $3, $4, $5, $6) on conflict (user_id, guild_id) do "
    "update set version = $3, suppress_everyone = $4, suppress_roles = $5, settings = $6";

static enum err put_guild_settings(struct tx *tx, snowflake user_id, const struct guild_settings *s)
{
    return tx_exec(tx, PUT_SETTINGS,
                   BIND(v_id(user_id), v_id(s->guild_id.value), v_int(s->version),
                        v_int(s->suppress_everyone), v_int(s->suppress_roles),
                        v_text(json_column_encode(tx_arena(tx), &guild_settings_type, s))),
                   NULL);
}

static void copy_optional_bool_if_given(bool *to, const struct opt_bool *from)
{
    if (from->given == GIVEN)
        *to = from->value;
}

static void copy_optional_int_if_given(int64_t *to, const struct opt_int *from)
{
    if (from->given == GIVEN)
        *to = from->value;
}

static void apply_mute_config(struct opt_object *to, const struct opt_object *from)
{
    if (from->given != ABSENT)
        *to = *from;
}

static void apply_settings_patch(struct guild_settings *s, const struct guild_settings_patch *in)
{
    copy_optional_int_if_given(&s->message_notifications, &in->message_notifications);
    copy_optional_int_if_given(&s->notify_highlights, &in->notify_highlights);
    copy_optional_int_if_given(&s->flags, &in->flags);
    copy_optional_bool_if_given(&s->muted, &in->muted);
    copy_optional_bool_if_given(&s->suppress_everyone, &in->suppress_everyone);
    copy_optional_bool_if_given(&s->suppress_roles, &in->suppress_roles);
    copy_optional_bool_if_given(&s->hide_muted_channels, &in->hide_muted_channels);
    copy_optional_bool_if_given(&s->mute_scheduled_events, &in->mute_scheduled_events);
    copy_optional_bool_if_given(&s->mobile_push, &in->mobile_push);
    apply_mute_config(&s->mute_config, &in->mute_config);
}

static struct channel_override *find_or_add_channel_override(struct arena *a,
                                                             struct guild_settings *s,
                                                             snowflake channel_id)
{
    struct channel_override *o = s->channel_overrides.items;

    for (size_t i = 0; i < s->channel_overrides.count; i++)
        if (o[i].channel_id == channel_id)
            return &o[i];
    o = list_append(a, &s->channel_overrides, sizeof *o);
    *o = (struct channel_override){ .channel_id = channel_id,
                                    .message_notifications = NOTIFY_INHERITED,
                                    .mute_config = { .given = GIVEN_NULL } };
    return o;
}

static void apply_channel_override_patch(struct channel_override *o,
                                         const struct channel_override_patch *in)
{
    copy_optional_bool_if_given(&o->collapsed, &in->collapsed);
    copy_optional_bool_if_given(&o->muted, &in->muted);
    copy_optional_int_if_given(&o->message_notifications, &in->message_notifications);
    apply_mute_config(&o->mute_config, &in->mute_config);
    if (in->flags.given == GIVEN)
        o->flags = in->flags;
}

static const char OF_GUILD[] = "select id from channels where id = $1 and guild_id = $2";
static const char OF_PERSON[] =
    "select channel_id from recipients where channel_id = $1 and user_id = $2";

static enum err channel_is_in_scope_of_settings(struct call *call, const struct guild_settings *s,
                                                snowflake id, bool *ret)
{
    bool guild = s->guild_id.given == GIVEN;
    snowflake of = guild ? s->guild_id.value : call->caller->id;

    return tx_exists(call->tx, guild ? SQL(OF_GUILD) : SQL(OF_PERSON), BIND(v_id(id), v_id(of)),
                     ret);
}

/* Applies the channel overrides of the body. Skips channels of other guilds, because clients may
 * send outdated ids. */
static enum err apply_channel_override_patches(struct call *call, struct guild_settings *s,
                                               const struct list *overrides)
{
    const struct channel_override_entry *in = overrides->items;
    enum err e = OK;

    for (size_t i = 0; !e && i < overrides->count; i++) {
        bool found = false;
        snowflake id;

        if (!str_to_u64(in[i].key, &id) || id > INT64_MAX)
            continue;
        e = channel_is_in_scope_of_settings(call, s, id, &found);
        if (!e && found)
            apply_channel_override_patch(find_or_add_channel_override(call->arena, s, id),
                                         &in[i].change);
    }
    return e;
}

/* Maximum number of channel overrides that one request reads and writes: those in the body plus
 * those stored for all guilds in the body. The limit exists because one transaction reads, writes
 * and emits them all. */
enum { MAX_OVERRIDES_PER_REQUEST = 4000 };

static enum err check_channel_override_count(struct call *call, const struct json_path *at,
                                             size_t count, long long most)
{
    if (count <= (size_t)most)
        return OK;
    form_add_error(&call->form, at, FORM_MAX_LENGTH, most);
    return ERR_INVALID_FORM_BODY;
}

static bool override_differs_from_default(const struct channel_override *o)
{
    return o->collapsed || o->muted || o->message_notifications != NOTIFY_INHERITED ||
           o->mute_config.given == GIVEN || o->flags.value;
}

/* If the user has too many overrides in a guild, removes those that equal the defaults or belong to
 * deleted channels. Threads and direct channels can have overrides too, so their number is not
 * limited by the number of channels. */
static enum err drop_default_and_stale_overrides(struct call *call, struct guild_settings *s)
{
    struct channel_override *o = s->channel_overrides.items;
    size_t retained = 0;
    enum err e = OK;

    if (s->channel_overrides.count <= MAX_OVERRIDES_PER_GUILD)
        return OK;
    for (size_t i = 0; !e && i < s->channel_overrides.count; i++) {
        bool found = false;

        if (override_differs_from_default(&o[i]))
            e = channel_is_in_scope_of_settings(call, s, o[i].channel_id, &found);
        if (found)
            o[retained++] = o[i];
    }
    s->channel_overrides.count = retained;
    return e;
}

/* Changes the settings of one guild. at is the path of the guild's settings in the body; NULL if
 * they are the whole body. *overrides is the number of channel overrides of all guilds in the body
 * that were processed so far. */
static enum err change_guild_settings(struct call *call, const struct json_path *at,
                                      snowflake guild_id, const struct guild_settings_patch *in,
                                      size_t *overrides, struct guild_settings *ret)
{
    struct json_path list = json_path_key(at, STR("channel_overrides"));
    snowflake me = call->caller->id;
    enum err e = read_user_guild_settings(call->tx, me, guild_id, ret);

    *overrides += ret->channel_overrides.count + in->channel_overrides.value.count;
    if (!e)
        e = check_channel_override_count(call, &list, *overrides, MAX_OVERRIDES_PER_REQUEST);
    if (e)
        return e;
    apply_settings_patch(ret, in);
    e = apply_channel_override_patches(call, ret, &in->channel_overrides.value);
    if (!e)
        e = drop_default_and_stale_overrides(call, ret);
    if (!e)
        e = check_channel_override_count(call, &list, ret->channel_overrides.count,
                                         MAX_OVERRIDES_PER_GUILD);
    ret->version++;
    if (!e)
        e = put_guild_settings(call->tx, me, ret);
    if (!e)
        call_emit_event(call, EVENT_USER_GUILD_SETTINGS_UPDATE, audience_of_user(me),
                        &guild_settings_schema, ret);
    return e;
}

static enum err modify_user_guild_settings(struct call *call)
{
    struct guild_settings s;
    size_t overrides = 0;
    enum err e =
        change_guild_settings(call, NULL, call->target.guild->id, call->body, &overrides, &s);

    return e ? e : call_reply_with_object(call, &s);
}

static enum err modify_private_settings(struct call *call)
{
    struct guild_settings s;
    size_t overrides = 0;
    enum err e = change_guild_settings(call, NULL, 0, call->body, &overrides, &s);

    return e ? e : call_reply_with_object(call, &s);
}

static enum err resolve_settings_guild(struct call *call, struct str key, snowflake *ret)
{
    struct member_access s;

    *ret = 0;
    if (str_is(key, "@me"))
        return OK;
    if (!str_to_u64(key, ret) || *ret > INT64_MAX)
        return ERR_UNKNOWN_GUILD;
    enum err e = member_access_find(call->tx, *ret, call->caller->id, &s);
    return e == ERR_MISSING_ACCESS ? ERR_UNKNOWN_GUILD : e;
}

/* Changes the settings of several guilds in one transaction: of all guilds in the body or, on an
 * error, of none. */
static enum err bulk_modify_user_guild_settings(struct call *call)
{
    const struct guild_settings_bulk_request *in = call->body;
    const struct guild_settings_bulk_entry *items = in->guilds.items;
    struct json_path guilds = json_path_key(NULL, STR("guilds"));
    struct list out = { 0 };
    size_t overrides = 0;
    enum err e = OK;

    for (size_t i = 0; !e && i < in->guilds.count; i++) {
        struct json_path at = json_path_key(&guilds, items[i].key);
        snowflake guild_id;

        e = resolve_settings_guild(call, items[i].key, &guild_id);
        if (!e)
            e = change_guild_settings(
                call, &at, guild_id, &items[i].change, &overrides,
                list_append(call->arena, &out, sizeof(struct guild_settings)));
    }
    return e ? e : call_reply_with_object(call, &out);
}

/* --- notification settings of all guilds --------------------------------------------- */

static const char PUT_FLAGS[] =
    "insert into notification_settings (user_id, flags) values ($1, $2) "
    "on conflict (user_id) do update set flags = $2";

static enum err modify_notification_settings(struct call *call)
{
    const struct notification_flags *in = call->body;
    struct notification_flags out = { .flags = opt_int_present(in->flags.value) };
    enum err e =
        tx_exec(call->tx, PUT_FLAGS, BIND(v_id(call->caller->id), v_int(in->flags.value)), NULL);

    if (e)
        return e;
    call_emit_event(call, EVENT_NOTIFICATION_SETTINGS_UPDATE, audience_of_user(call->caller->id),
                    &notification_flags_schema, &out);
    return call_reply_with_object(call, &out);
}

/* --- fields of READY ----------------------------------------------------------------- */

static const char SETTINGS_OF[] = "select settings, version from user_guild_settings "
                                  "where user_id = $1 order by guild_id";

static enum err write_guild_settings_entries_json(struct tx *tx, snowflake user_id,
                                                  struct json_writer *out, int64_t *ret_version)
{
    struct rows rows;
    enum err e = tx_query(tx, SETTINGS_OF, BIND(v_id(user_id)), &rows);

    *ret_version = 0;
    if (e)
        return e;
    json_begin_array(out);
    while (rows_next(&rows)) {
        json_write_raw(out, row_text(&rows, 0));
        *ret_version += row_int(&rows, 1);
    }
    json_end_array(out);
    return rows_end(&rows);
}

static enum err write_notification_flags_json(struct tx *tx, snowflake user_id,
                                              struct json_writer *out)
{
    int64_t flags;
    enum err e = tx_read_int(tx, "select flags from notification_settings where user_id = $1",
                             BIND(v_id(user_id)), &flags);

    if (e)
        return e;
    json_write_name(out, "notification_settings");
    json_begin_object(out);
    json_write_name(out, "flags");
    json_write_int(out, flags);
    json_end_object(out);
    return OK;
}

/* Writes the READY fields with notification settings. Their version is the sum of the versions of
 * all rows, so every change increases it. */
enum err write_ready_user_guild_settings(struct tx *tx, snowflake user_id, bool entries,
                                         struct json_writer *out)
{
    int64_t version;

    json_write_name(out, "user_guild_settings");
    if (entries) {
        json_begin_object(out);
        json_write_name(out, "entries");
    }
    enum err e = write_guild_settings_entries_json(tx, user_id, out, &version);
    if (entries) {
        json_write_name(out, "partial");
        json_write_bool(out, false);
        json_write_name(out, "version");
        json_write_int(out, version);
        json_end_object(out);
    }
    return e ? e : write_notification_flags_json(tx, user_id, out);
}

/* --- deleting the settings of a guild that the user left ----------------------------- */

static enum err delete_settings_of_left_guild(struct call *call,
                                              const struct member_leaving_guild *leave)
{
    return tx_exec(call->tx, "delete from user_guild_settings where user_id = $1 and guild_id = $2",
                   BIND(v_id(leave->user->id), v_id(leave->guild_id)), NULL);
}

static const struct rate_limit limit_guild_settings = { .name = "guild-settings",
                                                        .count = 20,
                                                        .window_s = 10 };

#define CHANGES_SETTINGS(path_, name_, doc_, body_, reply_, event_)                          \
    {                                                                                        \
        .method = PATCH, .path = path_, .name = #name_, .doc = doc_, .auth = AUTH_USER,      \
        .body = body_, .reply = reply_, .fires = (const enum event[]){ event_, EVENT_NONE }, \
        .limit = &limit_guild_settings, .allowed_when_restricted = true, .handle = name_,    \
    }

static const struct route routes[] = {
    CHANGES_SETTINGS("/users/@me/guilds/{guild.id}/settings", modify_user_guild_settings,
                     "Change the caller's notification settings in a guild.", &settings_change_body,
                     &guild_settings_type, EVENT_USER_GUILD_SETTINGS_UPDATE),
    CHANGES_SETTINGS("/users/@me/guilds/@me/settings", modify_private_settings,
                     "Change the caller's notification settings of private channels.",
                     &settings_change_body, &guild_settings_type, EVENT_USER_GUILD_SETTINGS_UPDATE),
    CHANGES_SETTINGS("/users/@me/guilds/settings", bulk_modify_user_guild_settings,
                     "Change the caller's notification settings in several guilds.",
                     &settings_bulk_body, &guild_settings_list_type,
                     EVENT_USER_GUILD_SETTINGS_UPDATE),
    CHANGES_SETTINGS("/users/@me/notification-settings", modify_notification_settings,
                     "Change the caller's global notification settings.", &notification_flags_body,
                     &notification_flags_type, EVENT_NOTIFICATION_SETTINGS_UPDATE),
    { 0 },
};

const struct domain guild_settings_domain = {
    .name = "Settings of guilds",
    .doc = "Notification settings of users, per guild and global.",
    .routes = routes,
    .hooks = &(const struct hook_listeners){ .member_left = delete_settings_of_left_guild },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_GUILD, "user_guild_settings", "user_id, guild_id",
                           "guild_id = $1 and guild_id <> 0") },
            { DELETE_OF(WITH_ACCOUNT, "user_guild_settings", "user_id", "guild_id") },
            { DELETE_FEW(WITH_ACCOUNT, "notification_settings", "user_id") },
            { 0 } },
};
