/* profiles.c - sessions, settings, notes, profiles and the events of a change. */
#include "test_guild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/auth/auth.h"
#include "base/clock.h"
#include "files.h"
#include "guilds.h"
#include "waits.h"

struct issue {
    struct world *world;
    struct token_to_issue grant;
    struct str token;
};

static enum err issue_token(struct tx *tx, void *arg)
{
    struct issue *i = arg;

    return auth_issue_token(guildhall_get_auth(world_server(i->world)), tx, &i->grant, &i->token);
}

/* Issues another credential for the account. */
static struct client *issue_credential(struct world *w, struct client *c, enum caller_kind kind,
                                       const char *scopes)
{
    struct issue i = { .world = w,
                       .grant = { .kind = kind,
                                  .user_id = strtoull(c->id, NULL, 10),
                                  .application_id = kind == CALLER_BEARER ? 77 : 0,
                                  .scopes = str_of(scopes),
                                  .client = STR("Lamp/1.0") } };
    char header[300];

    expect(!store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                           world_arena(w), issue_token, &i));
    snprintf(header, sizeof header, "%s%.*s", kind == CALLER_BEARER ? "Bearer " : "",
             STR_ARGS(i.token));
    return world_client_with(w, header);
}

/* Invisible characters could break, reverse or imitate a line of text. */
static void control_and_invisible_characters_are_refused_in_names(struct world *w)
{
    static const char *const bad[] = { "a\\u202eb", "a\\nb",     "a\\u0007", "a\\u200bb",
                                       "a\\u2028b", "a\\ufeffb", "a\\u0085b" };
    struct client *ada = world_client(w, "ada");

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct str body = str_printf(world_arena(w), "{'global_name': '%s'}", bad[i]);

        expect_invalid(client_patch(ada, body.p, "/users/@me"), "global_name", "STRING_TYPE_REGEX");
        body = str_printf(world_arena(w), "{'name': '%s'}", bad[i]);
        expect_invalid(client_post(ada, body.p, "/guilds"), "name", "STRING_TYPE_REGEX");
    }
    expect_status(client_patch(ada, "{'global_name': 'a\\u200db \\u00e9'}", "/users/@me"), 200);
    expect_invalid(client_post(world_anonymous(w),
                               "{'username': 'eve', 'password': 'a good password', "
                               "'email': 'x@y\\r\\nBcc:z'}",
                               "/auth/register"),
                   "email", "EMAIL_TYPE_INVALID_EMAIL");
}

static void insert_relationship(struct world *w, struct client *a, struct client *b, int type)
{
    world_sql(w, "insert into relationships (user_id, target_id, type) values (%s, %s, %d)", a->id,
              b->id, type);
}

static void befriend(struct world *w, struct client *a, struct client *b)
{
    insert_relationship(w, a, b, 1);
    insert_relationship(w, b, a, 1);
}

/* --- sessions ------------------------------------------------------------------------- */

static void session_list_shows_the_approximate_last_used_time(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    issue_credential(w, ada, CALLER_USER, "");
    world_wait(w, 24 * 3600);
    expect_status(client_get(ada, "/users/@me"), 200);
    world_wait(w, 3600);
    world_settle(w);
    struct answer a = client_get(ada, "/auth/sessions");
    const char *used = answer_text(a, "user_sessions.0.approx_last_used_time");
    expect(strcmp(used, answer_text(a, "user_sessions.0.last_seen")) == 0); /* for Spacebar */
    const char *made = answer_text(a, "user_sessions.1.approx_last_used_time");
    expect(strcmp(used, made) > 0);
    expect(world_number(w,
                        "select count(*) from tokens where user_id = %s and last_used_at >= "
                        "created_at + 86400000000",
                        ada->id) == 1);
    /* The last used time changes only with a request. */
    world_wait(w, 3600);
    world_settle(w);
    world_wait(w, 3600);
    world_settle(w);
    expect(world_number(w, "select count(*) from tokens where last_used_at >= "
                           "created_at + 86400000000 + 9000000000") == 0);
}

