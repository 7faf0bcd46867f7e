/* oauth2.c - asking, allowing, exchanging, refreshing, revoking. */
#include "apps.h"

#include <stdio.h>
#include <string.h>

#include "guilds.h"
#include "venues.h"

#define AUTHORIZE "/oauth2/authorize"
#define TOKEN     "/oauth2/token"
#define REVOKE    "/oauth2/token/revoke"
#define BACK      "https%%3A%%2F%%2Fapp.example%%2Fback"

/* An application of ada's with a secret and one address to return to, and bob. */
struct stage {
    struct client *ada, *bob, *nobody;
    const char *app, *secret, *guild; /* a guild of bob's */
};

static struct stage stage(struct world *w)
{
    struct stage s = { .ada = world_client(w, "ada"),
                       .bob = world_client(w, "bob"),
                       .nobody = world_stranger(w) };

    s.app = make_application(s.ada, "App");
    s.secret = application_secret(s.ada, s.app);
    s.guild = found_guild(s.bob, "Home");
    expect_status(client_patch(s.ada, "{'redirect_uris': ['https://app.example/back']}",
                               "/applications/%s", s.app),
                  200);
    return s;
}

/* What stands behind "name=" in the url of an answer. */
static const char *url_part(struct answer a, const char *name)
{
    struct arena *arena = world_arena(a.client->world);
    const char *url = answer_text(a, "url"), *at = strstr(url, str_printf(arena, "%s=", name).p);

    expect(at);
    at += strlen(name) + 1;
    return str_dupz(arena, str_slice(at, strcspn(at, "&")));
}

static const char *get_code(struct client *c, const char *app, const char *scope)
{
    struct answer a = client_post(
        c, "{'authorize': true}",
        AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK "&scope=%s", app, scope);

    expect_status(a, 200);
    return url_part(a, "code");
}

static struct answer exchange(const struct stage *s, const char *code)
{
    return client_form(s->nobody, TOKEN,
                       "grant_type=authorization_code&code=%s&redirect_uri=" BACK
                       "&client_id=%s&client_secret=%s",
                       code, s->app, s->secret);
}

static struct answer refresh(const struct stage *s, const char *token)
{
    return client_form(s->nobody, TOKEN,
                       "grant_type=refresh_token&refresh_token=%s&client_id=%s&client_secret=%s",
                       token, s->app, s->secret);
}

static struct client *bearer(struct answer a)
{
    struct world *w = a.client->world;

    return world_client_with(w, TEXT(w, "Bearer %s", answer_text(a, "access_token")));
}

/* Everything from asking to the token. */
static struct answer granted(const struct stage *s, const char *scope)
{
    struct answer a = exchange(s, get_code(s->bob, s->app, scope));

    expect_status(a, 200);
    return a;
}

static void expect_oauth2(struct answer a, int status, const char *error)
{
    expect_status(a, status);
    expect_json(a, "{'error': '%s'}", error);
    expect_absent(a, "code");
}

/* --- being asked ------------------------------------------------------------------------- */

static void a_person_is_told_what_is_asked(struct world *w)
{
    struct stage s = stage(w);
    struct answer a =
        client_get(s.bob, AUTHORIZE "?client_id=%s&scope=bot%%20applications.commands", s.app);

    expect_status(a, 200);
    expect_json(a,
                "{'application': {'id': '%s', 'name': 'App'}, 'user': {'id': '%s'}, "
                "'authorized': false, 'integration_type': 0, 'bot': {'id': '%s'}, "
                "'guilds': [{'id': '%s', 'name': 'Home', 'icon': null, 'mfa_level': 0, "
                "'permissions': '%llu'}]}",
                s.app, s.bob->id, s.app, s.guild, (unsigned long long)PERMISSIONS_ALL);
    expect_absent(a, "redirect_uri");
    expect_absent(a, "application.redirect_uris");

    a = client_get(s.bob,
                   AUTHORIZE "?client_id=%s&scope=identify+guilds&response_type=code"
                             "&redirect_uri=" BACK,
                   s.app);
    expect_status(a, 200);
    expect_json(a, "{'authorized': false, 'redirect_uri': 'https://app.example/back'}");
    expect_absent(a, "guilds");
    expect_absent(a, "bot");

    granted(&s, "identify");
    a = client_get(s.bob, AUTHORIZE "?client_id=%s&scope=identify&response_type=code", s.app);
    expect_json(a, "{'authorized': true}");
    a = client_get(s.bob, AUTHORIZE "?client_id=%s&scope=identify+email&response_type=code", s.app);
    expect_json(a, "{'authorized': false}");
}

