/* tokens.c - exchanging, refreshing, using and revoking OAuth2 tokens. */
#include "consents.h"

#include <stdio.h>
#include <string.h>

#include "guilds.h"
#include "model/application.h"
#include "test_guild.h"

#define REVOKE "/oauth2/token/revoke"

static struct answer refresh_tokens(const struct consent *s, const char *token)
{
    return client_form(s->nobody, TOKEN,
                       "grant_type=refresh_token&refresh_token=%s&client_id=%s&client_secret=%s",
                       token, s->app, s->secret);
}

static struct client *bearer_client(struct answer a)
{
    struct world *w = a.client->world;

    return world_client_with(w, TEXT(w, "Bearer %s", answer_text(a, "access_token")));
}

static void expect_oauth2_error(struct answer a, int status, const char *error)
{
    expect_status(a, status);
    expect_json(a, "{'error': '%s'}", error);
    expect_absent(a, "code");
}

/* --- codes ---------------------------------------------------------------------------- */

static void authorization_code_can_be_exchanged_for_tokens(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer a = client_post(s.bob, "{'authorize': true}",
                                  AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK
                                            "&scope=identify+guilds+identify&state=xyz",
                                  s.app);

    expect_status(a, 200);
    expect(str_starts_with(str_of(answer_text(a, "url")), STR("https://app.example/back?code=")));
    expect(strcmp(url_part(a, "state"), "xyz") == 0);
    a = exchange(&s, url_part(a, "code"));
    expect_status(a, 200);
    expect_json(a, "{'token_type': 'Bearer', 'scope': 'identify guilds', 'expires_in': 604800}");
    expect_absent(a, "guild");
    expect(str_is(answer_header(a, "Cache-Control"), "no-store"));
    expect(strcmp(answer_text(a, "access_token"), answer_text(a, "refresh_token")) != 0);

    struct client *app = bearer_client(a);
    a = client_get(app, "/oauth2/@me");
    expect_status(a, 200);
    expect_json(a,
                "{'application': {'id': '%s'}, 'scopes': ['identify', 'guilds'], "
                "'user': {'id': '%s', 'username': 'bob'}}",
                s.app, s.bob->id);
    expect(strlen(answer_text(a, "expires")) >= 25);
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[{'scopes': ['identify', 'guilds']}]");
}

static void authorization_code_can_be_used_once_within_ten_minutes(struct world *w)
{
    struct consent s = world_consent(w);
    const char *code = get_code(s.bob, s.app, "identify");

    expect_status(exchange(&s, code), 200);
    expect_oauth2_error(exchange(&s, code), 400, "invalid_grant");

    code = get_code(s.bob, s.app, "identify");
    world_wait(w, 599);
    expect_status(exchange(&s, code), 200);
    code = get_code(s.bob, s.app, "identify");
    world_wait(w, 601);
    expect_oauth2_error(exchange(&s, code), 400, "invalid_grant");
    /* Expired codes are deleted when the next one is created. */
    get_code(s.bob, s.app, "identify");
    expect(store_count(w, "select count(*) from authorization_codes") == 1);
}

static void authorization_code_is_bound_to_application_and_redirect_uri(struct world *w)
{
    struct consent s = world_consent(w);
    const char *code = get_code(s.bob, s.app, "identify");
    struct consent other = s;

    other.app = make_application(s.ada, "Other");
    other.secret = application_secret(s.ada, other.app);
    expect_oauth2_error(exchange(&other, code), 400, "invalid_grant");
    expect_oauth2_error(
        client_form(s.nobody, TOKEN,
                    "grant_type=authorization_code&code=%s&client_id=%s&client_secret=%s"
                    "&redirect_uri=https://app.example/elsewhere",
                    code, s.app, s.secret),
        400, "invalid_grant");
    expect_oauth2_error(
        client_form(s.nobody, TOKEN,
                    "grant_type=authorization_code&code=%s&client_id=%s&client_secret=%s", code,
                    s.app, s.secret),
        400, "invalid_grant");
    expect_oauth2_error(exchange(&s, "nonsense"), 400, "invalid_grant");
    expect_status(exchange(&s, code), 200);
}

