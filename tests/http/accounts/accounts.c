/* accounts.c - registering, logging in and out, reading and changing accounts. */
#include "world.h"

#include "base/clock.h"
#include "base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER "/auth/register"
#define LOGIN    "/auth/login"

/* Registers a client through the API with the password "correct horse". */
static struct client *register_client(struct world *w, const char *name)
{
    struct client *nobody = world_anonymous(w);
    char body[200];

    snprintf(body, sizeof body, "{'username': '%s', 'password': 'correct horse'}", name);
    struct answer a = client_post(nobody, body, REGISTER);
    expect_status(a, 200);
    struct client *c = world_client_with(w, answer_text(a, "token"));
    snprintf(c->id, sizeof c->id, "%s", answer_text(client_get(c, "/users/@me"), "id"));
    return c;
}

/* --- register ------------------------------------------------------------------------- */

static void registering_returns_a_working_token_and_all_user_fields(struct world *w)
{
    struct answer a = client_post(world_anonymous(w),
                                  "{'username': 'Ada', 'global_name': 'Ada L', 'email': "
                                  "'Ada@Example.org', 'password': 'correct horse'}",
                                  REGISTER);
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "application/json"));

    a = client_get(world_client_with(w, answer_text(a, "token")), "/users/@me");
    expect_status(a, 200);
    expect_json(a, "{'username': 'ada', 'global_name': 'Ada L', 'email': 'ada@example.org', "
                   "'discriminator': '0', 'avatar': null, 'bio': '', 'verified': true, "
                   "'mfa_enabled': false, 'locale': 'en-US', 'flags': 0, 'premium_type': 0, "
                   "'phone': null, 'banner': null, 'accent_color': null}");
    expect_absent(a, "bot");
    expect_absent(a, "password_hash");
}

static void new_account_takes_its_locale_from_the_request_headers(struct world *w)
{
    static const struct {
        const char *name, *headers, *locale;
    } cases[] = {
        { "ann", "X-Discord-Locale: fr\r\nAccept-Language: de\r\n", "fr" },
        { "ben", "X-Discord-Locale: tlh\r\nAccept-Language: de-AT, fr;q=0.5\r\n", "de" },
        { "cid", "", "en-US" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = world_arena(w);
        struct answer a = client_request(
            world_anonymous(w), "POST", "/api/v10/auth/register",
            str_printf(arena, "Content-Type: application/json\r\n%s", cases[i].headers).p,
            str_printf(arena, "{\"username\": \"%s\"}", cases[i].name));
        struct client *c = world_client_with(w, answer_text(a, "token"));

        expect_json(client_get(c, "/users/@me"), "{'locale': '%s'}", cases[i].locale);
    }
    /* An authenticated caller already has a locale. */
    struct client *ada = world_client(w, "ada");
    expect_status(client_patch(ada, "{'locale': 'ja'}", "/users/@me/settings"), 200);
    struct answer a = client_post(ada, "{'username': 'dan'}", "/auth/register");
    expect_json(client_get(world_client_with(w, answer_text(a, "token")), "/users/@me"),
                "{'locale': 'ja'}");
}

static void token_has_three_parts_and_the_first_is_the_account_id(struct world *w)
{
    struct client *ada = register_client(w, "ada");
    char *part = strdup(ada->authorization);
    size_t dots = 0, n;
    char id[32] = { 0 };

    for (const char *p = ada->authorization; *p; p++)
        dots += *p == '.';
    expect(dots == 2);
    *strchr(part, '.') = '\0';
    expect(str_base64url_decode(str_of(part), id, sizeof id - 1, &n));
    expect(strcmp(id, ada->id) == 0);
    free(part);
}

static void invalid_usernames_are_refused_at_registration(struct world *w)
{
    static const struct {
        const char *name, *code;
    } cases[] = {
        { "a", "BASE_TYPE_BAD_LENGTH" },
        { "abcdefghijklmnopqrstuvwxyz0123456", "BASE_TYPE_BAD_LENGTH" }, /* 33 */
        { "ada lovelace", "USERNAME_INVALID_CONTAINS" },
        { "ada..lovelace", "USERNAME_INVALID_CONTAINS" },
        { "ad\xc3\xa4", "USERNAME_INVALID_CONTAINS" },
        { "everyone", "USERNAME_RESERVED" },
    };
    struct client *nobody = world_anonymous(w);
    char body[200];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(body, sizeof body, "{'username': '%s'}", cases[i].name);
        expect_invalid(client_post(nobody, body, REGISTER), "username", cases[i].code);
    }
    expect_status(client_post(nobody, "{'username': 'ab'}", REGISTER), 200);
    expect_status(client_post(nobody, "{'username': 'abcdefghijklmnopqrstuvwxyz012345'}", REGISTER),
                  200);
    expect_status(client_post(nobody, "{'username': '  a.b_c.9 '}", REGISTER), 200);
}