static void what_cannot_be_asked_is_refused(struct world *w)
{
    static const struct {
        const char *query, *path, *code;
    } cases[] = {
        { "scope=world", "scope", "ENUM_TYPE_COERCE" },
        { "scope=", "scope", "ENUM_TYPE_COERCE" },
        { "scope=bot+world", "scope", "ENUM_TYPE_COERCE" },
        { "scope=applications.commands.update&response_type=code", "scope", "ENUM_TYPE_COERCE" },
        { "", "scope", "BASE_TYPE_REQUIRED" },
        { "scope=identify", "response_type", "BASE_TYPE_REQUIRED" },
        { "scope=identify&response_type=token", "response_type", "BASE_TYPE_CHOICES" },
        { "scope=identify&response_type=code&redirect_uri=https://evil.example", "redirect_uri",
          "INVALID_REDIRECT_URI" },
        { "scope=identify&response_type=code&redirect_uri=https://app.example/back/",
          "redirect_uri", "INVALID_REDIRECT_URI" },
        { "scope=bot&redirect_uri=https://evil.example", "redirect_uri", "INVALID_REDIRECT_URI" },
        { "scope=bot&integration_type=2", "integration_type", "BASE_TYPE_CHOICES" },
        { "scope=bot&integration_type=1", "scope", "ENUM_TYPE_COERCE" },
    };
    struct stage s = stage(w);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_invalid(client_get(s.bob, AUTHORIZE "?client_id=%s&%s", s.app, cases[i].query),
                       cases[i].path, cases[i].code);
        expect_invalid(client_post(s.bob, "{'authorize': true}", AUTHORIZE "?client_id=%s&%s",
                                   s.app, cases[i].query),
                       cases[i].path, cases[i].code);
    }
    expect_error(client_get(s.bob, AUTHORIZE "?client_id=%s&scope=bot", s.bob->id), 404, 10002);
    expect_invalid(client_get(s.bob, AUTHORIZE "?client_id=x&scope=bot"), "client_id",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(client_post(s.bob, "{}", AUTHORIZE "?client_id=%s&scope=bot", s.app),
                   "authorize", "BASE_TYPE_REQUIRED");
    /* With more than one address it must be said which. */
    expect_status(client_patch(s.ada, "{'redirect_uris': ['https://a/1', 'https://a/2']}",
                               "/applications/%s", s.app),
                  200);
    expect_invalid(
        client_get(s.bob, AUTHORIZE "?client_id=%s&scope=identify&response_type=code", s.app),
        "redirect_uri", "BASE_TYPE_REQUIRED");
}

static void a_person_may_say_no(struct world *w)
{
    struct stage s = stage(w);
    struct answer a = client_post(s.bob, "{'authorize': false}",
                                  AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK
                                            "&scope=identify&state=a%%26b%%20c",
                                  s.app);

    expect_status(a, 200);
    expect_json(a, "{'url': 'https://app.example/back?error=access_denied&state=a%%26b%%20c', "
                   "'location': 'https://app.example/back?error=access_denied&state=a%%26b%%20c'}");
    a = client_post(s.bob, TEXT(w, "{'authorize': false, 'guild_id': '%s'}", s.guild),
                    AUTHORIZE "?client_id=%s&scope=bot", s.app);
    expect_status(a, 200);
    expect(strstr(answer_text(a, "url"), "/oauth2/authorized?error=access_denied"));
    expect(store_count(w, "select count(*) from authorization_codes") == 0);
    expect(store_count(w, "select count(*) from integrations") == 0);
    expect_nothing_told(w);
}

/* --- into a guild ------------------------------------------------------------------------ */

#define INSTALL AUTHORIZE "?client_id=%s&scope=bot"

static void installing_brings_the_bot_and_tells_the_guild(struct world *w)
{
    struct stage s = stage(w);
    struct client *bot = application_bot(s.ada, s.app);
    struct answer a = client_post(
        s.bob, TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '2048'}", s.guild),
        INSTALL, s.app);

    expect_status(a, 200);
    expect(strcmp(url_part(a, "guild_id"), s.guild) == 0);
    expect(strcmp(answer_text(a, "url"), answer_text(a, "location")) == 0);

    struct subject all = to_guild(id_of(s.guild));
    struct subject managers = to_entitled(id_of(s.guild), 0, PERMISSION(MANAGE_GUILD));
    struct subject auditors = to_entitled(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG));
    struct answer guild = client_get(s.bob, "/guilds/%s", s.guild);
    const char *role = answer_text(guild, "roles.1.id");
    int64_t integration = store_count(w, "select id from integrations");

    expect_told(w, all, "GUILD_ROLE_CREATE",
                "{'guild_id': '%s', 'role': {'id': '%s', 'name': 'App', 'permissions': '2048', "
                "'managed': true, 'position': 1, 'hoist': false, "
                "'tags': {'bot_id': '%s', 'integration_id': '%lld'}}}",
                s.guild, role, s.app, (long long)integration);
    expect_told(w, all, "GUILD_MEMBER_ADD",
                "{'guild_id': '%s', 'user': {'id': '%s', 'bot': true}, 'roles': ['%s']}", s.guild,
                s.app, role);
    expect_told(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                "{'action_type': 28, 'target_id': '%s', 'user_id': '%s'}", s.app, s.bob->id);
    expect_told(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_told(w, managers, "INTEGRATION_CREATE",
                "{'id': '%lld', 'guild_id': '%s', 'name': 'App', 'type': 'service', "
                "'enabled': true, 'account': {'id': '%s', 'name': 'App'}, "
                "'application': {'id': '%s', 'name': 'App', 'icon': null, 'description': '', "
                "'summary': '', 'type': null, 'bot': {'id': '%s'}, 'is_verified': false}, "
                "'scopes': ['bot', 'applications.commands']}",
                (long long)integration, s.guild, s.app, s.app, s.app);
    expect_told(w, all, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_told(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                "{'action_type': 80, 'target_id': '%lld'}", (long long)integration);
    expect_nothing_told(w);
    expect_event(bot, "GUILD_CREATE", "{'id': '%s', 'name': 'Home', 'member_count': 2}", s.guild);
    expect_silence(bot);
    expect_silence(s.bob);
    expect_json(client_get(s.ada, "/applications/%s", s.app), "{'approximate_guild_count': 1}");
    /* Nothing was allowed on the account itself. */
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[]");
}

/* --- out of it again ----------------------------------------------------------------------- */

static void expect_bot_scope_gone(struct world *w, const struct stage *s)
{
    struct subject all = to_guild(id_of(s->guild));
    struct subject managers = to_entitled(id_of(s->guild), 0, PERMISSION(MANAGE_GUILD));

    expect_told(w, all, "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}", s->app);
    expect_told(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s->guild);
    expect_told(w, managers, "INTEGRATION_UPDATE",
                "{'guild_id': '%s', 'name': 'App', 'type': 'service', 'account': {'id': '%s'}, "
                "'application': {'id': '%s'}, 'scopes': ['applications.commands']}",
                s->guild, s->app, s->app);
    expect_told(w, all, "GUILD_ROLE_DELETE", "{'guild_id': '%s'}", s->guild);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);
    expect(store_count(w, "select count(*) from integrations where "
                          "scopes = '[\"applications.commands\"]'") == 1);
}

