/* deletion.c - account deletion by the owner, with a grace period of two weeks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps.h"
#include "base/clock.h"
#include "gateway_conn.h"
#include "people.h"
#include "platform/accounts/mfa/totp.h"
#include "waits.h"

#define DELETE_ME  "/users/@me/delete"
#define DISABLE_ME "/users/@me/disable"
#define DAY        86400.0

static struct client *register_user(struct world *w, const char *name)
{
    struct answer a = client_post(world_anonymous(w),
                                  TEXT(w, "{'username': '%s', 'password': 'correct horse'}", name),
                                  "/auth/register");

    expect_status(a, 200);
    struct client *c = world_client_with(w, answer_text(a, "token"));
    snprintf(c->id, sizeof c->id, "%s", answer_text(client_get(c, "/users/@me"), "id"));
    return c;
}

static struct answer log_in(struct world *w, const char *more)
{
    return client_post(world_anonymous(w),
                       TEXT(w, "{'login': 'ada', 'password': 'correct horse'%s}", more),
                       "/auth/login");
}

static struct answer delete_me(struct client *c)
{
    return client_post(c, "{'password': 'correct horse'}", DELETE_ME);
}

static void deleting_an_account_requires_password_and_no_owned_guilds(struct world *w)
{
    struct client *ada = register_user(w, "ada");

    expect_invalid(client_post(ada, "{}", DELETE_ME), "password", "BASE_TYPE_REQUIRED");
    expect_invalid(client_post(ada, "{'password': 'wrong horse'}", DELETE_ME), "password",
                   "PASSWORD_DOES_NOT_MATCH");
    const char *guild = answer_text(client_post(ada, "{'name': 'Here'}", "/guilds"), "id");
    expect_error(delete_me(ada), 400, 40011);
    expect_status(client_get(ada, "/users/@me"), 200);
    expect_status(client_delete(ada, "/guilds/%s", guild), 204);
    expect_status(delete_me(ada), 204);
    expect_error(client_get(ada, "/users/@me"), 401, 0);
    expect_error(log_in(w, ""), 403, 20011);
}

static void account_deletion_can_be_cancelled_within_two_weeks(struct world *w)
{
    struct client *ada = register_user(w, "ada"), *bob = register_user(w, "bob");

    ask_and_accept(ada, bob);
    expect_status(client_put(ada, "{'note': 'a friend'}", "/users/@me/notes/%s", bob->id), 204);
    expect_status(delete_me(ada), 204);
    world_wait(w, 14 * DAY - 60);
    struct answer a = log_in(w, ", 'undelete': true");
    expect_status(a, 200);
    world_wait(w, 2 * DAY);
    world_settle(w);
    ada = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(ada, "/users/@me"), "{'username': 'ada'}");
    expect_json(client_get(ada, "/users/@me/notes/%s", bob->id), "{'note': 'a friend'}");
    expect_status(log_in(w, ""), 200);
}

static int64_t rows_of(struct world *w, const char *table, const struct client *c)
{
    return store_count(w, TEXT(w, "select count(*) from %s where user_id = %s", table, c->id));
}

static void account_erasure_sends_game_relationship_remove(struct world *w)
{
    struct client *ada = register_user(w, "ada"), *bob = register_user(w, "bob");
    struct client *eve = register_user(w, "eve");
    const char *app = answer_text(client_post(eve, "{'name': 'Chess'}", "/applications"), "id");
    const struct client *from[] = { ada, bob }, *to[] = { bob, ada };

    for (int i = 0; i < 2; i++)
        store_write(w,
                    "insert into game_relationships (user_id, target_id, application_id, type, "
                    "since) values ($1, $2, $3, 1, 0)",
                    BIND(v_client(from[i]), v_client(to[i]), v_int(strtoll(app, NULL, 10))));
    expect_status(delete_me(ada), 204);
    expect_silence(bob);
    world_wait(w, 14 * DAY + 60);
    world_settle(w);
    expect_event(bob, "GAME_RELATIONSHIP_REMOVE", "{'id': '%s', 'application_id': '%s'}", ada->id,
                 app);
    expect_silence(eve);
    expect(store_count(w, "select count(*) from game_relationships") == 0);
}

static void erased_account_keeps_only_its_messages_as_deleted_user(struct world *w)
{
    struct client *ada = register_user(w, "ada"), *bob = register_user(w, "bob");

    ask_and_accept(ada, bob);
    const char *channel = answer_text(
        client_post(ada, TEXT(w, "{'recipient_id': '%s'}", bob->id), "/users/@me/channels"), "id");
    struct answer said =
        client_post(ada, "{'content': 'I was here'}", "/channels/%s/messages", channel);
    expect_status(said, 200);
    expect_status(client_patch(ada, "{'bio': 'who I am', 'avatar': '" PNG "'}", "/users/@me"), 200);
    expect_status(client_patch(ada, "{'theme': 'light'}", "/users/@me/settings"), 200);
    /* More than one step takes. */
    for (int i = 0; i < 100; i++)
        store_write(w, "insert into notes (user_id, target_id, note) values ($1, $2, 'x')",
                    BIND(v_client(ada), v_int(1000 + i)));
    expect_status(delete_me(ada), 204);
    world_wait(w, 14 * DAY + 60);
    expect_soon(rows_of(w, "notes", ada) == 0 && rows_of(w, "user_settings", ada) == 0);

    struct answer a = client_get(bob, "/users/%s", ada->id);
    expect_json(a, "{'username': 'deleted_%s', 'global_name': 'Deleted User', 'avatar': null}",
                ada->id);
    expect_json(client_get(bob, "/channels/%s/messages/%s", channel, answer_text(said, "id")),
                "{'content': 'I was here', 'author': {'username': 'deleted_%s'}}", ada->id);
    expect_json(client_get(bob, RELATIONSHIPS), "[]");
    expect(rows_of(w, "relationships", ada) == 0 && rows_of(w, "tokens", ada) == 0);
    expect(rows_of(w, "known_addresses", ada) == 0 && rows_of(w, "read_states", ada) == 0);
    expect(store_count(w, TEXT(w,
                               "select count(*) from users where id = %s and (email is not null "
                               "or password_hash is not null or bio <> '')",
                               ada->id)) == 0);
    expect_status(log_in(w, ", 'undelete': true"), 400);
    register_user(w, "ada"); /* the username can be registered again */
}