static void registering_refuses_a_username_or_email_already_in_use(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    expect_status(client_post(nobody, "{'username': 'ada', 'email': 'a@b.c'}", REGISTER), 200);
    expect_invalid(client_post(nobody, "{'username': 'ADA'}", REGISTER), "username",
                   "USERNAME_ALREADY_TAKEN");
    expect_invalid(client_post(nobody, "{'username': 'bob', 'email': 'A@b.C'}", REGISTER), "email",
                   "EMAIL_ALREADY_REGISTERED");
    expect_status(client_post(nobody, "{'username': 'bob'}", REGISTER), 200);
}

static void registering_requires_a_password_of_8_to_72_characters(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    char body[300];

    expect_invalid(client_post(nobody, "{'username': 'ada', 'password': '1234567'}", REGISTER),
                   "password", "BASE_TYPE_BAD_LENGTH");
    expect_status(client_post(nobody, "{'username': 'ada', 'password': '12345678'}", REGISTER),
                  200);
    snprintf(body, sizeof body, "{'username': 'bob', 'password': '%072d'}", 1);
    expect_status(client_post(nobody, body, REGISTER), 200);
    snprintf(body, sizeof body, "{'username': 'cleo', 'password': '%073d'}", 1);
    expect_invalid(client_post(nobody, body, REGISTER), "password", "BASE_TYPE_BAD_LENGTH");
}

static void registering_requires_an_age_of_at_least_13_years(struct world *w)
{
    struct client *nobody = world_anonymous(w);
    char body[200], today[TIMESTAMP_TEXT_SIZE];
    int year, month, day;

    timestamp_format(clock_us(), today);
    sscanf(today, "%d-%d-%d", &year, &month, &day);
    snprintf(body, sizeof body, "{'username': 'young', 'date_of_birth': '%04d-%02d-%02d'}",
             year - 13, month == 12 ? month : month + 1, month == 12 ? 31 : 1);
    if (!(month == 12 && day == 31))
        expect_invalid(client_post(nobody, body, REGISTER), "date_of_birth",
                       "DATE_OF_BIRTH_UNDERAGE");
    snprintf(body, sizeof body, "{'username': 'old', 'date_of_birth': '%04d-%02d-01'}", year - 13,
             month);
    expect_status(client_post(nobody, body, REGISTER), 200);
    expect_invalid(
        client_post(nobody, "{'username': 'x1', 'date_of_birth': '2000-02-30'}", REGISTER),
        "date_of_birth", "DATE_TIME_TYPE_PARSE");
}

static void registering_reports_all_invalid_fields_in_one_response(struct world *w)
{
    struct answer a = client_post(
        world_anonymous(w), "{'username': 'a', 'email': 'nowhere', 'password': 'short'}", REGISTER);

    expect_invalid(a, "username", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(a, "email", "EMAIL_TYPE_INVALID_EMAIL");
    expect_invalid(a, "password", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_post(world_anonymous(w), "{}", REGISTER), "username",
                   "BASE_TYPE_REQUIRED");
}

/* --- log in and out ------------------------------------------------------------------- */

static void login_accepts_username_or_email(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    expect_status(client_post(nobody,
                              "{'username': 'ada', 'email': 'ada@example.org', 'password': "
                              "'correct horse'}",
                              REGISTER),
                  200);
    struct answer a = client_post(nobody, "{'login': 'Ada', 'password': 'correct horse'}", LOGIN);
    expect_status(a, 200);
    expect_json(a, "{'user_settings': {'locale': 'en-US', 'theme': 'dark'}, 'settings': {'locale': "
                   "'en-US', 'theme': 'dark'}}");
    struct client *ada = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(ada, "/users/@me"), "{'id': '%s'}", answer_text(a, "user_id"));
    a = client_post(nobody, "{'login': 'ada@example.org', 'password': 'correct horse'}", LOGIN);
    expect_status(a, 200);
}