static struct client *bring_bot(struct world *w, const struct stage *s)
{
    struct client *bot = application_bot(s->ada, s->app);

    expect_status(
        client_post(
            s->bob,
            TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '2048'}", s->guild),
            INSTALL, s->app),
        200);
    expect_event(bot, "GUILD_CREATE", "{}");
    forget_told(w);
    return bot;
}

static void a_bot_that_is_kicked_leaves_its_commands(struct world *w)
{
    struct stage s = stage(w);
    struct client *bot = bring_bot(w, &s);

    expect_status(client_delete(s.bob, "/guilds/%s/members/%s", s.guild, s.app), 204);
    expect_bot_scope_gone(w, &s);
    expect_event(bot, "GUILD_DELETE", "{'id': '%s'}", s.guild);

    /* It comes back as it came. */
    bring_bot(w, &s);
    expect(store_count(w, "select count(*) from integrations") == 1);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 1);
}

static void a_bot_that_is_banned_or_leaves_does_so_too(struct world *w)
{
    struct stage s = stage(w);
    struct client *bot = bring_bot(w, &s);

    expect_status(client_delete(bot, "/users/@me/guilds/%s", s.guild), 204);
    expect_bot_scope_gone(w, &s);
    expect_nothing_told(w);

    bring_bot(w, &s);
    expect_status(client_put(s.bob, NULL, "/guilds/%s/bans/%s", s.guild, s.app), 204);
    expect_told(
        w, to_entitled(id_of(s.guild), 0, PERMISSION(BAN_MEMBERS) | PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_BAN_ADD", "{}");
    expect_bot_scope_gone(w, &s);
}

static void an_app_that_was_only_a_bot_goes_with_it(struct world *w)
{
    struct stage s = stage(w);
    struct subject all = to_guild(id_of(s.guild));
    struct subject managers = to_entitled(id_of(s.guild), 0, PERMISSION(MANAGE_GUILD));

    bring_bot(w, &s);
    world_sql(w, "update integrations set scopes = '[\"bot\"]'");
    expect_status(client_delete(s.bob, "/guilds/%s/members/%s", s.guild, s.app), 204);
    expect_told(w, all, "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}", s.app);
    expect_told(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_told(w, managers, "INTEGRATION_DELETE", "{'guild_id': '%s', 'application_id': '%s'}",
                s.guild, s.app);
    expect_told(w, all, "GUILD_ROLE_DELETE", "{'guild_id': '%s'}", s.guild);
    expect_told(w, all, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect(store_count(w, "select count(*) from integrations") == 0);
}

static void without_permissions_there_is_no_role(struct world *w)
{
    struct stage s = stage(w);

    expect_status(client_post(s.bob, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild),
                              INSTALL, s.app),
                  200);
    expect_told(w, to_guild(id_of(s.guild)), "GUILD_MEMBER_ADD", "{'roles': []}");
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);
}

static void commands_alone_bring_no_bot(struct world *w)
{
    struct stage s = stage(w);

    expect_status(client_post(s.bob, "{'authorize': true}",
                              AUTHORIZE "?client_id=%s&scope=applications.commands&guild_id=%s"
                                        "&permissions=8",
                              s.app, s.guild),
                  200);
    struct subject managers = to_entitled(id_of(s.guild), 0, PERMISSION(MANAGE_GUILD));
    expect_told(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_told(w, managers, "INTEGRATION_CREATE", "{'scopes': ['applications.commands']}");
    expect(store_count(w, "select count(*) from members") == 1);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);

    /* The bot may come later: the same integration, with more in it. */
    forget_told(w);
    expect_status(
        client_post(s.bob,
                    TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild),
                    INSTALL, s.app),
        200);
    struct subject all = to_guild(id_of(s.guild));
    expect_told(w, all, "GUILD_ROLE_CREATE", "{'role': {'permissions': '8'}}");
    expect_told(w, all, "GUILD_MEMBER_ADD", "{'user': {'id': '%s'}}", s.app);
    expect_told(w, to_entitled(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
                "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 28}");
    expect_told(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_told(w, managers, "INTEGRATION_UPDATE", "{'scopes': ['applications.commands', 'bot']}");
    expect(store_count(w, "select count(*) from integrations") == 1);
}

static void installing_again_changes_the_role(struct world *w)
{
    struct stage s = stage(w);
    struct subject all = to_guild(id_of(s.guild));

    expect_status(client_post(s.bob, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild),
                              INSTALL, s.app),
                  200);
    forget_told(w);
    expect_status(
        client_post(s.bob,
                    TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild),
                    INSTALL, s.app),
        200);
    expect_told(w, all, "GUILD_ROLE_CREATE", "{'role': {'permissions': '8'}}");
    expect_told(w, all, "GUILD_MEMBER_UPDATE", "{'user': {'id': '%s'}}", s.app);
    forget_told(w);
    expect_status(
        client_post(s.bob,
                    TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '16'}", s.guild),
                    INSTALL, s.app),
        200);
    expect_told(w, all, "GUILD_ROLE_UPDATE", "{'role': {'permissions': '16'}}");
    expect_told(w, to_entitled(id_of(s.guild), 0, PERMISSION(MANAGE_GUILD)),
                "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 1);
    expect(store_count(w, "select member_count from guilds") == 2);
}

static void installing_needs_manage_guild(struct world *w)
{
    struct stage s = stage(w);
    struct client *cleo = world_client(w, "cleo");
    const char *body =
        TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild);

    expect_error(client_post(cleo, body, INSTALL, s.app), 403, 50001);
    put_member(s.guild, cleo);
    expect_error(client_post(cleo, body, INSTALL, s.app), 403, 50013);
    expect_nothing_told(w);
    expect_error(client_post(cleo, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", cleo->id),
                             INSTALL, s.app),
                 404, 10004);
    expect_invalid(client_post(cleo, "{'authorize': true}", INSTALL, s.app), "guild_id",
                   "BASE_TYPE_REQUIRED");

    put_role_on(s.guild, cleo,
                make_role(s.bob, s.guild, "{'name': 'managers', 'permissions': '32'}"));
    expect_status(client_post(cleo, body, INSTALL, s.app), 200);
    /* Nobody gives away what they do not have: no administrator here. */
    expect(store_count(w, "select count(*) from roles where managed = 1 and permissions <> 0") ==
           0);
}