/* Guilds transferred to the account during the grace period block its erasure. */
static void erasure_is_retried_daily_while_the_account_owns_a_guild(struct world *w)
{
    struct client *ada = register_user(w, "ada"), *bob = register_user(w, "bob");
    const char *guild = answer_text(client_post(bob, "{'name': 'Here'}", "/guilds"), "id");

    expect_status(delete_me(ada), 204);
    store_write(w, "update guilds set owner_id = $1 where id = $2",
                BIND(v_client(ada), v_id(id_of(guild))));
    world_wait(w, 14 * DAY + 60);
    world_settle(w);
    expect_error(log_in(w, ""), 403, 20011);
    store_write(w, "update guilds set owner_id = $1 where id = $2",
                BIND(v_client(bob), v_id(id_of(guild))));
    world_wait(w, DAY);
    expect_soon(log_in(w, "").status == 400);
}

/* Registers ada with TOTP enabled; the response has her token and the backup codes. */
static struct answer register_with_factor(struct world *w, unsigned char secret[TOTP_SECRET])
{
    world_wait(w, (double)(TOTP_STEP_S - clock_s() % TOTP_STEP_S));
    expect(totp_secret_parse(STR("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), secret));
    return client_post(
        register_user(w, "ada"),
        TEXT(w,
             "{'password': 'correct horse', 'secret': 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', "
             "'code': '%06u'}",
             totp_code_of_step(secret, clock_s() / TOTP_STEP_S)),
        "/users/@me/mfa/totp/enable");
}

static void deleting_an_account_with_mfa_requires_an_mfa_code(struct world *w)
{
    unsigned char secret[TOTP_SECRET];
    struct answer a = register_with_factor(w, secret);
    struct client *ada = world_client_with(w, answer_text(a, "token"));

    expect_error(delete_me(ada), 400, 60008);
    const char *backup = answer_text(a, "backup_codes.3.code");
    expect_status(
        client_post(ada, TEXT(w, "{'password': 'correct horse', 'code': '%s'}", backup), DELETE_ME),
        204);
    /* Logging in with the password alone does not cancel the deletion. */
    a = log_in(w, ", 'undelete': true");
    expect_json(a, "{'mfa': true}");
    expect_error(log_in(w, ""), 403, 20011);
    expect_status(client_post(world_anonymous(w),
                              TEXT(w, "{'ticket': '%s', 'code': '%06u'}", answer_text(a, "ticket"),
                                   totp_code_of_step(secret, clock_s() / TOTP_STEP_S + 1)),
                              "/auth/mfa/totp"),
                  200);
    expect_json(log_in(w, ""), "{'mfa': true}");
}

/* Wrong MFA codes of delete, disable and login count towards the same limit. */
static void wrong_mfa_codes_for_delete_and_disable_are_rate_limited(struct world *w)
{
    unsigned char secret[TOTP_SECRET];
    struct answer a = register_with_factor(w, secret);
    struct client *ada = world_client_with(w, answer_text(a, "token"));

    const char *right = TEXT(w, "{'password': 'correct horse', 'code': '%s'}",
                             answer_text(a, "backup_codes.3.code"));
    for (int i = 0; i < 20; i++) {
        expect_error(client_post(ada, "{'password': 'correct horse', 'code': 'aaaaaaaa'}", "%s",
                                 i % 2 ? DELETE_ME : DISABLE_ME),
                     400, 60008);
        world_wait(w, 11);
    }
    expect_status(client_post(ada, right, DISABLE_ME), 429);
    world_wait(w, 1800);
    expect_status(client_post(ada, right, DISABLE_ME), 204);
}

static void disabled_account_is_enabled_again_by_its_owners_login(struct world *w)
{
    struct client *ada = register_user(w, "ada");
    struct client *again;

    expect_invalid(client_post(ada, "{'password': 'wrong horse'}", DISABLE_ME), "password",
                   "PASSWORD_DOES_NOT_MATCH");
    client_post(ada, "{'name': 'Here'}",
                "/guilds"); /* owning a guild does not prevent disabling the account */
    struct gateway_conn *gate = conn_session(ada, "v=10&encoding=json", "'intents': 0");
    expect_status(client_post(ada, "{'password': 'correct horse'}", DISABLE_ME), 204);
    expect_close(gate, 4004);
    expect_error(client_get(ada, "/users/@me"), 401, 0);
    expect_error(log_in(w, ""), 403, 20013);
    world_wait(w, 30 * DAY);
    world_settle(w);
    struct answer a = log_in(w, ", 'undelete': true");
    expect_status(a, 200);
    again = world_client_with(w, answer_text(a, "token"));
    expect_json(client_get(again, "/users/@me/guilds"), "[{'name': 'Here'}]");
    expect_status(log_in(w, ""), 200);
    /* An account disabled by the operator stays disabled after a login. */
    store_write(w, "update users set disabled = 1 where id = $1", BIND(v_client(ada)));
    expect_error(log_in(w, ", 'undelete': true"), 403, 20013);
}

const struct test deletion_tests[] = {
    TEST(deleting_an_account_requires_password_and_no_owned_guilds),
    TEST(account_deletion_can_be_cancelled_within_two_weeks),
    TEST(erased_account_keeps_only_its_messages_as_deleted_user),
    TEST(erasure_is_retried_daily_while_the_account_owns_a_guild),
    TEST(account_erasure_sends_game_relationship_remove),
    TEST(deleting_an_account_with_mfa_requires_an_mfa_code),
    TEST_WITH(wrong_mfa_codes_for_delete_and_disable_are_rate_limited, buckets_only),
    TEST(disabled_account_is_enabled_again_by_its_owners_login),
    { 0 },
};
