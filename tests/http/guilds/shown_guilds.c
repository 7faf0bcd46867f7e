/* shown_guilds.c - a guild as sessions get it: what is in it depends on who looks. */
#include "channels.h"

#include "gateway_source/gateway_source.h"
#include "test_guild.h"

struct sight {
    snowflake guild_id, viewer;
    struct gateway_guild guild;
};

static enum err take_sight(struct tx *tx, void *arg)
{
    struct sight *s = arg;

    return guild_for_gateway(tx, s->guild_id, s->viewer, &s->guild);
}

static struct gateway_guild shown_to(struct client *c, const char *guild)
{
    struct sight s = { .guild_id = id_of(guild), .viewer = id_of(c->id) };

    expect(!store_run(guildhall_store(world_server(c->world)), STORE_READ, world_arena(c->world),
                      take_sight, &s));
    return s.guild;
}

static bool holds(const struct list *channels, const char *id)
{
    const struct channel *c = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (c[i].id == id_of(id))
            return true;
    return false;
}

static void people_are_shown_what_they_can_view(struct world *w)
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
    struct gateway_guild seen = shown_to(bob, g);
    expect(holds(&seen.channels, open) && !holds(&seen.channels, hidden));
    seen = shown_to(ada, g);
    expect(holds(&seen.channels, open) && holds(&seen.channels, hidden));
    /* Bots keep count of every channel. */
    seen = shown_to(robot, g);
    expect(holds(&seen.channels, open) && holds(&seen.channels, hidden));
}

static void threads_are_shown_while_they_are_alive(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *robot = world_bot(w, "robot");
    const char *g = found_guild(ada, "Hall");
    const char *c = make_channel(ada, g, "{'name': 'a'}");
    const char *thread =
        answer_text(client_post(ada, "{'name': 't', 'type': 11}", "/channels/%s/threads", c), "id");

    put_member(g, bob);
    put_member(g, robot);
    /* People are shown those that they are in, bots all. */
    struct gateway_guild seen = shown_to(bob, g);
    expect(!holds(&seen.threads, thread));
    expect_status(client_put(bob, "", "/channels/%s/thread-members/@me", thread), 204);
    seen = shown_to(bob, g);
    expect(holds(&seen.threads, thread) && !holds(&seen.channels, thread));
    expect_status(client_patch(ada, "{'archived': true}", "/channels/%s", thread), 200);
    seen = shown_to(bob, g);
    expect(seen.threads.count == 0);
    expect_status(client_patch(ada, "{'archived': false}", "/channels/%s", thread), 200);
    expect_status(
        client_put(ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s", c, g), 204);
    seen = shown_to(bob, g);
    expect(seen.threads.count == 0);
    /* Bots see channels that they cannot view, but not what is said there. */
    seen = shown_to(robot, g);
    expect(seen.threads.count == 0 && holds(&seen.channels, c));
}

static void large_guilds_list_only_the_viewer(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *g = found_guild(ada, "Hall");

    put_member(g, bob);
    world_sql(w, "update guilds set member_count = 250 where id = %s", g);
    struct gateway_guild seen = shown_to(bob, g);
    expect(!seen.large && seen.members.count == 2);
    world_sql(w, "update guilds set member_count = 251 where id = %s", g);
    seen = shown_to(bob, g);
    expect(seen.large && seen.members.count == 1);
    expect(((struct member *)seen.members.items)->user->id == id_of(bob->id));
}

const struct test shown_guilds_tests[] = {
    TEST(people_are_shown_what_they_can_view),
    TEST(threads_are_shown_while_they_are_alive),
    TEST(large_guilds_list_only_the_viewer),
    { 0 },
};
