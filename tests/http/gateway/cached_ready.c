/* cached_ready.c - READY contains current users and guilds although the server caches them. */
#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"

#include "base/mem.h"

/* Forms of READY: users inline, users in one list, guild properties nested. */
enum { PLAIN = 0, USER_LIST = 1 << 4, NESTED = 1 << 10 };

/* More often than there are loops, because each loop has its own cache. */
enum { TIMES = 6 };

struct ready_fixture {
    struct client *ada, *bob, *cleo;
    struct test_guild test_guild;
};

static struct ready_fixture create_ready_fixture(struct world *w)
{
    struct ready_fixture s = { .ada = world_client(w, "ada"),
                               .bob = world_client(w, "bob"),
                               .cleo = world_client(w, "cleo") };

    s.test_guild = world_test_guild(w, s.ada);
    test_guild_add(&s.test_guild, s.bob);
    test_guild_add(&s.test_guild, s.cleo);
    make_friends(s.ada, s.bob);
    return s;
}

static void expect_ready_of_new_sessions(struct client *c, int capabilities, const char *ready)
{
    for (int i = 0; i < TIMES; i++) {
        struct gateway_conn *g = conn_open(c, "v=9&encoding=json");

        expect_op(g, 10);
        conn_identify(g, TEXT(c->world, "'capabilities': %d", capabilities));
        expect_dispatch(g, "READY", "%s", ready);
        conn_close(g, 1000);
    }
}

/* Expects these fields of the third member and its user in both forms. */
static void expect_third_member_in_ready(const struct ready_fixture *s, const char *user,
                                         const char *member)
{
    struct world *w = s->ada->world;

    expect_ready_of_new_sessions(
        s->ada, PLAIN,
        TEXT(w, "{'guilds': [{'members': [{}, {}, {'user': {%s}, %s}]}]}", user, member));
    expect_ready_of_new_sessions(
        s->ada, USER_LIST,
        TEXT(w, "{'users': [{}, {}, {%s}], 'merged_members': [[{}, {}, {%s}]]}", user, member));
}

static void ready_shows_a_members_changed_nick_and_global_name(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);

    expect_third_member_in_ready(&s, "'global_name': null", "'nick': null");
    expect_status(
        client_patch(s.cleo, "{'nick': 'Cleopatra'}", "/guilds/%s/members/@me", s.test_guild.id),
        200);
    expect_third_member_in_ready(&s, "'global_name': null", "'nick': 'Cleopatra'");
    expect_status(client_patch(s.cleo, "{'global_name': 'C.'}", "/users/@me"), 200);
    expect_third_member_in_ready(&s, "'global_name': 'C.'", "'nick': 'Cleopatra'");
}

static void ready_shows_added_and_deleted_roles_of_a_member(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    struct answer a = client_post(s.ada, "{'name': 'Guard'}", "/guilds/%s/roles", s.test_guild.id);

    expect_status(a, 200);
    const char *role = answer_text(a, "id");
    expect_third_member_in_ready(&s, "", "'roles': []");
    expect_status(client_put(s.ada, NULL, "/guilds/%s/members/%s/roles/%s", s.test_guild.id,
                             s.cleo->id, role),
                  204);
    expect_third_member_in_ready(&s, "", TEXT(w, "'roles': ['%s']", role));
    /* Deleting the role deletes the member's role rows without an explicit invalidation. */
    expect_status(client_delete(s.ada, "/guilds/%s/roles/%s", s.test_guild.id, role), 204);
    expect_third_member_in_ready(&s, "", "'roles': []");
}