static void sessions_can_be_listed_and_logged_out(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct client *phone = issue_credential(w, ada, CALLER_USER, "");
    issue_credential(w, ada, CALLER_BEARER, "identify");

    struct answer a = client_get(ada, "/auth/sessions");
    expect_status(a, 200);
    expect(dom_at(a.json, "user_sessions")->count == 2);
    expect_json(a, "{'user_sessions': [{}, {'client_info': {'platform': 'Lamp/1.0', 'os': null, "
                   "'location': null}}]}");
    const char *hash = answer_text(a, "user_sessions.1.id_hash");
    expect(strlen(hash) == 44);
    expect(dom_at(a.json, "user_sessions.1.approx_last_used_time") != NULL);

    char body[200];
    snprintf(body, sizeof body, "{'session_id_hashes': ['%s', 'nonsense']}", hash);
    /* Another user's session cannot be logged out. */
    expect_status(client_post(bob, body, "/auth/sessions/logout"), 204);
    expect_status(client_get(phone, "/users/@me"), 200);
    expect_status(client_post(ada, body, "/auth/sessions/logout"), 204);
    expect_error(client_get(phone, "/users/@me"), 401, 0);
    expect_status(client_get(ada, "/users/@me"), 200);
    expect(dom_at(client_get(ada, "/auth/sessions").json, "user_sessions")->count == 1);
    expect_invalid(client_post(ada, "{}", "/auth/sessions/logout"), "session_id_hashes",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'session_id_hashes': []}", "/auth/sessions/logout"),
                   "session_id_hashes", "BASE_TYPE_BAD_LENGTH");
    expect_error(client_get(world_bot(w, "robot"), "/auth/sessions"), 403, 20001);
}

/* --- settings ------------------------------------------------------------------------- */

static void new_account_has_default_settings(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_get(ada, "/users/@me/settings");

    expect_status(a, 200);
    expect_json(a,
                "{'locale': 'en-US', 'theme': 'dark', 'status': 'online', 'custom_status': null, "
                "'friend_source_flags': {'all': true, 'mutual_friends': true, 'mutual_guilds': "
                "true}, 'friend_discovery_flags': 0, 'restricted_guilds': [], 'guild_folders': "
                "[], 'allow_game_friend_dms': true, 'stream_notifications_enabled': true, "
                "'view_nsfw_commands': false, 'show_current_game': true, "
                "'default_guilds_restricted': false}");
    expect_error(client_get(world_bot(w, "robot"), "/users/@me/settings"), 403, 20001);
}

static void guild_folders_are_limited_to_32_kib(struct world *w)
{
    enum { MOST = 32 * 1024 };
    struct client *ada = world_client(w, "ada");
    struct arena *arena = world_arena(w);
    char *long_name = arena_alloc(arena, MOST);

    memset(long_name, 'x', MOST - 1);
    long_name[MOST - 1] = '\0';
    /* The name is surrounded by 11 bytes. */
    expect_invalid(
        client_patch(ada,
                     str_printf(arena, "{'guild_folders': [{'name': '%s'}]}", long_name + 10).p,
                     "/users/@me/settings"),
        "guild_folders", "BASE_TYPE_MAX_LENGTH");
    expect_status(
        client_patch(ada,
                     str_printf(arena, "{'guild_folders': [{'name': '%s'}]}", long_name + 11).p,
                     "/users/@me/settings"),
        200);
    expect_json(client_patch(ada, "{'guild_folders': [{'id': 7, 'guild_ids': ['1', '2']}]}",
                             "/users/@me/settings"),
                "{'guild_folders': [{'id': 7, 'guild_ids': ['1', '2']}]}");
}

