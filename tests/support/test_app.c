/* test_app.c - an app with commands in a guild, for tests. */
#include "test_app.h"

#include "api/internal.h"
#include "apps.h"
#include "base/clock.h"
#include "channels.h"
#include "commands/commands.h"
#include "internal.h"

void install(struct client *owner, const char *app, const char *guild, const char *scope)
{
    struct answer a =
        client_post(owner, TEXT(owner->world, "{'authorize': true, 'guild_id': '%s'}", guild),
                    "/oauth2/authorize?client_id=%s&scope=%s", app, scope);

    expect_status(a, 200);
    discard_received(owner->world);
}

void install_on_account(struct client *c, const char *app)
{
    struct answer a = client_post(c, "{'authorize': true, 'integration_type': 1}",
                                  "/oauth2/authorize?client_id=%s&scope=applications.commands&"
                                  "integration_type=1",
                                  app);

    expect_status(a, 200);
    discard_received(c->world);
}

struct test_app world_test_app(struct world *w)
{
    struct test_app s = { .world = w, .ada = world_client(w, "ada") };

    s.app = make_application(s.ada, "Helper");
    s.bot = application_bot(s.ada, s.app);
    s.guild = found_guild(s.ada, "Hall");
    install(s.ada, s.app, s.guild, "bot");
    s.global = TEXT(w, "/applications/%s/commands", s.app);
    s.local = TEXT(w, "/applications/%s/guilds/%s/commands", s.app, s.guild);
    return s;
}

const char *make_command(struct client *c, const char *path, const char *json)
{
    struct answer a = client_post(c, json, "%s", path);

    expect_status(a, 201);
    discard_received(c->world);
    return answer_text(a, "id");
}

struct client *test_app_member(struct test_app *s, const char *name, uint64_t perms)
{
    if (perms)
        return member_with(s->ada, s->guild, name, perms);
    struct client *c = world_client(s->world, name);
    put_member(s->guild, c);
    return c;
}

struct use {
    snowflake command_id, application_id;
};

static enum err use(struct tx *tx, void *arg)
{
    int64_t day = clock_s() / (24 * 60 * 60);
    const struct use *u = arg;
    struct call_context run = { .call = { .tx = tx } };
    enum err e = tx_exec(tx,
                         "insert into command_uses (command_id, day, uses) values ($1, $2, 1) on "
                         "conflict (command_id, day) do update set uses = command_uses.uses + 1",
                         BIND(v_id(u->command_id), v_int(day)), NULL);

    if (!e)
        e = tx_exec(tx, "update commands set used_day = $2 where id = $1",
                    BIND(v_id(u->command_id), v_int(day)), NULL);
    return e ? e : record_first_command_uses_of_day(&run.call, u->application_id, day);
}

void use_command(struct test_app *s, const char *id)
{
    struct use u = { id_of(id), id_of(s->app) };

    expect(store_run_transaction_and_wait(guildhall_get_store(s->world->server), STORE_WRITE,
                                          s->world->arena, use, &u) == OK);
}
