/* guild.c - writes a guild for a session: which members and presences it includes. */
#include "gateway_source/gateway_source.h"

#include "gateway/capabilities.h"
#include "model/fields/ids.h"
#include "platform/accounts/users.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

enum { SEEN_MAX = 1000 }; /* online members that a bot gets of a large guild */

static bool is_listed(const struct list *members, snowflake id)
{
    const struct member *m = members->items;

    for (size_t i = 0; i < members->count; i++)
        if (m[i].user_id == id)
            return true;
    return false;
}

static void add_id(struct tx *tx, struct list *ids, snowflake id)
{
    ids_add(tx_arena(tx), ids, id);
}

static bool guild_watches(const struct gateway_viewer *v)
{
    return v->bot && v->intents & INTENT(GUILD_PRESENCES);
}

/* Bots with the intent see every presence, users those of their friends; no account sees its own
 * presence. */
static bool may_see(const struct gateway_viewer *v, snowflake id)
{
    if (id == v->user_id)
        return false;
    return guild_watches(v) || (v->friends && ids_hold(v->friends, id));
}

static struct list seen_of_listed(struct tx *tx, const struct gateway_viewer *v,
                                  const struct written_people *people)
{
    struct list ids = { 0 };

    for (size_t i = 0; i < people->count; i++)
        if (may_see(v, people->each[i].id))
            add_id(tx, &ids, people->each[i].id);
    return ids;
}

static const char MEMBERS_OF[] =
    "select user_id from members where guild_id = $1 and user_id <> $2";
static const char FRIENDS_IN[] =
    "select m.user_id from relationships r join members m on m.guild_id = $1 and "
    "m.user_id = r.target_id where r.user_id = $2 and r.type = 1";

static enum err read_ids(struct tx *tx, struct sql sql, snowflake guild_id, snowflake user_id,
                         struct list *ret)
{
    return tx_ids(tx, sql, BIND(v_id(guild_id), v_id(user_id)), ret);
}

static enum err list_member(struct tx *tx, snowflake user_id, struct gateway_guild *g)
{
    struct member m;

    if (is_listed(&g->members, user_id))
        return OK;
    enum err e = member_find(tx, g->guild.id, user_id, &m);
    if (!e)
        e = member_load_user(tx, &m);
    if (!e)
        *(struct member *)list_add(tx_arena(tx), &g->members, sizeof m) = m;
    return e;
}

/* In a large guild also lists the members whose presence is visible. */
static enum err see_in_large(struct tx *tx, const struct gateway_viewer *v, struct gateway_guild *g,
                             struct list *ids)
{
    bool friends = v->friends && v->friends->count;
    enum err e = OK;

    if (!guild_watches(v) && !friends)
        return OK;
    e = read_ids(tx, guild_watches(v) ? SQL(MEMBERS_OF) : SQL(FRIENDS_IN), g->guild.id, v->user_id,
                 ids);
    if (!e && guild_watches(v))
        gateway_keep_seen(v->gateway, ids, SEEN_MAX);
    for (size_t i = 0; !e && i < ids->count; i++)
        e = list_member(tx, ((const snowflake *)ids->items)[i], g);
    return e;
}

static enum err guild_see(struct tx *tx, const struct gateway_viewer *v, struct gateway_guild *g)
{
    struct list ids = { 0 };
    struct buf out;
    struct json j = json_to(&out);
    enum err e = OK;

    if (g->people)
        ids = seen_of_listed(tx, v, g->people);
    else
        e = see_in_large(tx, v, g, &ids);
    if (e || !ids.count)
        return e;
    buf_init(&out, 1024 * 1024);
    gateway_presences(v->gateway, 0, &ids, shape_refers(v->shape), &j);
    if (!buf_full(&out))
        g->presences = str_dup(tx_arena(tx), buf_str(&out));
    buf_clear(&out);
    return OK;
}

/* Returns the guild size up to which all members are listed. */
static int64_t listed_up_to(const struct gateway_viewer *v)
{
    if (!v->bot)
        return GUILD_LISTED;
    return guild_watches(v) ? v->large_threshold : 0;
}

enum err gateway_guild(struct tx *tx, const struct member *m, const struct gateway_viewer *v,
                       struct json *out)
{
    struct user own;
    struct guild_look look = {
        .guild_id = m->guild_id,
        .member = m,
        .user = v->user ? v->user : &own,
        .listed_up_to = listed_up_to(v),
        .writes_people = true,
        .refers = shape_refers(v->shape),
    };
    struct gateway_guild g;
    enum err e = v->user ? OK : user_find(tx, v->user_id, &own);

    if (!e)
        e = guild_look(tx, &look, &g);
    if (!e)
        e = guild_see(tx, v, &g);
    if (e)
        return e;
    g.large = g.guild.member_count > v->large_threshold;
    shape_guild(v->shape, &g, out);
    return OK;
}