static void user_settings_update_contains_only_changed_fields(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_patch(ada,
                                   "{'theme': 'light', 'status': 'online', 'locale': 'de', "
                                   "'restricted_guilds': ['5'], 'unheard_of': 1}",
                                   "/users/@me/settings");

    expect_status(a, 200);
    expect_json(a, "{'theme': 'light', 'locale': 'de', 'restricted_guilds': ['5'], "
                   "'animate_emoji': true}");
    expect_event(ada, "USER_SETTINGS_UPDATE",
                 "{'theme': 'light', 'locale': 'de', 'restricted_guilds': ['5']}");
    expect(world_last_event(w, "USER_SETTINGS_UPDATE")->count == 3);
    expect_json(client_get(ada, "/users/@me"), "{'locale': 'de'}");
    expect_status(client_patch(ada, "{'theme': 'light'}", "/users/@me/settings"), 200);
    expect_status(client_patch(ada, "{}", "/users/@me/settings"), 200);
    expect_silence(ada);

    a = client_patch(ada, "{'theme': null, 'locale': null, 'restricted_guilds': null}",
                     "/users/@me/settings");
    expect_json(a, "{'theme': 'dark', 'locale': 'en-US', 'restricted_guilds': []}");
    expect_event(ada, "USER_SETTINGS_UPDATE",
                 "{'theme': 'dark', 'locale': 'en-US', 'restricted_guilds': []}");
    expect_json(client_get(ada, "/users/@me/settings"), "{'theme': 'dark', 'status': 'online'}");
}

static void friend_source_flag_all_includes_the_other_flags(struct world *w)
{
    static const struct {
        const char *body, *after;
    } cases[] = {
        { "{'friend_source_flags': {'mutual_guilds': true}}",
          "{'friend_source_flags': {'all': false, 'mutual_friends': false, 'mutual_guilds': "
          "true}}" },
        { "{'friend_source_flags': {}}",
          "{'friend_source_flags': {'all': false, 'mutual_friends': false, 'mutual_guilds': "
          "false}}" },
        { "{'friend_source_flags': {'all': true}}",
          "{'friend_source_flags': {'all': true, 'mutual_friends': true, 'mutual_guilds': "
          "true}}" },
        { "{'friend_source_flags': {'mutual_friends': true}}",
          "{'friend_source_flags': {'all': false, 'mutual_friends': true, 'mutual_guilds': "
          "false}}" },
        { "{'friend_source_flags': null}",
          "{'friend_source_flags': {'all': true, 'mutual_friends': true, 'mutual_guilds': "
          "true}}" },
    };
    struct client *ada = world_client(w, "ada");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_json(client_patch(ada, cases[i].body, "/users/@me/settings"), "%s", cases[i].after);
        expect_json(client_get(ada, "/users/@me/settings"), "%s", cases[i].after);
        expect_event(ada, "USER_SETTINGS_UPDATE", "%s", cases[i].after);
    }
    expect_silence(ada);
}