static void ready_shows_members_who_left_and_rejoined(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);

    expect_third_member_in_ready(&s, "", "'nick': null");
    expect_status(client_delete(s.cleo, "/users/@me/guilds/%s", s.test_guild.id), 204);
    expect_ready_of_new_sessions(s.ada, PLAIN,
                                 "{'guilds': [{'member_count': 2, 'members': [{}, {}]}]}");
    expect_ready_of_new_sessions(s.ada, USER_LIST,
                                 "{'users': [{}, {}], 'merged_members': [[{}, {}]]}");
    test_guild_add(&s.test_guild, s.cleo);
    expect_third_member_in_ready(&s, "", "'nick': null");
}

/* Expects the only relationship in both forms. */
static void expect_friend_in_ready(const struct ready_fixture *s, const char *user,
                                   const char *relationship)
{
    struct world *w = s->ada->world;

    expect_ready_of_new_sessions(
        s->ada, PLAIN, TEXT(w, "{'relationships': [{'user': {%s}, %s}]}", user, relationship));
    expect_ready_of_new_sessions(
        s->ada, USER_LIST,
        TEXT(w, "{'users': [{}, {%s}, {}], 'relationships': [{%s}]}", user, relationship));
}

static void ready_shows_changes_of_a_friend(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);

    expect_friend_in_ready(&s, "'global_name': null", "'type': 1, 'nickname': null");
    expect_status(client_patch(s.bob, "{'global_name': 'B.'}", "/users/@me"), 200);
    expect_friend_in_ready(&s, "'global_name': 'B.'", "'type': 1, 'nickname': null");
    expect_status(
        client_patch(s.ada, "{'nickname': 'Bobby'}", "/users/@me/relationships/%s", s.bob->id),
        204);
    expect_friend_in_ready(&s, "'global_name': 'B.'", "'type': 1, 'nickname': 'Bobby'");
    expect_status(client_delete(s.ada, "/users/@me/relationships/%s", s.bob->id), 204);
    expect_ready_of_new_sessions(s.ada, PLAIN, "{'relationships': []}");
    expect_ready_of_new_sessions(s.ada, USER_LIST, "{'users': [{}, {}, {}], 'relationships': []}");
}

/* Each change must appear in the next READY, and not in that of another account. */
static void ready_shows_changed_settings_of_the_account(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    const char *const changes[][3] = {
        { "{'pronouns': 'she'}", "/users/@me/profile", "'user': {'pronouns': 'she'}" },
        { "{'global_name': 'A.'}", "/users/@me", "'user': {'global_name': 'A.'}" },
        { "{'afk_timeout': 60}", "/users/@me/settings", "'user_settings': {'afk_timeout': 60}" },
        { "{'muted': true}", TEXT(w, "/users/@me/guilds/%s/settings", s.test_guild.id),
          "'user_guild_settings': [{'muted': true}]" },
        { "{'flags': 16}", "/users/@me/notification-settings",
          "'notification_settings': {'flags': 16}" },
        { "{'settings': 'EgJhYigB'}", "/users/@me/settings-proto/1",
          "'user_settings_proto': 'CgIYARICYWIoAQ=='" },
    };

    expect_ready_of_new_sessions(s.ada, PLAIN, "{'notes': {}, 'user_guild_settings': []}");
    expect_status(client_put(s.ada, "{'note': 'Kind'}", "/users/@me/notes/%s", s.bob->id), 204);
    expect_ready_of_new_sessions(s.ada, PLAIN, TEXT(w, "{'notes': {'%s': 'Kind'}}", s.bob->id));
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        expect_status(client_patch(s.ada, changes[i][0], "%s", changes[i][1]), 200);
        expect_ready_of_new_sessions(s.ada, PLAIN, TEXT(w, "{%s}", changes[i][2]));
    }
    expect_ready_of_new_sessions(
        s.bob, PLAIN, "{'notes': {}, 'user_guild_settings': [], 'user': {'pronouns': ''}}");
}

/* The settings are cached for each set of capabilities that changes them. */
static void cached_settings_depend_on_the_capabilities(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);

    for (int i = 0; i < 2; i++) {
        expect_ready_of_new_sessions(s.ada, PLAIN, "{'notes': {}, 'user_guild_settings': []}");
        expect_ready_of_new_sessions(s.ada, 1 << 3, "{'user_guild_settings': {'entries': []}}");
    }
}