static void private_applications_are_installed_by_their_makers(struct world *w)
{
    struct stage s = stage(w);
    const char *body = TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild);

    expect_status(client_patch(s.ada, "{'integration_public': false}", "/applications/%s", s.app),
                  200);
    expect_error(client_post(s.bob, body, INSTALL, s.app), 403, 20012);
    expect_error(client_post(s.bob, "{'authorize': true, 'integration_type': 1}",
                             AUTHORIZE "?client_id=%s&scope=applications.commands", s.app),
                 403, 20012);
    const char *guild = found_guild(s.ada, "Workshop");
    expect_status(
        client_post(s.ada, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", guild), INSTALL, s.app),
        200);
}

static void applications_say_where_they_can_be_installed(struct world *w)
{
    struct stage s = stage(w);
    const char *body =
        TEXT(w, "{'authorize': true, 'guild_id': '%s', 'integration_type': 0}", s.guild);

    expect_status(
        client_patch(s.ada, "{'integration_types_config': {'1': {}}}", "/applications/%s", s.app),
        200);
    expect_invalid(client_post(s.bob, body, INSTALL, s.app), "integration_type",
                   "BASE_TYPE_CHOICES");
    expect_json(client_get(s.bob, AUTHORIZE "?client_id=%s&scope=applications.commands", s.app),
                "{'integration_type': 1}");
    expect_status(
        client_patch(s.ada, "{'integration_types_config': {'0': {}}}", "/applications/%s", s.app),
        200);
    expect_invalid(client_post(s.bob, "{'authorize': true, 'integration_type': 1}",
                               AUTHORIZE "?client_id=%s&scope=applications.commands", s.app),
                   "integration_type", "BASE_TYPE_CHOICES");
}

static void a_guild_has_at_most_50_integrations(struct world *w)
{
    struct stage s = stage(w);
    struct client *others[] = { s.ada, s.bob };
    const char *body = TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild);
    const char *last = NULL;

    for (int i = 0; i < 51; i++) {
        last = make_application(others[i % 2], "App");
        if (i < 50)
            expect_status(client_post(s.bob, body,
                                      AUTHORIZE "?client_id=%s&scope=applications.commands", last),
                          200);
    }
    forget_told(w);
    expect_error(
        client_post(s.bob, body, AUTHORIZE "?client_id=%s&scope=applications.commands", last), 400,
        30068);
    expect_nothing_told(w);
}

/* --- onto an account --------------------------------------------------------------------- */

static void a_bot_writes_to_whoever_has_its_app(struct world *w)
{
    struct stage s = stage(w);
    struct client *bot = application_bot(s.ada, s.app);
    const char *dm = answer_text(
        client_post(bot, TEXT(w, "{'recipient_id': '%s'}", s.bob->id), "/users/@me/channels"),
        "id");

    expect_error(client_post(bot, "{'content': 'hi'}", "/channels/%s/messages", dm), 403, 50278);
    expect_status(client_post(s.bob, "{'authorize': true, 'integration_type': 1}",
                              AUTHORIZE "?client_id=%s&scope=applications.commands", s.app),
                  200);
    expect_status(client_post(bot, "{'content': 'hi'}", "/channels/%s/messages", dm), 200);
    expect_status(client_delete(s.bob, "/oauth2/tokens/%s",
                                answer_text(client_get(s.bob, "/oauth2/tokens"), "0.id")),
                  204);
    expect_error(client_post(bot, "{'content': 'hi'}", "/channels/%s/messages", dm), 403, 50278);
}

