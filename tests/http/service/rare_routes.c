/* rare_routes.c - successful calls of routes that clients rarely use; they are also the examples of
 * the reference. */
#include "apps.h"

#include "channel_events.h"
#include "test_guild.h"

#define THUMB "%F0%9F%91%8D"

static void enable_workbench(struct config *c)
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

const struct test rare_routes_tests[] = {
    TEST_WITH(workbench_serves_the_errors_as_markdown, enable_workbench),
    TEST(first_message_of_a_private_channel_can_be_reported),
    TEST(super_reaction_of_another_member_can_be_removed),
    { 0 },
};
