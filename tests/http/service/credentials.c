/* credentials.c - all credentials, and all fields that return, send or accept them.
 * credentials.def lists the fields. Its rows are compared with the schemas of all routes and
 * with all events, so a new field must be classified; and every row is tested, here or by the
 * test it names. */
#include <stdio.h>
#include <string.h>

#include "consents.h"
#include "guilds.h"
#include "http/walk.h"
#include "test_guild.h"

#define SUITE(name) extern const struct test name##_tests[];
#include "suites.def"
#undef SUITE

enum side { REPLY, BODY, QUERY };
static const char *const side_names[] = { "reply", "body", "query" };

struct credential_field {
    enum side side;
    const char *field, *route, *test;
    bool expect_request_is_allowed, expect_request_is_refused; /* tested here */
    bool found;                                                /* in the schemas */
};

static struct credential_field credential_fields[] = {
#define PLAIN_FIELD(side, field, why)
#define CREDENTIAL(side, field, route, test) { side, field, route, test, false, false, false },
#define SECRET_EVENT(name, test)
#define PLAIN_EVENT(name)
#include "credentials.def"
#undef PLAIN_FIELD
#undef CREDENTIAL
};
static struct plain_field {
    enum side side;
    const char *field;
    bool found;
} plain_fields[] = {
#define PLAIN_FIELD(side, field, why) { side, field, false },
#define CREDENTIAL(side, field, route, test)
#include "credentials.def"
#undef PLAIN_FIELD
#undef CREDENTIAL
#undef SECRET_EVENT
#undef PLAIN_EVENT
};
static const struct {
    const char *name, *test; /* NULL: the event contains no credential */
} event_rows[] = {
#define PLAIN_FIELD(side, field, why)
#define CREDENTIAL(side, field, route, test)
#define SECRET_EVENT(name, test) { #name, test },
#define PLAIN_EVENT(name)        { #name, NULL },
#include "credentials.def"
#undef PLAIN_FIELD
#undef CREDENTIAL
#undef SECRET_EVENT
#undef PLAIN_EVENT
};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* --- the list is complete ------------------------------------------------------------- */

static bool is_credential_name(struct str name)
{
    static const char *const words[] = { "token",  "code",   "url",         "role_ids", "roles",
                                         "secret", "ticket", "invite_code", "invite",   NULL };
    static const char *const ends[] = { "_token", "_tokens", "_secret", NULL };

    for (size_t i = 0; words[i]; i++)
        if (str_is(name, words[i]))
            return true;
    for (size_t i = 0; ends[i]; i++)
        if (name.n > strlen(ends[i]) &&
            !memcmp(name.p + name.n - strlen(ends[i]), ends[i], strlen(ends[i])))
            return true;
    return false;
}

static bool is_plain_field(enum side side, const char *field)
{
    for (size_t i = 0; i < COUNT(plain_fields); i++)
        if (plain_fields[i].side == side && !strcmp(plain_fields[i].field, field))
            return plain_fields[i].found = true;
    return false;
}

static struct credential_field *find_row(enum side side, const char *field, const char *route)
{
    for (size_t i = 0; i < COUNT(credential_fields); i++)
        if (credential_fields[i].side == side && !strcmp(credential_fields[i].field, field) &&
            !strcmp(credential_fields[i].route, route))
            return &credential_fields[i];
    return NULL;
}

static void classify_credential_field(enum side side, const struct schema *s, struct str name,
                                      const char *route)
{
    char field[128];

    snprintf(field, sizeof field, "%s.%.*s", s->name ? s->name : "", STR_ARGS(name));
    struct credential_field *row = find_row(side, field, route);
    if (row)
        row->found = true;
    else if (!is_plain_field(side, field))
        fail_test(__FILE__, __LINE__,
                  "%s has %s in its %s: say in credentials.def whether that gives access", route,
                  field, side_names[side]);
}

enum { MOST_SCHEMAS = 256 };

/* Schemas of one route; a recursive schema is visited once. */
static const struct schema *seen[MOST_SCHEMAS];
static size_t seen_count;