static void installing_on_an_account_tells_the_account(struct world *w)
{
    struct stage s = stage(w);

    expect_status(client_post(s.bob,
                              TEXT(w,
                                   "{'authorize': true, 'integration_type': 1, "
                                   "'guild_id': '%s'}",
                                   s.guild),
                              AUTHORIZE "?client_id=%s&scope=applications.commands", s.app),
                  200);
    expect_event(s.bob, "USER_APPLICATION_UPDATE", "{'application_id': '%s'}", s.app);
    expect_nothing_told(w);
    expect(store_count(w, "select count(*) from integrations") == 0);
    struct answer a = client_get(s.bob, "/oauth2/tokens");
    expect_json(a, "[{'scopes': ['applications.commands'], 'application': {'id': '%s'}}]", s.app);
    expect_json(client_get(s.ada, "/applications/%s", s.app),
                "{'approximate_user_install_count': 1, "
                "'approximate_user_authorization_count': 1}");

    expect_status(client_delete(s.bob, "/oauth2/tokens/%s", answer_text(a, "0.id")), 204);
    expect_event(s.bob, "USER_APPLICATION_REMOVE", "{'application_id': '%s'}", s.app);
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[]");
}

/* --- codes ------------------------------------------------------------------------------- */

static void a_code_becomes_tokens(struct world *w)
{
    struct stage s = stage(w);
    struct answer a = client_post(s.bob, "{'authorize': true}",
                                  AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK
                                            "&scope=identify+guilds+identify&state=xyz",
                                  s.app);

    expect_status(a, 200);
    expect(str_starts(str_of(answer_text(a, "url")), STR("https://app.example/back?code=")));
    expect(strcmp(url_part(a, "state"), "xyz") == 0);
    a = exchange(&s, url_part(a, "code"));
    expect_status(a, 200);
    expect_json(a, "{'token_type': 'Bearer', 'scope': 'identify guilds', 'expires_in': 604800}");
    expect_absent(a, "guild");
    expect(str_is(answer_header(a, "Cache-Control"), "no-store"));
    expect(strcmp(answer_text(a, "access_token"), answer_text(a, "refresh_token")) != 0);

    struct client *app = bearer(a);
    a = client_get(app, "/oauth2/@me");
    expect_status(a, 200);
    expect_json(a,
                "{'application': {'id': '%s'}, 'scopes': ['identify', 'guilds'], "
                "'user': {'id': '%s', 'username': 'bob'}}",
                s.app, s.bob->id);
    expect(strlen(answer_text(a, "expires")) >= 25);
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[{'scopes': ['identify', 'guilds']}]");
}

static void codes_work_once_and_for_ten_minutes(struct world *w)
{
    struct stage s = stage(w);
    const char *code = get_code(s.bob, s.app, "identify");

    expect_status(exchange(&s, code), 200);
    expect_oauth2(exchange(&s, code), 400, "invalid_grant");

    code = get_code(s.bob, s.app, "identify");
    world_wait(w, 599);
    expect_status(exchange(&s, code), 200);
    code = get_code(s.bob, s.app, "identify");
    world_wait(w, 601);
    expect_oauth2(exchange(&s, code), 400, "invalid_grant");
    /* What has run out is swept away by the next one. */
    get_code(s.bob, s.app, "identify");
    expect(store_count(w, "select count(*) from authorization_codes") == 1);
}

static void codes_are_for_one_application_and_one_address(struct world *w)
{
    struct stage s = stage(w);
    const char *code = get_code(s.bob, s.app, "identify");
    struct stage other = s;

    other.app = make_application(s.ada, "Other");
    other.secret = application_secret(s.ada, other.app);
    expect_oauth2(exchange(&other, code), 400, "invalid_grant");
    expect_oauth2(client_form(s.nobody, TOKEN,
                              "grant_type=authorization_code&code=%s&client_id=%s&client_secret=%s"
                              "&redirect_uri=https://app.example/elsewhere",
                              code, s.app, s.secret),
                  400, "invalid_grant");
    expect_oauth2(client_form(s.nobody, TOKEN,
                              "grant_type=authorization_code&code=%s&client_id=%s&client_secret=%s",
                              code, s.app, s.secret),
                  400, "invalid_grant");
    expect_oauth2(exchange(&s, "nonsense"), 400, "invalid_grant");
    expect_status(exchange(&s, code), 200);
}

static void applications_prove_who_they_are(struct world *w)
{
    struct stage s = stage(w);
    const char *code = get_code(s.bob, s.app, "identify");
    struct stage wrong = s;
    struct answer a;

    wrong.secret = "wrong";
    a = exchange(&wrong, code);
    expect_oauth2(a, 401, "invalid_client");
    expect(answer_header(a, "WWW-Authenticate").p);
    wrong.secret = "";
    expect_oauth2(exchange(&wrong, code), 401, "invalid_client");
    wrong.app = s.bob->id;
    expect_oauth2(exchange(&wrong, code), 401, "invalid_client");
    wrong.app = "x";
    expect_oauth2(exchange(&wrong, code), 401, "invalid_client");
    expect_oauth2(client_form(s.nobody, TOKEN, "grant_type=authorization_code&code=%s", code), 401,
                  "invalid_client");

    /* HTTP Basic says the same. */
    char pair[200], encoded[400];
    snprintf(pair, sizeof pair, "%s:%s", s.app, s.secret);
    struct str b = str_base64url(world_arena(w), pair, strlen(pair));
    size_t n = 0;
    for (; n < b.n; n++)
        encoded[n] = b.p[n] == '-' ? '+' : b.p[n] == '_' ? '/' : b.p[n];
    while (n % 4)
        encoded[n++] = '=';
    encoded[n] = '\0';
    struct client *basic = world_client_with(w, TEXT(w, "Basic %s", encoded));
    a = client_form(basic, TOKEN, "grant_type=authorization_code&code=%s&redirect_uri=" BACK, code);
    expect_status(a, 200);
    struct client *bad = world_client_with(w, "Basic !!!");
    expect_oauth2(client_form(bad, TOKEN, "grant_type=client_credentials&scope=identify"), 401,
                  "invalid_client");
}

