/* regions.c - voice regions: public ones, VIP ones, and the nearest. */
#include "test_voice.h"

static void configure_several_voice_regions(struct config *config)
{
    config->voice_regions = "eu:Europe, us:America";
    config->voice_vip_regions = "gold:Gold";
    config->voice_endpoint = "{region}.example";
    config->voice_near = "127.0.0.0/8=us, 127.0.0.9/32=gold, 10.0.0.0/8=eu";
}

static void guild_regions_contain_the_public_regions(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    const char *g = found_guild(ada, "Hall");

    expect_json(client_get(ada, "/guilds/%s/regions", g),
                "[{'id': 'eu', 'name': 'Europe', 'optimal': false, 'deprecated': false, "
                "'custom': false}, {'id': 'us', 'optimal': true}]");
    expect_error(client_get(eve, "/guilds/%s/regions", g), 403, 50001);
    expect_error(client_get(eve, "/guilds/5/regions"), 404, 10004);
}

static void vip_guilds_have_additional_regions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");
    static const char vip[] = "{'name': 'v', 'type': 2, 'rtc_region': 'gold'}";

    expect_invalid(client_post(ada, vip, "/guilds/%s/channels", g), "rtc_region",
                   "BASE_TYPE_CHOICES");
    world_sql(w, "update guilds set features = '[\"COMMUNITY\",\"VIP_REGIONS\"]' where id = %s", g);
    expect_json(client_get(ada, "/guilds/%s/regions", g),
                "[{'id': 'eu', 'custom': false}, {'id': 'us', 'custom': false}, "
                "{'id': 'gold', 'name': 'Gold', 'custom': true, 'optimal': false}]");
    expect_json(client_post(ada, vip, "/guilds/%s/channels", g), "{'rtc_region': 'gold'}");
    expect_invalid(client_post(ada, "{'name': 'v', 'type': 2, 'rtc_region': 'moon'}",
                               "/guilds/%s/channels", g),
                   "rtc_region", "BASE_TYPE_CHOICES");
    /* The public list stays the same. */
    expect_json(client_get(ada, "/voice/regions"), "[{'id': 'eu'}, {'id': 'us'}]");
}

static void exactly_one_region_is_marked_optimal(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *g = found_guild(ada, "Hall");

    expect_json(client_get(ada, "/voice/regions"),
                "[{'id': 'eu', 'optimal': false}, {'id': 'us', 'optimal': true}]");
    /* The narrowest matching network counts, if its region is available. */
    struct client *near = world_client_with(w, ada->authorization);
    snprintf(near->address, sizeof near->address, "127.0.0.9");
    expect_json(client_get(near, "/voice/regions"),
                "[{'id': 'eu', 'optimal': false}, {'id': 'us', 'optimal': true}]");
    world_sql(w, "update guilds set features = '[\"VIP_REGIONS\"]' where id = %s", g);
    expect_json(client_get(near, "/guilds/%s/regions", g),
                "[{'optimal': false}, {'optimal': false}, {'id': 'gold', 'optimal': true}]");
}

static void ready_contains_regions_ordered_by_distance(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), "v=10");

    expect_op(g, 10);
    conn_identify(g, "");
    expect_dispatch(g, "READY", "{'geo_ordered_rtc_regions': ['us', 'eu']}");
}

static void new_voice_room_uses_the_preferred_or_nearest_region(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.bob, h.guild, h.voice, "");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{'endpoint': 'us.example'}");
    leave_voice(&h, h.bob, NULL);
    /* The first available preferred region is used; later participants follow. */
    ask_voice(h.ada, h.guild, h.voice,
              ", 'preferred_region': 'moon', 'preferred_regions': "
              "['gold', 'eu', 'us']");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", h.ada->id);
    world_wait(w, 2);
    ask_voice(h.bob, h.guild, h.voice, ", 'preferred_region': 'us'");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", h.bob->id);
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{'endpoint': 'eu.example'}");
}

const struct test voice_regions_tests[] = {
    TEST_WITH(guild_regions_contain_the_public_regions, configure_several_voice_regions),
    TEST_WITH(vip_guilds_have_additional_regions, configure_several_voice_regions),
    TEST_WITH(exactly_one_region_is_marked_optimal, configure_several_voice_regions),
    TEST_WITH(ready_contains_regions_ordered_by_distance, configure_several_voice_regions),
    TEST_WITH(new_voice_room_uses_the_preferred_or_nearest_region, configure_several_voice_regions),
    { 0 },
};