static void check_credential_fields_of_schema(enum side side, const struct schema *s,
                                              const char *route)
{
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i] == s)
            return;
    expect(seen_count < MOST_SCHEMAS);
    seen[seen_count++] = s;
    for (const struct field *f = s->fields; f->name.p; f++) {
        const struct type *t = f->type;

        if (is_credential_name(f->name))
            classify_credential_field(side, s, f->name, route);
        while (t && (t->kind == KIND_ARRAY || t->kind == KIND_MAP))
            t = t->of;
        if (t && t->kind == KIND_OBJECT && t->schema)
            check_credential_fields_of_schema(side, t->schema, route);
    }
}

static void check_credential_fields_of_type(enum side side, const struct type *t, const char *route)
{
    seen_count = 0;
    while (t && (t->kind == KIND_ARRAY || t->kind == KIND_MAP))
        t = t->of;
    if (t && t->kind == KIND_OBJECT && t->schema)
        check_credential_fields_of_schema(side, t->schema, route);
}

static void check_route(struct world *w, const struct route *r)
{
    (void)w;
    check_credential_fields_of_type(REPLY, r->reply, r->name);
    check_credential_fields_of_type(BODY, r->body, r->name);
    seen_count = 0;
    if (r->query)
        check_credential_fields_of_schema(QUERY, r->query, r->name);
}

static bool test_exists(const char *name)
{
    static const struct test *const suites[] = {
#define SUITE(name) name##_tests,
#include "suites.def"
#undef SUITE
        NULL,
    };

    for (size_t i = 0; suites[i]; i++)
        for (const struct test *t = suites[i]; t->name; t++)
            if (!strcmp(t->name, name))
                return true;
    return false;
}

static void expect_test_exists(const char *of, const char *name)
{
    if (!test_exists(name))
        fail_test(__FILE__, __LINE__, "credentials.def: %s names the test %s: there is none", of,
                  name);
}

static void every_credential_field_is_in_the_list(struct world *w)
{
    each_route(w, check_route);
    for (size_t i = 0; i < COUNT(credential_fields); i++) {
        if (!credential_fields[i].found)
            fail_test(__FILE__, __LINE__, "credentials.def: %s has no %s in its %s",
                      credential_fields[i].route, credential_fields[i].field,
                      side_names[credential_fields[i].side]);
        if (credential_fields[i].test)
            expect_test_exists(credential_fields[i].route, credential_fields[i].test);
    }
    for (size_t i = 0; i < COUNT(plain_fields); i++)
        if (!plain_fields[i].found)
            fail_test(__FILE__, __LINE__, "credentials.def: no route has %s",
                      plain_fields[i].field);
}

static void every_event_is_in_the_credential_list(struct world *w)
{
    (void)w;
    for (int e = EVENT_NONE + 1; e < EVENT_COUNT; e++) {
        size_t i = 0;

        while (i < COUNT(event_rows) &&
               strcmp(event_rows[i].name, get_name_of_event_type((enum event)e)) != 0)
            i++;
        if (i == COUNT(event_rows))
            fail_test(__FILE__, __LINE__,
                      "%s: say in credentials.def whether it carries something that gives access",
                      get_name_of_event_type((enum event)e));
        if (event_rows[i].test)
            expect_test_exists(event_rows[i].name, event_rows[i].test);
    }
}

/* --- every row is tested -------------------------------------------------------------- */

static struct credential_field *require_row(enum side side, const char *field, const char *route)
{
    struct credential_field *row = find_row(side, field, route);

    if (!row)
        fail_test(__FILE__, __LINE__, "credentials.def has no row for %s of %s", field, route);
    return row;
}

/* Returns whether the response has a non-empty value of the field. */
static bool has_value(struct answer a, const char *field)
{
    const char *key = TEXT(a.client->world, "\"%s\":", strchr(field, '.') + 1);
    struct str rest = a.body;
    const char *at;

    while ((at = memmem(rest.p, rest.n, key, strlen(key)))) {
        rest = str_skip_bytes(rest, (size_t)(at - rest.p) + strlen(key));
        if (rest.n > 2 && memcmp(rest.p, "nu", 2) && memcmp(rest.p, "[]", 2) &&
            memcmp(rest.p, "\"\"", 2))
            return true;
    }
    return false;
}

