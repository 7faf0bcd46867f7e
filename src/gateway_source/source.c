/* source.c - the table of functions through which the gateway reads the platform's data. */
#include "gateway_source/gateway_source.h"

#include <string.h>

#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/relationships/friends.h"
#include "platform/sounds/sounds.h"
#include "voice/states.h"

/* Application flags that allow all privileged intents (in the form for small bots), for bots
 * without an application. */
enum { LIMITED_INTENT_FLAGS = 1 << 13 | 1 << 15 | 1 << 19 };

static const char BOT_APPLICATION[] =
    "select id, flags from applications where bot_id = $1 and removed = 0";

static enum err read_bot_application(struct tx *tx, snowflake bot_id, snowflake *ret_id,
                                     int64_t *ret_flags)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, BOT_APPLICATION, BIND(v_id(bot_id)), &row, &found);

    if (e)
        return e;
    *ret_id = found ? row_id(&row, 0) : bot_id;
    *ret_flags = found ? row_int(&row, 1) : LIMITED_INTENT_FLAGS;
    return OK;
}

static const char SELECT_SESSION_STARTS[] =
    "select starts from session_starts where bot_id = $1 and day = $2";

static enum err read_session_starts(struct tx *tx, snowflake bot_id, int64_t day, int64_t *ret)
{
    return tx_read_int(tx, SELECT_SESSION_STARTS, BIND(v_id(bot_id), v_int(day)), ret);
}

/* Adds 1 to a bot's number of session starts of a day, in SQL, because another node may have
 * counted a start meanwhile. If the clocks of two nodes are on different days, the later day is
 * stored. */
static const char INSERT_SESSION_START[] =
    "insert into session_starts (bot_id, day, starts) values ($1, $2, 1) "
    "on conflict (bot_id) do update set "
    "starts = case when session_starts.day < excluded.day then 1 else session_starts.starts + 1 "
    "end, day = case when session_starts.day < excluded.day then excluded.day "
    "else session_starts.day end";

static enum err insert_session_start(struct tx *tx, snowflake bot_id, int64_t day)
{
    return tx_exec(tx, INSERT_SESSION_START, BIND(v_id(bot_id), v_int(day)), NULL);
}

static enum err read_ids_of_user(struct tx *tx, struct sql sql, snowflake user_id, struct list *ret)
{
    return tx_read_ids(tx, sql, BIND(v_id(user_id)), ret);
}

static const char SELECT_GUILD_IDS[] =
    "select m.guild_id from members m join guilds g on g.id = m.guild_id "
    "and g.removed = 0 where m.user_id = $1 order by m.guild_id";

static enum err read_guild_ids(struct tx *tx, snowflake user_id, struct list *ret)
{
    return read_ids_of_user(tx, SQL(SELECT_GUILD_IDS), user_id, ret);
}

static const char SELECT_CALL_IDS[] =
    "select c.channel_id from calls c join recipients r on r.channel_id = c.channel_id "
    "where r.user_id = $1 and r.closed = 0";

static enum err read_running_calls(struct tx *tx, snowflake user_id, struct list *ret)
{
    return read_ids_of_user(tx, SQL(SELECT_CALL_IDS), user_id, ret);
}

static enum err read_user(struct tx *tx, snowflake id, const struct user **ret)
{
    struct user *u = arena_alloc(tx_arena(tx), sizeof *u);

    *ret = u;
    return user_find(tx, id, u);
}

static struct list copy_list_to_arena(struct arena *arena, const struct list *list, size_t size)
{
    struct list own = { .count = list->count };

    if (list->count)
        own.items = memcpy(arena_alloc_unzeroed(arena, list->count * size), list->items,
                           list->count * size);
    return own;
}

static void copy_guild_permissions(struct arena *arena, const struct guild *g, struct guild *ret)
{
    const struct role *roles = g->roles.items;

    *ret = (struct guild){ .id = g->id, .owner_id = g->owner_id, .member_count = g->member_count };
    list_reserve(arena, &ret->roles, sizeof *roles, g->roles.count);
    for (size_t i = 0; i < g->roles.count; i++)
        *(struct role *)list_append(arena, &ret->roles, sizeof *roles) =
            (struct role){ .id = roles[i].id, .permissions = roles[i].permissions };
}

static void copy_channel_overwrites(struct arena *arena, const struct list *channels,
                                    struct list *ret)
{
    const struct channel *from = channels->items;

