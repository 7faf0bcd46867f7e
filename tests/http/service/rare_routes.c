/* rare_routes.c - successful calls of routes that clients rarely use; they are also the examples of
 * the reference. */
#include "apps.h"

#include "base/clock.h"
#include "base/timestamp.h"
#include "channel_events.h"
#include "test_guild.h"

#define THUMB "%F0%9F%91%8D"

static void configure_workbench_with_controls(struct config *c)
{
    c->workbench = "on";
}

static void workbench_serves_the_errors_as_markdown(struct world *w)
{
    struct answer a = client_request(world_anonymous(w), "GET", "/console/errors", NULL, STR(""));

    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "text/markdown; charset=utf-8"));
    expect(memmem(a.body.p, a.body.n, "### 50013\n", 10));
}

static void first_message_of_a_private_channel_can_be_reported(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *channel = answer_text(
        client_post(bob, TEXT(w, "{'recipient_id': '%s'}", ada->id), "/users/@me/channels"), "id");
    const char *id = say_text(bob, channel, "Buy cheap gold");
    struct answer a = client_post(ada,
                                  TEXT(w,
                                       "{'version': '1.0', 'variant': '1', 'language': 'en', "
                                       "'name': 'first_dm', 'channel_id': '%s', 'message_id': "
                                       "'%s', 'breadcrumbs': [1, 2]}",
                                       channel, id),
                                  "/reporting/first_dm");

    expect_status(a, 200);
    expect(*answer_text(a, "report_id"));
}

static void no_program_is_detectable(struct world *w)
{
    static const char *const paths[] = { "/applications/detectable",
                                         "/applications/non-games/detectable",
                                         "/games/detectable" };

    make_application(world_client(w, "ada"), "Helper");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct answer a = client_get(world_anonymous(w), "%s", paths[i]);

        expect_status(a, 200);
        expect(str_is(a.body, "[]"));
    }
}

static void account_is_in_good_standing(struct world *w)
{
    expect_json(
        client_get(world_client(w, "ada"), "/safety-hub/@me"),
        "{'classifications': [], 'guild_classifications': [], 'account_standing': {'state': "
        "100}, 'is_dsa_eligible': false, 'is_appeal_eligible': false, 'username': 'ada', "
        "'appeal_eligibility': []}");
    expect_status(client_get(world_anonymous(w), "/safety-hub/@me"), 401);
    expect_error(client_get(world_bot(w, "robot"), "/safety-hub/@me"), 403, 20001);
}

static void super_reaction_of_another_member_can_be_removed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(ada, v.channel, "Tea?");

    expect_status(client_put(bob, NULL, "/channels/%s/messages/%s/reactions/%s/@me?type=1",
                             v.channel, id, THUMB),
                  204);
    expect_json(client_get(ada, "/channels/%s/messages/%s", v.channel, id),
                "{'reactions': [{'count': 1, 'count_details': {'normal': 0, 'burst': 1}}]}");
    expect_status(client_delete(ada, "/channels/%s/messages/%s/reactions/%s/1/%s", v.channel, id,
                                THUMB, bob->id),
                  204);
    struct answer left =
        client_get(ada, "/channels/%s/messages/%s/reactions/%s?type=1", v.channel, id, THUMB);
    expect_status(left, 200);
    expect(left.json->count == 0);
}

static const char *time_after(struct world *w, int seconds)
{
    char *text = arena_alloc(world_arena(w), TIMESTAMP_TEXT_SIZE);

    timestamp_format((clock_us() / 1000000 + seconds) * 1000000, text);
    return text;
}

static void event_picture_is_served_and_a_response_can_be_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *start = time_after(w, 3600);
    struct answer a = client_post(
        ada,
        TEXT(w,
             "{'name': 'Walk', 'privacy_level': 2, 'entity_type': 3, 'scheduled_start_time': '%s', "
             "'scheduled_end_time': '%s', 'entity_metadata': {'location': 'Park'}, 'image': '" PNG
             "', 'recurrence_rule': {'start': '%s', 'frequency': 3, 'interval': 1}}",
             start, time_after(w, 7200), start),
        "/guilds/%s/scheduled-events", v.id);
    expect_status(a, 200);
    const char *id = answer_text(a, "id");
    struct str picture =
        str_printf(world_arena(w), "/guild-events/%s/%s.png", id, answer_text(a, "image"));
    a = client_request(ada, "GET", picture.p, NULL, STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "image/png"));

    a = client_post(ada,
                    TEXT(w, "{'original_scheduled_start_time': '%s', 'is_canceled': true}",
                         time_after(w, 3600 + 86400)),
                    "/guilds/%s/scheduled-events/%s/exceptions", v.id, id);
    expect_status(a, 200);
    const char *exception = answer_text(a, "event_exception_id");
    expect_status(client_put(ada, "{'response': 0}", "/guilds/%s/scheduled-events/%s/%s/users/@me",
                             v.id, id, exception),
                  200);
    expect_status(
        client_delete(ada, "/guilds/%s/scheduled-events/%s/%s/users/@me", v.id, id, exception),
        204);
    expect_json(client_get(ada, "/guilds/%s/scheduled-events/%s/%s/users", v.id, id, exception),
                "{'users': []}");
}

static void read_state_of_a_channel_can_be_deleted(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *id = say_text(world_client(w, "ada"), v.channel, "Tea?");

    expect_status(client_post(ada, "{}", "/channels/%s/messages/%s/ack", v.channel, id), 200);
    expect(world_number(w, "select count(*) from read_states where entity_id = %s", v.channel));
    struct str path = str_printf(world_arena(w), "/api/v10/channels/%s/messages/ack", v.channel);
    expect_status(client_request(ada, "DELETE", path.p, "Content-Type: application/json\r\n",
                                 STR("{\"version\": 2, \"read_state_type\": 0}")),
                  204);
    expect(!world_number(w, "select count(*) from read_states where entity_id = %s", v.channel));
}

static void account_can_delete_its_role_connection(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *app = make_application(ada, "Dice");
    struct client *token = world_token(w, bob, CALLER_BEARER, "role_connections.write", 0);

    world_sql(w, "update tokens set application_id = %s where kind = 3", app);
    expect_status(client_put(token, "{'platform_name': 'Dice World'}",
                             "/users/@me/applications/%s/role-connection", app),
                  200);
    expect_status(client_delete(bob, "/users/@me/applications/%s/role-connection", app), 204);
    expect_json(client_get(token, "/users/@me/applications/%s/role-connection", app),
                "{'platform_name': null}");
}

const struct test rare_routes_tests[] = {
    TEST_WITH(workbench_serves_the_errors_as_markdown, configure_workbench_with_controls),
    TEST(first_message_of_a_private_channel_can_be_reported),
    TEST(no_program_is_detectable),
    TEST(account_is_in_good_standing),
    TEST(super_reaction_of_another_member_can_be_removed),
    TEST(event_picture_is_served_and_a_response_can_be_deleted),
    TEST(read_state_of_a_channel_can_be_deleted),
    TEST(account_can_delete_its_role_connection),
    { 0 },
};