static void failed_login_does_not_reveal_whether_the_account_exists(struct world *w)
{
    struct client *nobody = world_anonymous(w);

    register_client(w, "ada");
    world_client(w, "tokenonly"); /* an account without a password */
    const char *bodies[] = { "{'login': 'ada', 'password': 'wrong horse'}",
                             "{'login': 'nobody', 'password': 'correct horse'}",
                             "{'login': 'tokenonly', 'password': 'correct horse'}",
                             "{'login': 'tokenonly', 'password': ''}" };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct answer a = client_post(nobody, bodies[i], LOGIN);

        expect_invalid(a, "login", "INVALID_LOGIN");
        expect_invalid(a, "password", "INVALID_LOGIN");
    }
}

static void bots_cannot_log_in_with_a_password(struct world *w)
{
    world_bot(w, "helper");
    expect_invalid(
        client_post(world_anonymous(w), "{'login': 'helper', 'password': 'correct horse'}", LOGIN),
        "login", "INVALID_LOGIN");
}

static void logging_out_revokes_only_the_token_used(struct world *w)
{
    struct client *one = register_client(w, "ada");
    struct answer a =
        client_post(world_anonymous(w), "{'login': 'ada', 'password': 'correct horse'}", LOGIN);
    struct client *two = world_client_with(w, answer_text(a, "token"));

    expect_status(client_get(one, "/users/@me"), 200);
    expect_status(client_get(two, "/users/@me"), 200);
    expect_status(client_post(one, NULL, "/auth/logout"), 204);
    expect_error(client_get(one, "/users/@me"), 401, 0);
    expect_error(client_post(one, NULL, "/auth/logout"), 401, 0);
    expect_status(client_get(two, "/users/@me"), 200);
}

/* --- credentials ---------------------------------------------------------------------- */

static void malformed_or_wrong_type_credentials_get_401(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "helper");
    char text[400];

    expect_error(client_get(world_anonymous(w), "/users/@me"), 401, 0);
    expect_error(client_get(world_client_with(w, "nonsense"), "/users/@me"), 401, 0);
    snprintf(text, sizeof text, "Bot %s", ada->authorization);
    expect_error(client_get(world_client_with(w, text), "/users/@me"), 401, 0);
    snprintf(text, sizeof text, "Bearer %s", ada->authorization);
    expect_error(client_get(world_client_with(w, text), "/users/@me"), 401, 0);
    expect_error(client_get(world_client_with(w, bot->authorization + 4), "/users/@me"), 401, 0);
    snprintf(text, sizeof text, "bOT   %s", bot->authorization + 4);
    expect_status(client_get(world_client_with(w, text), "/users/@me"), 200);

    /* The token's secret is altered, then the account id in the token is replaced. */
    snprintf(text, sizeof text, "%s", ada->authorization);
    char *last = &text[strlen(text) - 2];
    *last = *last == 'A' ? 'B' : 'A';
    expect_error(client_get(world_client_with(w, text), "/users/@me"), 401, 0);
    snprintf(text, sizeof text, "MTIz%s", strchr(ada->authorization, '.'));
    expect_error(client_get(world_client_with(w, text), "/users/@me"), 401, 0);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static void tokens_and_logouts_survive_a_server_restart(struct world *w)
{
    struct client *ada = register_client(w, "ada");

    world_restart(w);
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada'}");
    struct client *gone = register_client(w, "bob");
    expect_status(client_post(gone, NULL, "/auth/logout"), 204);
    world_restart(w);
    expect_error(client_get(gone, "/users/@me"), 401, 0);
}

static enum err set_account_disabled(struct tx *tx, void *arg)
{
    return tx_exec(tx, "update users set disabled = 1 where id = $1",
                   BIND(v_int(strtoll(arg, NULL, 10))), NULL);
}

static enum err schedule_deletion(struct tx *tx, void *arg)
{
    return tx_exec(tx, "update users set deleting = 1 where id = $1",
                   BIND(v_int(strtoll(arg, NULL, 10))), NULL);
}

