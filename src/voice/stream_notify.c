/* stream_notify.c - telling friends in the guild that one streams. */
#include "voice/streams.h"

#include "model/notification.h"
#include "model/permissions.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/settings.h"

enum { FEWEST_MEMBERS = 2, MOST_MEMBERS = 50 };

/* Friends who are in the guild, do not ignore the streamer, and are not in the channel. */
static const char FRIENDS_HERE[] =
    "select m.user_id from members m join relationships r on r.user_id = m.user_id "
    "and r.target_id = $2 where m.guild_id = $1 and r.type = 1 and r.ignored = 0 "
    "and not exists (select 1 from voice_states v where v.user_id = m.user_id "
    "and v.channel_id = $3) order by m.user_id";
static const char COUNT_MEMBERS[] = "select count(*) from members where guild_id = $1";

static enum err friends_here(struct tx *tx, const struct stream_key *key, struct list *ret)
{
    struct rows rows;
    enum err e =
        tx_query(tx, FRIENDS_HERE,
                 BIND(v_id(key->guild_id), v_id(key->owner_id), v_id(key->channel_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(snowflake *)list_add(tx_arena(tx), ret, sizeof(snowflake)) = row_id(&rows, 0);
    return rows_end(&rows);
}

static enum err is_small(struct tx *tx, snowflake guild_id, bool *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, COUNT_MEMBERS, BIND(v_id(guild_id)), &row, &found);

    *ret = !e && row_int(&row, 0) >= FEWEST_MEMBERS && row_int(&row, 0) <= MOST_MEMBERS;
    return e;
}

/* Can view the channel and wants to hear of streams. */
static enum err wants(struct call *call, const struct channel *c, snowflake guild_id,
                      snowflake user_id, bool *ret)
{
    struct user_settings settings;
    struct standing standing;
    uint64_t rights;
    enum err e = standing_of_member(call->tx, guild_id, user_id, &standing);

    if (!e)
        e = standing_rights_in(call->tx, &standing, c, &rights);
    if (!e)
        e = settings_find(call->tx, user_id, &settings);
    *ret = !e && rights & PERMISSION(VIEW_CHANNEL) && settings.stream_notifications_enabled.value;
    return e;
}

static void notify(struct call *call, const struct stream_key *key, const struct user *streamer,
                   snowflake user_id)
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
    struct list friends;
    enum err e = friends_here(call->tx, key, &friends);

    if (!e)
        e = channel_find(call->tx, key->channel_id, &channel);
    if (!e)
        e = user_find(call->tx, key->owner_id, &streamer);
    for (size_t i = 0; !e && i < friends.count; i++) {
        snowflake id = ((const snowflake *)friends.items)[i];
        bool wanted;

        e = wants(call, &channel, key->guild_id, id, &wanted);
        if (!e && wanted)
            notify(call, key, &streamer, id);
    }
    return e;
}

/* POST /streams/{stream_key}/notify: once a stream, and only where people know each other. */
enum err notify_stream(struct call *call)
{
    struct stream s;
    bool small;

    enum err e = stream_of_path(call, &s);
    if (e)
        return e;
    if (!s.key.guild_id)
        return ERR_CHANNEL_TYPE;
    e = is_small(call->tx, s.key.guild_id, &small);
    if (e || s.notified || !small)
        return e;
    s.notified = true;
    e = stream_update(call->tx, &s);
    return e ? e : notify_all(call, &s.key);
}
