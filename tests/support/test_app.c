/* test_app.c - an app with commands in a guild, for tests. */
#include "test_app.h"

#include "api/call.h"
#include "apps.h"
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
    const struct use *u = arg;
    struct call call = { .tx = tx };
    struct command command = { .id = u->command_id, .application_id = u->application_id };

    return count_command_use(&call, &command);
}

void use_command(struct test_app *s, const char *id)
{
    struct use u = { id_of(id), id_of(s->app) };

    expect(store_run_transaction_and_wait(guildhall_get_store(s->world->server), STORE_WRITE,
                                          s->world->arena, use, &u) == OK);
}
