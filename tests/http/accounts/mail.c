/* mail.c - links that people are mailed: to verify an address, to get a new password. */
#include "mailbox.h"

#include <stdio.h>
#include <string.h>

#include "apps.h"
#include "test_guild.h"
#include "waits.h"

#define ADA "{'username': 'ada', 'password': 'correct horse', 'email': 'ada@mail.example'}"

static struct client *register_person(struct world *w, const char *body)
{
    struct answer a = client_post(world_stranger(w), body, "/auth/register");

    expect_status(a, 200);
    return world_client_with(w, answer_text(a, "token"));
}

static struct answer verify(struct world *w, const char *token)
{
    return client_post(world_stranger(w), TEXT(w, "{'token': '%s'}", token), "/auth/verify");
}

static struct answer forget(struct world *w, const char *login)
{
    return client_post(world_stranger(w), TEXT(w, "{'login': '%s'}", login), "/auth/forgot");
}

static struct answer reset(struct world *w, const char *token, const char *password)
{
    return client_post(world_stranger(w),
                       TEXT(w, "{'token': '%s', 'password': '%s'}", token, password),
                       "/auth/reset");
}

static struct answer enter(struct world *w, const char *password)
{
    return client_post(world_stranger(w), TEXT(w, "{'login': 'ada', 'password': '%s'}", password),
                       "/auth/login");
}

/* Ada, whose address is verified by the first mail. */
static struct client *verified_ada(struct world *w)
{
    struct client *ada = register_person(w, ADA);

    expect_status(verify(w, mailbox_token(w, 1, "verify")), 200);
    return ada;
}

static void a_new_address_is_verified_by_its_link_once(struct world *w)
{
    struct client *ada = register_person(w, ADA);
    const char *token = mailbox_token(w, 1, "verify"), *mail = mailbox_mail(1);

    expect(strncmp(mail, "to: ada@mail.example\n", 21) == 0);
    expect(strstr(mail, "\r\nFrom: Guildhall <no-reply@chat.example>\r\n") ||
           strstr(mail, "\nFrom: Guildhall <no-reply@chat.example>\r\n"));
    expect(strstr(mail, "\r\nSubject: ") && strstr(mail, "\r\nDate: ") &&
           strstr(mail, "\r\nMessage-ID: <"));
    expect_json(client_get(ada, "/users/@me"), "{'verified': false}");
    expect_invalid(verify(w, "1.x"), "token", "TOKEN_INVALID");
    expect_invalid(verify(w, ""), "token", "TOKEN_INVALID");
    expect_invalid(verify(w, TEXT(w, "%sA", token)), "token", "TOKEN_INVALID");
    /* The link for one thing is none for another. */
    expect_invalid(reset(w, token, "another horse"), "token", "TOKEN_INVALID");

    struct answer a = verify(w, token);
    expect_status(a, 200);
    expect_absent(a, "token");
    expect_json(client_get(ada, "/users/@me"), "{'verified': true}");
    expect_invalid(verify(w, token), "token", "TOKEN_INVALID");
    /* Who is verified is not mailed again. */
    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    world_settle(w);
    expect(mailbox_count() == 1);
    mailbox_close();
}

/* A mail that is here may still be under way for the server, which sends it again when the time
 * that it has for that is over. */
static void wait_until_mailed(struct world *w)
{
    expect_soon(world_number(w, "select count(*) from jobs where kind like 'mail%%'") == 0);
}

static void a_link_ends_with_its_time_and_its_address(struct world *w)
{
    struct client *ada = register_person(w, ADA);
    const char *first = mailbox_token(w, 1, "verify");

    /* As long as it is good, the same one is sent again. */
    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    expect(strcmp(first, mailbox_token(w, 2, "verify")) == 0);
    wait_until_mailed(w);
    world_wait(w, 24 * 3600 + 1);
    expect_invalid(verify(w, first), "token", "TOKEN_INVALID");

    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    const char *second = mailbox_token(w, 3, "verify");
    expect(strcmp(first, second) != 0);
    expect_status(client_patch(ada, "{'email': 'ada@other.example', 'password': 'correct horse'}",
                               "/users/@me"),
                  200);
    expect_invalid(verify(w, second), "token", "TOKEN_INVALID");
    const char *third = mailbox_token(w, 4, "verify");
    expect(strncmp(mailbox_mail(4), "to: ada@other.example\n", 22) == 0);
    expect_status(verify(w, third), 200);
    /* Another address is unverified until its own link is used. */
    expect_json(client_patch(ada, "{'email': 'ada@mail.example', 'password': 'correct horse'}",
                             "/users/@me"),
                "{'verified': false}");
    mailbox_close();
}

