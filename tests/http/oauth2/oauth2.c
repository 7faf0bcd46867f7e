/* oauth2.c - authorizing apps for guilds and accounts. */
#include "consents.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "guilds.h"
#include "test_guild.h"

/* --- authorization page --------------------------------------------------------------- */

static void authorize_returns_application_scopes_and_guilds(struct world *w)
{
    struct consent s = world_consent(w);
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

static void invalid_authorization_requests_are_refused(struct world *w)
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
        { "scope=identify&response_type=code&code_challenge_method=plain", "code_challenge_method",
          "BASE_TYPE_CHOICES" },
        { "scope=identify&response_type=code&code_challenge_method=S256", "code_challenge",
          "BASE_TYPE_REQUIRED" },
        { "scope=identify&response_type=token", "response_type", "BASE_TYPE_CHOICES" },
        { "scope=identify&response_type=code&redirect_uri=https://evil.example", "redirect_uri",
          "INVALID_REDIRECT_URI" },
        { "scope=identify&response_type=code&redirect_uri=https://app.example/back/",
          "redirect_uri", "INVALID_REDIRECT_URI" },
        { "scope=bot&redirect_uri=https://evil.example", "redirect_uri", "INVALID_REDIRECT_URI" },
        { "scope=bot&integration_type=2", "integration_type", "BASE_TYPE_CHOICES" },
        { "scope=bot&integration_type=1", "scope", "ENUM_TYPE_COERCE" },
    };
    struct consent s = world_consent(w);

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
    /* With several redirect URIs one must be given. */
    expect_status(client_patch(s.ada, "{'redirect_uris': ['https://a/1', 'https://a/2']}",
                               "/applications/%s", s.app),
                  200);
    expect_invalid(
        client_get(s.bob, AUTHORIZE "?client_id=%s&scope=identify&response_type=code", s.app),
        "redirect_uri", "BASE_TYPE_REQUIRED");
}

static void denying_an_authorization_redirects_with_access_denied(struct world *w)
{
    struct consent s = world_consent(w);
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
    expect_nothing_received(w);
}

/* --- implicit grant ------------------------------------------------------------------- */

#define IMPLICIT AUTHORIZE "?client_id=%s&response_type=token&scope="

static void public_clients_get_a_token_by_the_implicit_grant(struct world *w)
{
    struct consent s = world_consent(w);

    /* The owner must set the public client flag. */
    expect_invalid(client_post(s.bob, "{'authorize': true}", IMPLICIT "identify", s.app),
                   "response_type", "BASE_TYPE_CHOICES");
    expect_json(client_patch(s.ada, "{'flags': 256}", "/applications/%s", s.app), "{'flags': 256}");
    expect_status(client_get(s.bob, IMPLICIT "identify", s.app), 200);
    struct answer a =
        client_post(s.bob, "{'authorize': true}", IMPLICIT "identify+guilds&state=a%%26b", s.app);
    expect_status(a, 200);
    const char *token = url_part(a, "access_token");
    expect(strcmp(answer_text(a, "url"),
                  TEXT(w,
                       "https://app.example/back#access_token=%s&token_type=Bearer&"
                       "expires_in=604800&scope=identify%%20guilds&state=a%%26b",
                       token)) == 0);
    expect_json(client_get(world_client_with(w, TEXT(w, "Bearer %s", token)), "/oauth2/@me"),
                "{'scopes': ['identify', 'guilds'], 'user': {'id': '%s'}}", s.bob->id);
    /* The authorization can be revoked like any other. */
    a = client_get(s.bob, "/oauth2/tokens");
    expect_status(client_delete(s.bob, "/oauth2/tokens/%s", answer_text(a, "0.id")), 204);
    expect_error(client_get(world_client_with(w, TEXT(w, "Bearer %s", token)), "/oauth2/@me"), 401,
                 0);
}

