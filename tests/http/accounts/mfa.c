/* mfa.c - two-factor authentication with TOTP and backup codes. */
#include <stdio.h>
#include <string.h>

#include "apps.h"
#include "base/clock.h"
#include "base/mem.h"
#include "mailbox.h"
#include "people.h"
#include "platform/accounts/mfa/totp.h"
#include "waits.h"

#define SECRET  "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
#define ENABLE  "/users/@me/mfa/totp/enable"
#define DISABLE "/users/@me/mfa/totp/disable"

/* Returns the TOTP code of now, or of so many steps later. */
static const char *totp_code_at(struct world *w, int steps)
{
    unsigned char secret[TOTP_SECRET];

    expect(totp_secret_parse(STR(SECRET), secret));
    return TEXT(w, "%06u", totp_code_of_step(secret, clock_s() / TOTP_STEP_S + steps));
}

/* Waits for the start of a TOTP step, so that the step does not end during the test. */
static struct client *register_ada(struct world *w)
{
    world_wait(w, (double)(TOTP_STEP_S - clock_s() % TOTP_STEP_S));
    struct answer a = client_post(
        world_anonymous(w), "{'username': 'ada', 'password': 'correct horse'}", "/auth/register");

    expect_status(a, 200);
    return world_client_with(w, answer_text(a, "token"));
}

static struct answer enable_mfa(struct client *c, const char *secret, const char *code)
{
    return client_post(
        c,
        TEXT(c->world, "{'password': 'correct horse', 'secret': '%s', 'code': '%s'}", secret, code),
        ENABLE);
}

/* Registers ada with MFA enabled and returns a client with her new token. */
static struct client *register_ada_with_mfa(struct world *w, struct answer *ret)
{
    struct client *ada = register_ada(w);

    *ret = enable_mfa(ada, SECRET, totp_code_at(w, 0));
    expect_status(*ret, 200);
    world_wait(w, TOTP_STEP_S);
    return world_client_with(w, answer_text(*ret, "token"));
}

static struct answer log_in(struct world *w, const char *more)
{
    return client_post(world_anonymous(w),
                       TEXT(w, "{'login': 'ada', 'password': 'correct horse'%s}", more),
                       "/auth/login");
}

static struct answer finish_mfa_login(struct world *w, const char *kind, const char *ticket,
                                      const char *code)
{
    return client_post(world_anonymous(w), TEXT(w, "{'ticket': '%s', 'code': '%s'}", ticket, code),
                       "/auth/mfa/%s", kind);
}

static void enabling_mfa_requires_the_password_and_a_totp_code(struct world *w)
{
    struct client *ada = register_ada(w), *other = world_client_with(w, ada->authorization);

    expect_invalid(client_post(ada, "{}", ENABLE), "password", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'password': 'wrong horse'}", ENABLE), "password",
                   "PASSWORD_DOES_NOT_MATCH");
    expect_error(client_post(ada, "{'password': 'correct horse'}", ENABLE), 400, 60005);
    expect_error(enable_mfa(ada, "GEZDGNBV", "000000"), 400, 60005);
    expect_error(client_post(ada, "{'password': 'correct horse', 'secret': '" SECRET "'}", ENABLE),
                 400, 60008);
    expect_error(enable_mfa(ada, SECRET, totp_code_at(w, 7)), 400, 60008);
    expect_json(client_get(ada, "/users/@me"), "{'mfa_enabled': false}");

    struct answer a = enable_mfa(ada, SECRET, totp_code_at(w, 0));
    expect_status(a, 200);
    expect(answer_text(a, "backup_codes.9.code") && !dom_at(a.json, "backup_codes.10"));
    expect(strlen(answer_text(a, "backup_codes.0.code")) == 8);
    /* Sessions from before MFA was enabled are revoked. */
    expect_error(client_get(other, "/users/@me"), 401, 0);
    ada = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(ada, "/users/@me"), "{'mfa_enabled': true}");
    expect_error(enable_mfa(ada, SECRET, totp_code_at(w, 1)), 400, 60001);
    /* The TOTP secret is stored encrypted. */
    expect(store_count(w, "select count(*) from mfa where length(secret) = 60") == 1);
}

