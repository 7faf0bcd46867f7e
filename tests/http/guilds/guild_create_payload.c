/* guild_create_payload.c - contents of GUILD_CREATE depend on the viewer. */
#include "channels.h"

#include "gateway_source/gateway_source.h"
#include "test_guild.h"

struct guild_read {
    snowflake guild_id, viewer;
    struct gateway_guild guild;
};

static enum err read_guild_for_viewer(struct tx *tx, void *arg)
{
    struct guild_read *s = arg;

    return read_guild_for_user(tx, s->guild_id, s->viewer, &s->guild);
}

static struct gateway_guild guild_for_viewer(struct client *c, const char *guild)
{
    struct guild_read s = { .guild_id = id_of(guild), .viewer = id_of(c->id) };

    expect(!store_run_transaction_and_wait(guildhall_get_store(world_server(c->world)), STORE_READ,
                                           world_arena(c->world), read_guild_for_viewer, &s));
    return s.guild;
}

static bool contains_channel(const struct list *channels, const char *id)
{
    const struct channel *c = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (c[i].id == id_of(id))
            return true;
    return false;
}

static void users_get_visible_channels_and_bots_all_channels(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *robot = world_bot(w, "robot");
    const char *g = found_guild(ada, "Hall");
    const char *hidden = make_channel(
        ada, g,
        TEXT(w, "{'name': 'h', 'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': '1024'}]}",
             g));
    const char *open = make_channel(ada, g, "{'name': 'o'}");

    put_member(g, bob);
    put_member(g, robot);
    struct gateway_guild seen = guild_for_viewer(bob, g);
    expect(contains_channel(&seen.channels, open) && !contains_channel(&seen.channels, hidden));
    seen = guild_for_viewer(ada, g);
    expect(contains_channel(&seen.channels, open) && contains_channel(&seen.channels, hidden));
    /* Bots get all channels. */
    seen = guild_for_viewer(robot, g);
    expect(contains_channel(&seen.channels, open) && contains_channel(&seen.channels, hidden));
}

static void guild_create_contains_active_threads_the_viewer_may_see(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *robot = world_bot(w, "robot");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    const char *thread =
        answer_text(client_post(ada, "{'name': 't', 'type': 11}", "/channels/%s/threads", c), "id");

    put_member(g, bob);
    put_member(g, robot);
    /* Users get threads they are members of, bots get all. */
    struct gateway_guild seen = guild_for_viewer(bob, g);
    expect(!contains_channel(&seen.threads, thread));
    expect_status(client_put(bob, "", "/channels/%s/thread-members/@me", thread), 204);
    seen = guild_for_viewer(bob, g);
    expect(contains_channel(&seen.threads, thread) && !contains_channel(&seen.channels, thread));
    expect_status(client_patch(ada, "{'archived': true}", "/channels/%s", thread), 200);
    seen = guild_for_viewer(bob, g);
    expect(seen.threads.count == 0);
    expect_status(client_patch(ada, "{'archived': false}", "/channels/%s", thread), 200);
    expect_status(
        client_put(ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s", c, g), 204);
    seen = guild_for_viewer(bob, g);
    expect(seen.threads.count == 0);
    /* Bots get channels that they cannot view, but not the threads in them. */
    seen = guild_for_viewer(robot, g);
    expect(seen.threads.count == 0 && contains_channel(&seen.channels, c));
}

static void large_guild_lists_only_the_viewers_member(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");

    put_member(g, bob);
    world_sql(w, "update guilds set member_count = 250 where id = %s", g);
    struct gateway_guild seen = guild_for_viewer(bob, g);
    expect(!seen.large && seen.members.count == 2);
    world_sql(w, "update guilds set member_count = 251 where id = %s", g);
    seen = guild_for_viewer(bob, g);
    expect(seen.large && seen.members.count == 1);
    expect(((struct member *)seen.members.items)->user->id == id_of(bob->id));
}

const struct test guild_create_payload_tests[] = {
    TEST(users_get_visible_channels_and_bots_all_channels),
    TEST(guild_create_contains_active_threads_the_viewer_may_see),
    TEST(large_guild_lists_only_the_viewers_member),
    { 0 },
};