static void grants_that_we_do_not_know_are_refused(struct world *w)
{
    struct stage s = stage(w);

    expect_oauth2(client_form(s.nobody, TOKEN, "grant_type=password&client_id=%s&client_secret=%s",
                              s.app, s.secret),
                  400, "unsupported_grant_type");
    expect_oauth2(client_form(s.nobody, TOKEN, "client_id=%s&client_secret=%s", s.app, s.secret),
                  400, "invalid_request");
    expect_oauth2(client_form(s.nobody, TOKEN,
                              "grant_type=authorization_code&client_id=%s&client_secret=%s", s.app,
                              s.secret),
                  400, "invalid_request");
    expect_oauth2(client_form(s.nobody, TOKEN,
                              "grant_type=refresh_token&client_id=%s&client_secret=%s", s.app,
                              s.secret),
                  400, "invalid_grant");
}

/* The effects wait for the application to prove itself. */
static void installs_may_wait_for_the_exchange(struct world *w)
{
    struct stage s = stage(w);
    const char *body =
        TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild);

    expect_status(
        client_patch(s.ada, "{'bot_require_code_grant': true}", "/applications/%s", s.app), 200);
    expect_invalid(client_post(s.bob, body, INSTALL, s.app), "response_type", "BASE_TYPE_REQUIRED");
    struct answer a =
        client_post(s.bob, body, INSTALL "&response_type=code&redirect_uri=" BACK, s.app);
    expect_status(a, 200);
    expect_nothing_told(w);
    expect(store_count(w, "select count(*) from integrations") == 0);

    a = exchange(&s, url_part(a, "code"));
    expect_status(a, 200);
    expect_json(a, "{'scope': 'bot', 'guild': {'id': '%s', 'name': 'Home'}}", s.guild);
    struct subject all = to_guild(id_of(s.guild));
    expect_told(w, all, "GUILD_ROLE_CREATE", "{'role': {'permissions': '8'}}");
    expect_told(w, all, "GUILD_MEMBER_ADD", "{'user': {'id': '%s'}}", s.app);
    expect_told(w, to_entitled(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
                "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 28, 'user_id': '%s'}", s.bob->id);
    expect(store_count(w, "select count(*) from integrations") == 1);

    a = client_post(s.bob, "{'authorize': true, 'integration_type': 1}",
                    AUTHORIZE "?client_id=%s&scope=applications.commands&response_type=code",
                    s.app);
    expect_status(a, 200);
    expect_silence(s.bob);
    expect_status(exchange(&s, url_part(a, "code")), 200);
    expect_event(s.bob, "USER_APPLICATION_UPDATE", "{'application_id': '%s'}", s.app);
    expect(store_count(w, "select count(*) from authorizations where installed = 1") == 1);
}

static void who_lost_the_right_meanwhile_installs_nothing(struct world *w)
{
    struct stage s = stage(w);
    struct client *cleo = world_client(w, "cleo");
    const char *role = make_role(s.bob, s.guild, "{'name': 'managers', 'permissions': '32'}");

    put_member(s.guild, cleo);
    put_role_on(s.guild, cleo, role);
    expect_status(
        client_patch(s.ada, "{'bot_require_code_grant': true}", "/applications/%s", s.app), 200);
    struct answer a = client_post(cleo, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild),
                                  INSTALL "&response_type=code", s.app);
    expect_status(a, 200);
    expect_status(client_delete(s.bob, "/guilds/%s/roles/%s", s.guild, role), 204);
    expect_oauth2(exchange(&s, url_part(a, "code")), 400, "invalid_grant");
    expect(store_count(w, "select count(*) from integrations") == 0);
}

/* --- access tokens ------------------------------------------------------------------------- */

static void access_tokens_end_after_a_week(struct world *w)
{
    struct stage s = stage(w);
    struct client *app = bearer(granted(&s, "identify"));

    expect_status(client_get(app, "/oauth2/@me"), 200);
    world_wait(w, 604799);
    expect_status(client_get(app, "/oauth2/@me"), 200);
    world_wait(w, 2);
    expect_error(client_get(app, "/oauth2/@me"), 401, 0);
    /* And are swept away with the next one. */
    granted(&s, "identify");
    expect(store_count(w, "select count(*) from tokens where kind = 3") == 1);
}

static void access_tokens_reach_what_their_scopes_say(struct world *w)
{
    struct stage s = stage(w);
    struct client *app = bearer(granted(&s, "guilds"));

    struct answer a = client_get(app, "/oauth2/@me");
    expect_status(a, 200);
    expect_absent(a, "user");
    expect_json(client_get(app, "/users/@me/guilds"), "[{'id': '%s'}]", s.guild);
    expect_error(client_get(app, "/users/@me"), 403, 50026);
    struct client *identity = bearer(granted(&s, "identify"));
    expect_json(client_get(identity, "/users/@me"), "{'id': '%s', 'username': 'bob'}", s.bob->id);
    expect_error(client_get(identity, "/users/@me/guilds"), 403, 50026);
    expect_error(client_get(app, "/oauth2/tokens"), 401, 0);
    expect_error(client_get(app, "/teams"), 401, 0);
    expect_error(client_get(s.bob, "/oauth2/@me"), 401, 0);
    expect_error(client_get(application_bot(s.ada, s.app), "/oauth2/@me"), 401, 0);
    /* Not as a person's own. */
    expect_error(client_get(world_client_with(w, app->authorization + 7), "/users/@me"), 401, 0);
}

