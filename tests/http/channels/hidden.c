/* hidden.c - what somebody cannot see is reached by no route, whatever else they may do. */
#include <stdio.h>
#include <string.h>

#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "http/walk.h"
#include "test_guild.h"

/* A guild of ada's; bob may do everything in it but administrate and see private threads, eve is
 * not in it. The channel is hidden from all but ada, and so is the private thread. */
static struct {
    struct client *bob, *eve;
    const char *guild, *channel, *thread, *message;
    struct test_guild v;
} cellar;

#define EVERYTHING (UINT64_MAX >> 11 & ~PERMISSION(ADMINISTRATOR) & ~PERMISSION(MANAGE_THREADS))

static void open_cellar(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a;

    cellar.bob = world_client(w, "bob");
    cellar.eve = world_client(w, "eve");
    cellar.v = world_test_guild(w, ada);
    cellar.guild = cellar.v.id;
    test_guild_add_with(&cellar.v, cellar.bob, 1, EVERYTHING);
    a = client_post(ada,
                    TEXT(w,
                         "{'name': 'cellar', 'type': 0, 'permission_overwrites': [{'id': '%s', "
                         "'type': 0, 'deny': '1024'}]}",
                         cellar.guild),
                    "/guilds/%s/channels", cellar.guild);
    cellar.channel = TEXT(w, "%s", answer_text(a, "id"));
    a = client_post(ada, "{'name': 'whispers', 'type': 12}", "/channels/%s/threads",
                    cellar.v.channel);
    cellar.thread = TEXT(w, "%s", answer_text(a, "id"));
    a = client_post(ada, "{'content': 'needle'}", "/channels/%s/messages", cellar.channel);
    cellar.message = TEXT(w, "%s", answer_text(a, "id"));
}

static bool path_has(const struct route *r, const char *name)
{
    return strstr(r->path, name) != NULL;
}

/* With the least that the row wants, so that nothing but rights is left to refuse. */
static void expect_closed(struct client *c, const struct route *r, const char *id)
{
    struct world *w = c->world;
    const char *body =
        r->body ? str_dupz(world_arena(w), least_body(world_arena(w), r->body)) : NULL;
    struct answer a = route_call(c, r, route_url(w, r, id), body);

    /* A file that is none is refused before anything is looked up. */
    if (a.status != 403 && a.status != 404 && !(a.status == 400 && r->prepare))
        fail_test(__FILE__, __LINE__, "%s answered %d to %s", r->name, a.status, c->name);
}

static void look_at_channel(struct world *w, const struct route *r)
{
    (void)w;
    if (r->service || !path_has(r, "{channel.id}"))
        return;
    expect_closed(cellar.bob, r, cellar.channel);
    expect_closed(cellar.bob, r, cellar.thread);
    expect_closed(cellar.eve, r, cellar.v.channel);
}

static void no_route_reaches_a_hidden_channel(struct world *w)
{
    open_cellar(w);
    each_route(w, look_at_channel);
}

static void look_at_guild(struct world *w, const struct route *r)
{
    (void)w;
    if (!r->service && path_has(r, "{guild.id}"))
        expect_closed(cellar.eve, r, cellar.guild);
}

static void no_route_reaches_a_guild_of_others(struct world *w)
{
    open_cellar(w);
    each_route(w, look_at_guild);
}

/* Ids of bodies and queries are looked at as those of paths are. */
static void bodies_do_not_reach_it_either(struct world *w)
{
    struct client *bob;
    const char *here;

    open_cellar(w);
    bob = cellar.bob;
    here = cellar.v.channel;
    expect_error(client_post(bob,
                             TEXT(w,
                                  "{'message_reference': {'type': 1, 'channel_id': '%s', "
                                  "'message_id': '%s'}}",
                                  cellar.channel, cellar.message),
                             "/channels/%s/messages", here),
                 404, 10008);
    expect_json(client_get(bob, "/guilds/%s/messages/search?content=needle&channel_id=%s",
                           cellar.guild, cellar.channel),
                "{'total_results': 0, 'messages': []}");
    expect_error(client_post(bob, TEXT(w, "{'channel_id': '%s', 'topic': 'x'}", cellar.channel),
                             "/stage-instances"),
                 403, 50001);
    expect_error(
        client_post(bob, "{'name': 'x'}", "/channels/%s/messages/%s/threads", here, cellar.message),
        404, 10008);
    expect_error(client_put(bob, "", "/channels/%s/pins/%s", here, cellar.message), 404, 10008);
    expect_status(client_post(bob,
                              TEXT(w, "{'messages': ['%s', '%s']}", cellar.message, cellar.channel),
                              "/channels/%s/messages/bulk-delete", here),
                  204);
    expect_status(client_post(bob,
                              TEXT(w, "{'read_states': [{'channel_id': '%s', 'message_id': '%s'}]}",
                                   cellar.channel, cellar.message),
                              "/read-states/ack-bulk"),
                  204);
    expect(world_number(w, "select count(*) from messages where id = %s", cellar.message) == 1);
    expect(world_number(w, "select count(*) from read_states where user_id = %s", bob->id) == 0);
}

const struct test hidden_tests[] = {
    TEST(no_route_reaches_a_hidden_channel),
    TEST(no_route_reaches_a_guild_of_others),
    TEST(bodies_do_not_reach_it_either),
    { 0 },
};
