/* application_bots.c - bots, secrets and signing keys of applications. */
#include "apps.h"

#include <sodium.h>
#include <string.h>

#include "guilds.h"
#include "platform/applications/applications.h"

#define APPS "/applications"

/* --- the bot -------------------------------------------------------------------------- */

static void bot_can_read_and_change_its_own_application(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    struct client *bot = application_bot(ada, id);
    static const char *const paths[] = { "/applications/@me", "/oauth2/applications/@me",
                                         "/oauth2/applications/%40me" };

    for (size_t i = 0; i < 3; i++) {
        struct answer a = client_get(bot, "%s", paths[i]);

        expect_status(a, 200);
        expect_json(a,
                    "{'id': '%s', 'name': 'App', 'description': '', 'icon': null, "
                    "'bot_public': true, 'bot_require_code_grant': false, "
                    "'owner': {'id': '%s'}, 'flags': 565248}",
                    id, ada->id);
        expect(strlen(answer_text(a, "verify_key")) == 64);
        expect_error(client_get(ada, "%s", paths[i]), 403, 20002);
    }
    expect_json(client_get(bot, APPS "/%s", id), "{'id': '%s'}", id);
    expect_error(client_patch(ada, "{}", APPS "/@me"), 403, 20002);
    /* The bot cannot rename its application. */
    expect_json(client_patch(bot, "{'name': 'Mine', 'description': 'new'}", APPS "/@me"),
                "{'name': 'App', 'description': 'new'}");
    expect_json(client_patch(bot, "{'name': 'Mine'}", APPS "/%s", id), "{'name': 'Mine'}");
    expect_invalid(client_patch(bot, "{'tags': 1}", APPS "/@me"), "tags", "LIST_TYPE_CONVERT");
    expect_error(client_get(bot, APPS), 403, 20001);
    /* A bot created without an application gets 404. */
    expect_error(client_get(world_bot(w, "lonely"), APPS "/@me"), 404, 10002);
}

static void resetting_the_bot_token_invalidates_the_old_one(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");

    struct answer a = client_post(ada, NULL, APPS "/%s/bot", id);
    expect_status(a, 200);
    expect_json(a, "{'token': null}");
    struct client *first = application_bot(ada, id);
    expect_json(client_get(first, "/users/@me"), "{'id': '%s', 'bot': true}", id);
    struct client *second = application_bot(ada, id);
    expect_error(client_get(first, "/users/@me"), 401, 0);
    expect_status(client_get(second, "/users/@me"), 200);
    /* The token is valid only with the prefix Bot. */
    struct client *bare = world_client_with(w, second->authorization + 4);
    expect_error(client_get(bare, "/users/@me"), 401, 0);
}

static enum err delete_all_bots(struct tx *tx, void *arg)
{
    (void)arg;
    enum err e = tx_exec(tx, "update applications set bot_id = null", NO_BIND, NULL);
    return e ? e : tx_exec(tx, "delete from users where bot = 1", NO_BIND, NULL);
}

/* World files may declare applications without a bot. */
static void bot_can_be_added_to_an_application_without_one(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App"), *guild = found_guild(ada, "Home");
    const char *body = TEXT(w, "{'authorize': true, 'guild_id': '%s'}", guild);

    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_WRITE,
                                          world_arena(w), delete_all_bots, NULL) == OK);
    struct answer a = client_get(ada, APPS "/%s", id);
    expect_status(a, 200);
    expect_absent(a, "bot");
    expect_error(client_post(ada, NULL, APPS "/%s/bot/reset", id), 400, 50010);
    expect_error(client_post(ada, body, "/oauth2/authorize?client_id=%s&scope=bot", id), 400,
                 50010);
    expect_status(
        client_post(ada, body, "/oauth2/authorize?client_id=%s&scope=applications.commands", id),
        200);
    a = client_post(ada, NULL, APPS "/%s/bot", id);
    expect_status(a, 200);
    struct client *bot = world_client_with(w, TEXT(w, "Bot %s", answer_text(a, "token")));
    expect_json(client_get(bot, APPS "/@me"), "{'bot': {'id': '%s', 'username': 'app'}}", id);
    expect_json(client_post(ada, NULL, APPS "/%s/bot", id), "{'token': null}");
    expect_status(client_post(ada, NULL, APPS "/%s/delete", id), 204);
}

/* --- keys ----------------------------------------------------------------------------- */

struct signing {
    struct world *world;
    snowflake id;
    struct application application;
};

static enum err find_application(struct tx *tx, void *arg)
{
    struct signing *s = arg;

    return application_find(tx, s->id, &s->application);
}

static bool is_signed(const char *key, const char *text, const unsigned char *signature)
{
    unsigned char public[32];

    return sodium_hex2bin(public, sizeof public, key, strlen(key), NULL, NULL, NULL) == 0 &&
           crypto_sign_verify_detached(signature, (const unsigned char *)text, strlen(text),
                                       public) == 0;
}

static void application_signature_is_verified_by_its_public_key(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App"), *other = make_application(ada, "Other");
    const char *key = answer_text(client_get(ada, APPS "/%s", id), "verify_key");
    const char *other_key = answer_text(client_get(ada, APPS "/%s", other), "verify_key");
    struct signing s = { .world = w, .id = id_of(id) };
    unsigned char signature[64];

    expect(store_run_transaction_and_wait(guildhall_get_store(world_server(w)), STORE_READ,
                                          world_arena(w), find_application, &s) == OK);
    application_sign_bytes(guildhall_get_auth(world_server(w)), &s.application, STR("1234{}"),
                           signature);
    expect(is_signed(key, "1234{}", signature));
    expect(!is_signed(key, "1234{ }", signature));
    expect(!is_signed(other_key, "1234{}", signature));
    world_restart(w);
    application_sign_bytes(guildhall_get_auth(world_server(w)), &s.application, STR("1234{}"),
                           signature);
    expect(is_signed(key, "1234{}", signature));
}

static void client_secret_is_shown_once_and_stored_as_digest(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *id = make_application(ada, "App");
    const char *first = application_secret(ada, id), *second = application_secret(ada, id);

    expect(strlen(first) == 43 && strcmp(first, second) != 0);
    expect_absent(client_get(ada, APPS "/%s", id), "secret");
    expect(store_count(w, "select length(secret_digest) from applications") == 32);
    expect_status(client_form(world_anonymous(w), "/oauth2/token",
                              "grant_type=client_credentials&scope=identify&client_id=%s"
                              "&client_secret=%s",
                              id, first),
                  401);
    expect_status(client_form(world_anonymous(w), "/oauth2/token",
                              "grant_type=client_credentials&scope=identify&client_id=%s"
                              "&client_secret=%s",
                              id, second),
                  200);
}

extern const struct test application_bots_tests[];
const struct test application_bots_tests[] = {
    TEST(bot_can_read_and_change_its_own_application),
    TEST(resetting_the_bot_token_invalidates_the_old_one),
    TEST(bot_can_be_added_to_an_application_without_one),
    TEST(application_signature_is_verified_by_its_public_key),
    TEST(client_secret_is_shown_once_and_stored_as_digest),
    { 0 },
};