static void expect_request_is_allowed(enum side side, const char *field, const char *route,
                                      struct answer a)
{
    bool good = a.status >= 200 && a.status < 300 && (side != REPLY || has_value(a, field));

    if (!good)
        fail_test(__FILE__, __LINE__, "%s of %s: who may is answered %d: %.*s", field, route,
                  a.status, (int)a.body.n, a.body.p);
    require_row(side, field, route)->expect_request_is_allowed = true;
}

static void expect_request_is_refused(enum side side, const char *field, const char *route,
                                      struct answer a)
{
    bool refused = a.status >= 400 && a.status < 500;

    if (!refused && (side != REPLY || has_value(a, field)))
        fail_test(__FILE__, __LINE__, "%s of %s: who may not is answered %d: %.*s", field, route,
                  a.status, (int)a.body.n, a.body.p);
    require_row(side, field, route)->expect_request_is_refused = true;
}

/* Checks two fields of one response. */
static void expect_access_allowed_to_both_credentials(const char *one, const char *other,
                                                      const char *route, struct answer a)
{
    expect_request_is_allowed(REPLY, one, route, a);
    expect_request_is_allowed(REPLY, other, route, a);
}

static void expect_access_refused_to_both_credentials(const char *one, const char *other,
                                                      const char *route, struct answer a)
{
    expect_request_is_refused(REPLY, one, route, a);
    expect_request_is_refused(REPLY, other, route, a);
}

#define READING                                                                            \
    (PERMISSION(MANAGE_CHANNELS) | PERMISSION(VIEW_AUDIT_LOG) | PERMISSION(MANAGE_ROLES) | \
     PERMISSION(CREATE_INSTANT_INVITE))

/* Bob has MANAGE_ROLES, but is below the role `high`. */
static void check_who_can_read_guild_invite_codes(struct world *w)
{
    static const char CODE[] = "FullInvite.code", ROLES[] = "FullInvite.roles";
    struct ranks h = world_ranks(w, READING);
    struct client *eve = world_client(w, "eve");
    const char *channel = answer_text(client_get(h.ada, "/guilds/%s/channels", h.guild), "2.id");
    const char *body = TEXT(w, "{'role_ids': ['%s']}", h.high), *code;
    struct answer a = client_post(h.ada, body, "/channels/%s/invites", channel);

    expect_access_allowed_to_both_credentials(CODE, ROLES, "create_channel_invite", a);
    expect_request_is_allowed(BODY, "InviteDraft.role_ids", "create_channel_invite", a);
    code = answer_text(a, "code");
    a = client_post(h.bob, body, "/channels/%s/invites", channel);
    expect_access_refused_to_both_credentials(CODE, ROLES, "create_channel_invite", a);
    expect_request_is_refused(BODY, "InviteDraft.role_ids", "create_channel_invite", a);
    expect_access_allowed_to_both_credentials(CODE, ROLES, "get_channel_invites",
                                              client_get(h.ada, "/channels/%s/invites", channel));
    expect_access_refused_to_both_credentials(CODE, ROLES, "get_channel_invites",
                                              client_get(h.bob, "/channels/%s/invites", channel));
    expect_access_allowed_to_both_credentials(CODE, ROLES, "get_guild_invites",
                                              client_get(h.ada, "/guilds/%s/invites", h.guild));
    expect_access_refused_to_both_credentials(CODE, ROLES, "get_guild_invites",
                                              client_get(h.bob, "/guilds/%s/invites", h.guild));
    /* Every caller may read an invite by its code; the code is required. */
    expect_access_allowed_to_both_credentials("Invite.code", "Invite.roles", "get_invite",
                                              client_get(eve, "/invites/%s", code));
    expect_access_refused_to_both_credentials("Invite.code", "Invite.roles", "get_invite",
                                              client_get(eve, "/invites/wrongone"));
    expect_access_allowed_to_both_credentials("Invite.code", "Invite.roles", "accept_invite",
                                              client_post(eve, NULL, "/invites/%s", code));
    expect_access_refused_to_both_credentials("Invite.code", "Invite.roles", "accept_invite",
                                              client_post(eve, NULL, "/invites/wrongone"));
    expect_access_refused_to_both_credentials(
        CODE, ROLES, "remove_invite", client_delete(world_client(w, "uma"), "/invites/%s", code));
    expect_access_allowed_to_both_credentials(CODE, ROLES, "remove_invite",
                                              client_delete(h.ada, "/invites/%s", code));

    world_sql(w, "update guilds set features = '[\"VANITY_URL\"]' where id = %s", h.guild);
    a = client_patch(h.bob, "{'code': 'our-place'}", "/guilds/%s/vanity-url", h.guild);
    expect_request_is_refused(BODY, "VanityPatch.code", "modify_vanity_url", a);
    expect_request_is_refused(REPLY, "Vanity.code", "modify_vanity_url", a);
    a = client_patch(h.ada, "{'code': 'our-place'}", "/guilds/%s/vanity-url", h.guild);
    expect_request_is_allowed(BODY, "VanityPatch.code", "modify_vanity_url", a);
    expect_request_is_allowed(REPLY, "Vanity.code", "modify_vanity_url", a);
    expect_request_is_allowed(REPLY, "Vanity.code", "get_vanity_url",
                              client_get(h.ada, "/guilds/%s/vanity-url", h.guild));
    expect_request_is_refused(REPLY, "Vanity.code", "get_vanity_url",
                              client_get(h.bob, "/guilds/%s/vanity-url", h.guild));

    struct client *uma = world_client(w, "uma");
    put_member(h.guild, uma);
    expect_request_is_allowed(BODY, "MemberPatch.roles", "modify_member",
                              client_patch(h.bob, TEXT(w, "{'roles': ['%s']}", h.low),
                                           "/guilds/%s/members/%s", h.guild, uma->id));
    expect_request_is_refused(BODY, "MemberPatch.roles", "modify_member",
                              client_patch(h.bob, TEXT(w, "{'roles': ['%s']}", h.high),
                                           "/guilds/%s/members/%s", h.guild, uma->id));
}

