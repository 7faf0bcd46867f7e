/* inbox.c - the inbox: recent messages that mention the caller. */
#include "platform/read_states/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "model/fields/types.h"
#include "platform/channels/channels.h"

struct mentions_query {
    struct opt_id before, guild_id;
    int64_t limit;
    bool roles, everyone;
};
static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct field query_fields[] = {
    { FIELD(struct mentions_query, before), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct mentions_query, limit), .type = &type_limit, .flags = OPTIONAL, .fallback = 25 },
    { FIELD(struct mentions_query, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct mentions_query, roles), .type = &type_bool, .flags = OPTIONAL, .fallback = 1 },
    { FIELD(struct mentions_query, everyone), .type = &type_bool, .flags = OPTIONAL,
      .fallback = 1 },
    { 0 },
};
const struct schema mentions_query_schema = {
    .name = "MentionsQuery",
    .size = sizeof(struct mentions_query),
    .fields = query_fields,
    .doc = "Which messages that mention the caller.",
};

/* Selects messages that mention the account, everyone, or one of the account's roles. $4 is a guild
 * id; 0 for all guilds. The limit is higher than the page size, because the caller may not be able
 * to see some of the messages. */
static const char READ_MENTIONING[] =
    "select message_id, channel_id from ("
    "select n.message_id, n.channel_id, n.guild_id from mention_notes n "
    "where n.kind = 2 and n.target_id = $1 and n.message_id < $2 and n.message_id > $3 "
    "union "
    "select n.message_id, n.channel_id, n.guild_id from members m join mention_notes n on "
    "n.guild_id = m.guild_id and n.kind < 2 where m.user_id = $1 and n.message_id < $2 and "
    "n.message_id > $3 and ((n.kind = 0 and cast($5 as bigint) = 1) or (n.kind = 1 and "
    "cast($6 as bigint) = 1 and exists (select 1 from member_roles r where "
    "r.guild_id = n.guild_id and r.user_id = $1 and r.role_id = n.target_id)))) x "
    "where (cast($4 as bigint) = 0 or guild_id = $4) and not exists (select 1 from "
    "mentions_hidden h where h.user_id = $1 and h.message_id = x.message_id) "
    "order by message_id desc limit $7";

struct mention_location {
    snowflake message_id, channel_id;
};

static void mention_location_from_row(const struct rows *r, void *ret)
{
    *(struct mention_location *)ret = (struct mention_location){ row_id(r, 0), row_id(r, 1) };
}

static enum err read_mentioning_messages(struct call *call, struct list *ret)
{
    const struct mentions_query *q = call->query;
    snowflake before = q->before.given == GIVEN ? q->before.value : INT64_MAX;
    snowflake since = snowflake_from_ms(clock_ms() - MENTIONS_DAYS * 86400000LL);

    *ret = (struct list){ 0 };
    return tx_read_list(call->tx, READ_MENTIONING,
                        BIND(v_id(call->caller->id), v_id(before < INT64_MAX ? before : INT64_MAX),
                             v_id(since), v_id(q->guild_id.value), v_int(q->everyone),
                             v_int(q->roles), v_int(q->limit * 4)),
                        sizeof(struct mention_location), mention_location_from_row, ret);
}

static enum err add_message_if_readable(struct call *call, const struct mention_location *c,
                                        struct list *out)
{
    struct message m;
    enum err e = resolve_channel_by_id(call, c->channel_id);

    if (!e && !(call->target.permissions & PERMISSION(READ_MESSAGE_HISTORY)))
        e = ERR_MISSING_ACCESS;
    if (!e)
        e = message_find_unless_ephemeral(call, c->message_id, &m);
    if (e == ERR_UNKNOWN_CHANNEL || e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_MESSAGE)
        return OK;
    if (!e)
        *(struct message *)list_append(call->arena, out, sizeof m) = m;
    return e;
}

/* GET /users/@me/mentions */
enum err list_mentions(struct call *call)
{
    const struct mentions_query *q = call->query;
    struct list called, out = { 0 };
    enum err e = read_mentioning_messages(call, &called);

    for (size_t i = 0; !e && i < called.count && (int64_t)out.count < q->limit; i++)
        e = add_message_if_readable(call, &((const struct mention_location *)called.items)[i],
                                    &out);
    return e ? e : call_reply_with_object(call, &out);
}

struct mention_removed {
    snowflake message_id;
};
static const struct field gone_fields[] = {
    { FIELD(struct mention_removed, message_id), .type = &type_id },
    { 0 },
};
static const struct schema mention_gone_schema = {
    .name = "RecentMentionGone",
    .size = sizeof(struct mention_removed),
    .fields = gone_fields,
    .doc = "A message that was removed from the account's recent mentions.",
};

static const char HIDE[] =
    "insert into mentions_hidden (user_id, message_id) select cast($1 as bigint), id from messages "
    "where id = $2 on conflict do nothing";

/* DELETE /users/@me/mentions/{acked.id} */
enum err hide_mention(struct call *call)
{
    struct mention_removed gone = { call_get_path_id(call, "acked.id") };
    int64_t changed;
    enum err e =
        tx_exec(call->tx, HIDE, BIND(v_id(call->caller->id), v_id(gone.message_id)), &changed);

    if (!e && changed)
        call_emit_event(call, EVENT_RECENT_MENTION_DELETE, audience_of_user(call->caller->id),
                        &mention_gone_schema, &gone);
    return e;
}
