/* guild.c - writes a guild for a session; selects the members and presences for it. */
#include "gateway_source/gateway_source.h"

#include "gateway/capabilities.h"
#include "model/fields/ids.h"
#include "platform/accounts/users.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* Maximum number of online members of a large guild that a bot receives. */
enum { ONLINE_MEMBERS_MAX = 1000 };

static bool member_is_in_member_list(const struct list *members, snowflake id)
{
    const struct member *m = members->items;

    for (size_t i = 0; i < members->count; i++)
        if (m[i].user_id == id)
            return true;
    return false;
}

static void append_user_id_to_list(struct tx *tx, struct list *ids, snowflake id)
{
    id_list_add(tx_arena(tx), ids, id);
}

static bool recipient_has_presence_intent(const struct payload_recipient *v)
{
    return v->bot && v->intents & INTENT(GUILD_PRESENCES);
}

/* Returns whether the viewer gets the presence of account `id`. A bot with the presence intent gets
 * every presence; a user gets the presences of friends. No account gets its own presence. */
static bool recipient_can_view_presence(const struct payload_recipient *v, snowflake id)
{
    if (id == v->user_id)
        return false;
    return recipient_has_presence_intent(v) || (v->friends && id_list_contains(v->friends, id));
}

static struct list ids_of_members_with_visible_presence(struct tx *tx,
                                                        const struct payload_recipient *v,
                                                        const struct encoded_members *people)
{
    struct list ids = { 0 };

    for (size_t i = 0; i < people->count; i++)
        if (recipient_can_view_presence(v, people->each[i].id))
            append_user_id_to_list(tx, &ids, people->each[i].id);
    return ids;
}

static const char SELECT_MEMBER_IDS[] =
    "select user_id from members where guild_id = $1 and user_id <> $2";
static const char SELECT_FRIEND_IDS[] =
    "select m.user_id from relationships r join members m on m.guild_id = $1 and "
    "m.user_id = r.target_id where r.user_id = $2 and r.type = 1";

static enum err read_member_ids(struct tx *tx, struct sql sql, snowflake guild_id,
                                snowflake user_id, struct list *ret)
{
    return tx_read_ids(tx, sql, BIND(v_id(guild_id), v_id(user_id)), ret);
}

static enum err add_member_to_gateway_guild(struct tx *tx, snowflake user_id,
                                            struct gateway_guild *g)
{
    struct member m;

    if (member_is_in_member_list(&g->members, user_id))
        return OK;
    enum err e = member_find(tx, g->guild.id, user_id, &m);
    if (!e)
        e = member_read_user(tx, &m);
    if (!e)
        *(struct member *)list_append(tx_arena(tx), &g->members, sizeof m) = m;
    return e;
}

/* Reads the members of a large guild whose presence the viewer can see. */
static enum err read_visible_members_of_large_guild(struct tx *tx,
                                                    const struct payload_recipient *v,
                                                    struct gateway_guild *g, struct list *ids)
{
    bool friends = v->friends && v->friends->count;
    enum err e = OK;

    if (!recipient_has_presence_intent(v) && !friends)
        return OK;
    e = read_member_ids(
        tx, recipient_has_presence_intent(v) ? SQL(SELECT_MEMBER_IDS) : SQL(SELECT_FRIEND_IDS),
        g->guild.id, v->user_id, ids);
    if (!e && recipient_has_presence_intent(v))
        gateway_filter_online_accounts(v->gateway, ids, ONLINE_MEMBERS_MAX);
    for (size_t i = 0; !e && i < ids->count; i++)
        e = add_member_to_gateway_guild(tx, ((const snowflake *)ids->items)[i], g);
    return e;
}

static enum err add_visible_presences(struct tx *tx, const struct payload_recipient *v,
                                      struct gateway_guild *g)
{
    struct list ids = { 0 };
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e = OK;

    if (g->encoded_members)
        ids = ids_of_members_with_visible_presence(tx, v, g->encoded_members);
    else
        e = read_visible_members_of_large_guild(tx, v, g, &ids);
    if (e || !ids.count)
        return e;
    buf_init(&out, 1024 * 1024);
    gateway_write_presences_json(v->gateway, 0, &ids,
                                 ready_event_writer_has_user_list(v->ready_writer), &j);
    if (!buf_is_full(&out))
        g->presences = str_dup(tx_arena(tx), buf_as_str(&out));
    buf_clear(&out);
    return OK;
}

/* Returns the maximum size of guilds in which all members are listed for this viewer. */
static int64_t max_guild_size_to_list_members(const struct payload_recipient *v)
{
    if (!v->bot)
        return GUILD_LISTED_MEMBERS;
    return recipient_has_presence_intent(v) ? v->large_threshold : 0;
}

enum err write_gateway_guild_json(struct tx *tx, const struct member *m,
                                  const struct payload_recipient *v, struct json_writer *out)
{
    struct user own;
    struct guild_read_options read_step = {
        .guild_id = m->guild_id,
        .member = m,
        .user = v->user ? v->user : &own,
        .listed_up_to = max_guild_size_to_list_members(v),
        .encodes_members = true,
        .refers_to_users = ready_event_writer_has_user_list(v->ready_writer),
    };
    struct gateway_guild g;
    enum err e = v->user ? OK : user_find(tx, v->user_id, &own);

    if (!e)
        e = read_guild_for_member(tx, &read_step, &g);
    if (!e)
        e = add_visible_presences(tx, v, &g);
    if (e)
        return e;
    g.large = g.guild.member_count > v->large_threshold;
    write_ready_guild_json(v->ready_writer, &g, out);
    return OK;
}
