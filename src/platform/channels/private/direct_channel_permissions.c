/* direct_channel_permissions.c - decides whether a user may write to another user in a direct
 * channel. */
#include "platform/channels/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/relationship.h"
#include "platform/accounts/settings/settings.h"
#include "platform/members/members.h"

/* Connection between the two users of a direct channel. It decides whether they may write to each
 * other. If several values apply, the one that is listed first is used. */
enum dm_connection {
    CONNECTION_NONE,
    CONNECTION_BLOCK,
    CONNECTION_FRIEND,
    CONNECTION_GUILD,
    CONNECTION_GAME_FRIEND,
    CONNECTION_INSTALLED_APP,
    CONNECTION_REPLY,
    CONNECTION_BOT, /* the other user is a bot, and no other value applies */
};

/* Finds the connection of two users: $1 user, $2 other user, $3 channel, $4 user whose reply
 * counts, $5 current time (a guild can disable direct messages until a given time), $6 is 0 to
 * ignore common guilds. The cross joins make SQLite start with the guilds of user $1, because $2
 * may be a bot in 100,000 guilds. To limit the cost, only replies among the newest 100 messages
 * count. */
static const char FIND_CONNECTION[] =
    "select case "
    "when exists (select 1 from relationships where user_id = $1 and target_id = $2 and type = 2) "
    "or exists (select 1 from relationships where user_id = $2 and target_id = $1 and type = 2) "
    "then 1 "
    "when exists (select 1 from relationships where user_id = $1 and target_id = $2 and type = 1) "
    "then 2 "
    "when $6 = 1 and exists (select 1 from members a cross join members b cross join guilds g "
    "where a.user_id = $1 and b.guild_id = a.guild_id and b.user_id = $2 and "
    "g.id = a.guild_id and g.removed = 0 and "
    "(g.dms_disabled_until is null or g.dms_disabled_until <= $5)) then 3 "
    "when exists (select 1 from game_relationships where user_id = $1 and target_id = $2 and "
    "type = 1) then 4 "
    "when exists (select 1 from applications p join authorizations z on z.application_id = p.id "
    "where p.bot_id = $2 and z.user_id = $1 and z.installed = 1) then 5 "
    "when exists (select 1 from (select author_id from messages where channel_id = $3 "
    "order by id desc limit 100) m where m.author_id = $4) then 6 "
    "when exists (select 1 from users where id = $2 and bot = 1) then 7 "
    "else 0 end";

static enum err find_dm_connection(struct tx *tx, const struct channel *c, snowflake person,
                                   snowflake other, snowflake answers, bool guilds,
                                   enum dm_connection *ret)
{
    int64_t n = 0;
    enum err e = tx_read_int(tx, FIND_CONNECTION,
                             BIND(v_id(person), v_id(other), v_id(c->id), v_id(answers),
                                  v_int(clock_us()), v_int(guilds)),
                             &n);

    if (!e)
        *ret = (enum dm_connection)n;
    return e;
}

/* Selects the common guilds of two users that have not disabled direct messages between members. */
static const char COMMON_GUILDS[] =
    "select g.id, g.verification_level from members a cross join members b cross join guilds g "
    "where a.user_id = $1 and b.guild_id = a.guild_id and b.user_id = $2 and g.id = a.guild_id and "
    "g.removed = 0 and (g.dms_disabled_until is null or g.dms_disabled_until <= $3)";

/* *ret is true if at least one common guild allows the message. In that guild, the writer meets the
 * verification level, and the receiver accepts direct messages from members. */
static enum err find_guild_allowing_message(struct tx *tx, snowflake person, snowflake other,
                                            snowflake writer, bool *ret)
{
    struct user_settings settings;
    struct rows rows;
    struct list guilds = { 0 }, strict = { 0 };
    snowflake receiver = writer == person ? other : person;
    enum err e = user_settings_find(tx, receiver, &settings);

    if (!e)
        e = tx_query(tx, COMMON_GUILDS, BIND(v_id(person), v_id(other), v_int(clock_us())), &rows);
    if (e)
        return e;
    while (rows_next(&rows))
        if (!id_list_contains(&settings.restricted_guilds.value, row_id(&rows, 0)))
            id_list_add(tx_arena(tx), row_int(&rows, 1) > 0 ? &strict : &guilds, row_id(&rows, 0));
    e = rows_end(&rows);
    *ret = guilds.count;
    for (size_t i = 0; !e && !*ret && i < strict.count; i++) {
        struct member_access s;

        e = member_access_find(tx, ((const snowflake *)strict.items)[i], writer, &s);
        *ret = !e && !s.input.unverified;
    }
    return e;
}