static void check_who_can_read_friend_invite_codes(struct world *w)
{
    static const char CODE[] = "FullInvite.code";
    struct client *ida = world_client(w, "ida"), *joe = world_client(w, "joe"),
                  *nobody = world_anonymous(w);

    expect_request_is_refused(REPLY, CODE, "create_friend_invite",
                              client_post(nobody, "{}", "/users/@me/invites"));
    expect_request_is_allowed(REPLY, CODE, "create_friend_invite",
                              client_post(ida, "{}", "/users/@me/invites"));
    expect_request_is_refused(REPLY, CODE, "get_friend_invites",
                              client_get(joe, "/users/@me/invites"));
    expect_request_is_allowed(REPLY, CODE, "get_friend_invites",
                              client_get(ida, "/users/@me/invites"));
    expect_request_is_refused(REPLY, CODE, "revoke_friend_invites",
                              client_delete(joe, "/users/@me/invites"));
    expect_request_is_allowed(REPLY, CODE, "revoke_friend_invites",
                              client_delete(ida, "/users/@me/invites"));
}

static void check_who_can_get_onboarding_roles(struct world *w)
{
    static const char GIVEN_BY[] = "OnboardingOption.role_ids",
                      TAKEN[] = "OnboardingOptionDraft.role_ids";
    struct ranks h = world_ranks(w, PERMISSION(MANAGE_GUILD) | PERMISSION(MANAGE_ROLES));
    const char *body = "{'prompts': [{'id': '1', 'title': 'Which?', 'options': [{'title': 'One', "
                       "'role_ids': ['%s']}], 'single_select': true}]}";
    struct answer a = client_put(h.bob, TEXT(w, body, h.high), "/guilds/%s/onboarding", h.guild);

    expect_request_is_refused(BODY, TAKEN, "put_onboarding", a);
    expect_request_is_refused(REPLY, GIVEN_BY, "put_onboarding", a);
    a = client_put(h.bob, TEXT(w, body, h.low), "/guilds/%s/onboarding", h.guild);
    expect_request_is_allowed(BODY, TAKEN, "put_onboarding", a);
    expect_request_is_allowed(REPLY, GIVEN_BY, "put_onboarding", a);
    expect_request_is_allowed(REPLY, GIVEN_BY, "get_onboarding",
                              client_get(h.bob, "/guilds/%s/onboarding", h.guild));
    expect_request_is_refused(REPLY, GIVEN_BY, "get_onboarding",
                              client_get(world_client(w, "zoe"), "/guilds/%s/onboarding", h.guild));
}