static void refresh_tokens_work_once(struct world *w)
{
    struct stage s = stage(w);
    struct answer first = granted(&s, "identify%20guilds");
    const char *token = answer_text(first, "refresh_token");

    /* Nobody calls with one. */
    expect_error(client_get(world_client_with(w, TEXT(w, "Bearer %s", token)), "/oauth2/@me"), 401,
                 0);
    world_wait(w, 604801);
    struct answer a = refresh(&s, token);
    expect_status(a, 200);
    expect_json(a, "{'token_type': 'Bearer', 'scope': 'identify guilds', 'expires_in': 604800}");
    expect_status(client_get(bearer(a), "/oauth2/@me"), 200);
    expect_oauth2(refresh(&s, token), 400, "invalid_grant");
    expect_oauth2(refresh(&s, answer_text(a, "access_token")), 400, "invalid_grant");

    struct stage other = s;
    other.app = make_application(s.ada, "Other");
    other.secret = application_secret(s.ada, other.app);
    expect_oauth2(refresh(&other, answer_text(a, "refresh_token")), 400, "invalid_grant");
    expect_oauth2(refresh(&s, TEXT(w, "%s&scope=email", answer_text(a, "refresh_token"))), 400,
                  "invalid_scope");
    a = refresh(&s, TEXT(w, "%s&scope=guilds", answer_text(a, "refresh_token")));
    expect_json(a, "{'scope': 'guilds'}");
    expect_json(refresh(&s, answer_text(a, "refresh_token")), "{'scope': 'identify guilds'}");
}

static void revoking_ends_all_tokens_of_the_pair(struct world *w)
{
    struct stage s = stage(w);
    struct answer one = granted(&s, "identify"), two = granted(&s, "guilds");
    struct client *first = bearer(one), *second = bearer(two);
    const char *token = answer_text(one, "access_token");
    struct client *cleo = world_client(w, "cleo");
    struct answer hers = exchange(&s, get_code(cleo, s.app, "identify"));

    expect_status(client_get(first, "/oauth2/@me"), 200);
    expect_status(client_get(second, "/oauth2/@me"), 200);
    expect_oauth2(
        client_form(s.nobody, REVOKE, "token=%s&client_id=%s&client_secret=no", token, s.app), 401,
        "invalid_client");
    expect_oauth2(client_form(s.nobody, REVOKE, "token_type_hint=access_token"), 400,
                  "invalid_request");
    const char *other = make_application(s.ada, "Other");
    struct answer a = client_form(s.nobody, REVOKE, "token=%s&client_id=%s&client_secret=%s", token,
                                  other, application_secret(s.ada, other));
    expect_status(a, 200);
    expect_status(client_get(first, "/oauth2/@me"), 200);

    a = client_form(s.nobody, REVOKE, "token=%s&client_id=%s&client_secret=%s", token, s.app,
                    s.secret);
    expect_status(a, 200);
    expect(str_is(a.body, "{}"));
    expect_error(client_get(first, "/oauth2/@me"), 401, 0);
    expect_error(client_get(second, "/oauth2/@me"), 401, 0);
    expect_oauth2(refresh(&s, answer_text(one, "refresh_token")), 400, "invalid_grant");
    expect_oauth2(refresh(&s, answer_text(two, "refresh_token")), 400, "invalid_grant");
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[]");
    expect_status(client_get(s.bob, "/users/@me"), 200);

    /* Somebody else's go on; a refresh token ends them as well. */
    expect_status(client_get(bearer(hers), "/oauth2/@me"), 200);
    a = client_form(s.nobody, REVOKE, "token=%s", answer_text(hers, "refresh_token"));
    expect_status(a, 200);
    expect_error(client_get(bearer(hers), "/oauth2/@me"), 401, 0);
    expect_status(client_form(s.nobody, REVOKE, "token=%s", token), 200);
    expect_status(client_form(s.nobody, REVOKE, "token=nonsense"), 200);
}

static void owners_get_tokens_for_themselves(struct world *w)
{
    struct stage s = stage(w);
    const char *form =
        TEXT(w, "grant_type=client_credentials&client_id=%s&client_secret=%s", s.app, s.secret);

    struct answer a =
        client_form(s.nobody, TOKEN, "%s&scope=identify%%20applications.commands.update", form);
    expect_status(a, 200);
    expect_json(a, "{'token_type': 'Bearer', 'expires_in': 604800, "
                   "'scope': 'identify applications.commands.update'}");
    expect_absent(a, "refresh_token");
    expect_json(client_get(bearer(a), "/oauth2/@me"),
                "{'user': {'id': '%s'}, 'application': {'id': '%s'}}", s.ada->id, s.app);
    expect_oauth2(client_form(s.nobody, TOKEN, "%s", form), 400, "invalid_scope");
    expect_oauth2(client_form(s.nobody, TOKEN, "%s&scope=world", form), 400, "invalid_scope");
    expect_oauth2(client_form(s.nobody, TOKEN, "%s&scope=bot", form), 400, "invalid_scope");
    expect_status(client_form(s.nobody, TOKEN, "%s&scope=guilds", form), 200);
    expect_json(client_get(s.ada, "/oauth2/tokens"), "[]");
}