static void requests_of_disabled_accounts_get_403_20013(struct world *w)
{
    struct client *ada = register_client(w, "ada");

    store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                   world_arena(w), set_account_disabled, ada->id);
    world_restart(w);
    expect_error(client_get(ada, "/users/@me"), 403, 20013);
    expect_error(
        client_post(world_anonymous(w), "{'login': 'ada', 'password': 'correct horse'}", LOGIN),
        403, 20013);
}

static void logging_in_with_undelete_cancels_account_deletion(struct world *w)
{
    struct client *ada = register_client(w, "ada"), *nobody = world_anonymous(w);

    store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                   world_arena(w), schedule_deletion, ada->id);
    world_restart(w);
    expect_error(client_get(ada, "/users/@me"), 403, 20011);
    expect_error(client_post(nobody, "{'login': 'ada', 'password': 'correct horse'}", LOGIN), 403,
                 20011);
    expect_status(client_post(nobody,
                              "{'login': 'ada', 'password': 'correct horse', 'undelete': true}",
                              LOGIN),
                  200);
    expect_status(client_get(ada, "/users/@me"), 200);
}

static enum err find_text(struct tx *tx, void *arg)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, "select count(*) from tokens where cast(digest as text) like $1",
                        BIND(v_text(str_of(arg))), &row, &found);

    return e ? e : row_int(&row, 0) ? ERR_STORE_CONFLICT : OK;
}

static void tokens_table_does_not_contain_token_secrets(struct world *w)
{
    struct client *ada = register_client(w, "ada");
    const char *secret = strrchr(ada->authorization, '.') + 1;
    char like[100];

    snprintf(like, sizeof like, "%%%s%%", secret);
    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_READ,
                                          world_arena(w), find_text, like) == OK);
}

/* --- reading accounts ----------------------------------------------------------------- */

static void user_object_of_another_user_has_only_public_fields(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = register_client(w, "bob");

    struct answer a = client_get(ada, "/users/%s", bob->id);
    expect_status(a, 200);
    expect_json(a,
                "{'id': '%s', 'username': 'bob', 'discriminator': '0', 'avatar': null, "
                "'global_name': null, 'public_flags': 0, 'banner': null, 'accent_color': null}",
                bob->id);
    expect_absent(a, "email");
    expect_absent(a, "bio");
    expect_absent(a, "verified");
    expect_absent(a, "bot");
    a = client_get(ada, "/users/%s", world_bot(w, "helper")->id);
    expect_json(a, "{'username': 'helper', 'bot': true}");
}

static void users_me_accepts_encoded_and_versioned_paths(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(client_get(ada, "/users/%%40me"), "{'id': '%s', 'bio': ''}", ada->id);
    expect_json(client_request(ada, "GET", "/api/users/@me/", NULL, (struct str){ 0 }),
                "{'id': '%s'}", ada->id);
    expect_json(client_request(ada, "GET", "/api/v9/users/@me", NULL, (struct str){ 0 }),
                "{'id': '%s'}", ada->id);
}

static void unknown_user_is_404_and_malformed_user_id_is_400(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(client_get(ada, "/users/1"), 404, 10013);
    expect_error(client_get(ada, "/users/9223372036854775807"), 404, 10013);
    expect_invalid(client_get(ada, "/users/9223372036854775808"), "user_id", "NUMBER_TYPE_COERCE");
    expect_invalid(client_get(ada, "/users/-1"), "user_id", "NUMBER_TYPE_COERCE");
    expect_invalid(client_get(ada, "/users/ada"), "user_id", "NUMBER_TYPE_COERCE");
    expect_invalid(client_get(ada, "/users/%%ff"), "user_id", "STRING_TYPE_CONVERT");
}

/* --- changing one's account ----------------------------------------------------------- */

