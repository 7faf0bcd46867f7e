/* notify.c - notifies the streamer's friends in the guild that he is streaming. */
#include "voice/streams/streams.h"

#include "model/fields/ids.h"
#include "model/notification.h"
#include "model/permissions/permissions.h"
#include "platform/accounts/settings/settings.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

/* A friend of the streamer in the guild, with the data for computing the friend's permissions. */
struct friend_to_notify {
    struct permission_computation_input permissions_of;
    struct list roles;       /* snowflakes */
    bool wants_notification; /* stream_notifications_enabled */
};

/* Lists the streamer's friends in the guild who do not ignore him and are not in his channel. The
 * query starts from the friends (at most 1,000), because the guild may have any number of
 * members. */
static const char LIST_FRIENDS_IN_GUILD[] =
    "select m.user_id, s.document from relationships r cross join members m "
    "left join user_settings s on s.user_id = m.user_id "
    "where r.target_id = $2 and r.type = 1 and r.ignored = 0 and m.guild_id = $1 and "
    "m.user_id = r.user_id and not exists (select 1 from voice_states v where "
    "v.user_id = m.user_id and v.channel_id = $3) order by m.user_id";
static const char LIST_ROLES_OF_FRIENDS[] =
    "select m.user_id, o.id, o.permissions from relationships r cross join member_roles m "
    "cross join roles o where r.target_id = $2 and r.type = 1 and m.guild_id = $1 and "
    "m.user_id = r.user_id and o.id = m.role_id order by m.user_id";

static enum err read_friends_to_notify(struct tx *tx, const struct stream_key *key,
                                       struct list *ret)
{
    struct user_settings settings;
    struct rows rows;
    enum err e =
        tx_query(tx, LIST_FRIENDS_IN_GUILD,
                 BIND(v_id(key->guild_id), v_id(key->owner_id), v_id(key->channel_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (!e && rows_next(&rows)) {
        struct friend_to_notify *w = list_append(tx_arena(tx), ret, sizeof *w);

        w->permissions_of.user_id = row_id(&rows, 0);
        e = user_settings_from_json(
            tx_arena(tx), row_column_is_null(&rows, 1) ? (struct str){ 0 } : row_text(&rows, 1),
            &settings);
        w->wants_notification = !e && settings.stream_notifications_enabled.value;
    }
    enum err end = rows_end(&rows);
    return e ? e : end;
}

/* Reads the roles of the friends, and adds their ids to the friends. Both rows and friends are
 * sorted by user id. */
static enum err read_roles_of_friends(struct tx *tx, const struct stream_key *key,
                                      struct list *watchers)
{
    struct friend_to_notify *w = watchers->items, *end = w + watchers->count;
    struct rows rows;
    enum err e =
        tx_query(tx, LIST_ROLES_OF_FRIENDS, BIND(v_id(key->guild_id), v_id(key->owner_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        while (w < end && w->permissions_of.user_id < row_id(&rows, 0))
            w++;
        if (w == end || w->permissions_of.user_id != row_id(&rows, 0))
            continue;
        id_list_add(tx_arena(tx), &w->roles, row_id(&rows, 1));
        w->permissions_of.base |= (uint64_t)row_int(&rows, 2);
    }
    return rows_end(&rows);
}

static bool friend_can_view_channel(struct friend_to_notify *w, const struct guild *g,
                                    uint64_t everyone, const struct channel *c)
{
    const struct list *overwrites = &c->permission_overwrites.value;

    w->permissions_of.guild_id = g->id;
    w->permissions_of.owner = g->owner_id == w->permissions_of.user_id;
    w->permissions_of.base |= everyone;
    w->permissions_of.roles = w->roles.items;
    w->permissions_of.role_count = w->roles.count;
    return permissions_in_channel(&w->permissions_of, c->type, overwrites->items, overwrites->count,
                                  false) &
           PERMISSION(VIEW_CHANNEL);
}

static void emit_stream_notification(struct call *call, const struct stream_key *key,
                                     const struct user *streamer, snowflake user_id)
{
    struct str name =
        streamer->global_name.given == GIVEN ? streamer->global_name.value : streamer->username;
    struct notification n = {
        .id = snowflake_new(),
        .type = STR("go_live_push"),
        .body = STR_CONCAT(call->arena, name, STR(" is streaming")),
        .bundle_id = stream_key_format(call->arena, key),
        .deeplink =
            str_printf(call->arena, "/channels/%llu/%llu", (unsigned long long)key->guild_id,
                       (unsigned long long)key->channel_id),
        .other_user = streamer,
        .guild_id = opt_id_or_null(key->guild_id),
    };

    call_emit_event(call, EVENT_NOTIFICATION_CENTER_ITEM_CREATE, audience_of_user(user_id),
                    &notification_schema, &n);
}

static enum err notify_friends(struct call *call, const struct stream_key *key)
{
    struct channel channel;
    struct user streamer;
    struct role everyone;
    struct guild guild;
    struct list watchers;
    enum err e = read_friends_to_notify(call->tx, key, &watchers);

    if (!e)
        e = read_roles_of_friends(call->tx, key, &watchers);
    if (!e)
        e = guild_find(call->tx, key->guild_id, &guild);
    if (!e)
        e = role_find(call->tx, key->guild_id, key->guild_id, &everyone);
    if (!e)
        e = channel_find(call->tx, key->channel_id, &channel);
    if (!e)
        e = user_find(call->tx, key->owner_id, &streamer);
    for (size_t i = 0; !e && i < watchers.count; i++) {
        struct friend_to_notify *w = (struct friend_to_notify *)watchers.items + i;

        if (w->wants_notification &&
            friend_can_view_channel(w, &guild, everyone.permissions, &channel))
            emit_stream_notification(call, key, &streamer, w->permissions_of.user_id);
    }
    return e;
}

/* POST /streams/{stream_key}/notify: sends the notifications, once per stream. */
enum err notify_stream(struct call *call)
{
    struct stream s;
    enum err e = stream_find_by_path(call, &s);

    if (e)
        return e;
    if (!s.key.guild_id)
        return ERR_CHANNEL_TYPE;
    if (s.notified)
        return OK;
    s.notified = true;
    e = stream_update(call->tx, &s);
    return e ? e : notify_friends(call, &s.key);
}