static void implicit_grant_is_refused_for_bots_and_without_redirect_uri(struct world *w)
{
    struct consent s = world_consent(w);

    expect_status(client_patch(s.ada, "{'flags': 256, 'integration_require_code_grant': true}",
                               "/applications/%s", s.app),
                  200);
    expect_invalid(client_post(s.bob, "{'authorize': true}", IMPLICIT "bot+identify", s.app),
                   "response_type", "BASE_TYPE_CHOICES");
    expect_status(
        client_patch(s.ada, "{'integration_require_code_grant': false}", "/applications/%s", s.app),
        200);
    expect_invalid(client_post(s.bob, "{'authorize': true}", IMPLICIT "bot+identify", s.app),
                   "scope", "ENUM_TYPE_COERCE");
    expect_json(client_post(s.bob, "{'authorize': false}", IMPLICIT "identify&state=x", s.app),
                "{'url': 'https://app.example/back#error=access_denied&state=x'}");
    expect(store_count(w, "select count(*) from authorizations") == 0);
    /* Without redirect_uri the first one is used; there must be one. */
    expect_status(client_patch(s.ada, "{'redirect_uris': ['https://a/1', 'https://a/2']}",
                               "/applications/%s", s.app),
                  200);
    struct answer a = client_post(s.bob, "{'authorize': true}", IMPLICIT "identify", s.app);
    expect(strncmp(answer_text(a, "url"), "https://a/1#access_token=", 25) == 0);
    expect_status(client_patch(s.ada, "{'redirect_uris': []}", "/applications/%s", s.app), 200);
    expect_invalid(client_post(s.bob, "{'authorize': true}", IMPLICIT "identify", s.app),
                   "redirect_uri", "BASE_TYPE_REQUIRED");
}

/* --- guild installs ------------------------------------------------------------------- */

static void installing_in_a_guild_adds_the_bot_and_sends_events(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *bot = application_bot(s.ada, s.app);
    struct answer a = client_post(
        s.bob, TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '2048'}", s.guild),
        INSTALL, s.app);

    expect_status(a, 200);
    expect(strcmp(url_part(a, "guild_id"), s.guild) == 0);
    expect(strcmp(answer_text(a, "url"), answer_text(a, "location")) == 0);

    struct audience all = audience_of_guild(id_of(s.guild));
    struct audience managers =
        audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(MANAGE_GUILD));
    struct audience auditors =
        audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG));
    struct answer guild = client_get(s.bob, "/guilds/%s", s.guild);
    const char *role = answer_text(guild, "roles.1.id");
    int64_t integration = store_count(w, "select id from integrations");

    expect_received(w, all, "GUILD_ROLE_CREATE",
                    "{'guild_id': '%s', 'role': {'id': '%s', 'name': 'App', 'permissions': '2048', "
                    "'managed': true, 'position': 1, 'hoist': false, "
                    "'tags': {'bot_id': '%s', 'integration_id': '%lld'}}}",
                    s.guild, role, s.app, (long long)integration);
    expect_received(w, all, "GUILD_MEMBER_ADD",
                    "{'guild_id': '%s', 'user': {'id': '%s', 'bot': true}, 'roles': ['%s']}",
                    s.guild, s.app, role);
    expect_received(w, system_viewers(w, s.guild), "MESSAGE_CREATE",
                    "{'type': 7, 'content': '', 'mentions': [], 'author': {'id': '%s'}}", s.app);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 28, 'target_id': '%s', 'user_id': '%s'}", s.app, s.bob->id);
    expect_received(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_received(w, managers, "INTEGRATION_CREATE",
                    "{'id': '%lld', 'guild_id': '%s', 'name': 'App', 'type': 'service', "
                    "'enabled': true, 'account': {'id': '%s', 'name': 'App'}, "
                    "'application': {'id': '%s', 'name': 'App', 'icon': null, 'description': '', "
                    "'summary': '', 'type': null, 'bot': {'id': '%s'}, 'is_verified': false}, "
                    "'scopes': ['bot', 'applications.commands']}",
                    (long long)integration, s.guild, s.app, s.app, s.app);
    expect_received(w, all, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                    "{'action_type': 80, 'target_id': '%lld'}", (long long)integration);
    expect_nothing_received(w);
    expect_event(bot, "GUILD_CREATE", "{'id': '%s', 'name': 'Home', 'member_count': 2}", s.guild);
    expect_silence(bot);
    expect_silence(s.bob);
    expect_json(client_get(s.ada, "/applications/%s", s.app), "{'approximate_guild_count': 1}");
    /* The account itself has no authorization. */
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[]");
}

/* --- removal from a guild ------------------------------------------------------------- */

static void expect_bot_scope_removed(struct world *w, const struct consent *s)
{
    struct audience all = audience_of_guild(id_of(s->guild));
    struct audience managers =
        audience_of_members_with_permission(id_of(s->guild), 0, PERMISSION(MANAGE_GUILD));

    expect_received(w, all, "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}", s->app);
    expect_received(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s->guild);
    expect_received(w, managers, "INTEGRATION_UPDATE",
                    "{'guild_id': '%s', 'name': 'App', 'type': 'service', 'account': {'id': '%s'}, "
                    "'application': {'id': '%s'}, 'scopes': ['applications.commands']}",
                    s->guild, s->app, s->app);
    expect_received(w, all, "GUILD_ROLE_DELETE", "{'guild_id': '%s'}", s->guild);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);
    expect(store_count(w, "select count(*) from integrations where "
                          "scopes = '[\"applications.commands\"]'") == 1);
}

