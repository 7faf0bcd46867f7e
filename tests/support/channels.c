/* channels.c - creates channels for tests and expects their events. */
#include "channels.h"
#include "test_sql.h"

#include <stdio.h>

const char *make_channel(struct client *c, const char *guild, const char *json)
{
    struct answer a = client_post(c, json, "/guilds/%s/channels", guild);

    expect_status(a, 201);
    discard_received(c->world);
    return answer_text(a, "id");
}

struct answer try_channel(struct client *c, const char *guild, const char *rest)
{
    struct str body =
        str_printf(world_arena(c->world), "{'name': 'new'%s%s}", *rest ? ", " : "", rest);

    return client_post(c, body.p, "/guilds/%s/channels", guild);
}

const char *talk_to(struct client *c, const char *id)
{
    struct answer a =
        client_post(c, TEXT(c->world, "{'recipients': ['%s']}", id), "/users/@me/channels");

    expect_status(a, 200);
    return answer_text(a, "id");
}

struct hidden_position world_hidden_position(struct world *w)
{
    struct hidden_position p = { .ada = world_client(w, "ada"),
                                 .bob = world_client(w, "bob"),
                                 .bot = world_bot(w, "robot") };

    p.guild = found_guild(p.ada, "Hall");
    p.role = make_role(p.ada, p.guild, "{'name': 'Keepers', 'permissions': '0'}");
    p.hidden = make_channel(
        p.ada, p.guild,
        TEXT(w,
             "{'name': 'h', 'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': '1024'},"
             " {'id': '%s', 'type': 0, 'allow': '1024'}]}",
             p.guild, p.role));
    put_member(p.guild, p.bob);
    put_member(p.guild, p.bot);
    return p;
}

struct audience viewers(const char *guild, const char *channel)
{
    return audience_of_channel_viewers(id_of(guild), id_of(channel));
}

void expect_audit_at(const char *file, int line, struct world *w, const char *guild, int action,
                     const char *target)
{
    expect_received_at(
        file, line, w,
        audience_of_members_with_permission(id_of(guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': %d, 'target_id': '%s'}", action, target);
}

struct statement {
    const char *sql;
    snowflake one, two;
};

static enum err run_statement(struct tx *tx, void *arg)
{
    const struct statement *s = arg;

    return tx_exec(tx, test_sql(s->sql), (const struct value[]){ v_id(s->one), v_id(s->two) },
                   s->two ? 2 : 1, NULL);
}

void run_sql(struct world *w, const char *sql, const char *one, const char *two)
{
    struct statement s = { sql, id_of(one), two ? id_of(two) : 0 };

    if (store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                       world_arena(w), run_statement, &s))
        fail_test(__FILE__, __LINE__, "the store refuses: %s", sql);
}

void make_friends(struct client *a, struct client *b)
{
    static const char add[] =
        "insert into relationships (user_id, target_id, type) values ($1, $2, 1)";

    run_sql(a->world, add, a->id, b->id);
    run_sql(a->world, add, b->id, a->id);
}

struct client *member_with(struct client *owner, const char *guild, const char *name,
                           uint64_t perms)
{
    struct client *c = world_client(owner->world, name);
    char role[100];

    snprintf(role, sizeof role, "{'name': '%s', 'permissions': '%llu'}", name,
             (unsigned long long)perms);
    put_member(guild, c);
    put_role_on(guild, c, make_role(owner, guild, role));
    return c;
}