static void check_who_can_get_account_tokens(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    const char *login = "{'login': 'may', 'password': '%s'}";
    struct answer a =
        client_post(nobody, "{'username': 'may', 'password': 'correct horse'}", "/auth/register");

    expect_request_is_allowed(REPLY, "Token.token", "register_account", a);
    expect_request_is_refused(
        REPLY, "Token.token", "register_account",
        client_post(nobody, "{'username': 'may', 'password': 'correct horse'}", "/auth/register"));
    struct client *own = world_client_with(w, answer_text(a, "token"));
    expect_request_is_allowed(REPLY, "LoginResult.token", "log_in",
                              client_post(nobody, TEXT(w, login, "correct horse"), "/auth/login"));
    expect_request_is_refused(REPLY, "LoginResult.token", "log_in",
                              client_post(nobody, TEXT(w, login, "wrong horse"), "/auth/login"));
    expect_request_is_refused(
        REPLY, "UserWithToken.token", "modify_current_user",
        client_patch(own, "{'password': 'wrong horse', 'new_password': 'better horse'}",
                     "/users/@me"));
    expect_request_is_allowed(
        REPLY, "UserWithToken.token", "modify_current_user",
        client_patch(own, "{'password': 'correct horse', 'new_password': 'better horse'}",
                     "/users/@me"));
}

static void check_who_can_read_guild_template_codes(struct world *w)
{
    static const char CODE[] = "GuildTemplate.code";
    struct client *tom = world_client(w, "tom"), *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, tom);
    struct answer a = client_post(tom, "{'name': 'T'}", "/guilds/%s/templates", v.id);
    const char *code = answer_text(a, "code");

    expect_request_is_allowed(REPLY, CODE, "create_guild_template", a);
    expect_request_is_refused(REPLY, CODE, "create_guild_template",
                              client_post(eve, "{'name': 'T'}", "/guilds/%s/templates", v.id));
    expect_request_is_allowed(REPLY, CODE, "list_guild_templates",
                              client_get(tom, "/guilds/%s/templates", v.id));
    expect_request_is_refused(REPLY, CODE, "list_guild_templates",
                              client_get(eve, "/guilds/%s/templates", v.id));
    expect_request_is_allowed(REPLY, CODE, "get_guild_template",
                              client_get(eve, "/guilds/templates/%s", code));
    expect_request_is_refused(REPLY, CODE, "get_guild_template",
                              client_get(eve, "/guilds/templates/wrongone"));
    expect_request_is_refused(
        REPLY, CODE, "modify_guild_template",
        client_patch(eve, "{'name': 'U'}", "/guilds/%s/templates/%s", v.id, code));
    expect_request_is_allowed(
        REPLY, CODE, "modify_guild_template",
        client_patch(tom, "{'name': 'U'}", "/guilds/%s/templates/%s", v.id, code));
    client_post(tom, "{'name': 'new'}", "/guilds/%s/channels", v.id);
    expect_request_is_refused(REPLY, CODE, "sync_guild_template",
                              client_put(eve, NULL, "/guilds/%s/templates/%s", v.id, code));
    expect_request_is_allowed(REPLY, CODE, "sync_guild_template",
                              client_put(tom, NULL, "/guilds/%s/templates/%s", v.id, code));
    expect_request_is_refused(REPLY, CODE, "delete_guild_template",
                              client_delete(eve, "/guilds/%s/templates/%s", v.id, code));
    expect_request_is_allowed(REPLY, CODE, "delete_guild_template",
                              client_delete(tom, "/guilds/%s/templates/%s", v.id, code));
}

