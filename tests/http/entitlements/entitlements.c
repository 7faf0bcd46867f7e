/* entitlements.c - SKUs, entitlements and subscriptions, and their events for the application. */
#include "consents.h"
#include "admin/control/control.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "test_commands.h"
#include "waits.h"

#define GRANTS     "/applications/%s/entitlements"
#define GRANT      GRANTS "/%s"
#define OWN_GRANTS "/users/@me/applications/%s/entitlements"

/* Inserts SKUs: 51 is a subscription, 52 a consumable, 53 durable, 54 a subscription group, 60
 * belongs to another application. */
static struct test_commands create_app_with_skus(struct world *w)
{
    struct test_commands s = world_test_commands(w);
    const char *other = make_application(s.ada, "Other");

    world_sql(w,
              "insert into skus (id, application_id, type, name, slug, flags) values "
              "(51, %s, 5, 'Gold', 'gold', 4), (52, %s, 3, 'Coin', 'coin', 4), "
              "(53, %s, 2, 'Hat', 'hat', 4), (54, %s, 6, 'Group', 'group', 4), "
              "(60, %s, 5, 'Else', 'else', 4)",
              s.application, s.application, s.application, s.application, other);
    discard_received(w);
    return s;
}

static struct answer grant_entitlement(struct test_commands *s, const char *sku, const char *owner,
                                       int type)
{
    return client_post(
        s->bot,
        TEXT(s->world, "{'sku_id': '%s', 'owner_id': '%s', 'owner_type': %d}", sku, owner, type),
        GRANTS, s->application);
}

static void test_entitlement_can_be_created_read_and_deleted(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);
    struct gateway_conn *bot = conn_session(s.bot, "v=10", "'intents': 0, 'shard': [0, 2]");
    struct gateway_conn *second = conn_session(s.bot, "v=10", "'intents': 0, 'shard': [1, 2]");
    struct answer a = grant_entitlement(&s, "51", s.bob->id, 2);
    const char *id;

    expect_status(a, 200);
    id = answer_text(a, "id");
    expect_json(a,
                "{'sku_id': '51', 'application_id': '%s', 'user_id': '%s', 'type': 8, "
                "'deleted': false, 'starts_at': null, 'ends_at': null, 'consumed': false}",
                s.application, s.bob->id);
    expect_absent(a, "guild_id");
    expect_dispatch(bot, "ENTITLEMENT_CREATE", "{'id': '%s', 'sku_id': '51'}", id);
    expect_dispatch(bot, "SUBSCRIPTION_CREATE",
                    "{'id': '%s', 'user_id': '%s', 'sku_ids': ['51'], 'entitlement_ids': ['%s'], "
                    "'renewal_sku_ids': null, 'status': 0, 'canceled_at': null}",
                    id, s.bob->id, id);
    expect_error(grant_entitlement(&s, "51", s.bob->id, 2), 400, 40074);
    expect_json(client_get(s.ada, GRANT, s.application, id), "{'id': '%s'}", id);
    expect_error(client_post(s.bot, "{}", GRANT "/consume", s.application, id), 400, 40018);
    expect_status(client_delete(s.bot, GRANT, s.application, id), 204);
    expect_dispatch(bot, "ENTITLEMENT_DELETE", "{'id': '%s', 'deleted': true}", id);
    expect_dispatch(bot, "SUBSCRIPTION_UPDATE", "{'id': '%s', 'status': 1}", id);
    expect_error(client_delete(s.bot, GRANT, s.application, id), 404, 10029);
    expect_error(client_get(s.bot, GRANT, s.application, id), 404, 10029);
    expect_status(grant_entitlement(&s, "51", s.bob->id, 2), 200);
    expect_quiet(second);
}