/* Expects the only guild in all forms. */
static void expect_guild_in_ready(struct client *c, const char *own, const char *others)
{
    struct world *w = c->world;
    const char *plain = TEXT(w, "{'guilds': [{%s, %s}]}", own, others);

    expect_ready_of_new_sessions(c, PLAIN, plain);
    expect_ready_of_new_sessions(c, USER_LIST, plain);
    expect_ready_of_new_sessions(c, NESTED,
                                 TEXT(w, "{'guilds': [{'properties': {%s}, %s}]}", own, others));
}

static void ready_shows_changes_of_a_guild(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);

    expect_guild_in_ready(
        s.ada, "'name': 'Hall', 'afk_timeout': 300",
        TEXT(w, "'roles': [{}], 'channels': [{'id': '%s', 'topic': null}]", s.test_guild.channel));
    expect_status(client_patch(s.ada, "{'name': 'Court'}", "/guilds/%s", s.test_guild.id), 200);
    expect_guild_in_ready(s.ada, "'name': 'Court'", "'roles': [{}]");
    expect_status(client_patch(s.ada, "{'topic': 'Talk'}", "/channels/%s", s.test_guild.channel),
                  200);
    expect_guild_in_ready(
        s.ada, "'name': 'Court'",
        TEXT(w, "'channels': [{'id': '%s', 'topic': 'Talk'}]", s.test_guild.channel));
    expect_status(client_post(s.ada, "{'name': 'Guard'}", "/guilds/%s/roles", s.test_guild.id),
                  200);
    expect_guild_in_ready(s.ada, "'name': 'Court'", "'roles': [{}, {'name': 'Guard'}]");
    expect_status(
        client_post(s.ada, "{'content': 'Hi'}", "/channels/%s/messages", s.test_guild.channel),
        200);
    expect_guild_in_ready(s.bob, "'name': 'Court'",
                          "'roles': [{}, {'name': 'Guard'}], 'member_count': 3");
}

/* Two users identify alternately, so that a cached guild of one user could reach the other. */
static void cached_ready_shows_each_user_only_visible_channels(struct world *w)
{
    struct ready_fixture s = create_ready_fixture(w);
    const char *hidden = make_channel(s.ada, s.test_guild.id,
                                      TEXT(w,
                                           "{'name': 'hidden', 'permission_overwrites': "
                                           "[{'id': '%s', 'type': 0, 'deny': '1024'}]}",
                                           s.test_guild.id));
    const char *both = TEXT(w, "'channels': [{'id': '%s'}, {'id': '%s', 'name': 'hidden'}]",
                            s.test_guild.channel, hidden);
    const char *one = TEXT(w, "'channels': [{'id': '%s'}]", s.test_guild.channel);

    for (int i = 0; i < 2; i++) {
        expect_guild_in_ready(s.ada, "'name': 'Hall'", both);
        expect_guild_in_ready(s.bob, "'name': 'Hall'", one);
    }
    expect_status(client_delete(s.ada, "/channels/%s/permissions/%s", hidden, s.test_guild.id),
                  204);
    expect_guild_in_ready(s.bob, "'name': 'Hall'", both);
}

const struct test gateway_cached_ready_tests[] = {
    TEST(ready_shows_a_members_changed_nick_and_global_name),
    TEST(ready_shows_added_and_deleted_roles_of_a_member),
    TEST(ready_shows_members_who_left_and_rejoined),
    TEST(ready_shows_changes_of_a_friend),
    TEST(ready_shows_changed_settings_of_the_account),
    TEST(cached_settings_depend_on_the_capabilities),
    TEST(ready_shows_changes_of_a_guild),
    TEST(cached_ready_shows_each_user_only_visible_channels),
    { 0 },
};
