/* notify.c - notifies friends in the guild that a user streams. */
#include "voice/streams/streams.h"

#include "model/fields/ids.h"
#include "model/notification.h"
#include "model/permissions/permissions.h"
#include "platform/accounts/settings.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

/* A friend in the guild, with the input for its permissions. */
struct watcher {
    struct rights_of rights_of;
    struct list roles; /* snowflakes */
    bool wants;        /* stream_notifications_enabled */
};

/* Friends in the guild who do not ignore the streamer and are not in the channel. The query starts
 * from the streamer's friends (at most 1,000), because a guild may have any size. */
static const char FRIENDS_HERE[] =
    "select m.user_id, s.document from relationships r cross join members m "
    "left join user_settings s on s.user_id = m.user_id "
    "where r.target_id = $2 and r.type = 1 and r.ignored = 0 and m.guild_id = $1 and "
    "m.user_id = r.user_id and not exists (select 1 from voice_states v where "
    "v.user_id = m.user_id and v.channel_id = $3) order by m.user_id";
static const char ROLES_OF_FRIENDS[] =
    "select m.user_id, o.id, o.permissions from relationships r cross join member_roles m "
    "cross join roles o where r.target_id = $2 and r.type = 1 and m.guild_id = $1 and "
    "m.user_id = r.user_id and o.id = m.role_id order by m.user_id";

static enum err load_watchers(struct tx *tx, const struct stream_key *key, struct list *ret)
{
    struct user_settings settings;
    struct rows rows;
    enum err e =
        tx_query(tx, FRIENDS_HERE,
                 BIND(v_id(key->guild_id), v_id(key->owner_id), v_id(key->channel_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (!e && rows_next(&rows)) {
        struct watcher *w = list_add(tx_arena(tx), ret, sizeof *w);

        w->rights_of.user_id = row_id(&rows, 0);
        e = settings_read(tx_arena(tx), row_null(&rows, 1) ? (struct str){ 0 } : row_text(&rows, 1),
                          &settings);
        w->wants = !e && settings.stream_notifications_enabled.value;
    }
    enum err end = rows_end(&rows);
    return e ? e : end;
}

/* Adds the roles to the friends. Both lists are ordered by user id. */
static enum err load_roles(struct tx *tx, const struct stream_key *key, struct list *watchers)
{
    struct watcher *w = watchers->items, *end = w + watchers->count;
    struct rows rows;
    enum err e =
        tx_query(tx, ROLES_OF_FRIENDS, BIND(v_id(key->guild_id), v_id(key->owner_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        while (w < end && w->rights_of.user_id < row_id(&rows, 0))
            w++;
        if (w == end || w->rights_of.user_id != row_id(&rows, 0))
            continue;
        ids_add(tx_arena(tx), &w->roles, row_id(&rows, 1));
        w->rights_of.base |= (uint64_t)row_int(&rows, 2);
    }
    return rows_end(&rows);
}

static bool can_view(struct watcher *w, const struct guild *g, uint64_t everyone,
                     const struct channel *c)
{
    const struct list *overwrites = &c->permission_overwrites.value;

    w->rights_of.guild_id = g->id;
    w->rights_of.owner = g->owner_id == w->rights_of.user_id;
    w->rights_of.base |= everyone;
    w->rights_of.roles = w->roles.items;
    w->rights_of.role_count = w->roles.count;
    return rights_in_channel(&w->rights_of, c->type, overwrites->items, overwrites->count, false) &
           PERMISSION(VIEW_CHANNEL);
}

static void stream_notify_one(struct call *call, const struct stream_key *key,
                              const struct user *streamer, snowflake user_id)
{
    struct str name =
        streamer->global_name.given == GIVEN ? streamer->global_name.value : streamer->username;
    struct notification n = {
        .id = snowflake_new(),
        .type = STR("go_live_push"),
        .body = STR_CONCAT(call->arena, name, STR(" is streaming")),
        .bundle_id = stream_key_write(call->arena, key),
        .deeplink =
            str_printf(call->arena, "/channels/%llu/%llu", (unsigned long long)key->guild_id,
                       (unsigned long long)key->channel_id),
        .other_user = streamer,
        .guild_id = given_id(key->guild_id),
    };

    call_emit(call, EVENT_NOTIFICATION_CENTER_ITEM_CREATE, to_user(user_id), &notification_schema,
              &n);
}

static enum err notify_all(struct call *call, const struct stream_key *key)
{
    struct channel channel;
    struct user streamer;
    struct role everyone;
    struct guild guild;
    struct list watchers;
    enum err e = load_watchers(call->tx, key, &watchers);

    if (!e)
        e = load_roles(call->tx, key, &watchers);
    if (!e)
        e = guild_find(call->tx, key->guild_id, &guild);
    if (!e)
        e = role_find(call->tx, key->guild_id, key->guild_id, &everyone);
    if (!e)
        e = channel_find(call->tx, key->channel_id, &channel);
    if (!e)
        e = user_find(call->tx, key->owner_id, &streamer);
    for (size_t i = 0; !e && i < watchers.count; i++) {
        struct watcher *w = (struct watcher *)watchers.items + i;

        if (w->wants && can_view(w, &guild, everyone.permissions, &channel))
            stream_notify_one(call, key, &streamer, w->rights_of.user_id);
    }
    return e;
}

/* POST /streams/{stream_key}/notify: has an effect once per stream. */
enum err notify_stream(struct call *call)
{
    struct stream s;
    enum err e = stream_of_path(call, &s);

    if (e)
        return e;
    if (!s.key.guild_id)
        return ERR_CHANNEL_TYPE;
    if (s.notified)
        return OK;
    s.notified = true;
    e = stream_update(call->tx, &s);
    return e ? e : notify_all(call, &s.key);
}