static void consumable_entitlement_can_be_consumed_once(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);
    const char *id = answer_text(grant_entitlement(&s, "52", s.bob->id, 2), "id");

    expect_event(s.bot, "ENTITLEMENT_CREATE", "{'id': '%s'}", id);
    expect_error(grant_entitlement(&s, "52", s.bob->id, 2), 400, 40074);
    expect_status(client_post(s.bot, "{}", GRANT "/consume", s.application, id), 204);
    expect_event(s.bot, "ENTITLEMENT_UPDATE", "{'id': '%s', 'consumed': true}", id);
    expect_status(client_post(s.bot, "{}", GRANT "/consume", s.application, id), 204);
    expect_silence(s.bot);
    expect_silence(s.bob);
    expect_status(grant_entitlement(&s, "52", s.bob->id, 2),
                  200); /* a second entitlement is allowed now */
}

static void invalid_test_entitlements_are_refused(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);
    struct client *eve = world_client(w, "eve");
    struct test_guild elsewhere = world_test_guild(w, eve);

    expect_error(grant_entitlement(&s, "60", s.bob->id, 2), 404, 10027);
    expect_error(grant_entitlement(&s, "54", s.bob->id, 2), 404, 10027);
    expect_error(grant_entitlement(&s, "99", s.bob->id, 2), 404, 10027);
    expect_error(grant_entitlement(&s, "51", "99", 2), 404, 10013);
    expect_error(grant_entitlement(&s, "51", s.bob->id, 1), 404, 10004);
    expect_error(grant_entitlement(&s, "51", elsewhere.id, 1), 404,
                 10004); /* the bot is not in the guild */
    expect_invalid(grant_entitlement(&s, "51", s.bob->id, 3), "owner_type", "BASE_TYPE_CHOICES");
    expect_invalid(client_post(s.bot, "{}", GRANTS, s.application), "sku_id", "BASE_TYPE_REQUIRED");
    expect_error(client_get(eve, GRANTS, s.application), 403, 20012);
    expect_error(client_get(eve, "/applications/%s/skus", s.application), 403, 20012);
    expect_error(client_post(eve, "{'sku_id': '51', 'owner_id': '1', 'owner_type': 2}", GRANTS,
                             s.application),
                 403, 20012);
    expect_invalid(client_get(s.bot, GRANTS "?limit=101", s.application), "limit",
                   "NUMBER_TYPE_MAX");
    expect_error(client_get(s.bot, "/applications/%s/activity-instances/i-1", s.application), 404,
                 0);
    /* Entitlements of world files cannot be deleted through the API. */
    world_sql(w,
              "insert into entitlements (id, application_id, sku_id, sku_type, user_id, test, "
              "consumed) values (70, %s, 53, 2, %s, 0, 0)",
              s.application, s.bob->id);
    expect_error(client_delete(s.bot, GRANT, s.application, "70"), 400, 40019);
}

static void insert_entitlement(struct test_commands *s, const char *id, const char *sku,
                               const char *user, const char *guild, const char *ends,
                               const char *deleted)
{
    world_sql(s->world,
              "insert into entitlements (id, application_id, sku_id, sku_type, user_id, guild_id, "
              "test, ends_at, deleted_at, consumed) values (%s, %s, %s, 5, %s, %s, 1, %s, %s, 0)",
              id, s->application, sku, user, guild, ends, deleted);
}