static struct client *install_bot(struct world *w, const struct consent *s)
{
    struct client *bot = application_bot(s->ada, s->app);

    expect_status(
        client_post(
            s->bob,
            TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '2048'}", s->guild),
            INSTALL, s->app),
        200);
    expect_event(bot, "GUILD_CREATE", "{}");
    discard_received(w);
    return bot;
}

static void kicking_a_bot_keeps_its_apps_commands(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *bot = install_bot(w, &s);

    expect_status(client_delete(s.bob, "/guilds/%s/members/%s", s.guild, s.app), 204);
    expect_bot_scope_removed(w, &s);
    expect_event(bot, "GUILD_DELETE", "{'id': '%s'}", s.guild);

    /* The bot can be added again. */
    install_bot(w, &s);
    expect(store_count(w, "select count(*) from integrations") == 1);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 1);
}

static void commands_stay_when_the_bot_is_banned_or_leaves(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *bot = install_bot(w, &s);

    expect_status(client_delete(bot, "/users/@me/guilds/%s", s.guild), 204);
    expect_bot_scope_removed(w, &s);
    expect_nothing_received(w);

    install_bot(w, &s);
    expect_status(client_put(s.bob, NULL, "/guilds/%s/bans/%s", s.guild, s.app), 204);
    expect_received(w,
                    audience_of_members_with_permission(
                        id_of(s.guild), 0, PERMISSION(BAN_MEMBERS) | PERMISSION(VIEW_AUDIT_LOG)),
                    "GUILD_BAN_ADD", "{}");
    expect_bot_scope_removed(w, &s);
}

static void kicking_a_bot_removes_an_app_with_bot_scope_only(struct world *w)
{
    struct consent s = world_consent(w);
    struct audience all = audience_of_guild(id_of(s.guild));
    struct audience managers =
        audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(MANAGE_GUILD));

    struct client *bot = install_bot(w, &s);
    world_sql(w, "update integrations set scopes = '[\"bot\"]'");
    expect_status(client_delete(s.bob, "/guilds/%s/members/%s", s.guild, s.app), 204);
    expect_received(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_received(w, managers, "INTEGRATION_DELETE", "{'guild_id': '%s', 'application_id': '%s'}",
                    s.guild, s.app);
    expect_received(w, all, "GUILD_MEMBER_REMOVE", "{'user': {'id': '%s'}}", s.app);
    expect_event(bot, "GUILD_DELETE", "{'id': '%s'}", s.guild);
    expect_received(w, all, "GUILD_ROLE_DELETE", "{'guild_id': '%s'}", s.guild);
    expect_received(w, all, "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "{'guild_id': '%s'}",
                    s.guild);
    expect(store_count(w, "select count(*) from integrations") == 0);
}

static void installing_without_permissions_creates_no_role(struct world *w)
{
    struct consent s = world_consent(w);

    expect_status(client_post(s.bob, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild),
                              INSTALL, s.app),
                  200);
    expect_received(w, audience_of_guild(id_of(s.guild)), "GUILD_MEMBER_ADD", "{'roles': []}");
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);
}

/* RFC 6749, 3.1: two parsers of a repeated parameter may see different values. */
static void repeated_authorization_parameters_are_refused(struct world *w)
{
    static const struct {
        const char *query, *name;
    } cases[] = {
        { "scope=identify&scope=identify%20bot", "scope" },
        { "scope=bot&permissions=&permissions=8", "permissions" },
        { "scope=bot&guild_id=1&guild_id=2", "guild_id" },
        { "scope=bot&sc%6fpe=identify", "scope" },
        { "scope=bot&integration_type=0&integration_type=1", "integration_type" },
        { "scope=identify&redirect_uri=" BACK "&redirect_uri=" BACK, "redirect_uri" },
        { "scope=identify&state=a&state=a", "state" },
        { "scope=bot&client_id=1", "client_id" },
    };
    struct consent s = world_consent(w);
    const char *body = TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *path =
            TEXT(w, AUTHORIZE "?response_type=code&client_id=%s&%s", s.app, cases[i].query);
        struct answer a = client_get(s.bob, "%s", path);

        expect_error(a, 400, 50035);
        expect_json(a, "{'errors': {'%s': {'_errors': [{'code': 'BASE_TYPE_REPEATED'}]}}}",
                    cases[i].name);
        expect_error(client_post(s.bob, body, "%s", path), 400, 50035);
    }
    expect(store_count(w, "select count(*) from members") == 1);
}