/* Finds the connection to the receiver of a message. A common guild counts only if it allows the
 * message (find_guild_allowing_message). */
static enum err find_dm_connection_of_writer(struct tx *tx, const struct channel *c,
                                             snowflake person, snowflake other, snowflake writer,
                                             enum dm_connection *ret)
{
    snowflake receiver = writer == person ? other : person;
    bool open = true;
    enum err e = find_dm_connection(tx, c, person, other, receiver, true, ret);

    if (!e && *ret == CONNECTION_GUILD)
        e = find_guild_allowing_message(tx, person, other, writer, &open);
    return e || open ? e : find_dm_connection(tx, c, person, other, receiver, false, ret);
}

/* Finds the other user of a direct channel. *ret is 0 for other channel types. */
static enum err find_other_recipient(struct tx *tx, const struct channel *c, snowflake user_id,
                                     snowflake *ret)
{
    struct list others = { 0 };
    enum err e =
        c->type == CHANNEL_DM ? channel_list_other_recipients(tx, c->id, user_id, &others) : OK;

    *ret = !e && others.count ? *(const snowflake *)others.items : 0;
    return e;
}

enum err direct_channel_write_is_refused(struct tx *tx, const struct channel *c, snowflake user_id,
                                         bool *ret)
{
    enum dm_connection tie = CONNECTION_BOT;
    snowflake other;
    enum err e = find_other_recipient(tx, c, user_id, &other);

    if (!e && other)
        e = find_dm_connection_of_writer(tx, c, user_id, other, user_id, &tie);
    *ret = tie == CONNECTION_NONE || tie == CONNECTION_BLOCK;
    return e;
}

enum err require_direct_channel_writable(struct call *call)
{
    bool barred;
    enum err e =
        direct_channel_write_is_refused(call->tx, call->target.channel, call->caller->id, &barred);

    return !e && barred ? ERR_CANNOT_MESSAGE : e;
}

enum err require_private_channel(struct call *call)
{
    return channel_is_private(call->target.channel->type) ? OK : ERR_CHANNEL_TYPE;
}

/* Returns ERR_NO_GAME_FRIEND_DMS unless the receiver accepts messages of game friends outside of
 * the game, too. */
static enum err check_game_friend_accepts_dms(struct tx *tx, snowflake to)
{
    int64_t access;
    enum err e = game_friend_dm_access_find(tx, to, &access);

    return e || access == DM_ANYWHERE ? e : ERR_NO_GAME_FRIEND_DMS;
}

enum err check_caller_may_write_in_direct_channel(struct tx *tx, const struct channel *c,
                                                  const struct caller *from)
{
    bool is_bot = from->kind == CALLER_BOT;
    enum dm_connection tie = CONNECTION_NONE;
    snowflake other;
    enum err e = find_other_recipient(tx, c, from->id, &other);

    if (e || !other)
        return e;
    e = find_dm_connection_of_writer(tx, c, is_bot ? other : from->id, is_bot ? from->id : other,
                                     from->id, &tie);
    if (e)
        return e;
    if (tie == CONNECTION_GAME_FRIEND)
        return check_game_friend_accepts_dms(tx, other);
    if (tie == CONNECTION_BLOCK)
        return ERR_CANNOT_MESSAGE;
    if (tie == CONNECTION_NONE || tie == CONNECTION_BOT)
        return is_bot ? ERR_NO_MUTUAL_GUILDS : ERR_CANNOT_MESSAGE;
    return OK;
}

static const char HAS_RELATIONSHIP[] =
    "select 1 from relationships where user_id = $1 and target_id = $2 and type = $3";

enum err account_has_relationship(struct tx *tx, snowflake user_id, snowflake target_id,
                                  int64_t type, bool *ret)
{
    return tx_exists(tx, HAS_RELATIONSHIP, BIND(v_id(user_id), v_id(target_id), v_int(type)), ret);
}
