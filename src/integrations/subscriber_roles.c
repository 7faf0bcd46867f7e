/* subscriber_roles.c - adds and removes the subscriber role of members. */
#include "integrations/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/members/members.h"

/* SQL: the subscriber state of each member. A member with several connections is a subscriber if
 * one of the connected accounts is. */
#define MEMBERS                                                                            \
    "select m.user_id, max(case when s.subscriber_id is null then 0 else 1 end), "         \
    "max(case when r.role_id is null then 0 else 1 end), max(x.lapsed_at) from members m " \
    "join connections c on c.user_id = m.user_id and c.type = $3 and c.verified = 1 "      \
    "and c.revoked = 0 left join integration_subscribers s on s.integration_id = $1 "      \
    "and s.subscriber_id = c.id and s.round = $4 left join member_roles r "                \
    "on r.guild_id = m.guild_id and r.user_id = m.user_id and r.role_id = $5 "             \
    "left join integration_members x on x.integration_id = $1 and x.user_id = m.user_id "  \
    "where m.guild_id = $2 and m.user_id > $6 and m.user_id <= $7 group by m.user_id "     \
    "order by m.user_id limit $8"
static const char AFTER[] = MEMBERS;

static void subscriber_state_from_row(const struct rows *r, void *ret)
{
    *(struct subscriber_state *)ret =
        (struct subscriber_state){ row_id(r, 0), row_bool(r, 1), row_bool(r, 2), row_int(r, 3) };
}

enum err read_subscriber_states(struct tx *tx, const struct integration_row *i, snowflake after,
                                snowflake up_to, int64_t limit, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, AFTER,
                        BIND(v_id(i->id), v_id(i->guild_id), v_text(i->type), v_int(i->round),
                             v_id(i->role_id), v_id(after), v_id(up_to), v_int(limit)),
                        sizeof(struct subscriber_state), subscriber_state_from_row, ret);
}

bool subscriber_role_is_correct(const struct integration_row *i, const struct subscriber_state *s)
{
    if (s->subscribes)
        return (s->has_role || !i->role_id) && !s->lapsed_at;
    return !s->has_role || s->lapsed_at;
}

static struct list remove_role_from_list(struct arena *arena, const struct list *roles,
                                         snowflake role_id)
{
    struct list left = { 0 };

    for (size_t n = 0; n < roles->count; n++) {
        snowflake id = ((const snowflake *)roles->items)[n];

        if (id != role_id)
            id_list_add(arena, &left, id);
    }
    return left;
}

enum err add_or_remove_subscriber_role(struct call *call, const struct integration_row *i,
                                       snowflake user_id, bool has)
{
    struct member m;
    enum err e = member_find(call->tx, i->guild_id, user_id, &m);

    if (e || !i->role_id)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    size_t before = m.roles.count;
    struct list roles = remove_role_from_list(call->arena, &m.roles, i->role_id);
    if (has == (roles.count != before))
        return OK;
    if (has)
        id_list_add(call->arena, &roles, i->role_id);
    m.roles = roles;
    return member_update_and_emit(call, &m);
}

static const char UPSERT_MEMBER[] =
    "insert into integration_members (integration_id, user_id, guild_id, lapsed_at, joined) "
    "values ($1, $2, $3, $4, $5) on conflict (integration_id, user_id) do update set "
    "lapsed_at = excluded.lapsed_at, joined = case when excluded.joined = 1 then 1 "
    "else integration_members.joined end";
static const char CLEAR_LAPSE[] = "update integration_members set lapsed_at = null "
                                  "where integration_id = $1 and user_id = $2";

enum err upsert_member_row_of_integration(struct tx *tx, const struct integration_row *i,
                                          snowflake user_id, int64_t lapsed_at, bool joined)
{
    return tx_exec(tx, UPSERT_MEMBER,
                   BIND(v_id(i->id), v_id(user_id), v_id(i->guild_id),
                        lapsed_at ? v_int(lapsed_at) : v_null(), v_int(joined)),
                   NULL);
}

enum err update_subscriber_role_or_record_lapse(struct call *call, const struct integration_row *i,
                                                const struct subscriber_state *s)
{
    enum err e = OK;

    if (subscriber_role_is_correct(i, s))
        return OK;
    if (!s->subscribes)
        return upsert_member_row_of_integration(call->tx, i, s->user_id, clock_us(), false);
    if (s->lapsed_at)
        e = tx_exec(call->tx, CLEAR_LAPSE, BIND(v_id(i->id), v_id(s->user_id)), NULL);
    return e ? e : add_or_remove_subscriber_role(call, i, s->user_id, true);
}

/* Reads the subscriber state of one member. A member without a connection is not a subscriber; so
 * if he has the role, his subscription has ended. */
static enum err read_subscriber_state(struct tx *tx, const struct integration_row *i,
                                      snowflake user_id, struct subscriber_state *ret)
{
    static const char STATE[] =
        "select case when r.role_id is null then 0 else 1 end, x.lapsed_at from members m "
        "left join member_roles r on r.guild_id = m.guild_id and r.user_id = m.user_id "
        "and r.role_id = $3 left join integration_members x on x.integration_id = $4 "
        "and x.user_id = m.user_id where m.guild_id = $1 and m.user_id = $2";
    static const char SUBSCRIBES[] =
        "select 1 from connections c join integration_subscribers s on s.subscriber_id = c.id "
        "where c.user_id = $1 and c.type = $2 and c.verified = 1 and c.revoked = 0 "
        "and s.integration_id = $3 limit 1";
    struct rows row;
    bool found;

    *ret = (struct subscriber_state){ .user_id = user_id };
    enum err e =
        tx_one(tx, STATE, BIND(v_id(i->guild_id), v_id(user_id), v_id(i->role_id), v_id(i->id)),
               &row, &found);
    if (e || !found)
        return e;
    ret->has_role = row_bool(&row, 0);
    ret->lapsed_at = row_int(&row, 1);
    return tx_one(tx, SUBSCRIBES, BIND(v_id(user_id), v_text(i->type), v_id(i->id)), &row,
                  &ret->subscribes);
}

enum err update_subscriber_roles_of_user(struct call *call, snowflake user_id, struct str type)
{
    struct list integrations;
    enum err e = read_integrations_of_user_guilds(call->tx, user_id, type, &integrations);

    for (size_t n = 0; n < integrations.count && !e; n++) {
        const struct integration_row *i = (const struct integration_row *)integrations.items + n;
        struct subscriber_state s;

        e = read_subscriber_state(call->tx, i, user_id, &s);
        if (!e)
            e = update_subscriber_role_or_record_lapse(call, i, &s);
    }
    return e;
}
