/* message_effects.c - updates after a new message: the author's read state, and stored mentions. */
#include "platform/read_states/internal.h"

#include "model/channel.h"

/* --- the author's read state ---------------------------------------------------------- */

static bool is_own_message(const struct call *call, const struct message *m)
{
    return call->caller && call->caller->kind == CALLER_USER && m->author_id == call->caller->id &&
           m->webhook_id.given != GIVEN && m->type != MESSAGE_POLL_RESULT;
}

static const char ADVANCE_READ_STATE[] =
    "update read_states set last_id = $3, mentions = 0 where user_id = $1 and kind = 0 and "
    "entity_id = $2 and last_id < $3";
static const char MARK_CHANNEL_READ[] =
    "insert into read_states (user_id, kind, entity_id, guild_id, last_id) "
    "values ($1, 0, $2, $3, $4) on conflict (user_id, kind, entity_id) do update set "
    "last_id = excluded.last_id, mentions = 0 where read_states.last_id < excluded.last_id";

static enum err mark_channel_read(struct call *call, snowflake channel_id, snowflake guild_id,
                                  snowflake id)
{
    int64_t changed = 0;
    enum err e = OK;

    /* Usually the row exists. On SQLite the update costs less than an insertion that conflicts. */
    if (!tx_queries_need_round_trips(call->tx))
        e = tx_exec(call->tx, ADVANCE_READ_STATE,
                    BIND(v_id(call->caller->id), v_id(channel_id), v_id(id)), &changed);
    if (e || changed)
        return e;
    return tx_exec_deferred(
        call->tx, MARK_CHANNEL_READ,
        BIND(v_id(call->caller->id), v_id(channel_id), v_id(guild_id), v_id(id)));
}

/* --- mentions ------------------------------------------------------------------------- */

static const char INSERT_GROUP_MENTION[] =
    "insert into mention_notes (channel_id, message_id, kind, target_id, guild_id) "
    "values ($1, $2, $3, $4, $5) on conflict do nothing";
/* Stores the mention of a user, unless the user is a bot, or blocks or ignores the author. */
static const char INSERT_USER_MENTION[] =
    "insert into mention_notes (channel_id, message_id, kind, target_id, guild_id) "
    "select cast($1 as bigint), cast($2 as bigint), 2, u.id, cast($4 as bigint) from users u "
    "where u.id = $3 and u.bot = 0 and not exists (select 1 from relationships r where "
    "r.user_id = u.id and r.target_id = $5 and (r.type = 2 or r.ignored = 1)) "
    "on conflict do nothing";
static const char DELETE_OLD_MENTIONS[] =
    "delete from mention_notes where channel_id = $1 and message_id < "
    "(select min(message_id) from (select distinct message_id from mention_notes "
    "where channel_id = $1 order by message_id desc limit $2) x)";

static enum err insert_role_or_everyone_mention(struct call *call, const struct message *m,
                                                snowflake guild_id, int kind, snowflake target)
{
    return tx_exec(
        call->tx, INSERT_GROUP_MENTION,
        BIND(v_id(m->channel_id), v_id(m->id), v_int(kind), v_id(target), v_id(guild_id)), NULL);
}

static enum err insert_mentions(struct call *call, const struct message *m, snowflake guild_id)
{
    const struct mentioned_user *people = m->mentions.items;
    const snowflake *roles = m->mention_roles.items;
    enum err e = OK;

    if (m->mention_everyone)
        e = insert_role_or_everyone_mention(call, m, guild_id, 0, 0);
    for (size_t i = 0; !e && i < m->mention_roles.count; i++)
        e = insert_role_or_everyone_mention(call, m, guild_id, 1, roles[i]);
    for (size_t i = 0; !e && i < m->mentions.count; i++)
        if (people[i].user.id != m->author_id)
            e = tx_exec(call->tx, INSERT_USER_MENTION,
                        BIND(v_id(m->channel_id), v_id(m->id), v_id(people[i].user.id),
                             v_id(guild_id), v_id(m->author_id)),
                        NULL);
    /* Only about one of 16 messages deletes old mentions, because deletions conflict with other
     * writers. */
    if (!e && snowflake_to_ms(m->id) % 16 == 0)
        e = tx_exec(call->tx, DELETE_OLD_MENTIONS, BIND(v_id(m->channel_id), v_int(MAX_MENTIONS)),
                    NULL);
    return e;
}

enum err read_states_on_message_create(struct call *call, const struct message_creation *made)
{
    const struct message *m = made->message;
    const struct channel *c = made->channel;
    snowflake guild_id = channel_is_private(c->type) ? 0 : c->guild_id.value;
    bool own = is_own_message(call, m);
    enum err e = OK;

    if (m->ephemeral_for)
        return OK;
    if (own)
        e = mark_channel_read(call, c->id, guild_id, m->id);
    /* The author has also read the forum up to this message: the first message of a forum post has
     * the id of the post, and this id is the forum's last_message_id. */
    if (!e && own && channel_is_thread(c->type) && m->id == c->id)
        e = mark_channel_read(call, c->parent_id.value, guild_id, c->id);
    if (!e && (m->mention_everyone || m->mention_roles.count || m->mentions.count))
        e = insert_mentions(call, m, guild_id);
    return e;
}

/* --- leaving a guild ------------------------------------------------------------------ */

static const char LEAVE_GUILD[] =
    "delete from read_states where user_id = $1 and (kind, entity_id) in (select kind, entity_id "
    "from read_states where user_id = $1 and (guild_id = $2 or entity_id = $2) limit $3)";

enum err read_states_on_member_leave(struct call *call, const struct member_leaving_guild *leave)
{
    return tx_exec(
        call->tx, LEAVE_GUILD,
        BIND(v_id(leave->user->id), v_id(leave->guild_id), v_int(MAX_DELETED_READ_STATES)), NULL);
}