static void token_request_requires_client_authentication(struct world *w)
{
    struct consent s = world_consent(w);
    const char *code = get_code(s.bob, s.app, "identify");
    struct consent wrong = s;
    struct answer a;

    wrong.secret = "wrong";
    a = exchange(&wrong, code);
    expect_oauth2_error(a, 401, "invalid_client");
    expect(answer_header(a, "WWW-Authenticate").p);
    wrong.secret = "";
    expect_oauth2_error(exchange(&wrong, code), 401, "invalid_client");
    wrong.app = s.bob->id;
    expect_oauth2_error(exchange(&wrong, code), 401, "invalid_client");
    wrong.app = "x";
    expect_oauth2_error(exchange(&wrong, code), 401, "invalid_client");
    expect_oauth2_error(client_form(s.nobody, TOKEN, "grant_type=authorization_code&code=%s", code),
                        401, "invalid_client");

    /* HTTP Basic authentication works, too. */
    char pair[200], encoded[400];
    snprintf(pair, sizeof pair, "%s:%s", s.app, s.secret);
    struct str b = str_base64url_encode(world_arena(w), pair, strlen(pair));
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
    expect_oauth2_error(client_form(bad, TOKEN, "grant_type=client_credentials&scope=identify"),
                        401, "invalid_client");
}

static void unknown_grant_types_are_refused(struct world *w)
{
    struct consent s = world_consent(w);

    expect_oauth2_error(client_form(s.nobody, TOKEN,
                                    "grant_type=password&client_id=%s&client_secret=%s", s.app,
                                    s.secret),
                        400, "unsupported_grant_type");
    expect_oauth2_error(
        client_form(s.nobody, TOKEN, "client_id=%s&client_secret=%s", s.app, s.secret), 400,
        "invalid_request");
    expect_oauth2_error(client_form(s.nobody, TOKEN,
                                    "grant_type=authorization_code&client_id=%s&client_secret=%s",
                                    s.app, s.secret),
                        400, "invalid_request");
    expect_oauth2_error(client_form(s.nobody, TOKEN,
                                    "grant_type=refresh_token&client_id=%s&client_secret=%s", s.app,
                                    s.secret),
                        400, "invalid_grant");
}