static void changing_the_account_stores_it_and_sends_user_update(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    struct answer a = client_patch(
        ada, "{'bio': 'Countess', 'global_name': 'Ada', 'accent_color': 16777215}", "/users/@me");
    expect_status(a, 200);
    expect_json(a,
                "{'id': '%s', 'bio': 'Countess', 'global_name': 'Ada', 'accent_color': 16777215}",
                ada->id);
    expect(strcmp(answer_text(a, "token"), ada->authorization) == 0);
    expect_event(ada, "USER_UPDATE", "{'id': '%s', 'bio': 'Countess', 'global_name': 'Ada'}",
                 ada->id);
    expect_silence(ada);
    expect_silence(bob);

    expect_json(client_get(ada, "/users/@me"), "{'bio': 'Countess', 'accent_color': 16777215}");
    expect_json(client_get(bob, "/users/%s", ada->id), "{'global_name': 'Ada'}");
    a = client_patch(ada, "{'bio': null, 'global_name': null, 'accent_color': null}", "/users/@me");
    expect_json(a, "{'bio': '', 'global_name': null, 'accent_color': null}");
}

static void patching_the_account_without_known_fields_changes_nothing(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    client_patch(ada, "{'bio': 'here'}", "/users/@me");
    expect_json(client_patch(ada, "{}", "/users/@me"), "{'bio': 'here', 'username': 'ada'}");
    expect_json(client_patch(ada, NULL, "/users/@me"), "{'bio': 'here', 'username': 'ada'}");
    expect_json(client_patch(ada, "{'unknown': [1, 2]}", "/users/@me"), "{'bio': 'here'}");
}

static void profile_fields_over_their_limits_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    char body[400];

    snprintf(body, sizeof body, "{'bio': '%0190d'}", 0);
    expect_status(client_patch(ada, body, "/users/@me"), 200);
    snprintf(body, sizeof body, "{'bio': '%0191d'}", 0);
    expect_invalid(client_patch(ada, body, "/users/@me"), "bio", "BASE_TYPE_MAX_LENGTH");
    snprintf(body, sizeof body, "{'global_name': '%032d'}", 0);
    expect_status(client_patch(ada, body, "/users/@me"), 200);
    snprintf(body, sizeof body, "{'global_name': '%033d'}", 0);
    expect_invalid(client_patch(ada, body, "/users/@me"), "global_name", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(client_patch(ada, "{'accent_color': 16777216}", "/users/@me"), "accent_color",
                   "NUMBER_TYPE_MAX");
    expect_invalid(client_patch(ada, "{'accent_color': -1}", "/users/@me"), "accent_color",
                   "NUMBER_TYPE_MIN");
    expect_invalid(client_patch(ada, "{'bio': {}}", "/users/@me"), "bio", "STRING_TYPE_CONVERT");
    expect_silence(world_client(w, "bob"));
}

static void changing_username_or_email_requires_the_password(struct world *w)
{
    struct client *ada = register_client(w, "ada");

    expect_invalid(client_patch(ada, "{'username': 'countess'}", "/users/@me"), "password",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_patch(ada, "{'email': 'a@b.c', 'password': 'wrong horse'}", "/users/@me"),
                   "password", "PASSWORD_DOES_NOT_MATCH");
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada', 'email': null}");
    expect_silence(ada);
    expect_json(client_patch(ada,
                             "{'username': 'countess', 'email': 'a@b.c', 'password': 'correct "
                             "horse'}",
                             "/users/@me"),
                "{'username': 'countess', 'email': 'a@b.c'}");
    register_client(w, "bob");
    expect_invalid(
        client_patch(ada, "{'username': 'bob', 'password': 'correct horse'}", "/users/@me"),
        "username", "USERNAME_ALREADY_TAKEN");
}

static void changing_the_password_revokes_all_earlier_tokens(struct world *w)
{
    struct client *one = register_client(w, "ada");
    struct answer a =
        client_post(world_anonymous(w), "{'login': 'ada', 'password': 'correct horse'}", LOGIN);
    struct client *two = world_client_with(w, answer_text(a, "token"));

    expect_status(client_get(two, "/users/@me"), 200);
    a = client_patch(one, "{'password': 'correct horse', 'new_password': 'battery staple'}",
                     "/users/@me");
    expect_status(a, 200);
    struct client *now = world_client_with(w, answer_text(a, "token"));
    expect_status(client_get(now, "/users/@me"), 200);
    expect_error(client_get(one, "/users/@me"), 401, 0);
    expect_error(client_get(two, "/users/@me"), 401, 0);
    expect_invalid(
        client_post(world_anonymous(w), "{'login': 'ada', 'password': 'correct horse'}", LOGIN),
        "login", "INVALID_LOGIN");
    expect_status(
        client_post(world_anonymous(w), "{'login': 'ada', 'password': 'battery staple'}", LOGIN),
        200);
}

