/* routing_fields.c - every event with routing fields is announced at least once. At the end of a
 * test, facts_agree() in world.c compares the routing fields with the payloads. */
#include "base/clock.h"
#include "base/timestamp.h"
#include "facts_read.h"
#include "people.h"
#include "test_voice.h"

static bool was_announced(struct world *w, enum event event)
{
    return world_count_events(w, event) > 0;
}

static void change_roles_of_guild(const struct test_voice *h, const char *member)
{
    const char *role = make_role(h->ada, h->guild, "{'name': 'r', 'permissions': '1024'}");

    expect_status(
        client_patch(h->ada, "{'permissions': '3072'}", "/guilds/%s/roles/%s", h->guild, role),
        200);
    expect_status(
        client_put(h->ada, NULL, "/guilds/%s/members/%s/roles/%s", h->guild, member, role), 204);
    char when[TIMESTAMP_TEXT_SIZE];

    timestamp_format(clock_us() + INT64_C(3600) * 1000000, when);
    expect_status(client_patch(h->ada,
                               TEXT(h->world, "{'communication_disabled_until': '%s'}", when),
                               "/guilds/%s/members/%s", h->guild, member),
                  200);
    expect_status(client_delete(h->ada, "/guilds/%s/roles/%s", h->guild, role), 204);
}

static void change_channels_of_guild(const struct test_voice *h)
{
    struct world *w = h->world;
    const char *json = TEXT(w,
                            "{'name': 'n', 'permission_overwrites': [{'id': '%s', 'type': 0, "
                            "'allow': '1024', 'deny': '2048'}, {'id': '%s', 'type': 1}]}",
                            h->guild, h->bob->id);
    struct answer a = client_post(h->ada, json, "/guilds/%s/channels", h->guild);
    const char *id = answer_text(a, "id");

    expect_status(a, 201);
    a = client_post(h->ada, TEXT(w, "{'content': '<@%s>, <@%s>'}", h->bob->id, h->ada->id),
                    "/channels/%s/messages", id);
    expect_status(a, 200);
    expect_status(client_patch(h->ada, "{'content': 'nobody'}", "/channels/%s/messages/%s", id,
                               answer_text(a, "id")),
                  200);
    a = client_post(h->ada, "{'name': 't', 'type': 11}", "/channels/%s/threads", id);
    expect_status(a, 201);
    /* A timed-out member cannot join a thread. */
    expect_status(client_patch(h->ada, "{'communication_disabled_until': null}",
                               "/guilds/%s/members/%s", h->guild, h->bob->id),
                  200);
    expect_status(client_put(h->bob, NULL, "/channels/%s/thread-members/@me", answer_text(a, "id")),
                  204);
    expect_status(client_patch(h->ada, "{'name': 'm'}", "/channels/%s", id), 200);
    a = client_post(h->ada, "{}", "/channels/%s/invites", id);
    expect_status(a, 200);
    struct client *eve = world_client(w, "eve");
    expect_status(client_post(eve, "{}", "/invites/%s", answer_text(a, "code")), 200);
    expect_status(client_delete(eve, "/users/@me/guilds/%s", h->guild), 204);
    expect_status(client_delete(h->ada, "/channels/%s", id), 200);
}

static void routing_fields_of_all_events_match_their_payloads(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    expect_status(client_patch(h.ada, "{'name': 'Renamed'}", "/guilds/%s", h.guild), 200);
    ask_voice(h.bob, h.guild, h.voice, "");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.voice);
    change_roles_of_guild(&h, h.bob->id);
    change_channels_of_guild(&h);
    expect_status(client_put(h.ada, "{}", RELATIONSHIPS "/%s", h.bob->id), 204);
    expect_status(client_put(h.bob, "{}", RELATIONSHIPS "/%s", h.ada->id), 204);
    for (enum event e = EVENT_NONE + 1; e < EVENT_COUNT; e++)
        if (event_routing_kind(e) && !was_announced(w, e))
            fail_test(__FILE__, __LINE__, "%s was not announced", get_name_of_event_type(e));
}

const struct test routing_fields_tests[] = {
    TEST(routing_fields_of_all_events_match_their_payloads),
    { 0 },
};
