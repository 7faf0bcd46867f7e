/* guilds.c - operator commands that change guilds. */
#include "platform/guilds/guilds.h"

#include "admin/operator_commands/internal.h"
#include "model/guild.h"

static enum err operator_find_guild(struct call *call, struct running_operator_command *o,
                                    struct guild *ret)
{
    snowflake id;
    enum err e =
        snowflake_parse(o->words[0], &id) ? guild_find(call->tx, id, ret) : ERR_UNKNOWN_GUILD;

    return e == ERR_UNKNOWN_GUILD ? operator_command_set_error_sentence(o, e, o->row->unknown) : e;
}

static enum err add_guild_state_row(struct running_operator_command *o, const struct guild *g,
                                    const char *state)
{
    OPERATOR_ROW(o, v_id(g->id), v_text(g->name), v_cstr(state));
    return OK;
}

enum err operator_guild_set_owner(struct call *call, struct running_operator_command *o)
{
    struct guild g;
    struct user u;
    enum err e = operator_find_guild(call, o, &g);

    if (!e)
        e = operator_command_find_user_of_argument(call, o, 1, &u);
    if (!e)
        e = guild_transfer_ownership(call, &g, u.id);
    if (e == ERR_UNKNOWN_MEMBER)
        o->problem = "this account is not a member of the guild";
    return e ? e : add_guild_state_row(o, &g, "has another owner");
}

enum err operator_guild_delete(struct call *call, struct running_operator_command *o)
{
    struct guild g;
    enum err e = operator_find_guild(call, o, &g);

    if (!e)
        e = guild_delete(call, g.id);
    return e ? e : add_guild_state_row(o, &g, "deleted");
}

/* --- sending a guild again ------------------------------------------------------------- */

enum { REFRESHED_MEMBERS = 200 }; /* members per transaction */

/* Lists members to whom the guild must be sent. Placeholder accounts are not listed: nobody can log
 * in to one, so it has no sessions. */
static const char MEMBERS_WITH_LOGIN[] =
    "select m.user_id from members m where m.guild_id = $1 and m.user_id > $2 and not exists "
    "(select 1 from placeholder_accounts p where p.user_id = m.user_id) order by m.user_id limit $3";

/* Clients treat the guild as unavailable, as in an outage, until it is sent again. */
static void emit_guild_delete_as_unavailable(struct call *call, snowflake id)
{
    struct guild_delete_event *gone = arena_alloc(call->arena, sizeof *gone);
    struct str json =
        str_printf(call->arena, "{\"id\":\"%llu\",\"unavailable\":true}", (unsigned long long)id);

    gone->id = id;
    call_emit_encoded_event(call, EVENT_GUILD_DELETE, audience_of_guild(id),
                            &guild_delete_event_schema, gone, json);
}

/* Emits GUILD_CREATE with only the guild's id; the user's sessions read the guild themselves. */
static void emit_guild_create_to_members(struct call *call, snowflake id, snowflake user)
{
    struct gateway_guild *guild = arena_alloc(call->arena, sizeof *guild);
    struct str json =
        str_printf(call->arena, "{\"id\":\"%llu\",\"unavailable\":true}", (unsigned long long)id);

    *guild = (struct gateway_guild){ .guild.id = id };
    call_emit_encoded_event(call, EVENT_GUILD_CREATE, audience_of_user(user), &gateway_guild_schema,
                            guild, json);
}

/* Sends a guild that was imported to the sessions of its members. The caller repeats the command
 * with the id in the reply until that id is 0. */
enum err operator_guild_resend_to_members(struct call *call, struct running_operator_command *o)
{
    struct guild g;
    struct rows r;
    snowflake after = 0, last = 0;
    int64_t count = 0;
    enum err e = operator_find_guild(call, o, &g);

    if (e)
        return e;
    snowflake_parse(o->words[1], &after);
    if (!after)
        emit_guild_delete_as_unavailable(call, g.id);
    e = tx_query(call->tx, MEMBERS_WITH_LOGIN,
                 BIND(v_id(g.id), v_id(after), v_int(REFRESHED_MEMBERS)), &r);
    while (!e && rows_next(&r)) {
        last = row_id(&r, 0);
        count++;
        emit_guild_create_to_members(call, g.id, last);
    }
    if (!e)
        e = rows_end(&r);
    if (e)
        return e;
    OPERATOR_ROW(o, v_id(count == REFRESHED_MEMBERS ? last : 0));
    return OK;
}
