/* mail.c - mailed links that verify an address or reset a password. */
#include "mailbox.h"

#include <stdio.h>
#include <string.h>

#include "apps.h"
#include "base/clock.h"
#include "test_guild.h"
#include "waits.h"

#define ADA "{'username': 'ada', 'password': 'correct horse', 'email': 'ada@mail.example'}"

static struct client *register_user(struct world *w, const char *body)
{
    struct answer a = client_post(world_anonymous(w), body, "/auth/register");

    expect_status(a, 200);
    return world_client_with(w, answer_text(a, "token"));
}

static struct answer verify_email(struct world *w, const char *token)
{
    return client_post(world_anonymous(w), TEXT(w, "{'token': '%s'}", token), "/auth/verify");
}

static struct answer request_password_reset(struct world *w, const char *login)
{
    return client_post(world_anonymous(w), TEXT(w, "{'login': '%s'}", login), "/auth/forgot");
}

static struct answer reset_password(struct world *w, const char *token, const char *password)
{
    return client_post(world_anonymous(w),
                       TEXT(w, "{'token': '%s', 'password': '%s'}", token, password),
                       "/auth/reset");
}

static struct answer log_in_as_ada(struct world *w, const char *password)
{
    return client_post(world_anonymous(w), TEXT(w, "{'login': 'ada', 'password': '%s'}", password),
                       "/auth/login");
}

/* Registers ada and verifies her address with the first mail. */
static struct client *verified_ada(struct world *w)
{
    struct client *ada = register_user(w, ADA);

    expect_status(verify_email(w, mailbox_token(w, 1, "verify")), 200);
    return ada;
}

static void verification_link_verifies_the_address_once(struct world *w)
{
    struct client *ada = register_user(w, ADA);
    const char *token = mailbox_token(w, 1, "verify"), *mail = mailbox_mail(1);

    expect(strncmp(mail, "to: ada@mail.example\n", 21) == 0);
    expect(strstr(mail, "\r\nFrom: Guildhall <no-reply@chat.example>\r\n") ||
           strstr(mail, "\nFrom: Guildhall <no-reply@chat.example>\r\n"));
    expect(strstr(mail, "\r\nSubject: ") && strstr(mail, "\r\nDate: ") &&
           strstr(mail, "\r\nMessage-ID: <"));
    expect_json(client_get(ada, "/users/@me"), "{'verified': false}");
    expect_invalid(verify_email(w, "1.x"), "token", "TOKEN_INVALID");
    expect_invalid(verify_email(w, ""), "token", "TOKEN_INVALID");
    expect_invalid(verify_email(w, TEXT(w, "%sA", token)), "token", "TOKEN_INVALID");
    /* A verification token is not valid as a reset token. */
    expect_invalid(reset_password(w, token, "another horse"), "token", "TOKEN_INVALID");

    struct answer a = verify_email(w, token);
    expect_status(a, 200);
    expect_absent(a, "token");
    expect_json(client_get(ada, "/users/@me"), "{'verified': true}");
    expect_invalid(verify_email(w, token), "token", "TOKEN_INVALID");
    /* A verified user is not mailed again. */
    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    world_settle(w);
    expect(mailbox_count() == 1);
    mailbox_close();
}

/* The test mail server may have a mail that the server still records as being sent and would
 * send again after its time limit. */
static void wait_until_mail_is_sent(struct world *w)
{
    expect_soon(world_number(w, "select count(*) from jobs where kind like 'mail%%'") == 0);
}