static void mfa_login_requires_a_totp_code_usable_once(struct world *w)
{
    struct answer on;

    register_ada_with_mfa(w, &on);
    struct answer a = log_in(w, "");
    expect_status(a, 200);
    expect_json(a, "{'mfa': true, 'totp': true, 'sms': false, 'backup': true, 'webauthn': null}");
    expect_absent(a, "token");
    const char *ticket = answer_text(a, "ticket");

    expect_error(finish_mfa_login(w, "totp", ticket, totp_code_at(w, 5)), 400, 60008);
    expect_error(finish_mfa_login(w, "totp", ticket, ""), 400, 60008);
    expect_error(finish_mfa_login(w, "totp", "1.2.3.4", totp_code_at(w, 0)), 400, 60006);
    expect_error(finish_mfa_login(w, "totp", TEXT(w, "%sx", ticket), totp_code_at(w, 0)), 400,
                 60006);
    struct answer in = finish_mfa_login(w, "totp", ticket, totp_code_at(w, 0));
    expect_status(in, 200);
    expect_json(in, "{'user_settings': {}}");
    expect_status(client_get(world_client_with(w, answer_text(in, "token")), "/users/@me"), 200);
    /* Used codes and older codes are refused. */
    expect_error(finish_mfa_login(w, "totp", ticket, totp_code_at(w, 0)), 400, 60008);
    expect_error(finish_mfa_login(w, "totp", ticket, totp_code_at(w, -1)), 400, 60008);
    expect_status(finish_mfa_login(w, "totp", ticket, totp_code_at(w, 1)), 200);
    world_wait(w, 301);
    expect_error(finish_mfa_login(w, "totp", ticket, totp_code_at(w, 0)), 400, 60006);
}

static void mfa_ticket_is_invalid_after_a_password_change(struct world *w)
{
    struct answer on;
    struct client *ada = register_ada_with_mfa(w, &on);
    const char *ticket = answer_text(log_in(w, ""), "ticket");

    expect_status(
        client_patch(ada,
                     TEXT(w,
                          "{'password': 'correct horse', 'new_password': 'another horse', "
                          "'code': '%s'}",
                          totp_code_at(w, 0)),
                     "/users/@me"),
        200);
    expect_error(finish_mfa_login(w, "totp", ticket, totp_code_at(w, 1)), 400, 60006);
}

static void backup_code_is_accepted_once(struct world *w)
{
    struct answer on;
    struct client *ada = register_ada_with_mfa(w, &on);
    const char *first = answer_text(on, "backup_codes.0.code"),
               *second = answer_text(on, "backup_codes.1.code");
    const char *ticket = answer_text(log_in(w, ""), "ticket");

    expect_error(finish_mfa_login(w, "backup", ticket, "aaaaaaaa"), 400, 60008);
    expect_error(finish_mfa_login(w, "totp", ticket, first), 400, 60008);
    expect_status(finish_mfa_login(w, "backup", ticket, first), 200);
    expect_error(finish_mfa_login(w, "backup", ticket, first), 400, 60008);

    expect_invalid(
        client_post(ada, "{'password': 'wrong horse'}", "/auth/verify/view-backup-codes-challenge"),
        "password", "PASSWORD_DOES_NOT_MATCH");
    struct answer nonces =
        client_post(ada, TEXT(w, "{'password': 'correct horse', 'code': '%s'}", totp_code_at(w, 0)),
                    "/auth/verify/view-backup-codes-challenge");
    expect_status(nonces, 200);
    const char *nonce = answer_text(nonces, "nonce"),
               *other = answer_text(nonces, "regenerate_nonce");
    struct answer codes = client_post(ada, TEXT(w, "{'key': null, 'nonce': '%s'}", nonce),
                                      "/users/@me/mfa/codes-verification");
    expect(strcmp(answer_text(codes, "backup_codes.0.code"), first) == 0);
    expect(strcmp(answer_text(codes, "backup_codes.1.code"), second) == 0);
    expect(dom_at(codes.json, "backup_codes.0.consumed")->truth);
    expect(!dom_at(codes.json, "backup_codes.1.consumed")->truth);
    /* Viewing and regenerating backup codes need different nonces. */
    expect_invalid(client_post(ada, TEXT(w, "{'nonce': '%s', 'regenerate': true}", nonce),
                               "/users/@me/mfa/codes-verification"),
                   "nonce", "NONCE_INVALID");
    codes = client_post(ada, TEXT(w, "{'nonce': '%s', 'regenerate': true}", other),
                        "/users/@me/mfa/codes-verification");
    expect_status(codes, 200);
    expect(!dom_at(codes.json, "backup_codes.0.consumed")->truth);
    expect_error(finish_mfa_login(w, "backup", ticket, second), 400, 60008);
    expect_status(finish_mfa_login(w, "backup", ticket, answer_text(codes, "backup_codes.1.code")),
                  200);
}