static void entitlement_list_supports_filters_and_pages(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);
    const char *a = s.application;

    insert_entitlement(&s, "71", "51", s.bob->id, "null", "null", "null");
    insert_entitlement(&s, "72", "53", s.ada->id, "null", "1", "null");
    insert_entitlement(&s, "73", "51", s.ada->id, s.test_guild.id, "null", "null");
    insert_entitlement(&s, "74", "53", s.bob->id, "null", "null", "5");
    expect_json(client_get(s.bot, "/applications/%s/skus", a),
                "[{'id': '51', 'type': 5, 'application_id': '%s', 'name': 'Gold', 'slug': 'gold', "
                "'flags': 4}, {'id': '52'}, {'id': '53'}, {'id': '54'}]",
                a);
    expect_json(client_get(s.bot, GRANTS, a), "[{'id': '71'}, {'id': '72'}, {'id': '73'}]");
    expect_json(client_get(s.bot, GRANTS "?exclude_deleted=false", a),
                "[{'id': '71'}, {'id': '72'}, {'id': '73'}, {'id': '74', 'deleted': true}]");
    expect_json(client_get(s.bot, GRANTS "?exclude_ended=true", a), "[{'id': '71'}, {'id': '73'}]");
    expect_json(client_get(s.bot, GRANTS "?only_active=true&exclude_deleted=false", a),
                "[{'id': '71'}, {'id': '73'}]");
    expect_json(client_get(s.bot, GRANTS "?user_id=%s", a, s.bob->id), "[{'id': '71'}]");
    expect_json(client_get(s.bot, GRANTS "?guild_id=%s", a, s.test_guild.id),
                "[{'id': '73', 'guild_id': '%s'}]", s.test_guild.id);
    expect_json(client_get(s.bot, GRANTS "?sku_ids=53,99", a), "[{'id': '72'}]");
    expect_json(client_get(s.bot, GRANTS "?sku_ids=53&sku_ids=51&user_id=%s", a, s.ada->id),
                "[{'id': '72'}, {'id': '73'}]");
    expect_json(client_get(s.bot, GRANTS "?sku_ids=5", a), "[]");
    expect_json(client_get(s.bot, GRANTS "?after=71&limit=1", a), "[{'id': '72'}]");
    expect_json(client_get(s.bot, GRANTS "?before=73&limit=1", a), "[{'id': '72'}]");
    expect_json(client_get(s.bot, GRANTS "?before=73", a), "[{'id': '71'}, {'id': '72'}]");
}

static void subscriptions_are_derived_from_entitlements(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);

    insert_entitlement(&s, "71", "51", s.bob->id, "null", "null", "null");
    insert_entitlement(&s, "72", "51", s.bob->id, "null", "null", "5");
    expect_invalid(client_get(s.bot, "/skus/51/subscriptions"), "user_id", "BASE_TYPE_REQUIRED");
    expect_json(client_get(s.bot, "/skus/51/subscriptions?user_id=%s", s.bob->id),
                "[{'id': '71', 'status': 0}, {'id': '72', 'status': 1}]");
    expect_json(client_get(s.bot, "/skus/51/subscriptions?user_id=%s&before=72", s.bob->id),
                "[{'id': '71'}]");
    expect_json(client_get(s.bot, "/skus/51/subscriptions?user_id=%s", s.ada->id), "[]");
    expect_json(client_get(s.bot, "/skus/51/subscriptions/71"), "{'id': '71', 'user_id': '%s'}",
                s.bob->id);
    expect_error(client_get(s.bot, "/skus/51/subscriptions/99"), 404, 0);
    expect_error(client_get(s.bot, "/skus/60/subscriptions?user_id=%s", s.bob->id), 404, 10027);
}

static void interaction_contains_the_active_entitlements(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);
    const char *command = make_global_command(&s, "%s", "");

    insert_entitlement(&s, "71", "51", s.bob->id, "null", "null", "null");
    insert_entitlement(&s, "72", "53", s.bob->id, "null", "1", "null");
    insert_entitlement(&s, "73", "53", s.ada->id, s.test_guild.id, "null", "null");
    insert_entitlement(&s, "74", "51", s.ada->id, "null", "null", "null");
    expect_status(roll(&s, s.bob, command, "%s", ""), 204);
    expect_dom(&s, last_interaction(&s),
               "{'entitlements': [{'id': '73', 'guild_id': '%s'}, {'id': '71', 'type': 8}], "
               "'entitlement_sku_ids': ['53', '51']}",
               s.test_guild.id);
}

static void deleting_guild_or_application_deletes_its_entitlements(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);

    insert_entitlement(&s, "71", "51", s.bob->id, "null", "null", "null");
    insert_entitlement(&s, "73", "53", s.ada->id, s.test_guild.id, "null", "null");
    expect_status(client_delete(s.ada, "/guilds/%s", s.test_guild.id), 204);
    world_settle(w);
    expect(world_number(w, "select count(*) from entitlements where id = 73") == 0);
    expect_status(client_post(s.ada, "{}", "/applications/%s/delete", s.application), 204);
    expect(world_number(w, "select count(*) from entitlements") == 0);
    expect(world_number(w, "select count(*) from skus where id < 60") == 0);
    expect(world_number(w, "select count(*) from skus") == 1);
}