/* The install takes effect only when the code is exchanged. */
static void bot_requiring_code_grant_is_installed_by_the_code_exchange(struct world *w)
{
    struct consent s = world_consent(w);
    const char *body =
        TEXT(w, "{'authorize': true, 'guild_id': '%s', 'permissions': '8'}", s.guild);

    expect_status(
        client_patch(s.ada, "{'bot_require_code_grant': true}", "/applications/%s", s.app), 200);
    expect_invalid(client_post(s.bob, body, INSTALL, s.app), "response_type", "BASE_TYPE_REQUIRED");
    struct answer a =
        client_post(s.bob, body, INSTALL "&response_type=code&redirect_uri=" BACK, s.app);
    expect_status(a, 200);
    expect_nothing_received(w);
    expect(store_count(w, "select count(*) from integrations") == 0);

    a = exchange(&s, url_part(a, "code"));
    expect_status(a, 200);
    expect_json(a, "{'scope': 'bot', 'guild': {'id': '%s', 'name': 'Home'}}", s.guild);
    struct audience all = audience_of_guild(id_of(s.guild));
    expect_received(w, all, "GUILD_ROLE_CREATE", "{'role': {'permissions': '8'}}");
    expect_received(w, all, "GUILD_MEMBER_ADD", "{'user': {'id': '%s'}}", s.app);
    expect_received(w, system_viewers(w, s.guild), "MESSAGE_CREATE",
                    "{'type': 7, 'content': '', 'mentions': [], 'author': {'id': '%s'}}", s.app);
    expect_received(
        w, audience_of_members_with_permission(id_of(s.guild), 0, PERMISSION(VIEW_AUDIT_LOG)),
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

static void code_exchange_fails_when_the_user_lost_manage_guild(struct world *w)
{
    struct consent s = world_consent(w);
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
    expect_oauth2_error(exchange(&s, url_part(a, "code")), 400, "invalid_grant");
    expect(store_count(w, "select count(*) from integrations") == 0);
}

/* --- access tokens -------------------------------------------------------------------- */

static void access_token_expires_after_a_week(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *app = bearer_client(granted(&s, "identify"));

    expect_status(client_get(app, "/oauth2/@me"), 200);
    world_wait(w, 604799);
    expect_status(client_get(app, "/oauth2/@me"), 200);
    world_wait(w, 2);
    expect_error(client_get(app, "/oauth2/@me"), 401, 0);
    /* Expired tokens are deleted when the next one is created. */
    granted(&s, "identify");
    expect(store_count(w, "select count(*) from tokens where kind = 3") == 1);
}

static void access_token_is_limited_to_its_scopes(struct world *w)
{
    struct consent s = world_consent(w);
    struct client *app = bearer_client(granted(&s, "guilds"));

    struct answer a = client_get(app, "/oauth2/@me");
    expect_status(a, 200);
    expect_absent(a, "user");
    expect_json(client_get(app, "/users/@me/guilds"), "[{'id': '%s'}]", s.guild);
    expect_error(client_get(app, "/users/@me"), 403, 50026);
    struct client *identity = bearer_client(granted(&s, "identify"));
    expect_json(client_get(identity, "/users/@me"), "{'id': '%s', 'username': 'bob'}", s.bob->id);
    expect_error(client_get(identity, "/users/@me/guilds"), 403, 50026);
    expect_error(client_get(app, "/oauth2/tokens"), 401, 0);
    expect_error(client_get(app, "/teams"), 401, 0);
    expect_error(client_get(s.bob, "/oauth2/@me"), 401, 0);
    expect_error(client_get(application_bot(s.ada, s.app), "/oauth2/@me"), 401, 0);
    /* The token is not valid as a user token. */
    expect_error(client_get(world_client_with(w, app->authorization + 7), "/users/@me"), 401, 0);
}

/* A user who knew the old password may have authorized an app. */
static void changing_the_password_revokes_tokens_of_apps(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer made =
        client_post(s.nobody, "{'username': 'cyd', 'password': 'correct horse'}", "/auth/register");
    struct client *cyd = world_client_with(w, answer_text(made, "token"));
    struct answer a = exchange(&s, get_code(cyd, s.app, "identify"));
    const char *open = get_code(cyd, s.app, "identify");

    expect_status(a, 200);
    expect_status(client_patch(cyd, "{'password': 'correct horse', 'new_password': 'other horse'}",
                               "/users/@me"),
                  200);
    expect_oauth2_error(refresh_tokens(&s, answer_text(a, "refresh_token")), 400, "invalid_grant");
    expect_oauth2_error(exchange(&s, open), 400, "invalid_grant");
    expect_error(client_get(bearer_client(a), "/users/@me"), 401, 0);
}

static void refresh_token_can_be_used_once(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer first = granted(&s, "identify%20guilds");
    const char *token = answer_text(first, "refresh_token");

    /* A refresh token is not an access token. */
    expect_error(client_get(world_client_with(w, TEXT(w, "Bearer %s", token)), "/oauth2/@me"), 401,
                 0);
    world_wait(w, 604801);
    struct answer a = refresh_tokens(&s, token);
    expect_status(a, 200);
    expect_json(a, "{'token_type': 'Bearer', 'scope': 'identify guilds', 'expires_in': 604800}");
    expect_status(client_get(bearer_client(a), "/oauth2/@me"), 200);
    expect_oauth2_error(refresh_tokens(&s, token), 400, "invalid_grant");
    expect_oauth2_error(refresh_tokens(&s, answer_text(a, "access_token")), 400, "invalid_grant");

    struct consent other = s;
    other.app = make_application(s.ada, "Other");
    other.secret = application_secret(s.ada, other.app);
    expect_oauth2_error(refresh_tokens(&other, answer_text(a, "refresh_token")), 400,
                        "invalid_grant");
    expect_oauth2_error(
        refresh_tokens(&s, TEXT(w, "%s&scope=email", answer_text(a, "refresh_token"))), 400,
        "invalid_scope");
    a = refresh_tokens(&s, TEXT(w, "%s&scope=guilds", answer_text(a, "refresh_token")));
    expect_json(a, "{'scope': 'guilds'}");
    expect_json(refresh_tokens(&s, answer_text(a, "refresh_token")),
                "{'scope': 'identify guilds'}");
}

static void revoking_a_token_revokes_all_tokens_of_user_and_app(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer one = granted(&s, "identify"), two = granted(&s, "guilds");
    struct client *first = bearer_client(one), *second = bearer_client(two);
    const char *token = answer_text(one, "access_token");
    struct client *cleo = world_client(w, "cleo");
    struct answer hers = exchange(&s, get_code(cleo, s.app, "identify"));

    expect_status(client_get(first, "/oauth2/@me"), 200);
    expect_status(client_get(second, "/oauth2/@me"), 200);
    expect_oauth2_error(
        client_form(s.nobody, REVOKE, "token=%s&client_id=%s&client_secret=no", token, s.app), 401,
        "invalid_client");
    expect_oauth2_error(client_form(s.nobody, REVOKE, "token_type_hint=access_token"), 400,
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
    expect_oauth2_error(refresh_tokens(&s, answer_text(one, "refresh_token")), 400,
                        "invalid_grant");
    expect_oauth2_error(refresh_tokens(&s, answer_text(two, "refresh_token")), 400,
                        "invalid_grant");
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[]");
    expect_status(client_get(s.bob, "/users/@me"), 200);

    /* Other users' tokens stay valid; a refresh token revokes them as well. */
    expect_status(client_get(bearer_client(hers), "/oauth2/@me"), 200);
    a = client_form(s.nobody, REVOKE, "token=%s", answer_text(hers, "refresh_token"));
    expect_status(a, 200);
    expect_error(client_get(bearer_client(hers), "/oauth2/@me"), 401, 0);
    expect_status(client_form(s.nobody, REVOKE, "token=%s", token), 200);
    expect_status(client_form(s.nobody, REVOKE, "token=nonsense"), 200);
}

static void client_credentials_grant_gives_a_token_of_the_owner(struct world *w)
{
    struct consent s = world_consent(w);
    const char *form =
        TEXT(w, "grant_type=client_credentials&client_id=%s&client_secret=%s", s.app, s.secret);

    struct answer a =
        client_form(s.nobody, TOKEN, "%s&scope=identify%%20applications.commands.update", form);
    expect_status(a, 200);
    expect_json(a, "{'token_type': 'Bearer', 'expires_in': 604800, "
                   "'scope': 'identify applications.commands.update'}");
    expect_absent(a, "refresh_token");
    expect_json(client_get(bearer_client(a), "/oauth2/@me"),
                "{'user': {'id': '%s'}, 'application': {'id': '%s'}}", s.ada->id, s.app);
    expect_oauth2_error(client_form(s.nobody, TOKEN, "%s", form), 400, "invalid_scope");
    expect_oauth2_error(client_form(s.nobody, TOKEN, "%s&scope=world", form), 400, "invalid_scope");
    expect_oauth2_error(client_form(s.nobody, TOKEN, "%s&scope=bot", form), 400, "invalid_scope");
    expect_status(client_form(s.nobody, TOKEN, "%s&scope=guilds", form), 200);
    expect_json(client_get(s.ada, "/oauth2/tokens"), "[]");
}

static void client_credentials_grant_of_a_team_app_refuses_most_scopes(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);
    const char *team = make_team(ada, "Makers");
    struct answer a =
        client_post(ada, TEXT(w, "{'name': 'App', 'team_id': '%s'}", team), "/applications");
    const char *app = answer_text(a, "id");
    const char *form = TEXT(w, "grant_type=client_credentials&client_id=%s&client_secret=%s", app,
                            application_secret(ada, app));

    a = client_form(nobody, TOKEN, "%s&scope=identify+applications.commands.update", form);
    expect_status(a, 200);
    expect_json(client_get(bearer_client(a), "/oauth2/@me"), "{'user': {'id': '%s'}}", ada->id);
    expect_oauth2_error(client_form(nobody, TOKEN, "%s&scope=guilds", form), 400, "invalid_scope");
}

/* --- authorizations ------------------------------------------------------------------- */

static void authorizations_can_be_listed_and_revoked(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer tokens = granted(&s, "identify");
    struct client *app = bearer_client(tokens), *eve = world_client(w, "eve");
    struct consent other = s;

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
    expect_oauth2_error(refresh_tokens(&s, answer_text(tokens, "refresh_token")), 400,
                        "invalid_grant");
    expect_error(client_delete(s.bob, "/oauth2/tokens/%s", id), 404, 10012);
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[{'application': {'id': '%s'}}]", other.app);
}

static void authorizations_of_one_app_are_merged(struct world *w)
{
    struct consent s = world_consent(w);

    granted(&s, "identify");
    granted(&s, "guilds%20identify");
    expect_json(client_get(s.bob, "/oauth2/tokens"), "[{'scopes': ['identify', 'guilds']}]");
    expect_json(client_get(s.ada, "/applications/%s", s.app),
                "{'approximate_user_authorization_count': 1, "
                "'approximate_user_install_count': 0}");
}

extern const struct test oauth2_tokens_tests[];
/* --- leaked codes and PKCE ------------------------------------------------------------ */

/* The example of RFC 7636, appendix B. */
#define VERIFIER  "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
#define CHALLENGE "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

static void reusing_an_authorization_code_revokes_its_tokens(struct world *w)
{
    struct consent s = world_consent(w);
    struct answer other = granted(&s, "identify");
    const char *code = get_code(s.bob, s.app, "identify");
    struct answer first = exchange(&s, code);
    struct answer second = refresh_tokens(&s, answer_text(first, "refresh_token"));

    expect_status(second, 200);
    expect_status(client_get(bearer_client(first), "/oauth2/@me"), 200);
    expect_oauth2_error(exchange(&s, code), 400, "invalid_grant");
    expect_status(client_get(bearer_client(first), "/oauth2/@me"), 401);
    expect_status(client_get(bearer_client(second), "/oauth2/@me"), 401);
    expect_oauth2_error(refresh_tokens(&s, answer_text(second, "refresh_token")), 400,
                        "invalid_grant");
    expect_status(client_get(bearer_client(other), "/oauth2/@me"), 200);
}

static const char *get_code_with_challenge(const struct consent *s)
{
    struct answer a = client_post(s->bob, "{'authorize': true}",
                                  AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK
                                            "&scope=identify&code_challenge=" CHALLENGE
                                            "&code_challenge_method=S256",
                                  s->app);

    expect_status(a, 200);
    return url_part(a, "code");
}

static struct answer exchange_with_fields(const struct consent *s, const char *code,
                                          const char *more)
{
    return client_form(s->nobody, TOKEN,
                       "grant_type=authorization_code&code=%s&redirect_uri=" BACK "&client_id=%s%s",
                       code, s->app, more);
}

static void authorization_code_with_a_pkce_challenge_requires_its_verifier(struct world *w)
{
    struct consent s = world_consent(w);
    const char *code = get_code_with_challenge(&s),
               *secret = TEXT(w, "&client_secret=%s", s.secret);

    expect_oauth2_error(exchange(&s, code), 400, "invalid_request");
    expect_oauth2_error(
        exchange_with_fields(&s, code, TEXT(w, "%s&code_verifier=%.42s", secret, VERIFIER)), 400,
        "invalid_request");
    expect_oauth2_error(
        exchange_with_fields(&s, code, TEXT(w, "%s&code_verifier=%0129d", secret, 1)), 400,
        "invalid_request");
    expect_oauth2_error(
        exchange_with_fields(&s, code, TEXT(w, "%s&code_verifier=%0128d", secret, 1)), 400,
        "invalid_grant");
    expect_oauth2_error(
        exchange_with_fields(&s, code, TEXT(w, "%s&code_verifier=" CHALLENGE, secret)), 400,
        "invalid_grant");
    expect_status(exchange_with_fields(&s, code, TEXT(w, "%s&code_verifier=" VERIFIER, secret)),
                  200);
    /* A verifier without a challenge is refused. */
    expect_oauth2_error(exchange_with_fields(&s, get_code(s.bob, s.app, "identify"),
                                             TEXT(w, "%s&code_verifier=" VERIFIER, secret)),
                        400, "invalid_grant");
}

static void public_client_exchanges_a_code_with_pkce_only(struct world *w)
{
    struct consent s = world_consent(w);
    const char *code = get_code_with_challenge(&s), *verifier = "&code_verifier=" VERIFIER;

    expect_oauth2_error(exchange_with_fields(&s, code, verifier), 401, "invalid_client");
    world_sql(w, "update applications set flags = flags + %d", APPLICATION_PUBLIC_CLIENT);
    expect_oauth2_error(exchange_with_fields(&s, code, ""), 401, "invalid_client");
    expect_oauth2_error(exchange_with_fields(&s, code, "&client_secret=x&code_verifier=" VERIFIER),
                        401, "invalid_client");
    expect_oauth2_error(exchange_with_fields(&s, get_code(s.bob, s.app, "identify"), verifier), 400,
                        "invalid_grant");
    struct answer made = exchange_with_fields(&s, code, verifier);
    expect_status(made, 200);
    /* A reuse without the verifier revokes nothing; with the verifier it revokes the tokens. */
    expect_oauth2_error(exchange_with_fields(&s, code, "&code_verifier=" CHALLENGE), 400,
                        "invalid_grant");
    expect_status(client_get(bearer_client(made), "/oauth2/@me"), 200);
    expect_oauth2_error(exchange_with_fields(&s, code, verifier), 400, "invalid_grant");
    expect_status(client_get(bearer_client(made), "/oauth2/@me"), 401);
}

const struct test oauth2_tokens_tests[] = {
    TEST(reusing_an_authorization_code_revokes_its_tokens),
    TEST(authorization_code_with_a_pkce_challenge_requires_its_verifier),
    TEST(public_client_exchanges_a_code_with_pkce_only),
    TEST(authorization_code_can_be_exchanged_for_tokens),
    TEST(authorization_code_can_be_used_once_within_ten_minutes),
    TEST(authorization_code_is_bound_to_application_and_redirect_uri),
    TEST(token_request_requires_client_authentication),
    TEST(unknown_grant_types_are_refused),
    TEST(bot_requiring_code_grant_is_installed_by_the_code_exchange),
    TEST(code_exchange_fails_when_the_user_lost_manage_guild),
    TEST(access_token_expires_after_a_week),
    TEST(access_token_is_limited_to_its_scopes),
    TEST(changing_the_password_revokes_tokens_of_apps),
    TEST(refresh_token_can_be_used_once),
    TEST(revoking_a_token_revokes_all_tokens_of_user_and_app),
    TEST(client_credentials_grant_gives_a_token_of_the_owner),
    TEST(client_credentials_grant_of_a_team_app_refuses_most_scopes),
    TEST(authorizations_can_be_listed_and_revoked),
    TEST(authorizations_of_one_app_are_merged),
    { 0 },
};