static void a_forgotten_password_is_set_by_a_mailed_link(struct world *w)
{
    struct client *ada = verified_ada(w);

    expect_status(forget(w, "ada@mail.example"), 204);
    const char *token = mailbox_token(w, 2, "reset");
    expect_invalid(reset(w, token, "short"), "password", "BASE_TYPE_BAD_LENGTH");
    expect_invalid(verify(w, token), "token", "TOKEN_INVALID");
    expect_status(enter(w, "correct horse"), 200);

    struct answer a = reset(w, token, "another horse");
    expect_status(a, 200);
    expect_status(client_get(world_client_with(w, answer_text(a, "token")), "/users/@me"), 200);
    expect_error(client_get(ada, "/users/@me"), 401, 0);
    expect_status(enter(w, "correct horse"), 400);
    expect_status(enter(w, "another horse"), 200);
    expect_invalid(reset(w, token, "a third horse"), "token", "TOKEN_INVALID");

    expect_status(forget(w, "ada"), 204);
    token = mailbox_token(w, 3, "reset");
    wait_until_mailed(w);
    world_wait(w, 3601);
    expect_invalid(reset(w, token, "a third horse"), "token", "TOKEN_INVALID");
    expect_status(enter(w, "another horse"), 200);
    mailbox_close();
}

/* The head of an answer without what differs from call to call. */
static const char *lines_of(struct world *w, struct answer a)
{
    char *text = str_dupz(world_arena(w), a.head);

    for (char *at = strstr(text, "\r\nDate: "); at; at = NULL)
        memset(at, 'x', strcspn(at + 2, "\r") + 2);
    return text;
}

static void nobody_learns_by_asking_which_accounts_there_are(struct world *w)
{
    register_person(w, ADA);
    mailbox_mail(1);
    struct answer unverified = forget(w, "ada@mail.example"),
                  unknown = forget(w, "eve@mail.example");

    expect_status(unverified, 204);
    expect_status(unknown, 204);
    expect(unverified.body.n == 0 && unknown.body.n == 0);
    expect(strcmp(lines_of(w, unverified), lines_of(w, unknown)) == 0);
    /* An address that nobody confirmed opens nothing. */
    world_settle(w);
    expect(mailbox_count() == 1);
    expect_status(verify(w, mailbox_token(w, 1, "verify")), 200);
    struct answer known = forget(w, "ada@mail.example");
    expect_status(known, 204);
    expect(strcmp(lines_of(w, known), lines_of(w, unknown)) == 0);
    mailbox_token(w, 2, "reset");
    mailbox_close();
}