static void invalid_settings_are_refused_and_all_locales_accepted(struct world *w)
{
    static const struct {
        const char *body, *field, *code;
    } cases[] = {
        { "{'locale': 'xx'}", "locale", "BASE_TYPE_CHOICES" },
        { "{'theme': 'pink'}", "theme", "BASE_TYPE_CHOICES" },
        { "{'status': 'offline'}", "status", "BASE_TYPE_CHOICES" },
        { "{'friend_discovery_flags': 7}", "friend_discovery_flags", "NUMBER_TYPE_MAX" },
        { "{'friend_discovery_flags': -1}", "friend_discovery_flags", "NUMBER_TYPE_MIN" },
        { "{'friend_source_flags': 3}", "friend_source_flags", "MODEL_TYPE_CONVERT" },
        { "{'friend_source_flags': {'all': 3}}", "friend_source_flags.all",
          "BOOLEAN_TYPE_CONVERT" },
        { "{'restricted_guilds': ['x']}", "restricted_guilds.0", "NUMBER_TYPE_COERCE" },
        { "{'view_nsfw_commands': 'often'}", "view_nsfw_commands", "BOOLEAN_TYPE_CONVERT" },
        { "{'afk_timeout': 59}", "afk_timeout", "NUMBER_TYPE_MIN" },
        { "{'afk_timeout': 601}", "afk_timeout", "NUMBER_TYPE_MAX" },
    };
    static const char *const locales[] = {
        "ar",    "bg", "cs", "da",    "de", "el", "en-GB", "en-US", "es-419", "es-ES", "fi", "fr",
        "he",    "hi", "hr", "hu",    "id", "it", "ja",    "ko",    "lt",     "nl",    "no", "pl",
        "pt-BR", "ro", "ru", "sv-SE", "th", "tr", "uk",    "vi",    "zh-CN",  "zh-TW"
    };
    struct client *ada = world_client(w, "ada");
    char body[64];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_invalid(client_patch(ada, cases[i].body, "/users/@me/settings"), cases[i].field,
                       cases[i].code);
    expect_silence(ada);
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        snprintf(body, sizeof body, "{'locale': '%s'}", locales[i]);
        expect_status(client_patch(ada, body, "/users/@me/settings"), 200);
    }
}

static void custom_status_is_stored_and_can_be_cleared(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(
        client_patch(ada, "{'custom_status': {'text': 'reading'}}", "/users/@me/settings"), 200);
    world_restart(w);
    expect_json(client_get(ada, "/users/@me/settings"), "{'custom_status': {'text': 'reading'}}");
    expect_json(client_patch(ada, "{'custom_status': null}", "/users/@me/settings"),
                "{'custom_status': null}");
}

static void login_response_contains_locale_and_theme(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    struct answer a =
        client_post(nobody, "{'username': 'kim', 'password': 'correct horse'}", "/auth/register");
    struct client *kim = world_client_with(w, answer_text(a, "token"));

    client_patch(kim, "{'theme': 'light', 'locale': 'fr'}", "/users/@me/settings");
    expect_json(client_post(nobody, "{'login': 'kim', 'password': 'correct horse'}", "/auth/login"),
                "{'user_settings': {'locale': 'fr', 'theme': 'light'}}");
}

/* --- notes ---------------------------------------------------------------------------- */

static void user_notes_are_private_and_send_user_note_update(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    char body[400] = "{'note': '";

    expect_error(client_get(ada, "/users/@me/notes/%s", bob->id), 404, 10013);
    expect_status(client_put(ada, "{'note': 'owes me'}", "/users/@me/notes/%s", bob->id), 204);
    expect_event(ada, "USER_NOTE_UPDATE", "{'id': '%s', 'note': 'owes me'}", bob->id);
    expect_json(client_get(ada, "/users/@me/notes/%s", bob->id),
                "{'user_id': '%s', 'note_user_id': '%s', 'note': 'owes me'}", ada->id, bob->id);
    expect_error(client_get(bob, "/users/@me/notes/%s", ada->id), 404, 10013);
    expect_silence(bob);
    expect_status(client_put(ada, "{'note': 'owes me'}", "/users/@me/notes/%s", bob->id), 204);
    expect_silence(ada);
    expect_status(client_put(ada, "{'note': null}", "/users/@me/notes/%s", bob->id), 204);
    expect_event(ada, "USER_NOTE_UPDATE", "{'id': '%s', 'note': ''}", bob->id);
    expect_error(client_get(ada, "/users/@me/notes/%s", bob->id), 404, 10013);

    memset(body + strlen(body), 'x', 257);
    strcat(body, "'}");
    expect_error(client_put(ada, body, "/users/@me/notes/%s", bob->id), 400, 50015);
    expect_error(client_put(ada, body, "/users/@me/notes/5"), 404, 10013);
    strcpy(strchr(body, 'x') + 256, "'}");
    expect_status(client_put(ada, body, "/users/@me/notes/%s", bob->id), 204);
    expect_error(client_put(ada, "{'note': 'x'}", "/users/@me/notes/5"), 404, 10013);
    expect_error(client_get(world_bot(w, "robot"), "/users/@me/notes/%s", bob->id), 403, 20001);
}