static void verification_link_expires_after_24_hours_or_address_change(struct world *w)
{
    struct client *ada = register_user(w, ADA);
    const char *first = mailbox_token(w, 1, "verify");

    /* A resend within the lifetime mails the same token. */
    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    expect(strcmp(first, mailbox_token(w, 2, "verify")) == 0);
    wait_until_mail_is_sent(w);
    world_wait(w, 24 * 3600 + 1);
    expect_invalid(verify_email(w, first), "token", "TOKEN_INVALID");

    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    const char *second = mailbox_token(w, 3, "verify");
    expect(strcmp(first, second) != 0);
    expect_status(client_patch(ada, "{'email': 'ada@other.example', 'password': 'correct horse'}",
                               "/users/@me"),
                  200);
    expect_invalid(verify_email(w, second), "token", "TOKEN_INVALID");
    const char *third = mailbox_token(w, 4, "verify");
    expect(strncmp(mailbox_mail(4), "to: ada@other.example\n", 22) == 0);
    expect_status(verify_email(w, third), 200);
    /* A changed address is unverified until its own link is used. */
    expect_json(client_patch(ada, "{'email': 'ada@mail.example', 'password': 'correct horse'}",
                             "/users/@me"),
                "{'verified': false}");
    mailbox_close();
}

static void mailed_reset_link_sets_a_new_password_and_revokes_tokens(struct world *w)
{
    struct client *ada = verified_ada(w);

    expect_status(request_password_reset(w, "ada@mail.example"), 204);
    const char *token = mailbox_token(w, 2, "reset");
    expect_invalid(reset_password(w, token, "short"), "password", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(verify_email(w, token), "token", "TOKEN_INVALID");
    expect_status(log_in_as_ada(w, "correct horse"), 200);

    struct answer a = reset_password(w, token, "another horse");
    expect_status(a, 200);
    expect_status(client_get(world_client_with(w, answer_text(a, "token")), "/users/@me"), 200);
    expect_error(client_get(ada, "/users/@me"), 401, 0);
    expect_status(log_in_as_ada(w, "correct horse"), 400);
    expect_status(log_in_as_ada(w, "another horse"), 200);
    expect_invalid(reset_password(w, token, "a third horse"), "token", "TOKEN_INVALID");

    expect_status(request_password_reset(w, "ada"), 204);
    token = mailbox_token(w, 3, "reset");
    wait_until_mail_is_sent(w);
    world_wait(w, 3601);
    expect_invalid(reset_password(w, token, "a third horse"), "token", "TOKEN_INVALID");
    expect_status(log_in_as_ada(w, "another horse"), 200);
    mailbox_close();
}

/* Returns the response head without the Date header. */
static const char *head_without_date(struct world *w, struct answer a)
{
    char *text = str_dup_cstring(world_arena(w), a.head);

    for (char *at = strstr(text, "\r\nDate: "); at; at = NULL)
        memset(at, 'x', strcspn(at + 2, "\r") + 2);
    return text;
}

static void forgot_password_does_not_reveal_which_accounts_exist(struct world *w)
{
    register_user(w, ADA);
    mailbox_mail(1);
    struct answer unverified = request_password_reset(w, "ada@mail.example"),
                  unknown = request_password_reset(w, "eve@mail.example");

    expect_status(unverified, 204);
    expect_status(unknown, 204);
    expect(unverified.body.n == 0 && unknown.body.n == 0);
    expect(strcmp(head_without_date(w, unverified), head_without_date(w, unknown)) == 0);
    /* An unverified address gets no reset mail. */
    world_settle(w);
    expect(mailbox_count() == 1);
    expect_status(verify_email(w, mailbox_token(w, 1, "verify")), 200);
    struct answer known = request_password_reset(w, "ada@mail.example");
    expect_status(known, 204);
    expect(strcmp(head_without_date(w, known), head_without_date(w, unknown)) == 0);
    mailbox_token(w, 2, "reset");
    mailbox_close();
}

static void verification_mails_are_limited_to_five_per_address_and_hour(struct world *w)
{
    struct client *ada = register_user(w, ADA);

    for (int i = 0; i < 4; i++)
        expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 429);
    /* The limit counts per address, not per account. */
    expect_status(client_patch(ada, "{'email': 'ada@other.example', 'password': 'correct horse'}",
                               "/users/@me"),
                  200);
    /* A delayed job mails once, to the current address. */
    expect_soon(mailbox_count() > 0 &&
                strstr(mailbox_mail(mailbox_count()), "to: ada@other.example"));
    /* A resend requested while a mail is being sent may cause one more mail. */
    expect_soon(world_number(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    int sent = mailbox_count();
    struct client *bob = register_user(w, "{'username': 'bob', 'password': 'correct horse', "
                                          "'email': 'ada@mail.example'}");
    expect_status(client_post(bob, "{}", "/auth/verify/resend"), 429);
    world_settle(w);
    expect(mailbox_count() == sent);
    world_wait(w, 3601);
    expect_status(client_post(bob, "{}", "/auth/verify/resend"), 204);
    mailbox_mail(sent + 1);
    mailbox_close();
}

/* Limits per account and per client address prevent mails to many foreign addresses. */
static void mails_to_different_addresses_are_limited_per_account_and_ip(struct world *w)
{
    struct client *ada = register_user(w, ADA);
    int sent = 1;

    for (; sent < 10; sent++)
        expect_status(client_patch(ada,
                                   TEXT(w,
                                        "{'email': 'victim%d@mail.example', "
                                        "'password': 'correct horse'}",
                                        sent),
                                   "/users/@me"),
                      200);
    expect_status(client_patch(ada, "{'email': 'late@mail.example', 'password': 'correct horse'}",
                               "/users/@me"),
                  429);
    /* A refused change leaves the address as it is. */
    expect_json(client_get(ada, "/users/@me"), "{'email': 'victim9@mail.example'}");
    for (; sent < 20; sent++)
        register_user(w, TEXT(w,
                              "{'username': 'eve%d', 'password': 'correct horse', "
                              "'email': 'other%d@mail.example'}",
                              sent, sent));
    /* After 20 mails a client can still register, but no mail is sent. */
    register_user(w, "{'username': 'last', 'password': 'correct horse', "
                     "'email': 'last@mail.example'}");
    expect_status(request_password_reset(w, "ada"), 429);
    clock_restart_wall_and_monotonic(); /* a mail that was not accepted is sent again later */
    expect_soon(world_number(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    for (int i = 1; i <= mailbox_count(); i++)
        expect(!strstr(mailbox_mail(i), "to: last@") && !strstr(mailbox_mail(i), "to: late@"));
    world_wait(w, 3601);
    expect_status(client_patch(ada, "{'email': 'late@mail.example', 'password': 'correct horse'}",
                               "/users/@me"),
                  200);
    mailbox_close();
}

static void resending_a_verification_mail_does_not_extend_its_link(struct world *w)
{
    struct client *ada = register_user(w, ADA);
    const char *token = mailbox_token(w, 1, "verify");

    wait_until_mail_is_sent(w);
    world_wait(w, 23 * 3600);
    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    expect(strcmp(token, mailbox_token(w, 2, "verify")) == 0);
    wait_until_mail_is_sent(w);
    world_wait(w, 3601);
    expect_invalid(verify_email(w, token), "token", "TOKEN_INVALID");
    mailbox_close();
}

static void failed_mail_is_retried_five_times_with_growing_delays(struct world *w)
{
    static const int pauses[] = { 10, 60, 300, 900, 1800 };

    mailbox_behave(MAILBOX_BUSY);
    register_user(w, ADA);
    expect_soon(mailbox_tries() == 1);
    for (int i = 0; i < 5; i++) {
        /* Wait until the failed try is recorded: its job is due later. */
        expect_soon(store_count(w, TEXT(w,
                                        "select count(*) from jobs where data = '%d' and "
                                        "kind = 'mail-verify'",
                                        i + 1)) == 1);
        world_wait(w, pauses[i] + 1);
        expect_soon(mailbox_tries() == i + 2);
    }
    expect_soon(store_count(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    expect(mailbox_count() == 0);

    mailbox_behave(MAILBOX_REFUSES);
    register_user(w, "{'username': 'bob', 'email': 'bob@mail.example'}");
    expect_soon(mailbox_tries() == 7);
    expect_soon(store_count(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    mailbox_close();
}

static void unfinished_mail_is_sent_after_a_restart(struct world *w)
{
    mailbox_behave(MAILBOX_SILENT);
    register_user(w, ADA);
    expect_soon(mailbox_tries() == 1);
    world_stop(w);
    mailbox_behave(MAILBOX_GOOD);
    expect(world_try_start(w));
    /* The first mail may have been received, too, without confirmation. */
    expect_soon(world_number(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    expect(mailbox_tries() == 2 && mailbox_count() >= 1);
    expect(strncmp(mailbox_mail(mailbox_count()), "to: ada@mail.example\n", 21) == 0);
    mailbox_close();
}

static void email_with_non_ascii_or_special_characters_is_refused(struct world *w)
{
    expect_invalid(client_post(world_anonymous(w),
                               "{'username': 'ada', 'email': 'a>b@mail.example'}",
                               "/auth/register"),
                   "email", "EMAIL_TYPE_INVALID_EMAIL");
    expect_invalid(client_post(world_anonymous(w),
                               "{'username': 'ada', 'email': '\xc3\xa4@mail.example'}",
                               "/auth/register"),
                   "email", "EMAIL_TYPE_INVALID_EMAIL");
    mailbox_close();
}

static void mail_routes_are_403_without_a_configured_mail_server(struct world *w)
{
    struct client *ada = register_user(w, ADA);

    expect_json(client_get(ada, "/users/@me"), "{'verified': true}");
    expect_error(request_password_reset(w, "ada"), 403, 40006);
    expect_error(verify_email(w, "1.x"), 403, 40006);
    expect_error(reset_password(w, "1.x", "another horse"), 403, 40006);
    expect_error(client_post(ada, "{}", "/auth/verify/resend"), 403, 40006);
}

static void server_refuses_to_start_with_incomplete_smtp_options(struct world *w)
{
    struct config *c = world_config(w);

    world_stop(w);
    c->smtp_url = "smtp://127.0.0.1:1";
    c->smtp_from = "no-reply@chat.example";
    expect(!world_try_start(w));
    c->public_url = "http://chat.example";
    c->smtp_from = NULL;
    expect(!world_try_start(w));
    c->smtp_from = "no-reply";
    expect(!world_try_start(w));
    c->smtp_from = "a@b\r\nBcc: c@d";
    expect(!world_try_start(w));
    c->smtp_from = "no-reply@chat.example";
    c->smtp_url = "http://127.0.0.1:1";
    expect(!world_try_start(w));
    c->smtp_url = "smtp://127.0.0.1:1";
    expect(world_try_start(w));
}

const struct test mail_tests[] = {
    TEST_WITH(verification_link_verifies_the_address_once, with_mail),
    TEST_WITH(verification_link_expires_after_24_hours_or_address_change, with_mail),
    TEST_WITH(mailed_reset_link_sets_a_new_password_and_revokes_tokens, with_mail),
    TEST_WITH(forgot_password_does_not_reveal_which_accounts_exist, with_mail),
    TEST_WITH(verification_mails_are_limited_to_five_per_address_and_hour, with_mail),
    TEST_WITH(mails_to_different_addresses_are_limited_per_account_and_ip, with_mail),
    TEST_WITH(resending_a_verification_mail_does_not_extend_its_link, with_mail),
    TEST_WITH(failed_mail_is_retried_five_times_with_growing_delays, with_mail),
    TEST_WITH(unfinished_mail_is_sent_after_a_restart, with_mail),
    TEST_WITH(email_with_non_ascii_or_special_characters_is_refused, with_mail),
    TEST(mail_routes_are_403_without_a_configured_mail_server),
    TEST(server_refuses_to_start_with_incomplete_smtp_options),
    { 0 },
};