static void bot_can_change_username_but_not_bio_or_global_name(struct world *w)
{
    struct client *bot = world_bot(w, "helper");

    struct answer a = client_patch(
        bot, "{'username': 'assistant', 'bio': 'no', 'global_name': 'no'}", "/users/@me");
    expect_status(a, 200);
    expect_json(a, "{'username': 'assistant', 'bio': '', 'global_name': null, 'bot': true}");
    expect(strcmp(answer_text(a, "token"), bot->authorization + 4) == 0);
}

static void uploaded_avatar_is_served_after_a_restart(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    char path[200];

    struct answer a = client_patch(ada, "{'avatar': '" PNG "'}", "/users/@me");
    expect_status(a, 200);
    const char *hash = answer_text(a, "avatar");
    expect(strlen(hash) == 32);
    expect_event(ada, "USER_UPDATE", "{'avatar': '%s'}", hash);

    snprintf(path, sizeof path, "/avatars/%s/%s.png?size=64", ada->id, hash);
    world_restart(w);
    struct answer picture =
        client_request(world_anonymous(w), "GET", path, NULL, (struct str){ 0 });
    expect_status(picture, 200);
    expect(str_is(answer_header(picture, "Content-Type"), "image/png"));
    expect(picture.body.n == 70 && memcmp(picture.body.p, "\x89PNG", 4) == 0);

    expect_json(client_patch(ada, "{'avatar': null}", "/users/@me"), "{'avatar': null}");
    snprintf(path, sizeof path, "/avatars/%s/%032d.png", ada->id, 0);
    expect_error(client_request(ada, "GET", path, NULL, (struct str){ 0 }), 404, 0);
    snprintf(path, sizeof path, "/avatars/%s/..%%2fpepper.key", ada->id);
    expect_error(client_request(ada, "GET", path, NULL, (struct str){ 0 }), 404, 0);
}

static void invalid_image_data_is_refused_as_avatar_or_banner(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_invalid(client_patch(ada, "{'avatar': 'data:image/png;base64,AAAA'}", "/users/@me"),
                   "avatar", "IMAGE_INVALID");
    expect_invalid(client_patch(ada, "{'banner': 'nonsense'}", "/users/@me"), "banner",
                   "IMAGE_INVALID");
    expect_silence(ada);
}

const struct test accounts_tests[] = {
    TEST(registering_returns_a_working_token_and_all_user_fields),
    TEST(new_account_takes_its_locale_from_the_request_headers),
    TEST(token_has_three_parts_and_the_first_is_the_account_id),
    TEST(invalid_usernames_are_refused_at_registration),
    TEST(registering_refuses_a_username_or_email_already_in_use),
    TEST(registering_requires_a_password_of_8_to_72_characters),
    TEST(registering_requires_an_age_of_at_least_13_years),
    TEST(registering_reports_all_invalid_fields_in_one_response),
    TEST(login_accepts_username_or_email),
    TEST(failed_login_does_not_reveal_whether_the_account_exists),
    TEST(bots_cannot_log_in_with_a_password),
    TEST(logging_out_revokes_only_the_token_used),
    TEST(malformed_or_wrong_type_credentials_get_401),
    TEST(tokens_and_logouts_survive_a_server_restart),
    TEST(requests_of_disabled_accounts_get_403_20013),
    TEST(logging_in_with_undelete_cancels_account_deletion),
    TEST(tokens_table_does_not_contain_token_secrets),
    TEST(user_object_of_another_user_has_only_public_fields),
    TEST(users_me_accepts_encoded_and_versioned_paths),
    TEST(unknown_user_is_404_and_malformed_user_id_is_400),
    TEST(changing_the_account_stores_it_and_sends_user_update),
    TEST(patching_the_account_without_known_fields_changes_nothing),
    TEST(profile_fields_over_their_limits_are_refused),
    TEST(changing_username_or_email_requires_the_password),
    TEST(changing_the_password_revokes_all_earlier_tokens),
    TEST(bot_can_change_username_but_not_bio_or_global_name),
    TEST(uploaded_avatar_is_served_after_a_restart),
    TEST(invalid_image_data_is_refused_as_avatar_or_banner),
    { 0 },
};