/* --- profiles ------------------------------------------------------------------------- */

static void profile_requires_a_mutual_guild_or_friendship(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *kim = world_client(w, "kim"),
                  *zoe = world_client(w, "zoe"), *bot = world_bot(w, "robot");
    struct test_guild p = world_test_guild(w, ada);

    test_guild_add(&p, bob);
    befriend(w, ada, eve);
    insert_relationship(w, ada, kim, 3);
    insert_relationship(w, kim, ada, 4);
    expect_status(client_get(ada, "/users/@me/profile"), 200);
    expect_status(client_get(ada, "/users/%s/profile", ada->id), 200);
    expect_status(client_get(ada, "/users/%s/profile", bob->id), 200);
    expect_status(client_get(ada, "/users/%s/profile", eve->id), 200);
    expect_status(client_get(ada, "/users/%s/profile", kim->id), 200);
    expect_status(client_get(ada, "/users/%s/profile", bot->id), 200);
    expect_error(client_get(ada, "/users/%s/profile", zoe->id), 403, 50001);
    /* An outgoing friend request does not give access. */
    expect_error(client_get(kim, "/users/%s/profile", ada->id), 403, 50001);
    expect_error(client_get(ada, "/users/5/profile"), 404, 10013);
    expect_error(client_get(bot, "/users/%s/profile", ada->id), 403, 20001);
}

static void changing_the_profile_validates_and_stores_its_fields(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    char body[64];

    befriend(w, ada, bob);
    client_patch(ada, "{'bio': 'about ada'}", "/users/@me");
    discard_received(w);
    struct answer a = client_patch(ada,
                                   "{'pronouns': ' she/her ', 'accent_color': 255, 'theme_colors': "
                                   "[1, 16777215], 'banner': '" PNG "'}",
                                   "/users/@me/profile");
    expect_json(a, "{'pronouns': 'she/her', 'bio': 'about ada', 'accent_color': 255, "
                   "'theme_colors': [1, 16777215]}");
    expect(strlen(answer_text(a, "banner")) == 32);
    expect_event(ada, "USER_UPDATE", "{'accent_color': 255, 'banner': '%s'}",
                 answer_text(a, "banner"));
    expect_json(client_get(bob, "/users/%s/profile", ada->id),
                "{'user_profile': {'bio': 'about ada', 'pronouns': 'she/her', 'accent_color': 255, "
                "'theme_colors': [1, 16777215]}}");
    expect_json(client_patch(ada,
                             "{'pronouns': null, 'bio': null, 'theme_colors': null, 'banner': "
                             "null, 'accent_color': null}",
                             "/users/@me/profile"),
                "{'pronouns': '', 'bio': '', 'theme_colors': null, 'banner': null, 'accent_color': "
                "null}");
    expect_files(w, "banners", 0);
    snprintf(body, sizeof body, "{'pronouns': '%041d'}", 1);
    expect_invalid(client_patch(ada, body, "/users/@me/profile"), "pronouns",
                   "BASE_TYPE_MAX_LENGTH");
    expect_invalid(client_patch(ada, "{'theme_colors': [1]}", "/users/@me/profile"), "theme_colors",
                   "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_patch(ada, "{'theme_colors': [1, -1]}", "/users/@me/profile"),
                   "theme_colors.1", "NUMBER_TYPE_MIN");
}

