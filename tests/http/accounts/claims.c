/* claims.c - placeholder accounts of a copied guild, and the codes with which people claim them. */
#include <stdio.h>
#include <string.h>

#include "platform/accounts/placeholders.h"
#include "server/guildhall.h"
#include "apps.h"
#include "claims.h"
#include "test_guild.h"
#include "world_files.h"

struct code_request {
    snowflake id;
    char code[64]; /* "" if the account cannot be claimed */
};

static enum err create_code(struct tx *tx, void *arg)
{
    struct code_request *r = arg;
    struct str code;
    enum err e = placeholder_account_create_claim_code(tx, r->id, &code);

    snprintf(r->code, sizeof r->code, "%.*s", STR_ARGS(code));
    return e;
}

const char *new_code(struct world *w, const char *id)
{
    struct code_request *r = arena_alloc(world_arena(w), sizeof *r);

    snowflake_parse(str_of(id), &r->id);
    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                          world_arena(w), create_code, r) == OK);
    return r->code;
}

void import_placeholders(struct world *w)
{
    world_file_here(w,
                    "{'users': [{'username': 'ada'}, "
                    "{'id': '" CLEO "', 'username': 'cleo', 'placeholder': true}, "
                    "{'id': '" ROBOT "', 'username': 'robot', 'placeholder': true, 'bot': true}], "
                    "'guilds': [{'name': 'Here', 'owner': 'ada', 'members': [{'user': 'cleo'}], "
                    "'channels': [{'name': 'talk', 'messages': "
                    "[{'author': 'cleo', 'content': 'mine'}]}]}]}");
}

struct answer claim(struct world *w, const char *code)
{
    return client_post(world_anonymous(w),
                       TEXT(w, "{'code': '%s', 'password': 'correct horse'}", code), "/auth/claim");
}

void expect_claim_with_code_refused(struct world *w, const char *code)
{
    expect_invalid(claim(w, code), "code", "CLAIM_CODE_INVALID");
}

static void claimed_placeholder_becomes_the_persons_account(struct world *w)
{
    import_placeholders(w);
    const char *code = new_code(w, CLEO);
    struct answer a = claim(w, code);

    expect_status(a, 200);
    struct client *cleo = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(cleo, "/users/@me"), "{'id': '" CLEO "', 'username': 'cleo'}");
    expect_json(client_get(cleo, "/users/@me/guilds"), "[{'name': 'Here'}]");
    expect_status(client_post(world_anonymous(w), "{'login': 'cleo', 'password': 'correct horse'}",
                              "/auth/login"),
                  200);
    /* The code is used up, and the account is no placeholder any more. */
    expect_claim_with_code_refused(w, code);
    expect(!*new_code(w, CLEO));
}

static void placeholder_account_has_no_login_or_password_reset(struct world *w)
{
    import_placeholders(w);
    expect_status(
        client_post(world_anonymous(w), "{'login': 'cleo', 'password': ''}", "/auth/login"), 400);
    expect_status(client_post(world_anonymous(w), "{'login': 'cleo', 'password': 'correct horse'}",
                              "/auth/login"),
                  400);
    expect_status(client_post(world_anonymous(w),
                              "{'username': 'cleo', 'password': 'correct horse'}",
                              "/auth/register"),
                  400);
    /* Importing all accounts with tokens issues no token for the placeholder account. */
    struct world_file_import_report report;
    expect(world_file_into(w, guildhall_get_store(world_server(w)),
                           world_text(w, "{'users': [{'id': '" CLEO "', 'username': 'cleo', "
                                         "'placeholder': true}]}"),
                           true, &report) == OK);
    expect(report.tokens.count == 0);
}

static void claim_code_is_refused_if_wrong_replaced_or_expired(struct world *w)
{
    import_placeholders(w);
    char first[64];

    expect_claim_with_code_refused(w, "claim-AAAAAAAAAAAAAAAAAAAAAA");
    snprintf(first, sizeof first, "%s", new_code(w, CLEO));
    const char *second = new_code(w, CLEO);
    expect_claim_with_code_refused(w, first); /* replaced */
    world_wait(w, CLAIM_CODE_DAYS * 86400.0 - 60);
    expect_status(client_post(world_anonymous(w),
                              TEXT(w, "{'code': '%s', 'password': 'short'}", second),
                              "/auth/claim"),
                  400); /* the password is too short; the code stays */
    world_wait(w, 120);
    expect_claim_with_code_refused(w, second); /* expired */
    expect_status(claim(w, new_code(w, CLEO)), 200);
}

static void only_placeholders_of_people_get_a_claim_code(struct world *w)
{
    struct client *bob = world_client(w, "bob");

    import_placeholders(w);
    expect(!*new_code(w, ROBOT));
    expect(!*new_code(w, bob->id));
    expect(!*new_code(w, "1500000000000000099"));
}

static enum err run_statement(struct tx *tx, void *arg)
{
    (void)arg;
    return tx_exec(tx, "update users set disabled = 1 where id = " CLEO, NO_BIND, NULL);
}