    list_reserve(arena, ret, sizeof *from, channels->count);
    for (size_t i = 0; i < channels->count; i++) {
        struct channel *c = list_append(arena, ret, sizeof *c);
        struct opt_list *overwrites = &c->permission_overwrites;

        c->id = from[i].id;
        c->type = from[i].type;
        overwrites->given = GIVEN;
        overwrites->value = copy_list_to_arena(arena, &from[i].permission_overwrites.value,
                                               sizeof(struct overwrite));
    }
}

/* Reads the permission data of a guild. Returns a copy, because another thread uses it later. */
static enum err read_guild_permission_data(struct tx *tx, snowflake guild_id, struct guild *ret,
                                           struct list *ret_channels)
{
    struct guild_with_channels parts;
    enum err e = read_guild_with_channels(tx, guild_id, &parts);

    if (e)
        return e;
    copy_guild_permissions(tx_arena(tx), &parts.guild, ret);
    copy_channel_overwrites(tx_arena(tx), &parts.channels, ret_channels);
    return OK;
}

static enum err read_guild_roles(struct tx *tx, snowflake guild_id, struct list *ret)
{
    struct guild g;
    enum err e = guild_find(tx, guild_id, &g);

    if (!e)
        e = guild_read_roles(tx, &g);
    if (!e)
        *ret = g.roles;
    return e;
}

static enum err read_channel_json(struct tx *tx, snowflake id, struct json_writer *out)
{
    struct channel c;
    enum err e = channel_find(tx, id, &c);

    if (!e)
        schema_encode_object(out, &channel_schema, &c);
    return e;
}

static enum err read_member_count(struct tx *tx, snowflake guild_id, int64_t *ret)
{
    struct guild g;
    enum err e = guild_find(tx, guild_id, &g);

    if (!e)
        *ret = g.member_count;
    return e;
}

/* Reads the members of the guild among the given accounts, with their users. */
static enum err read_members_by_ids(struct tx *tx, snowflake guild_id, const struct list *user_ids,
                                    struct list *ret)
{
    const snowflake *ids = user_ids->items;

    *ret = (struct list){ 0 };
    for (size_t i = 0; i < user_ids->count; i++) {
        struct member m;
        enum err e = member_find(tx, guild_id, ids[i], &m);

        if (e == ERR_UNKNOWN_MEMBER)
            continue;
        if (!e)
            e = member_read_user(tx, &m);
        if (e)
            return e;
        *(struct member *)list_append(tx_arena(tx), ret, sizeof m) = m;
    }
    return OK;
}

static enum err search_members(struct tx *tx, const struct gateway_member_search *s,
                               struct list *ret)
{
    if (s->user_ids.count)
        return read_members_by_ids(tx, s->guild_id, &s->user_ids, ret);
    if (s->prefix.n)
        return members_find_by_name(tx, s->guild_id, s->prefix, s->limit, ret);
    if (s->newest)
        return members_list_newest(tx, s->guild_id, s->limit, ret);
    return members_list_after(tx, s->guild_id, s->after, s->limit, ret);
}

static enum err read_visible_voice_channels(struct tx *tx, snowflake guild_id, snowflake user_id,
                                            struct list *ret)
{
    struct guild_with_channels parts;
    struct member member;
    enum err e = member_find(tx, guild_id, user_id, &member);

    if (!e)
        e = read_guild_with_channels(tx, guild_id, &parts);
    if (e)
        return e;
    struct permission_computation_input who =
        permission_computation_input_of_member(&parts.guild, &member);
    return read_visible_voice_channel_statuses(tx, &who, &parts.channels, ret);
}

const struct gateway_source gateway_source = {
    .application = read_bot_application,
    .starts = read_session_starts,
    .add_start = insert_session_start,
    .guilds = read_guild_ids,
    .calls = read_running_calls,
    .user = read_user,
    .friends = friend_ids_read,
    .ready = write_ready_account_json,
    .guild = write_gateway_guild_json,
    .guild_permission_data = read_guild_permission_data,
    .channel = read_channel_json,
    .roles = read_guild_roles,
    .member = member_find,
    .member_count = read_member_count,
    .members = search_members,
    .threads = read_visible_threads,
    .thread_members = read_visible_thread_members,
    .voice_channels = read_visible_voice_channels,
    .sounds = guild_soundboard_sounds_read,
};