static void a_mailbox_is_sent_five_mails_an_hour(struct world *w)
{
    struct client *ada = register_person(w, ADA);

    for (int i = 0; i < 4; i++)
        expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 429);
    /* Whoever has the address: it is counted for the mailbox. */
    expect_status(client_patch(ada, "{'email': 'ada@other.example', 'password': 'correct horse'}",
                               "/users/@me"),
                  200);
    /* It may be the only one: a job that comes late mails once, to where mail goes by then. */
    expect_soon(mailbox_count() > 0 &&
                strstr(mailbox_mail(mailbox_count()), "to: ada@other.example"));
    /* What was asked for while a mail was under way may be mailed once more. */
    expect_soon(world_number(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    int sent = mailbox_count();
    struct client *bob = register_person(w, "{'username': 'bob', 'password': 'correct horse', "
                                            "'email': 'ada@mail.example'}");
    expect_status(client_post(bob, "{}", "/auth/verify/resend"), 429);
    world_settle(w);
    expect(mailbox_count() == sent);
    world_wait(w, 3601);
    expect_status(client_post(bob, "{}", "/auth/verify/resend"), 204);
    mailbox_mail(sent + 1);
    mailbox_close();
}

/* The addresses are other people's: neither one account nor one client may choose many. */
static void an_account_and_a_client_have_mails_sent_to_few_addresses(struct world *w)
{
    struct client *ada = register_person(w, ADA);
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
    /* What is refused changes nothing. */
    expect_json(client_get(ada, "/users/@me"), "{'email': 'victim9@mail.example'}");
    for (; sent < 20; sent++)
        register_person(w, TEXT(w,
                                "{'username': 'eve%d', 'password': 'correct horse', "
                                "'email': 'other%d@mail.example'}",
                                sent, sent));
    /* A client that had 20 mails sent may register, but nobody is mailed. */
    register_person(w, "{'username': 'last', 'password': 'correct horse', "
                       "'email': 'last@mail.example'}");
    expect_status(forget(w, "ada"), 429);
    expect_soon(world_number(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    for (int i = 1; i <= mailbox_count(); i++)
        expect(!strstr(mailbox_mail(i), "to: last@") && !strstr(mailbox_mail(i), "to: late@"));
    world_wait(w, 3601);
    expect_status(client_patch(ada, "{'email': 'late@mail.example', 'password': 'correct horse'}",
                               "/users/@me"),
                  200);
    mailbox_close();
}

static void asking_again_does_not_prolong_a_link(struct world *w)
{
    struct client *ada = register_person(w, ADA);
    const char *token = mailbox_token(w, 1, "verify");

    wait_until_mailed(w);
    world_wait(w, 23 * 3600);
    expect_status(client_post(ada, "{}", "/auth/verify/resend"), 204);
    expect(strcmp(token, mailbox_token(w, 2, "verify")) == 0);
    wait_until_mailed(w);
    world_wait(w, 3601);
    expect_invalid(verify(w, token), "token", "TOKEN_INVALID");
    mailbox_close();
}

static void a_mail_that_fails_is_tried_again_a_few_times(struct world *w)
{
    static const int pauses[] = { 10, 60, 300, 900, 1800 };

    mailbox_behave(MAILBOX_BUSY);
    register_person(w, ADA);
    expect_soon(mailbox_tries() == 1);
    for (int i = 0; i < 5; i++) {
        /* The try before has been noted: its job is due later than now. */
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
    register_person(w, "{'username': 'bob', 'email': 'bob@mail.example'}");
    expect_soon(mailbox_tries() == 7);
    expect_soon(store_count(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    mailbox_close();
}

static void a_mail_under_way_outlives_the_server(struct world *w)
{
    mailbox_behave(MAILBOX_SILENT);
    register_person(w, ADA);
    expect_soon(mailbox_tries() == 1);
    world_stop(w);
    mailbox_behave(MAILBOX_GOOD);
    expect(world_try_start(w));
    /* The first may have been taken, too, but nobody heard so. */
    expect_soon(world_number(w, "select count(*) from jobs where kind = 'mail-verify'") == 0);
    expect(mailbox_tries() == 2 && mailbox_count() >= 1);
    expect(strncmp(mailbox_mail(mailbox_count()), "to: ada@mail.example\n", 21) == 0);
    mailbox_close();
}

static void an_address_that_mail_cannot_reach_is_refused(struct world *w)
{
    expect_invalid(client_post(world_stranger(w),
                               "{'username': 'ada', 'email': 'a>b@mail.example'}",
                               "/auth/register"),
                   "email", "EMAIL_TYPE_INVALID_EMAIL");
    expect_invalid(client_post(world_stranger(w),
                               "{'username': 'ada', 'email': '\xc3\xa4@mail.example'}",
                               "/auth/register"),
                   "email", "EMAIL_TYPE_INVALID_EMAIL");
    mailbox_close();
}

static void without_a_mail_server_nobody_is_mailed_or_asked_to_verify(struct world *w)
{
    struct client *ada = register_person(w, ADA);

    expect_json(client_get(ada, "/users/@me"), "{'verified': true}");
    expect_error(forget(w, "ada"), 403, 40006);
    expect_error(verify(w, "1.x"), 403, 40006);
    expect_error(reset(w, "1.x", "another horse"), 403, 40006);
    expect_error(client_post(ada, "{}", "/auth/verify/resend"), 403, 40006);
}

static void mail_needs_a_sender_and_an_address_of_ours(struct world *w)
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
    TEST_WITH(a_new_address_is_verified_by_its_link_once, with_mail),
    TEST_WITH(a_link_ends_with_its_time_and_its_address, with_mail),
    TEST_WITH(a_forgotten_password_is_set_by_a_mailed_link, with_mail),
    TEST_WITH(nobody_learns_by_asking_which_accounts_there_are, with_mail),
    TEST_WITH(a_mailbox_is_sent_five_mails_an_hour, with_mail),
    TEST_WITH(an_account_and_a_client_have_mails_sent_to_few_addresses, with_mail),
    TEST_WITH(asking_again_does_not_prolong_a_link, with_mail),
    TEST_WITH(a_mail_that_fails_is_tried_again_a_few_times, with_mail),
    TEST_WITH(a_mail_under_way_outlives_the_server, with_mail),
    TEST_WITH(an_address_that_mail_cannot_reach_is_refused, with_mail),
    TEST(without_a_mail_server_nobody_is_mailed_or_asked_to_verify),
    TEST(mail_needs_a_sender_and_an_address_of_ours),
    { 0 },
};
