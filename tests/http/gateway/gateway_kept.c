/* gateway_kept.c - sessions are told of people and guilds as they are now, however often others
 * were told of them before. */
#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

/* READY with every user in its place, and with all of them in one list; with a guild's own fields
 * apart from the others. */
enum { PLAIN = 0, REFERRING = 1 << 4, APART = 1 << 10 };

/* More often than there are loops: each keeps what it has read. */
enum { TIMES = 6 };

struct scene {
    struct client *ada, *bob, *cleo;
    struct test_guild test_guild;
};

static struct scene open_scene(struct world *w)
{
    struct scene s = { .ada = world_client(w, "ada"),
                       .bob = world_client(w, "bob"),
                       .cleo = world_client(w, "cleo") };

    s.test_guild = world_test_guild(w, s.ada);
    test_guild_add(&s.test_guild, s.bob);
    test_guild_add(&s.test_guild, s.cleo);
    make_friends(s.ada, s.bob);
    return s;
}

static void expect_ready(struct client *c, int capabilities, const char *ready)
{
    for (int i = 0; i < TIMES; i++) {
        struct gateway_conn *g = conn_open(c, "v=9&encoding=json");

        expect_op(g, 10);
        conn_identify(g, TEXT(c->world, "'capabilities': %d", capabilities));
        expect_dispatch(g, "READY", "%s", ready);
        conn_close(g, 1000);
    }
}

/* The third of three members, in both forms; what is the user's and what is the member's. */
static void expect_third(const struct scene *s, const char *user, const char *member)
{
    struct world *w = s->ada->world;

    expect_ready(s->ada, PLAIN,
                 TEXT(w, "{'guilds': [{'members': [{}, {}, {'user': {%s}, %s}]}]}", user, member));
    expect_ready(
        s->ada, REFERRING,
        TEXT(w, "{'users': [{}, {}, {%s}], 'merged_members': [[{}, {}, {%s}]]}", user, member));
}

static void a_member_that_changes(struct world *w)
{
    struct scene s = open_scene(w);

    expect_third(&s, "'global_name': null", "'nick': null");
    expect_status(
        client_patch(s.cleo, "{'nick': 'Cleopatra'}", "/guilds/%s/members/@me", s.test_guild.id),
        200);
    expect_third(&s, "'global_name': null", "'nick': 'Cleopatra'");
    expect_status(client_patch(s.cleo, "{'global_name': 'C.'}", "/users/@me"), 200);
    expect_third(&s, "'global_name': 'C.'", "'nick': 'Cleopatra'");
}

static void a_role_that_comes_and_goes(struct world *w)
{
    struct scene s = open_scene(w);
    struct answer a = client_post(s.ada, "{'name': 'Guard'}", "/guilds/%s/roles", s.test_guild.id);

    expect_status(a, 200);
    const char *role = answer_text(a, "id");
    expect_third(&s, "", "'roles': []");
    expect_status(client_put(s.ada, NULL, "/guilds/%s/members/%s/roles/%s", s.test_guild.id,
                             s.cleo->id, role),
                  204);
    expect_third(&s, "", TEXT(w, "'roles': ['%s']", role));
    /* Its rows go with it, and nobody names them. */
    expect_status(client_delete(s.ada, "/guilds/%s/roles/%s", s.test_guild.id, role), 204);
    expect_third(&s, "", "'roles': []");
}

static void somebody_who_leaves_and_comes_back(struct world *w)
{
    struct scene s = open_scene(w);

    expect_third(&s, "", "'nick': null");
    expect_status(client_delete(s.cleo, "/users/@me/guilds/%s", s.test_guild.id), 204);
    expect_ready(s.ada, PLAIN, "{'guilds': [{'member_count': 2, 'members': [{}, {}]}]}");
    expect_ready(s.ada, REFERRING, "{'users': [{}, {}], 'merged_members': [[{}, {}]]}");
    test_guild_add(&s.test_guild, s.cleo);
    expect_third(&s, "", "'nick': null");
}

/* The one relationship, in both forms. */
static void expect_friend(const struct scene *s, const char *user, const char *relationship)
{
    struct world *w = s->ada->world;

    expect_ready(s->ada, PLAIN,
                 TEXT(w, "{'relationships': [{'user': {%s}, %s}]}", user, relationship));
    expect_ready(s->ada, REFERRING,
                 TEXT(w, "{'users': [{}, {%s}, {}], 'relationships': [{%s}]}", user, relationship));
}