static void profile_contains_mutuals_and_guild_member_when_requested(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *kim = world_client(w, "kim");
    struct test_guild p = world_test_guild(w, ada), other = world_test_guild(w, kim);

    test_guild_add(&p, bob);
    world_sql(w, "update members set nick = 'B' where user_id = %s", bob->id);
    befriend(w, ada, eve);
    befriend(w, bob, eve);
    befriend(w, ada, kim);
    client_patch(bob, "{'bio': 'about bob', 'accent_color': 255}", "/users/@me");

    struct answer a = client_get(ada, "/users/%s/profile", bob->id);
    expect_json(a,
                "{'user': {'id': '%s', 'username': 'bob', 'bio': 'about bob', 'banner': null, "
                "'accent_color': 255}, 'user_profile': {'bio': 'about bob', 'pronouns': '', "
                "'accent_color': 255}, 'badges': [], 'guild_badges': [], 'connected_accounts': [], "
                "'mutual_guilds': [{'id': '%s', 'nick': 'B'}], 'premium_type': null, "
                "'premium_since': null, 'premium_guild_since': null}",
                bob->id, p.id);
    expect_absent(a, "mutual_friends");
    expect_absent(a, "mutual_friends_count");
    expect_absent(a, "guild_member");
    expect_absent(a, "application");
    expect_absent(a, "user.email");

    a = client_get(ada,
                   "/users/%s/profile?with_mutual_guilds=false&with_mutual_friends=true&"
                   "with_mutual_friends_count=true&guild_id=%s",
                   bob->id, p.id);
    expect_json(a,
                "{'mutual_friends': [{'id': '%s', 'username': 'eve'}], 'mutual_friends_count': 1, "
                "'guild_member': {'nick': 'B', 'user': {'id': '%s'}, 'roles': []}}",
                eve->id, bob->id);
    expect_absent(a, "mutual_guilds");
    expect_error(client_get(ada, "/users/%s/profile?guild_id=%s", bob->id, other.id), 403, 50001);
    expect_error(client_get(ada, "/users/%s/profile?guild_id=5", bob->id), 404, 10004);
    expect_absent(client_get(ada, "/users/%s/profile?guild_id=%s", eve->id, p.id), "guild_member");
}

static void profile_of_a_user_who_blocked_the_caller_is_reduced(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild p = world_test_guild(w, ada);

    test_guild_add(&p, bob);
    client_patch(bob, "{'bio': 'about bob'}", "/users/@me");
    insert_relationship(w, bob, ada, 2);
    struct answer a =
        client_get(ada, "/users/%s/profile?with_mutual_friends=true&guild_id=%s", bob->id, p.id);
    expect_status(a, 200);
    expect_json(a, "{'user': {'id': '%s', 'bio': ''}, 'user_profile': {'bio': ''}}", bob->id);
    expect_absent(a, "mutual_guilds");
    expect_absent(a, "mutual_friends");
    expect_absent(a, "guild_member");
}

static void profile_of_a_bot_contains_its_application_id(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");

    expect_absent(client_get(ada, "/users/%s/profile", bot->id), "application");
    world_sql(w,
              "insert into applications (id, name, owner_id, bot_id, key_salt, verify_key) "
              "values (77, 'app', %s, %s, '', '')",
              ada->id, bot->id);
    expect_json(client_get(ada, "/users/%s/profile?with_mutual_friends=true", bot->id),
                "{'application': {'id': '77'}, 'mutual_friends': []}");
}

static void mutual_friends_route_lists_only_mutual_friends(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *kim = world_client(w, "kim"),
                  *bot = world_bot(w, "robot");

    befriend(w, ada, eve);
    befriend(w, bob, eve);
    befriend(w, ada, kim);
    insert_relationship(w, bob, kim, 2);
    /* As for profiles: users without a relation are refused, and a blocked user gets an empty
     * list. */
    expect_error(client_get(ada, "/users/%s/profile", bob->id), 403, 50001);
    expect_error(client_get(ada, "/users/%s/relationships", bob->id), 403, 50001);
    struct test_guild both = world_test_guild(w, ada);
    test_guild_add(&both, bob);
    struct answer a = client_get(ada, "/users/%s/relationships", bob->id);
    expect_json(a, "[{'id': '%s', 'username': 'eve', 'discriminator': '0'}]", eve->id);
    insert_relationship(w, bob, ada, 2);
    expect_json(client_get(ada, "/users/%s/relationships", bob->id), "[]");
    expect(client_get(ada, "/users/%s/relationships", bot->id).json->count == 0);
    expect_error(client_get(ada, "/users/5/relationships"), 404, 10013);
}

