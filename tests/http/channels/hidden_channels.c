/* hidden_channels.c - no route gives access to channels that the caller cannot view. */
#include <stdio.h>
#include <string.h>

#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "http/walk.h"
#include "test_guild.h"

/* Guild of ada. Bob has all permissions except ADMINISTRATOR and MANAGE_THREADS; eve is no
 * member. The channel and the private thread are visible to ada only. */
static struct {
    struct client *bob, *eve;
    const char *guild, *channel, *thread, *message;
    struct test_guild v;
} hidden;

#define EVERYTHING (UINT64_MAX >> 11 & ~PERMISSION(ADMINISTRATOR) & ~PERMISSION(MANAGE_THREADS))

static void create_hidden_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a;

    hidden.bob = world_client(w, "bob");
    hidden.eve = world_client(w, "eve");
    hidden.v = world_test_guild(w, ada);
    hidden.guild = hidden.v.id;
    test_guild_add_with(&hidden.v, hidden.bob, 1, EVERYTHING);
    a = client_post(ada,
                    TEXT(w,
                         "{'name': 'cellar', 'type': 0, 'permission_overwrites': [{'id': '%s', "
                         "'type': 0, 'deny': '1024'}]}",
                         hidden.guild),
                    "/guilds/%s/channels", hidden.guild);
    hidden.channel = TEXT(w, "%s", answer_text(a, "id"));
    a = client_post(ada, "{'name': 'whispers', 'type': 12}", "/channels/%s/threads",
                    hidden.v.channel);
    hidden.thread = TEXT(w, "%s", answer_text(a, "id"));
    a = client_post(ada, "{'content': 'needle'}", "/channels/%s/messages", hidden.channel);
    hidden.message = TEXT(w, "%s", answer_text(a, "id"));
}

static bool path_has(const struct route *r, const char *name)
{
    return strstr(r->path, name) != NULL;
}

/* Calls the route with the smallest valid body, so that only permissions can refuse it. */
static void expect_hidden_channel_refused(struct client *c, const struct route *r, const char *id)
{
    struct world *w = c->world;
    const char *body =
        r->body ? str_dup_cstring(world_arena(w), least_body(world_arena(w), r->body)) : NULL;
    struct answer a = route_call(c, r, route_url(w, r, id), body);

    /* An invalid file is refused before any permission is checked. */
    if (a.status != 403 && a.status != 404 && !(a.status == 400 && r->prepare))
        fail_test(__FILE__, __LINE__, "%s answered %d to %s", r->name, a.status, c->name);
}

static void check_route_refuses_hidden_channel(struct world *w, const struct route *r)
{
    (void)w;
    if (r->service || !path_has(r, "{channel.id}"))
        return;
    expect_hidden_channel_refused(hidden.bob, r, hidden.channel);
    expect_hidden_channel_refused(hidden.bob, r, hidden.thread);
    expect_hidden_channel_refused(hidden.eve, r, hidden.v.channel);
}

static void every_channel_route_refuses_a_hidden_channel(struct world *w)
{
    create_hidden_channel(w);
    each_route(w, check_route_refuses_hidden_channel);
}

static void check_route_refuses_non_members(struct world *w, const struct route *r)
{
    (void)w;
    if (!r->service && path_has(r, "{guild.id}"))
        expect_hidden_channel_refused(hidden.eve, r, hidden.guild);
}

static void every_guild_route_refuses_non_members(struct world *w)
{
    create_hidden_channel(w);
    each_route(w, check_route_refuses_non_members);
}

/* Ids in bodies and queries are checked like those of paths. */
static void ids_in_bodies_give_no_access_to_hidden_channels(struct world *w)
{
    struct client *bob;
    const char *here;

    create_hidden_channel(w);
    bob = hidden.bob;
    here = hidden.v.channel;
    expect_error(client_post(bob,
                             TEXT(w,
                                  "{'message_reference': {'type': 1, 'channel_id': '%s', "
                                  "'message_id': '%s'}}",
                                  hidden.channel, hidden.message),
                             "/channels/%s/messages", here),
                 404, 10008);
    expect_json(client_get(bob, "/guilds/%s/messages/search?content=needle&channel_id=%s",
                           hidden.guild, hidden.channel),
                "{'total_results': 0, 'messages': []}");
    expect_error(client_post(bob, TEXT(w, "{'channel_id': '%s', 'topic': 'x'}", hidden.channel),
                             "/stage-instances"),
                 403, 50001);
    expect_error(
        client_post(bob, "{'name': 'x'}", "/channels/%s/messages/%s/threads", here, hidden.message),
        404, 10008);
    expect_error(client_put(bob, "", "/channels/%s/pins/%s", here, hidden.message), 404, 10008);
    expect_status(client_post(bob,
                              TEXT(w, "{'messages': ['%s', '%s']}", hidden.message, hidden.channel),
                              "/channels/%s/messages/bulk-delete", here),
                  204);
    expect_status(client_post(bob,
                              TEXT(w, "{'read_states': [{'channel_id': '%s', 'message_id': '%s'}]}",
                                   hidden.channel, hidden.message),
                              "/read-states/ack-bulk"),
                  204);
    expect(world_number(w, "select count(*) from messages where id = %s", hidden.message) == 1);
    expect(world_number(w, "select count(*) from read_states where user_id = %s", bob->id) == 0);
}

const struct test hidden_channels_tests[] = {
    TEST(every_channel_route_refuses_a_hidden_channel),
    TEST(every_guild_route_refuses_non_members),
    TEST(ids_in_bodies_give_no_access_to_hidden_channels),
    { 0 },
};