static void a_friend_who_changes(struct world *w)
{
    struct scene s = open_scene(w);

    expect_friend(&s, "'global_name': null", "'type': 1, 'nickname': null");
    expect_status(client_patch(s.bob, "{'global_name': 'B.'}", "/users/@me"), 200);
    expect_friend(&s, "'global_name': 'B.'", "'type': 1, 'nickname': null");
    expect_status(
        client_patch(s.ada, "{'nickname': 'Bobby'}", "/users/@me/relationships/%s", s.bob->id),
        204);
    expect_friend(&s, "'global_name': 'B.'", "'type': 1, 'nickname': 'Bobby'");
    expect_status(client_delete(s.ada, "/users/@me/relationships/%s", s.bob->id), 204);
    expect_ready(s.ada, PLAIN, "{'relationships': []}");
    expect_ready(s.ada, REFERRING, "{'users': [{}, {}, {}], 'relationships': []}");
}

/* The one guild, in all forms. */
static void expect_guild(struct client *c, const char *own, const char *others)
{
    struct world *w = c->world;
    const char *plain = TEXT(w, "{'guilds': [{%s, %s}]}", own, others);

    expect_ready(c, PLAIN, plain);
    expect_ready(c, REFERRING, plain);
    expect_ready(c, APART, TEXT(w, "{'guilds': [{'properties': {%s}, %s}]}", own, others));
}

static void a_guild_that_changes(struct world *w)
{
    struct scene s = open_scene(w);

    expect_guild(
        s.ada, "'name': 'Hall', 'afk_timeout': 300",
        TEXT(w, "'roles': [{}], 'channels': [{'id': '%s', 'topic': null}]", s.test_guild.channel));
    expect_status(client_patch(s.ada, "{'name': 'Court'}", "/guilds/%s", s.test_guild.id), 200);
    expect_guild(s.ada, "'name': 'Court'", "'roles': [{}]");
    expect_status(client_patch(s.ada, "{'topic': 'Talk'}", "/channels/%s", s.test_guild.channel),
                  200);
    expect_guild(s.ada, "'name': 'Court'",
                 TEXT(w, "'channels': [{'id': '%s', 'topic': 'Talk'}]", s.test_guild.channel));
    expect_status(client_post(s.ada, "{'name': 'Guard'}", "/guilds/%s/roles", s.test_guild.id),
                  200);
    expect_guild(s.ada, "'name': 'Court'", "'roles': [{}, {'name': 'Guard'}]");
    expect_status(
        client_post(s.ada, "{'content': 'Hi'}", "/channels/%s/messages", s.test_guild.channel),
        200);
    expect_guild(s.bob, "'name': 'Court'", "'roles': [{}, {'name': 'Guard'}], 'member_count': 3");
}

/* In turns: what one was shown is not what the next one sees. */
static void channels_that_not_all_may_see(struct world *w)
{
    struct scene s = open_scene(w);
    const char *hidden = make_channel(s.ada, s.test_guild.id,
                                      TEXT(w,
                                           "{'name': 'hidden', 'permission_overwrites': "
                                           "[{'id': '%s', 'type': 0, 'deny': '1024'}]}",
                                           s.test_guild.id));
    const char *both = TEXT(w, "'channels': [{'id': '%s'}, {'id': '%s', 'name': 'hidden'}]",
                            s.test_guild.channel, hidden);
    const char *one = TEXT(w, "'channels': [{'id': '%s'}]", s.test_guild.channel);

    for (int i = 0; i < 2; i++) {
        expect_guild(s.ada, "'name': 'Hall'", both);
        expect_guild(s.bob, "'name': 'Hall'", one);
    }
    expect_status(client_delete(s.ada, "/channels/%s/permissions/%s", hidden, s.test_guild.id),
                  204);
    expect_guild(s.bob, "'name': 'Hall'", both);
}

const struct test gateway_kept_tests[] = {
    TEST(a_member_that_changes),
    TEST(a_role_that_comes_and_goes),
    TEST(somebody_who_leaves_and_comes_back),
    TEST(a_friend_who_changes),
    TEST(a_guild_that_changes),
    TEST(channels_that_not_all_may_see),
    { 0 },
};