/* The authorization page shows this response and sends it back. */
static void authorize_returns_the_normalized_query(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer a =
        client_get(s.bob,
                   AUTHORIZE "?client_id=%s&scope=bot+identify%%20bot&permissions=8&guild_id=%s"
                             "&response_type=code&state=a%%26scope%%3Demail&redirect_uri=" BACK,
                   s.app, s.guild);

    expect_json(a,
                "{'scopes': ['bot', 'identify'], 'permissions': '8', 'guild_id': '%s', "
                "'redirect_uri': 'https://app.example/back', 'integration_type': 0}",
                s.guild);
    const char *query = answer_text(a, "query");
    expect(!strstr(query, "permissions") && !strstr(query, "guild_id"));
    a = client_get(s.bob, AUTHORIZE "?%s", query);
    expect_json(a, "{'scopes': ['bot', 'identify'], 'permissions': '0'}");
    expect(!strcmp(answer_text(a, "query"), query));
}

static void permissions_and_guild_id_of_the_query_are_not_granted(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer a =
        client_post(s.bob, "{'authorize': true}", INSTALL "&guild_id=%s", s.app, s.guild);

    expect_error(a, 400, 50035);
    expect_json(a, "{'errors': {'guild_id': {}}}");
    expect_status(client_post(s.bob, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild),
                              INSTALL "&permissions=8", s.app),
                  200);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);
}

static void installing_with_commands_scope_only_adds_no_bot(struct world *w)
{
    struct consent s = world_consent(w);

    expect_status(
        client_post(s.bob,
                    TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild),
                    AUTHORIZE "?client_id=%s&scope=applications.commands", s.app),
        200);
    struct audience managers =
        audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(MANAGE_GUILD));
    expect_received(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_received(w, managers, "INTEGRATION_CREATE", "{'scopes': ['applications.commands']}");
    expect(store_count(w, "select count(*) from members") == 1);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 0);

    /* Adding the bot later extends the same integration. */
    discard_received(w);
    expect_status(
        client_post(s.bob,
                    TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild),
                    INSTALL, s.app),
        200);
    struct audience all = audience_of_guild(id_of(s.guild));
    expect_received(w, all, "GUILD_ROLE_CREATE", "{'role': {'permissions': '8'}}");
    expect_received(w, all, "GUILD_MEMBER_ADD", "{'user': {'id': '%s'}}", s.app);
    expect_received(w, system_viewers(w, s.guild), "MESSAGE_CREATE",
                    "{'type': 7, 'content': '', 'mentions': [], 'author': {'id': '%s'}}", s.app);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
        "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 28}");
    expect_received(w, managers, "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect_received(w, managers, "INTEGRATION_UPDATE",
                    "{'scopes': ['applications.commands', 'bot']}");
    expect(store_count(w, "select count(*) from integrations") == 1);
}

static void installing_again_updates_the_bots_role(struct world *w)
{
    struct consent s = world_consent(w);
    struct audience all = audience_of_guild(id_of(s.guild));

    expect_status(client_post(s.bob, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", s.guild),
                              INSTALL, s.app),
                  200);
    discard_received(w);
    expect_status(
        client_post(s.bob,
                    TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild),
                    INSTALL, s.app),
        200);
    expect_received(w, all, "GUILD_ROLE_CREATE", "{'role': {'permissions': '8'}}");
    expect_received(w, all, "GUILD_MEMBER_UPDATE", "{'user': {'id': '%s'}}", s.app);
    discard_received(w);
    expect_status(
        client_post(s.bob,
                    TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '16'}", s.guild),
                    INSTALL, s.app),
        200);
    expect_received(w, all, "GUILD_ROLE_UPDATE", "{'role': {'permissions': '16'}}");
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(MANAGE_GUILD)),
        "GUILD_INTEGRATIONS_UPDATE", "{'guild_id': '%s'}", s.guild);
    expect(store_count(w, "select count(*) from roles where managed = 1") == 1);
    expect(store_count(w, "select member_count from guilds") == 2);
}

/* MANAGE_GUILD alone cannot change a role above the caller's, nor grant permissions the caller
 * lacks. */