/* An app's webhook: the guild's owner does not get the token. */
static void check_who_can_read_app_webhook_tokens(struct world *w)
{
    static const char TOKEN_OF[] = "Webhook.token", URL_OF[] = "Webhook.url";
    struct client *wim = world_client(w, "wim"), *eve = world_client(w, "eve");
    const char *app = make_application(wim, "Hooks"), *id, *token;
    struct client *bot = application_bot(wim, app), *nobody = world_anonymous(w);
    struct test_guild v = world_test_guild(w, wim);

    test_guild_add_with(&v, bot, 1, PERMISSION(MANAGE_WEBHOOKS));
    struct answer a = client_post(bot, "{'name': 'Post'}", "/channels/%s/webhooks", v.channel);
    id = answer_text(a, "id");
    token = answer_text(a, "token");
    expect_access_allowed_to_both_credentials(TOKEN_OF, URL_OF, "create_webhook", a);
    expect_access_refused_to_both_credentials(
        TOKEN_OF, URL_OF, "create_webhook",
        client_post(eve, "{'name': 'Post'}", "/channels/%s/webhooks", v.channel));
    expect_access_allowed_to_both_credentials(TOKEN_OF, URL_OF, "get_webhook",
                                              client_get(bot, "/webhooks/%s", id));
    expect_access_refused_to_both_credentials(TOKEN_OF, URL_OF, "get_webhook",
                                              client_get(wim, "/webhooks/%s", id));
    expect_access_allowed_to_both_credentials(
        TOKEN_OF, URL_OF, "modify_webhook",
        client_patch(bot, "{'name': 'New'}", "/webhooks/%s", id));
    expect_access_refused_to_both_credentials(
        TOKEN_OF, URL_OF, "modify_webhook",
        client_patch(wim, "{'name': 'Newer'}", "/webhooks/%s", id));
    expect_access_allowed_to_both_credentials(TOKEN_OF, URL_OF, "list_channel_webhooks",
                                              client_get(bot, "/channels/%s/webhooks", v.channel));
    expect_access_refused_to_both_credentials(TOKEN_OF, URL_OF, "list_channel_webhooks",
                                              client_get(wim, "/channels/%s/webhooks", v.channel));
    expect_access_allowed_to_both_credentials(TOKEN_OF, URL_OF, "list_guild_webhooks",
                                              client_get(bot, "/guilds/%s/webhooks", v.id));
    expect_access_refused_to_both_credentials(TOKEN_OF, URL_OF, "list_guild_webhooks",
                                              client_get(wim, "/guilds/%s/webhooks", v.id));
    expect_access_allowed_to_both_credentials(TOKEN_OF, URL_OF, "get_webhook_with_token",
                                              client_get(nobody, "/webhooks/%s/%s", id, token));
    expect_access_refused_to_both_credentials(TOKEN_OF, URL_OF, "get_webhook_with_token",
                                              client_get(nobody, "/webhooks/%s/wrong", id));
    expect_access_allowed_to_both_credentials(
        TOKEN_OF, URL_OF, "modify_webhook_with_token",
        client_patch(nobody, "{'name': 'Own'}", "/webhooks/%s/%s", id, token));
    expect_access_refused_to_both_credentials(
        TOKEN_OF, URL_OF, "modify_webhook_with_token",
        client_patch(nobody, "{'name': 'Own'}", "/webhooks/%s/wrong", id));
}

static void check_who_can_read_app_client_secrets(struct world *w)
{
    struct client *sue = world_client(w, "sue"), *eve = world_client(w, "eve");
    const char *app = make_application(sue, "Secrets");

    expect_request_is_refused(REPLY, "BotToken.token", "reset_bot_token",
                              client_post(eve, NULL, "/applications/%s/bot/reset", app));
    expect_request_is_allowed(REPLY, "BotToken.token", "reset_bot_token",
                              client_post(sue, NULL, "/applications/%s/bot/reset", app));
    expect_request_is_refused(REPLY, "ClientSecret.secret", "reset_secret",
                              client_post(eve, NULL, "/applications/%s/reset", app));
    expect_request_is_allowed(REPLY, "ClientSecret.secret", "reset_secret",
                              client_post(sue, NULL, "/applications/%s/reset", app));
}

static struct answer request_token(const struct consent *s, const char *rest, const char *value,
                                   const char *secret)
{
    return client_form(s->nobody, TOKEN,
                       "%s=%s&redirect_uri=" BACK "&client_id=%s&client_secret=%s", rest, value,
                       s->app, secret);
}