static struct answer send_premium_button(struct test_commands *s, const char *sku)
{
    return client_post(s->bot,
                       TEXT(s->world,
                            "{'components': [{'type': 1, 'components': [{'type': 2, 'style': 6, "
                            "'sku_id': '%s'}]}]}",
                            sku),
                       "/channels/%s/messages", s->test_guild.channel);
}

static void premium_button_accepts_only_skus_of_its_application(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);

    expect_status(send_premium_button(&s, "51"), 200);
    expect_invalid(send_premium_button(&s, "60"), "components.0.components.0.sku_id",
                   "BUTTON_COMPONENT_INVALID_SKU");
}

static void bearer_token_reads_only_entitlements_of_its_user(struct world *w)
{
    struct consent s = world_consent(w);
    const char *bearer =
        TEXT(w, "Bearer %s", answer_text(granted(&s, "applications.entitlements"), "access_token"));
    const char *less = TEXT(w, "Bearer %s", answer_text(granted(&s, "identify"), "access_token"));
    struct client *c = world_client_with(w, bearer);
    const char *other = make_application(s.bob, "Other");

    world_sql(w,
              "insert into skus (id, application_id, type, name, slug, flags) values "
              "(51, %s, 5, 'Gold', 'gold', 4)",
              s.app);
    world_sql(w,
              "insert into entitlements (id, application_id, sku_id, sku_type, user_id, test, "
              "consumed) values (71, %s, 51, 5, %s, 1, 0), (72, %s, 52, 3, %s, 1, 1), "
              "(73, %s, 51, 5, %s, 1, 0)",
              s.app, s.bob->id, s.app, s.bob->id, s.app, s.ada->id);
    expect_json(client_get(c, OWN_GRANTS, s.app), "[{'id': '71', 'user_id': '%s'}]", s.bob->id);
    expect_json(client_get(c, OWN_GRANTS "?exclude_consumed=false", s.app),
                "[{'id': '71'}, {'id': '72', 'consumed': true}]");
    expect_json(client_get(c, OWN_GRANTS "?sku_ids=52", s.app), "[]");
    expect_error(client_get(c, OWN_GRANTS, other), 403, 20012);
    expect_json(client_get(c, "/skus/51/subscriptions"), "[{'id': '71'}]");
    expect_status(client_get(c, "/skus/51/subscriptions/71"), 200);
    expect_error(client_get(c, "/skus/51/subscriptions/73"), 404, 0);
    expect_status(client_get(world_client_with(w, less), OWN_GRANTS, s.app), 403);
}

static void erasing_a_user_sends_entitlement_delete(struct world *w)
{
    struct test_commands s = create_app_with_skus(w);
    struct buf out;

    insert_entitlement(&s, "71", "51", s.bob->id, "null", "null", "null");
    insert_entitlement(&s, "72", "51", s.bob->id, "null", "null", "5");
    insert_entitlement(&s, "73", "51", s.bob->id, s.test_guild.id, "null", "null");
    buf_init(&out, SIZE_MAX);
    expect(control_socket_send_request(world_folder(w), "operate user\terase\tbob", &out) == OK);
    buf_clear(&out);
    expect_event(s.bot, "ENTITLEMENT_DELETE", "{'id': '71', 'deleted': true}");
    expect_event(s.bot, "SUBSCRIPTION_DELETE", "{'id': '71', 'status': 1}");
    expect(world_number(w, "select count(*) from entitlements") == 1); /* the guild's entitlement */
}

const struct test entitlements_tests[] = {
    TEST(test_entitlement_can_be_created_read_and_deleted),
    TEST(consumable_entitlement_can_be_consumed_once),
    TEST(invalid_test_entitlements_are_refused),
    TEST(entitlement_list_supports_filters_and_pages),
    TEST(subscriptions_are_derived_from_entitlements),
    TEST(interaction_contains_the_active_entitlements),
    TEST(deleting_guild_or_application_deletes_its_entitlements),
    TEST(premium_button_accepts_only_skus_of_its_application),
    TEST(bearer_token_reads_only_entitlements_of_its_user),
    TEST(erasing_a_user_sends_entitlement_delete),
    { 0 },
};