static void installing_again_respects_the_role_hierarchy(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *cleo = world_client(w, "cleo");
    const char *role, *format = "{'authorize': true, 'guild_id': '%s', 'permissions': '%d'}";

    expect_status(client_post(s.bob, TEXT(w, format, s.guild, 8 | 2), INSTALL, s.app), 200);
    put_member(s.guild, cleo);
    role = make_role(s.bob, s.guild, "{'name': 'managers', 'permissions': '34'}");
    put_role_on(s.guild, cleo, role);
    world_sql(w, "update roles set position = 5 where managed = 1");
    discard_received(w);
    expect_status(client_post(cleo, TEXT(w, format, s.guild, 0), INSTALL, s.app), 200);
    expect(store_count(w, "select permissions from roles where managed = 1") == (8 | 2));
    world_sql(w, "update roles set position = 6 where id = %s", role);
    expect_status(client_post(cleo, TEXT(w, format, s.guild, 0), INSTALL, s.app), 200);
    expect(store_count(w, "select permissions from roles where managed = 1") == 8);
    expect_status(client_post(s.bob, TEXT(w, format, s.guild, 0), INSTALL, s.app), 200);
    expect(store_count(w, "select permissions from roles where managed = 1") == 0);
}

static void installing_in_a_guild_requires_manage_guild(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *cleo = world_client(w, "cleo");
    const char *body =
        TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild);

    expect_error(client_post(cleo, body, INSTALL, s.app), 403, 50001);
    put_member(s.guild, cleo);
    expect_error(client_post(cleo, body, INSTALL, s.app), 403, 50013);
    expect_nothing_received(w);
    expect_error(client_post(cleo, TEXT(w, "{'authorize': true, 'guild_id': '%s'}", cleo->id),
                             INSTALL, s.app),
                 404, 10004);
    expect_invalid(client_post(cleo, "{'authorize': true}", INSTALL, s.app), "guild_id",
                   "BASE_TYPE_REQUIRED");

    put_role_on(s.guild, cleo,
                make_role(s.bob, s.guild, "{'name': 'managers', 'permissions': '32'}"));
    expect_status(client_post(cleo, body, INSTALL, s.app), 200);
    /* A caller cannot grant permissions that the caller lacks. */
    expect(store_count(w, "select count(*) from roles where managed = 1 and permissions <> 0") ==
           0);
}

static void private_applications_can_be_installed_by_their_owner_only(struct world *w)
{
    struct consent s = world_consent(w);
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

static void application_install_types_are_enforced(struct world *w)
{
    struct consent s = world_consent(w);
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

static void guild_is_limited_to_50_integrations(struct world *w)
{
    struct consent s = world_consent(w);
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
    discard_received(w);
    expect_error(
        client_post(s.bob, body, AUTHORIZE "?client_id=%s&scope=applications.commands", last), 400,
        30068);
    expect_nothing_received(w);
}

/* --- user installs -------------------------------------------------------------------- */

static void bot_can_message_users_who_installed_its_app(struct world *w)
{
    struct consent s = world_consent(w);
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

static void installing_on_an_account_sends_user_application_update(struct world *w)
{
    struct consent s = world_consent(w);

    expect_status(client_post(s.bob,
                              TEXT(w,
                                   "{'authorize': true, 'integration_type': 1, "
                                   "'guild_id': '%s'}",
                                   s.guild),
                              AUTHORIZE "?client_id=%s&scope=applications.commands", s.app),
                  200);
    expect_event(s.bob, "USER_APPLICATION_UPDATE", "{'application_id': '%s'}", s.app);
    expect_nothing_received(w);
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

extern const struct test oauth2_tests[];
const struct test oauth2_tests[] = {
    TEST(authorize_returns_application_scopes_and_guilds),
    TEST(invalid_authorization_requests_are_refused),
    TEST(denying_an_authorization_redirects_with_access_denied),
    TEST(public_clients_get_a_token_by_the_implicit_grant),
    TEST(implicit_grant_is_refused_for_bots_and_without_redirect_uri),
    TEST(installing_in_a_guild_adds_the_bot_and_sends_events),
    TEST(kicking_a_bot_keeps_its_apps_commands),
    TEST(commands_stay_when_the_bot_is_banned_or_leaves),
    TEST(kicking_a_bot_removes_an_app_with_bot_scope_only),
    TEST(installing_without_permissions_creates_no_role),
    TEST(repeated_authorization_parameters_are_refused),
    TEST(authorize_returns_the_normalized_query),
    TEST(permissions_and_guild_id_of_the_query_are_not_granted),
    TEST(installing_with_commands_scope_only_adds_no_bot),
    TEST(installing_again_updates_the_bots_role),
    TEST(installing_again_respects_the_role_hierarchy),
    TEST(installing_in_a_guild_requires_manage_guild),
    TEST(private_applications_can_be_installed_by_their_owner_only),
    TEST(application_install_types_are_enforced),
    TEST(guild_is_limited_to_50_integrations),
    TEST(installing_on_an_account_sends_user_application_update),
    TEST(bot_can_message_users_who_installed_its_app),
    { 0 },
};