static void check_who_can_get_app_tokens(struct world *w)
{
    static const char BY_CODE[] = "grant_type=authorization_code&code",
                      BY_REFRESH[] = "grant_type=refresh_token&refresh_token";
    struct consent s = world_consent(w);
    const char *consent = "{'authorize': true}", *code, *refresh, *access;
    struct answer a;

    expect_request_is_refused(REPLY, "Redirect.url", "authorize",
                              client_post(s.nobody, consent,
                                          AUTHORIZE
                                          "?client_id=%s&response_type=code&redirect_uri=" BACK
                                          "&scope=identify",
                                          s.app));
    a = client_post(
        s.bob, consent,
        AUTHORIZE "?client_id=%s&response_type=code&redirect_uri=" BACK "&scope=identify", s.app);
    expect_request_is_allowed(REPLY, "Redirect.url", "authorize", a);
    code = url_part(a, "code");
    a = request_token(&s, BY_CODE, code, "wrong");
    expect_request_is_refused(BODY, "TokenRequest.client_secret", "exchange_token", a);
    expect_access_refused_to_both_credentials("AccessToken.access_token",
                                              "AccessToken.refresh_token", "exchange_token", a);
    expect_request_is_refused(BODY, "TokenRequest.code", "exchange_token",
                              request_token(&s, BY_CODE, "wrong", s.secret));
    code = get_code(s.bob, s.app, "identify");
    a = request_token(&s, BY_CODE, code, s.secret);
    expect_request_is_allowed(BODY, "TokenRequest.client_secret", "exchange_token", a);
    expect_request_is_allowed(BODY, "TokenRequest.code", "exchange_token", a);
    expect_access_allowed_to_both_credentials("AccessToken.access_token",
                                              "AccessToken.refresh_token", "exchange_token", a);
    refresh = answer_text(a, "refresh_token");
    expect_request_is_refused(BODY, "TokenRequest.refresh_token", "exchange_token",
                              request_token(&s, BY_REFRESH, "wrong", s.secret));
    a = request_token(&s, BY_REFRESH, refresh, s.secret);
    expect_request_is_allowed(BODY, "TokenRequest.refresh_token", "exchange_token", a);
    access = answer_text(a, "access_token");
    expect_request_is_refused(BODY, "TokenRevocation.client_secret", "revoke_token",
                              client_form(s.nobody, TOKEN "/revoke",
                                          "token=%s&client_id=%s&client_secret=wrong", access,
                                          s.app));
    struct client *bearer = world_client_with(w, TEXT(w, "Bearer %s", access));
    expect_status(client_get(bearer, "/users/@me"), 200);
    a = client_form(s.nobody, TOKEN "/revoke", "token=%s&client_id=%s&client_secret=%s", access,
                    s.app, s.secret);
    expect_request_is_allowed(BODY, "TokenRevocation.client_secret", "revoke_token", a);
    expect_request_is_allowed(BODY, "TokenRevocation.token", "revoke_token", a);
    /* Revoked or used credentials are refused. */
    expect_request_is_refused(BODY, "TokenRevocation.token", "revoke_token",
                              client_get(bearer, "/users/@me"));
}

static void every_credential_field_follows_its_access_rule(struct world *w)
{
    check_who_can_read_guild_invite_codes(w);
    check_who_can_read_friend_invite_codes(w);
    check_who_can_get_onboarding_roles(w);
    check_who_can_get_account_tokens(w);
    check_who_can_read_guild_template_codes(w);
    check_who_can_read_app_webhook_tokens(w);
    check_who_can_read_app_client_secrets(w);
    check_who_can_get_app_tokens(w);
    for (size_t i = 0; i < COUNT(credential_fields); i++)
        if (!credential_fields[i].test && !(credential_fields[i].expect_request_is_allowed &&
                                            credential_fields[i].expect_request_is_refused))
            fail_test(__FILE__, __LINE__, "%s of %s is not exercised", credential_fields[i].field,
                      credential_fields[i].route);
}

const struct test credentials_tests[] = {
    TEST(every_credential_field_is_in_the_list),
    TEST(every_event_is_in_the_credential_list),
    TEST(every_credential_field_follows_its_access_rule),
    { 0 },
};