/* Does what the final deletion of the account does. */
static enum err erase_cleo(struct tx *tx, void *arg)
{
    (void)arg;
    enum err e = tx_exec(tx,
                         "update users set username = 'deleted_" CLEO
                         "', deleting = 1, disabled = 1 where id = " CLEO,
                         NO_BIND, NULL);
    if (!e)
        e = tx_exec(tx, "delete from members where user_id = " CLEO, NO_BIND, NULL);
    return e ? e : tx_exec(tx, "delete from placeholder_accounts", NO_BIND, NULL);
}

static void disabled_placeholder_account_cannot_be_claimed(struct world *w)
{
    import_placeholders(w);
    const char *code = new_code(w, CLEO);

    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                          world_arena(w), run_statement, NULL) == OK);
    expect_claim_with_code_refused(w, code);
    expect(!*new_code(w, CLEO));
}

static void claim_with_the_email_of_another_account_is_refused_and_keeps_the_code(struct world *w)
{
    expect_status(client_post(world_anonymous(w),
                              "{'username': 'eve', 'password': 'correct horse', "
                              "'email': 'eve@mail.example'}",
                              "/auth/register"),
                  200);
    import_placeholders(w);
    const char *code = new_code(w, CLEO);
    struct answer a = client_post(world_anonymous(w),
                                  TEXT(w,
                                       "{'code': '%s', 'password': 'correct horse', "
                                       "'email': 'eve@mail.example'}",
                                       code),
                                  "/auth/claim");
    expect_status(a, 400);
    expect_status(claim(w, code), 200);
}

static void import_does_not_change_a_claimed_account(struct world *w)
{
    import_placeholders(w);
    struct answer a = claim(w, new_code(w, CLEO));

    struct client *cleo = world_client_with(w, answer_text(a, "token"));
    expect_status(client_patch(cleo, "{'global_name': 'Cleopatra'}", "/users/@me"), 200);
    world_file_here(w, "{'users': [{'id': '" CLEO "', 'username': 'cleo2', 'global_name': 'X', "
                       "'placeholder': true}]}");
    expect_json(client_get(cleo, "/users/@me"), "{'username': 'cleo', 'global_name': 'Cleopatra'}");
}

static void next_import_does_not_restore_an_erased_account(struct world *w)
{
    static const char COPY[] =
        "{'users': [{'id': '" CLEO "', 'username': 'cleo', 'placeholder': true}], "
        "'guilds': [{'id': '1500000000000000009', 'name': 'Here', 'owner': 'bob', "
        "'members': [{'user': '" CLEO "', 'nick': 'Cleo'}]}]}";
    struct client *bob = world_client(w, "bob");

    world_file_here(w, COPY);
    expect_json(client_get(bob, "/guilds/1500000000000000009/members/" CLEO), "{'nick': 'Cleo'}");
    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                          world_arena(w), erase_cleo, NULL) == OK);
    world_file_here(w, COPY);
    expect_status(client_get(bob, "/guilds/1500000000000000009/members/" CLEO), 404);
    expect_json(client_get(bob, "/users/" CLEO), "{'username': 'deleted_" CLEO "'}");
}

static void account_with_a_password_cannot_be_claimed(struct world *w)
{
    import_placeholders(w);
    const char *code = new_code(w, CLEO);

    world_file_here(w, "{'users': [{'username': 'cleo', 'password': 'battery staple'}]}");
    expect_claim_with_code_refused(w, code);
    expect(!*new_code(w, CLEO));
}

/* The guild of the second import lists cleo as a member, as an older archive does. */
static void next_import_does_not_restore_a_banned_member(struct world *w)
{
    import_placeholders(w);
    world_file_here(w,
                    "{'guilds': [{'name': 'Here', 'owner': 'ada', 'bans': [{'user': 'cleo'}]}]}");
    world_file_here(
        w, "{'guilds': [{'name': 'Here', 'owner': 'ada', 'members': [{'user': 'cleo'}]}]}");
    struct answer a = claim(w, new_code(w, CLEO));
    struct client *cleo = world_client_with(w, answer_text(a, "token"));

    expect_json(client_get(cleo, "/users/@me/guilds"), "[]");
}

static void placeholder_with_a_taken_name_is_named_after_its_id(struct world *w)
{
    world_client(w, "bob");
    world_file_here(w, "{'users': [{'id': '" CLEO "', 'username': 'bob', 'placeholder': true}]}");
    expect_json(client_get(world_client(w, "dara"), "/users/" CLEO),
                "{'username': 'bob_" CLEO "'}");
}

const struct test claims_tests[] = {
    TEST(claimed_placeholder_becomes_the_persons_account),
    TEST(placeholder_account_has_no_login_or_password_reset),
    TEST(claim_code_is_refused_if_wrong_replaced_or_expired),
    TEST(only_placeholders_of_people_get_a_claim_code),
    TEST(disabled_placeholder_account_cannot_be_claimed),
    TEST(claim_with_the_email_of_another_account_is_refused_and_keeps_the_code),
    TEST(import_does_not_change_a_claimed_account),
    TEST(next_import_does_not_restore_an_erased_account),
    TEST(account_with_a_password_cannot_be_claimed),
    TEST(next_import_does_not_restore_a_banned_member),
    TEST(placeholder_with_a_taken_name_is_named_after_its_id),
    { 0 },
};