/* --- events for others ---------------------------------------------------------------- */

static void changing_the_global_name_notifies_guilds_and_friends(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild p = world_test_guild(w, ada), other = world_test_guild(w, eve);

    befriend(w, ada, bob);
    expect_status(client_patch(ada, "{'global_name': 'Lady Ada'}", "/users/@me"), 200);
    expect_event(ada, "USER_UPDATE", "{'global_name': 'Lady Ada'}");
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE",
                       "{'guild_id': '%s', 'user': {'id': '%s', 'global_name': 'Lady Ada'}}", p.id,
                       ada->id);
    expect_event(bob, "PRESENCE_UPDATE",
                 "{'user': {'id': '%s', 'global_name': 'Lady Ada'}, 'activities': [], "
                 "'client_status': {}}",
                 ada->id);
    expect_guild_silence(&other);
    expect_silence(eve);

    expect_status(client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me"), 200);
    expect_event(ada, "USER_UPDATE", "{}");
    expect_event(bob, "PRESENCE_UPDATE", "{'user': {'id': '%s'}}", ada->id);
    expect_guild_event(&p, 0, "GUILD_MEMBER_UPDATE", "{'user': {'id': '%s'}}", ada->id);

    /* Changes of private fields send no events to others. */
    expect_status(client_patch(ada, "{'bio': 'secretive'}", "/users/@me"), 200);
    expect_event(ada, "USER_UPDATE", "{'bio': 'secretive'}");
    expect_silence(bob);
    expect_guild_silence(&p);
}

/* --- apps ----------------------------------------------------------------------------- */

static void bearer_token_sees_the_user_fields_of_its_scopes(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *some = issue_credential(w, ada, CALLER_BEARER, "identify"),
                  *more = issue_credential(w, ada, CALLER_BEARER, "identify email"),
                  *none = issue_credential(w, ada, CALLER_BEARER, "guilds");

    world_sql(w, "update users set email = 'ada@example.org' where id = %s", ada->id);
    struct answer a = client_get(some, "/users/@me");
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "application/json"));
    expect_json(a,
                "{'id': '%s', 'username': 'ada', 'locale': 'en-US', 'mfa_enabled': false, "
                "'premium_type': 0, 'public_flags': 0, 'banner': null, 'accent_color': null}",
                ada->id);
    static const char *const hidden[] = { "email", "verified", "phone", "bio", "nsfw_allowed" };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        expect_absent(a, hidden[i]);
    a = client_get(more, "/users/@me");
    expect_json(a, "{'email': 'ada@example.org', 'verified': true}");
    expect_error(client_get(none, "/users/@me"), 403, 50026);
    expect_error(client_patch(some, "{'bio': 'x'}", "/users/@me"), 401, 0);
}

/* --- default avatars ------------------------------------------------------------------ */

static void six_default_avatars_are_served(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    char path[64];

    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "/embed/avatars/%d.png", i);
        struct answer a = client_request(nobody, "GET", path, "", STR(""));
        expect_status(a, 200);
        expect(str_is(answer_header(a, "Content-Type"), "image/png"));
        expect(str_starts_with(a.body, STR("\x89PNG\r\n\x1a\n")) && a.body.n < 2000);
        expect(memcmp(a.body.p + a.body.n - 8, "IEND\xae\x42\x60\x82", 8) == 0);
    }
    expect_error(client_request(nobody, "GET", "/embed/avatars/6.png", "", STR("")), 404, 0);
    expect_error(client_request(nobody, "GET", "/embed/avatars/0.gif", "", STR("")), 404, 0);
    expect_error(client_request(nobody, "GET", "/embed/avatars/x.png", "", STR("")), 404, 0);
}