static void teams_get_little_for_themselves(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_stranger(w);
    const char *team = make_team(ada, "Makers");
    struct answer a =
        client_post(ada, TEXT(w, "{'name': 'App', 'team_id': '%s'}", team), "/applications");
    const char *app = answer_text(a, "id");
    const char *form = TEXT(w, "grant_type=client_credentials&client_id=%s&client_secret=%s", app,
                            application_secret(ada, app));

    a = client_form(nobody, TOKEN, "%s&scope=identify+applications.commands.update", form);
    expect_status(a, 200);
    expect_json(client_get(bearer(a), "/oauth2/@me"), "{'user': {'id': '%s'}}", ada->id);
    expect_oauth2(client_form(nobody, TOKEN, "%s&scope=guilds", form), 400, "invalid_scope");
}

/* --- what was allowed -------------------------------------------------------------------- */

static void grants_are_listed_and_taken_back(struct world *w)
{
    struct stage s = stage(w);
    struct answer tokens = granted(&s, "identify");
    struct client *app = bearer(tokens), *eve = world_client(w, "eve");
    struct stage other = s;

    other.app = make_application(s.ada, "Other");
    other.secret = application_secret(s.ada, other.app);
    expect_status(client_patch(s.ada, "{'redirect_uris': ['https://app.example/back']}",
                               "/applications/%s", other.app),
                  200);
    world_wait(w, 1);
    granted(&other, "guilds");
    struct answer a = client_get(s.bob, "/oauth2/tokens");
    expect_json(a,
                "[{'scopes': ['guilds'], 'application': {'id': '%s'}}, "
                "{'scopes': ['identify'], 'application': {'id': '%s'}}]",
                other.app, s.app);
    expect_json(client_get(s.bob, "/oauth2/tokens?application_ids=%s", s.app),
                "[{'application': {'id': '%s'}}]", s.app);
    expect_json(client_get(s.bob, "/oauth2/tokens?application_ids=%s,%s", s.bob->id, other.app),
                "[{'application': {'id': '%s'}}]", other.app);
    expect_json(client_get(s.bob, "/oauth2/applications/%s/tokens", s.app),
                "[{'scopes': ['identify']}]");
    expect_error(client_get(s.bob, "/oauth2/applications/%s/tokens", s.bob->id), 404, 10002);
    expect_json(client_get(eve, "/oauth2/tokens"), "[]");

    const char *id = answer_text(a, "1.id");
    expect_error(client_delete(eve, "/oauth2/tokens/%s", id), 404, 10012);
    expect_error(client_delete(s.bob, "/oauth2/tokens/%s", s.bob->id), 404, 10012);
    expect_status(client_get(app, "/oauth2/@me"), 200);
    expect_status(client_delete(s.bob, "/oauth2/tokens/%s", id), 204);
    expect_event(s.bob, "USER_APPLICATION_REMOVE", "{'application_id': '%s'}", s.app);
    expect_silence(s.bob);
    expect_error(client_get(app, "/oauth2/@me"), 401, 0);
    expect_oauth2(refresh(&s, answer_text(tokens, "refresh_token")), 400, "invalid_grant");
    expect_error(client_delete(s.bob, "/oauth2/tokens/%s", id), 404, 10012);
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[{'application': {'id': '%s'}}]", other.app);
}

static void what_is_allowed_adds_up(struct world *w)
{
    struct stage s = stage(w);

    granted(&s, "identify");
    granted(&s, "guilds%20identify");
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[{'scopes': ['identify', 'guilds']}]");
    expect_json(client_get(s.ada, "/applications/%s", s.app),
                "{'approximate_user_authorization_count': 1, "
                "'approximate_user_install_count': 0}");
}

extern const struct test oauth2_tests[];
const struct test oauth2_tests[] = {
    TEST(a_person_is_told_what_is_asked),
    TEST(what_cannot_be_asked_is_refused),
    TEST(a_person_may_say_no),
    TEST(installing_brings_the_bot_and_tells_the_guild),
    TEST(a_bot_that_is_kicked_leaves_its_commands),
    TEST(a_bot_that_is_banned_or_leaves_does_so_too),
    TEST(an_app_that_was_only_a_bot_goes_with_it),
    TEST(without_permissions_there_is_no_role),
    TEST(commands_alone_bring_no_bot),
    TEST(installing_again_changes_the_role),
    TEST(installing_needs_manage_guild),
    TEST(private_applications_are_installed_by_their_makers),
    TEST(applications_say_where_they_can_be_installed),
    TEST(a_guild_has_at_most_50_integrations),
    TEST(installing_on_an_account_tells_the_account),
    TEST(a_bot_writes_to_whoever_has_its_app),
    TEST(a_code_becomes_tokens),
    TEST(codes_work_once_and_for_ten_minutes),
    TEST(codes_are_for_one_application_and_one_address),
    TEST(applications_prove_who_they_are),
    TEST(grants_that_we_do_not_know_are_refused),
    TEST(installs_may_wait_for_the_exchange),
    TEST(who_lost_the_right_meanwhile_installs_nothing),
    TEST(access_tokens_end_after_a_week),
    TEST(access_tokens_reach_what_their_scopes_say),
    TEST(refresh_tokens_work_once),
    TEST(revoking_ends_all_tokens_of_the_pair),
    TEST(owners_get_tokens_for_themselves),
    TEST(teams_get_little_for_themselves),
    TEST(grants_are_listed_and_taken_back),
    TEST(what_is_allowed_adds_up),
    { 0 },
};
