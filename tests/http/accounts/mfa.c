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

    /* Other profile fields need neither password nor code; one code permits all changes of one
     * request. */
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

/* --- proof of identity ------------------------------------------------------------------ */

static const char PROOF[] = "X-Discord-MFA-Authorization";

/* Sends POST /auth/sessions/logout with a proof in the header; more: fields of the body. */
static struct answer log_out_session(struct client *c, const char *hash, const char *proof,
                                     const char *more)
{
    struct world *w = c->world;
    const char *headers = TEXT(w, "Content-Type: application/json\r\n%s: %s\r\n", PROOF, proof);
    const char *body = TEXT(w, "{\"session_id_hashes\": [\"%s\"]%s}", hash, more);

    return client_request(c, "POST", "/api/v10/auth/sessions/logout", headers, str_of(body));
}

static struct answer finish_verification(struct client *c, const char *ticket, const char *type,
                                         const char *data)
{
    return client_post(
        c, TEXT(c->world, "{'ticket': '%s', 'mfa_type': '%s', 'data': '%s'}", ticket, type, data),
        "/mfa/finish");
}

/* Returns the ticket of a call that is refused because the proof is missing. */
static const char *ask_for_verification(struct client *c, const char *first_method)
{
    struct answer a = log_out_session(c, "none", "", "");

    expect_error(a, 401, 60003);
    expect(strcmp(answer_text(a, "mfa.methods.0.type"), first_method) == 0);
    return answer_text(a, "mfa.ticket");
}

static void logging_out_sessions_requires_the_password(struct world *w)
{
    struct client *ada = register_ada(w);
    struct client *phone = world_client_with(w, answer_text(log_in(w, ""), "token"));
    const char *hash = answer_text(client_get(ada, "/auth/sessions"), "user_sessions.1.id_hash");

    expect_error(log_out_session(ada, hash, "", ""), 401, 60003);
    expect_error(log_out_session(ada, hash, "1.2.3.4", ", \"password\": null"), 401, 60003);
    expect_error(log_out_session(ada, hash, "", ", \"code\": \"123456\""), 401, 60003);
    expect_invalid(log_out_session(ada, hash, "", ", \"password\": \"wrong horse\""), "password",
                   "PASSWORD_DOES_NOT_MATCH");
    expect_status(client_get(phone, "/users/@me"), 200);

    const char *ticket = ask_for_verification(ada, "password");
    expect_invalid(finish_verification(ada, ticket, "password", "wrong horse"), "data",
                   "PASSWORD_DOES_NOT_MATCH");
    expect_invalid(finish_verification(ada, ticket, "sms", "1"), "mfa_type", "BASE_TYPE_CHOICES");
    expect_error(finish_verification(ada, ticket, "totp", totp_code_at(w, 0)), 400, 60002);
    expect_error(finish_verification(ada, "1.2.3.4", "password", "correct horse"), 400, 60006);
    /* Ticket and proof belong to the session that asked for them. */
    expect_error(finish_verification(phone, ticket, "password", "correct horse"), 400, 60006);
    struct answer a = finish_verification(ada, ticket, "password", "correct horse");
    expect_status(a, 200);
    const char *proof = answer_text(a, "token");
    expect_error(log_out_session(phone, hash, proof, ""), 401, 60003);
    /* An account without a password needs no proof, and ends no session of another account. */
    expect_status(log_out_session(world_client(w, "eve"), hash, proof, ""), 204);
    expect_error(log_out_session(ada, hash, ticket, ""), 401, 60003);
    expect_status(log_out_session(ada, hash, proof, ""), 204);
    expect_error(client_get(phone, "/users/@me"), 401, 0);
    expect_error(client_post(world_bot(w, "robot"), "{}", "/mfa/finish"), 403, 20001);
    world_wait(w, 301);
    expect_error(log_out_session(ada, hash, proof, ""), 401, 60003);
    expect_status(log_out_session(ada, hash, "", ", \"password\": \"correct horse\""), 204);
}

static void logging_out_sessions_with_mfa_requires_a_code(struct world *w)
{
    struct answer on;
    struct client *ada = register_ada_with_mfa(w, &on);

    expect_error(log_out_session(ada, "none", "", ", \"password\": \"correct horse\""), 401, 60003);
    expect_error(log_out_session(ada, "none", "", ", \"code\": \"aaaaaaaa\""), 400, 60008);
    expect_status(
        log_out_session(ada, "none", "",
                        TEXT(w, ", \"code\": \"%s\"", answer_text(on, "backup_codes.0.code"))),
        204);

    const char *ticket = ask_for_verification(ada, "totp");
    expect_invalid(finish_verification(ada, ticket, "password", "correct horse"), "mfa_type",
                   "BASE_TYPE_CHOICES");
    expect_error(finish_verification(ada, ticket, "totp", totp_code_at(w, 9)), 400, 60008);
    expect_error(finish_verification(ada, ticket, "backup", totp_code_at(w, 0)), 400, 60008);
    struct answer a =
        finish_verification(ada, ticket, "totp", answer_text(on, "backup_codes.1.code"));
    expect_status(a, 200);
    const char *proof = answer_text(a, "token");
    expect_status(log_out_session(ada, "none", proof, ""), 204);
    expect_error(finish_verification(ada, ticket, "totp", "1"), 400, 60008);
    /* A change of the password ends tickets and proofs. */
    expect_status(
        client_patch(ada,
                     TEXT(w,
                          "{'password': 'correct horse', 'new_password': 'another horse', "
                          "'code': '%s'}",
                          totp_code_at(w, 0)),
                     "/users/@me"),
        200);
    struct answer in = client_post(world_anonymous(w),
                                   "{'login': 'ada', 'password': 'another horse'}", "/auth/login");
    in = finish_mfa_login(w, "totp", answer_text(in, "ticket"), totp_code_at(w, 1));
    ada = world_client_with(w, answer_text(in, "token"));
    expect_error(log_out_session(ada, "none", proof, ""), 401, 60003);
    expect_error(finish_verification(ada, ticket, "totp", totp_code_at(w, 1)), 400, 60006);
}

const struct test mfa_tests[] = {
    TEST(enabling_mfa_requires_the_password_and_a_totp_code),
    TEST(mfa_login_requires_a_totp_code_usable_once),
    TEST(mfa_ticket_is_invalid_after_a_password_change),
    TEST(backup_code_is_accepted_once),
    TEST(changing_account_credentials_with_mfa_requires_a_code),
    TEST(disabling_mfa_requires_a_code),
    TEST(logging_out_sessions_requires_the_password),
    TEST(logging_out_sessions_with_mfa_requires_a_code),
    TEST_WITH(mfa_ticket_is_invalid_after_five_wrong_codes, buckets_only),
    TEST_WITH(account_is_rate_limited_after_twenty_wrong_mfa_codes, buckets_only),
    TEST_WITH(password_reset_by_mail_still_requires_the_mfa_code, with_mail),
    { 0 },
};