/* Client libraries that validate responses with the official schemas require both fields. */
static void user_objects_contain_flags_and_public_flags(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    world_sql(w, "update users set flags = 68, public_flags = 64 where id = %s", ada->id);
    expect_json(client_get(ada, "/users/@me"), "{'flags': 68, 'public_flags': 64}");
    expect_json(client_get(bob, "/users/%s", ada->id), "{'flags': 64, 'public_flags': 64}");
    befriend(w, ada, bob);
    expect_json(client_get(bob, "/users/@me/relationships"),
                "[{'user': {'flags': 64, 'public_flags': 64}}]");
    expect_json(client_get(issue_credential(w, ada, CALLER_BEARER, "identify"), "/users/@me"),
                "{'flags': 64, 'public_flags': 64}");
}

/* --- credentials ---------------------------------------------------------------------- */

struct finding {
    struct auth *auth;
    struct parsed_credential credential;
    struct caller caller;
};

static enum err find_account_of_token(struct tx *tx, void *arg)
{
    struct finding *f = arg;

    return auth_find_stored_token(f->auth, tx, &f->credential, &f->caller);
}

/* The row may have been read before the revocation. */
static void credential_read_before_a_revocation_is_not_cached(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct store *store = guildhall_get_store(world_server(w));
    struct finding f = { .auth = guildhall_get_auth(world_server(w)) };
    struct str token;
    enum caller_kind kind = parse_credential_kind(str_of(ada->authorization), &token);

    expect(parse_credential_token(kind, token, &f.credential));
    auth_record_revocations_before_lookup(f.auth, &f.credential);
    auth_evict_account_tokens(f.auth, 1);
    expect(store_run_transaction_and_wait(store, STORE_READ, world_arena(w), find_account_of_token,
                                          &f) == OK);
    expect(!auth_find_cached_token(f.auth, kind, token, &f.caller));
    auth_record_revocations_before_lookup(f.auth, &f.credential);
    expect(store_run_transaction_and_wait(store, STORE_READ, world_arena(w), find_account_of_token,
                                          &f) == OK);
    expect(auth_find_cached_token(f.auth, kind, token, &f.caller));
}

const struct test accounts_profiles_tests[] = {
    TEST(credential_read_before_a_revocation_is_not_cached),
    TEST(session_list_shows_the_approximate_last_used_time),
    TEST(sessions_can_be_listed_and_logged_out),
    TEST(new_account_has_default_settings),
    TEST(guild_folders_are_limited_to_32_kib),
    TEST(user_settings_update_contains_only_changed_fields),
    TEST(friend_source_flag_all_includes_the_other_flags),
    TEST(invalid_settings_are_refused_and_all_locales_accepted),
    TEST(custom_status_is_stored_and_can_be_cleared),
    TEST(login_response_contains_locale_and_theme),
    TEST(user_notes_are_private_and_send_user_note_update),
    TEST(profile_requires_a_mutual_guild_or_friendship),
    TEST(changing_the_profile_validates_and_stores_its_fields),
    TEST(profile_contains_mutuals_and_guild_member_when_requested),
    TEST(profile_of_a_user_who_blocked_the_caller_is_reduced),
    TEST(profile_of_a_bot_contains_its_application_id),
    TEST(mutual_friends_route_lists_only_mutual_friends),
    TEST(changing_the_global_name_notifies_guilds_and_friends),
    TEST(bearer_token_sees_the_user_fields_of_its_scopes),
    TEST(six_default_avatars_are_served),
    TEST(user_objects_contain_flags_and_public_flags),
    TEST(control_and_invisible_characters_are_refused_in_names),
    { 0 },
};