/* With MFA a stolen token plus the password must not be enough. */
static void changing_account_credentials_with_mfa_requires_a_code(struct world *w)
{
    static const char *const changes[] = { "'new_password': 'another horse'",
                                           "'email': 'eve@example.org'", "'username': 'eve'",
                                           "'date_of_birth': '1990-01-01'" };
    struct answer on;
    struct client *ada = register_ada_with_mfa(w, &on);
    const char *challenge = "/auth/verify/view-backup-codes-challenge";

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        const char *body = TEXT(w, "{'password': 'correct horse', %s", changes[i]);

        expect_error(client_patch(ada, TEXT(w, "%s}", body), "/users/@me"), 400, 60008);
        expect_error(client_patch(ada, TEXT(w, "%s, 'code': null}", body), "/users/@me"), 400,
                     60008);
        expect_error(
            client_patch(ada, TEXT(w, "%s, 'code': '%s'}", body, totp_code_at(w, 9)), "/users/@me"),
            400, 60008);
        /* A valid code does not replace the password. */
        expect_invalid(client_patch(ada,
                                    TEXT(w, "{'password': 'wrong horse', %s, 'code': '%s'}",
                                         changes[i], totp_code_at(w, 0)),
                                    "/users/@me"),
                       "password", "PASSWORD_DOES_NOT_MATCH");
    }
    expect_error(client_post(ada, "{'password': 'correct horse'}", "%s", challenge), 400, 60008);
    expect_error(client_post(ada, "{'password': 'correct horse', 'code': '000'}", "%s", challenge),
                 400, 60008);
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada', 'email': null}");

    /* Other profile fields need neither; one code permits all changes of one request. */
    expect_status(client_patch(ada, "{'bio': 'Hello'}", "/users/@me"), 200);
    const char *all = TEXT(w,
                           "{'password': 'correct horse', 'code': '%s', 'username': 'countess', "
                           "'email': 'ada@example.org'}",
                           answer_text(on, "backup_codes.3.code"));
    expect_status(client_patch(ada, all, "/users/@me"), 200);
    expect_error(client_patch(ada, all, "/users/@me"), 400, 60008);
}

static void disabling_mfa_requires_a_code(struct world *w)
{
    struct answer on;
    struct client *ada = register_ada_with_mfa(w, &on), *eve = world_client(w, "eve");

    expect_error(client_post(eve, "{}", DISABLE), 400, 60002);
    expect_error(client_post(ada, "{}", DISABLE), 400, 60008);
    expect_error(client_post(ada, TEXT(w, "{'code': '%s'}", totp_code_at(w, 9)), DISABLE), 400,
                 60008);
    struct answer off = client_post(ada, TEXT(w, "{'code': '%s'}", totp_code_at(w, 0)), DISABLE);
    expect_status(off, 200);
    expect_error(client_get(ada, "/users/@me"), 401, 0);
    ada = world_client_with(w, answer_text(off, "token"));
    expect_json(client_get(ada, "/users/@me"), "{'mfa_enabled': false}");
    expect(answer_text(log_in(w, ""), "token"));
    expect_error(client_post(ada, "{'password': 'correct horse'}",
                             "/auth/verify/view-backup-codes-challenge"),
                 400, 60002);
}

static void mfa_ticket_is_invalid_after_five_wrong_codes(struct world *w)
{
    struct answer on;

    register_ada_with_mfa(w, &on);
    world_wait(w, 120);
    const char *ticket = answer_text(log_in(w, ""), "ticket");
    for (int i = 0; i < 5; i++)
        expect_error(finish_mfa_login(w, "totp", ticket, totp_code_at(w, 20 + i)), 400, 60008);
    expect_error(finish_mfa_login(w, "totp", ticket, totp_code_at(w, 0)), 400, 60006);
    /* Valid codes do not count. */
    world_wait(w, 120);
    ticket = answer_text(log_in(w, ""), "ticket");
    expect_status(finish_mfa_login(w, "totp", ticket, totp_code_at(w, 0)), 200);
}

static void account_is_rate_limited_after_twenty_wrong_mfa_codes(struct world *w)
{
    struct answer on;

    register_ada_with_mfa(w, &on);
    for (int i = 0; i < 20; i++) {
        world_wait(w, 61);
        const char *ticket = answer_text(log_in(w, ""), "ticket");

        expect_error(finish_mfa_login(w, "totp", ticket, "xxxxxx"), 400, 60008);
    }
    world_wait(w, 61);
    expect_status(
        finish_mfa_login(w, "totp", answer_text(log_in(w, ""), "ticket"), totp_code_at(w, 0)), 429);
    world_wait(w, 1800);
    expect_status(
        finish_mfa_login(w, "totp", answer_text(log_in(w, ""), "ticket"), totp_code_at(w, 0)), 200);
}

static void password_reset_by_mail_still_requires_the_mfa_code(struct world *w)
{
    struct answer a =
        client_post(world_anonymous(w),
                    "{'username': 'ada', 'password': 'correct horse', 'email': 'ada@mail.example'}",
                    "/auth/register");
    struct client *ada = world_client_with(w, answer_text(a, "token"));

    expect_status(client_post(world_anonymous(w),
                              TEXT(w, "{'token': '%s'}", mailbox_token(w, 1, "verify")),
                              "/auth/verify"),
                  200);
    expect_status(enable_mfa(ada, SECRET, totp_code_at(w, 0)), 200);
    expect_status(client_post(world_anonymous(w), "{'login': 'ada'}", "/auth/forgot"), 204);
    a = client_post(
        world_anonymous(w),
        TEXT(w, "{'token': '%s', 'password': 'another horse'}", mailbox_token(w, 2, "reset")),
        "/auth/reset");
    expect_json(a, "{'mfa': true}");
    expect_absent(a, "token");
    expect_status(finish_mfa_login(w, "totp", answer_text(a, "ticket"), totp_code_at(w, 1)), 200);
    mailbox_close();
}

const struct test mfa_tests[] = {
    TEST(enabling_mfa_requires_the_password_and_a_totp_code),
    TEST(mfa_login_requires_a_totp_code_usable_once),
    TEST(mfa_ticket_is_invalid_after_a_password_change),
    TEST(backup_code_is_accepted_once),
    TEST(changing_account_credentials_with_mfa_requires_a_code),
    TEST(disabling_mfa_requires_a_code),
    TEST_WITH(mfa_ticket_is_invalid_after_five_wrong_codes, buckets_only),
    TEST_WITH(account_is_rate_limited_after_twenty_wrong_mfa_codes, buckets_only),
    TEST_WITH(password_reset_by_mail_still_requires_the_mfa_code, with_mail),
    { 0 },
};
