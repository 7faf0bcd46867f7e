/* presence.c - which sessions receive the presences of which users. */

#include "base/mem.h"
#include "channels.h"
#include "gateway_conn.h"
#include "test_guild.h"
#include "waits.h"

static const char *const PLAIN = "v=10&encoding=json";

static struct gateway_conn *open_presence_session(struct client *c, const char *more)
{
    struct gateway_conn *g = conn_session(c, PLAIN, more);

    expect_quiet(g);
    conn_watch(g, true);
    return g;
}

static void expect_presence(struct gateway_conn *g, const struct client *who, const char *guild,
                            const char *status)
{
    const struct dom *d = expect_dispatch(
        g, "PRESENCE_UPDATE", "{'user': {'id': '%s'}, 'status': '%s', 'activities': []}", who->id,
        status);
    const struct dom *at = dom_at(d, "guild_id");

    expect(guild ? at && str_is(at->text, guild) : !at);
}

static void members_of_small_guilds_receive_each_others_presence(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *a = open_presence_session(ada, ""), *e = open_presence_session(eve, "");
    struct gateway_conn *b = open_presence_session(bob, "");
    expect_presence(a, bob, v.id, "online");
    expect_quiet(b); /* not about itself */
    struct gateway_conn *r = conn_session(bot, PLAIN, "'intents': 1");
    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_presence(a, bot, v.id, "online");
    expect_presence(b, bot, v.id, "online");
    conn_close(b, 1000);
    expect_presence(a, bob, v.id, "offline");
    conn_close(r, 1000);
    expect_presence(a, bot, v.id, "offline");
    expect_quiet(a);
    expect_quiet(e); /* eve shares no guild with them */
}

static void in_large_guilds_only_bots_with_intent_receive_presences(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    world_sql(w, "update guilds set member_count = 250 where id = %s", v.id);
    struct gateway_conn *a = open_presence_session(ada, ""), *b = open_presence_session(bob, "");
    expect_presence(a, bob, v.id, "online");
    conn_close(a, 1000);
    conn_close(b, 1000);
    world_sql(w, "update guilds set member_count = 251 where id = %s", v.id);
    a = open_presence_session(ada, "");
    b = open_presence_session(bob, "");
    expect_quiet(a);
    conn_close(b, 1000);
    struct gateway_conn *r = open_presence_session(bot, "'intents': 256"),
                        *deaf = open_presence_session(bot, "'intents': 512");
    expect_soon(conn_census(r, "guilds") == 1);
    b = open_presence_session(bob, "");
    expect_presence(r, bob, v.id, "online");
    expect_quiet(r);
    expect_quiet(a);
    expect_quiet(deaf);
}

static void friends_receive_each_others_presence_without_a_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct gateway_conn *a = open_presence_session(ada, ""), *e = open_presence_session(eve, "");

    make_friends(ada, bob);
    struct gateway_conn *b = conn_open(bob, PLAIN);
    expect_op(b, 10);
    conn_identify(b, "");
    expect_dispatch(b, "READY",
                    "{'presences': [{'user': {'id': '%s'}, 'status': 'online',"
                    " 'client_status': {'web': 'online'}}]}",
                    ada->id);
    expect_presence(a, bob, NULL, "online");
    conn_send(b, "{'op':3,'d':{'status':'dnd','since':null,'afk':false,'activities':[]}}");
    expect_presence(a, bob, NULL, "dnd");
    conn_close(b, 1000);
    expect_presence(a, bob, NULL, "offline");
    /* An invisible user appears offline, but still sees others. */
    b = open_presence_session(
        bob, "'presence': {'status': 'invisible', 'activities': [], 'afk': false}");
    expect_quiet(a);
    conn_close(a, 1000);
    expect_presence(b, ada, NULL, "offline");
    a = conn_open(ada, PLAIN);
    expect_op(a, 10);
    conn_identify(a, "");
    const struct dom *d = expect_dispatch(a, "READY", "{'presences': []}");
    expect(dom_at(d, "presences")->count == 0);
    expect_quiet(e);
}

static void presence_shows_the_most_active_session_of_a_user(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *a = open_presence_session(ada, "");
    struct gateway_conn *first = conn_session(bob, PLAIN, "'presence': {'status': 'idle'}");
    expect_presence(a, bob, v.id, "idle");
    struct gateway_conn *second = conn_session(bob, PLAIN, "");
    expect_presence(a, bob, v.id, "online");
    struct gateway_conn *third = conn_session(bob, PLAIN, "'presence': {'status': 'dnd'}");
    expect_presence(a, bob, v.id, "dnd");
    struct gateway_conn *fourth = conn_session(bob, PLAIN, "'presence': {'status': 'online'}");
    expect_quiet(a);
    conn_close(third, 1000);
    expect_presence(a, bob, v.id, "online");
    conn_close(second, 1000);
    expect_quiet(a);
    conn_close(fourth, 1000);
    expect_presence(a, bob, v.id, "idle");
    conn_close(first, 1000);
    expect_presence(a, bob, v.id, "offline");
}

static void user_goes_offline_a_minute_after_losing_the_socket(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *a = open_presence_session(ada, ""), *b = open_presence_session(bob, "");
    expect_presence(a, bob, v.id, "online");
    conn_lose(b);
    world_wait(w, 50);
    expect_quiet(a);
    world_wait(w, 11);
    expect_presence(a, bob, v.id, "offline");
    struct gateway_conn *back = conn_open(bob, PLAIN);
    expect_op(back, 10);
    conn_resume(back, conn_id(b), conn_seq(b));
    expect_dispatch(back, "RESUMED", "{}");
    expect_presence(a, bob, v.id, "online");
    expect_quiet(a);
}

static void activities_in_identify_are_shown_in_the_presence(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *a = open_presence_session(ada, "");
    conn_session(bot, PLAIN,
                 "'intents': 1, 'presence': {'status': 'idle', 'activities':"
                 " [{'name': 'chess', 'type': 0, 'secret': 1}], 'since': null, 'afk': false}");
    const struct dom *d = expect_dispatch(
        a, "PRESENCE_UPDATE",
        "{'user': {'id': '%s'}, 'status': 'idle', 'activities': [{'name': 'chess', 'type': 0}]}",
        bot->id);
    expect(
        !dom_at(d, "activities.0.secret")); /* activities of bots have name, type, state and url */
    /* The deprecated field game: one activity, or none. */
    conn_session(bob, PLAIN, "'presence': {'game': {'name': 'go', 'type': 3, 'details': 'x'}}");
    expect_dispatch(a, "PRESENCE_UPDATE",
                    "{'status': 'online', 'activities': [{'name': 'go', 'details': 'x'}]}");
    struct gateway_conn *other = conn_open(bob, PLAIN);
    expect_op(other, 10);
    conn_identify(other, "'presence': {'game': null, 'activities': null, 'status': 'idle'}");
    expect_dispatch(other, "READY",
                    "{'sessions': [{'activities': [{'name': 'go'}]}, {'activities': []}]}");
}

static void invalid_activities_are_dropped_from_the_presence(struct world *w)
{
    static const char *const bad[] = {
        "null",
        "5",
        "'x'",
        "{}",
        "{'name': 5}",
        "{'name': ''}",
        "[[]]",
        "{'name': 'x', 'type': 6}",
        "{'name': 'x', 'type': -1}",
        "{'name': 'x', 'type': '0'}",
        "{'name': 'x', 'timestamps': 'x'}",
        "{'name': 'x', 'emoji': 5}",
        "{'name': 'x', 'buttons': {}}",
        "{'name': 'x', 'timestamps': {'start': 1e999}}",
        "{'name': 'x', 'a': [[[[[[[[[1]]]]]]]]]}", /* nested too deeply */
    };
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *a = open_presence_session(ada, "");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct gateway_conn *b = conn_session(bob, PLAIN, "");
        const struct dom *d;

        expect_presence(a, bob, v.id, "online");
        conn_send(b, "{'op':3,'d':{'status':'dnd','activities':[%s,{'name':'ok','type':5}]}}",
                  bad[i]);
        d = expect_dispatch(a, "PRESENCE_UPDATE", "{'activities': [{'name': 'ok'}]}");
        expect(dom_at(d, "activities")->count == 1);
        conn_close(b, 1000);
        expect_presence(a, bob, v.id, "offline");
    }
}

/* Expects this number of members in a guild and this user's presence. */
static void expect_guild_members(const struct dom *guild, size_t members, const char *seen)
{
    const struct dom *all = dom_at(guild, "presences");

    expect(dom_at(guild, "members")->count == members);
    expect(all->count == (seen ? 1 : 0));
    expect(!seen || str_is(dom_at(all, "0.user.id")->text, seen));
}

static const struct dom *guild_create_of_bot(struct client *bot, const char *intents)
{
    struct gateway_conn *g = conn_session(bot, PLAIN, intents);

    return expect_dispatch(g, "GUILD_CREATE", "{}");
}

static const struct dom *ready_guild_of_user(struct client *c)
{
    struct gateway_conn *g = conn_open(c, PLAIN);

    expect_op(g, 10);
    conn_identify(g, "");
    return dom_at(expect_dispatch(g, "READY", "{}"), "guilds.0");
}

static void guild_create_contains_the_visible_presences(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    test_guild_add(&v, bot);
    make_friends(ada, bob);
    conn_session(ada, PLAIN, "");
    /* Without the presences intent the bot gets only its own member. */
    expect_guild_members(guild_create_of_bot(bot, "'intents': 1"), 1, NULL);
    expect_guild_members(guild_create_of_bot(bot, "'intents': 257"), 4, ada->id);
    expect_guild_members(ready_guild_of_user(bob), 4, ada->id);
    expect_guild_members(ready_guild_of_user(eve), 4, NULL);
}

static void large_guild_lists_only_members_with_visible_presence(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    test_guild_add(&v, bot);
    make_friends(ada, bob);
    world_sql(w, "update guilds set member_count = 251 where id = %s", v.id);
    conn_session(ada, PLAIN, "");
    expect_guild_members(guild_create_of_bot(bot, "'intents': 1"), 1, NULL);
    expect_guild_members(guild_create_of_bot(bot, "'intents': 257, 'large_threshold': 250"), 2,
                         ada->id);
    expect_guild_members(ready_guild_of_user(eve), 1, NULL);
    expect_guild_members(ready_guild_of_user(bob), 2, ada->id);
}

static void member_chunks_contain_presences_when_requested(struct world *w)
{
    static const char *const ask =
        "{'op':8,'d':{'guild_id':'%s','query':'','limit':10,'presences':%s}}";
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *a = conn_session(ada, PLAIN, "'presence': {'status': 'dnd'}"),
                        *watches = conn_session(bot, PLAIN, "'intents': 256"),
                        *deaf = conn_session(bot, PLAIN, "'intents': 2");
    conn_send(watches, ask, v.id, "true");
    const struct dom *d =
        expect_dispatch(watches, "GUILD_MEMBERS_CHUNK",
                        "{'presences': [{'status': 'dnd', 'guild_id': '%s'}]}", v.id);
    conn_send(watches, ask, v.id, "false");
    d = expect_dispatch(watches, "GUILD_MEMBERS_CHUNK", "{}");
    expect(!dom_at(d, "presences"));
    conn_send(deaf, ask, v.id, "true");
    d = expect_dispatch(deaf, "GUILD_MEMBERS_CHUNK", "{}");
    expect(!dom_at(d, "presences"));
    conn_send(a, ask, v.id, "true");
    expect_dispatch(a, "GUILD_MEMBERS_CHUNK", "{'presences': [{'status': 'online'}]}");
}

static void guild_member_add_is_sent_to_users_in_small_guilds_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    struct answer made = client_post(ada, "{}", "/channels/%s/invites", v.channel);
    const char *code = answer_text(made, "code");
    test_guild_add(&v, bot);
    world_sql(w, "update guilds set member_count = 249 where id = %s", v.id);
    struct gateway_conn *a = conn_session(ada, PLAIN, ""),
                        *r = conn_session(bot, PLAIN, "'intents': 2");
    expect_quiet(r);
    expect_soon(conn_census(r, "guilds") == 1);
    expect_status(client_post(bob, "{}", "/invites/%s", code), 200);
    expect_dispatch(a, "GUILD_MEMBER_ADD", "{'user': {'id': '%s'}}", bob->id);
    expect_dispatch(r, "GUILD_MEMBER_ADD", "{'user': {'id': '%s'}}", bob->id);
    expect_status(client_post(eve, "{}", "/invites/%s", code), 200);
    expect_dispatch(r, "GUILD_MEMBER_ADD", "{'user': {'id': '%s'}}", eve->id);
    expect_quiet(a);
}

/* --- client status -------------------------------------------------------------------- */

static struct gateway_conn *open_session_as(struct client *c, const char *browser,
                                            const char *status)
{
    struct gateway_conn *g = conn_open(c, PLAIN);

    expect_op(g, 10);
    conn_send(g,
              "{'op':2,'d':{'token':'%s','properties':{'os':'x','browser':'%s','device':''},"
              "'intents':0,'presence':{'status':'%s'}}}",
              c->authorization, browser, status);
    expect_dispatch(g, "READY", "{}");
    return g;
}

static void expect_client_status_in_presence(struct gateway_conn *g, const char *status,
                                             const char *clients, size_t count)
{
    const struct dom *d = expect_dispatch(g, "PRESENCE_UPDATE",
                                          "{'status': '%s', 'client_status': %s}", status, clients);

    expect(dom_at(d, "client_status")->count == count);
}

static void client_status_shows_each_platform_of_a_user(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *a = open_presence_session(ada, ""), *e = open_presence_session(eve, "");
    struct gateway_conn *web = open_session_as(bob, "Firefox", "idle");
    expect_client_status_in_presence(a, "idle", "{'web': 'idle'}", 1);
    struct gateway_conn *desktop = open_session_as(bob, "Some Client", "online");
    expect_client_status_in_presence(a, "online", "{'web': 'idle', 'desktop': 'online'}", 2);
    struct gateway_conn *phone = open_session_as(bob, "Some Android", "dnd");
    expect_client_status_in_presence(a, "dnd",
                                     "{'web': 'idle', 'desktop': 'online', 'mobile': 'dnd'}", 3);
    struct gateway_conn *tablet = open_session_as(bob, "Some iOS", "idle");
    expect_quiet(a); /* the mobile session is more active */
    conn_close(phone, 1000);
    expect_client_status_in_presence(a, "online",
                                     "{'web': 'idle', 'desktop': 'online', 'mobile': 'idle'}", 3);
    /* A change of client_status alone is sent, too. */
    conn_close(web, 1000);
    expect_client_status_in_presence(a, "online", "{'desktop': 'online', 'mobile': 'idle'}", 2);
    conn_close(desktop, 1000);
    expect_client_status_in_presence(a, "idle", "{'mobile': 'idle'}", 1);
    struct gateway_conn *late = conn_open(ada, PLAIN);
    expect_op(late, 10);
    make_friends(ada, bob);
    conn_identify(late, "");
    expect_dispatch(late, "READY", "{'presences': [{'client_status': {'mobile': 'idle'}}]}");
    conn_watch(late, true);
    conn_close(tablet, 1000);
    /* On PostgreSQL friends are read in the background: a new friend may receive a presence that
     * READY already contained. */
    const struct dom *d;
    do
        d = expect_dispatch(late, "PRESENCE_UPDATE", "{'user': {'id': '%s'}}", bob->id);
    while (str_is(dom_at(d, "status")->text, "idle"));
    expect(str_is(dom_at(d, "status")->text, "offline"));
    expect(dom_at(d, "client_status")->count == 0);
    expect_quiet(e);
}

static void sessions_replace_lists_the_sessions_of_the_account(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct gateway_conn *other = conn_session(bob, PLAIN, "");
    struct gateway_conn *robot = conn_session(bot, PLAIN, "'intents': 0");
    struct gateway_conn *first = conn_session(ada, PLAIN, "");
    struct gateway_conn *second = open_session_as(ada, "Some iOS", "dnd");

    expect_dispatch(first, "SESSIONS_REPLACE",
                    "[{'session_id': '%s', 'client_info': {'os': 'test'}},"
                    " {'status': 'dnd', 'client_info': {'client': 'Some iOS'}}]",
                    conn_id(first));
    expect_quiet(second);
    conn_close(second, 1000);
    expect_dispatch(first, "SESSIONS_REPLACE", "[{'session_id': '%s'}]", conn_id(first));
    /* Bots and other users do not receive the list. */
    conn_close(conn_session(bot, PLAIN, "'intents': 0"), 1000);
    expect_quiet(robot);
    expect_quiet(other);
    /* A session without a socket is listed until it expires. */
    struct gateway_conn *third = conn_session(ada, PLAIN, "");
    expect_dispatch(first, "SESSIONS_REPLACE", "[{}, {}]");
    conn_lose(third);
    for (int i = 0; i < 5; i++) {
        expect_quiet(first);
        expect_quiet(robot);
        expect_quiet(other);
        world_wait(w, 36);
    }
    expect_dispatch(first, "SESSIONS_REPLACE", "[{'session_id': '%s'}]", conn_id(first));
}

/* --- presence counts ------------------------------------------------------------------ */

static int64_t read_count(struct client *c, const char *path, const char *name)
{
    struct answer a = client_get(c, "%s", path);
    int64_t n = -1;

    expect_status(a, 200);
    expect(dom_at(a.json, name) && str_to_i64(dom_at(a.json, name)->text, &n));
    return n;
}

static int64_t read_presence_count(struct client *c, const char *guild)
{
    return read_count(c, TEXT(c->world, "/guilds/%s?with_counts=true", guild),
                      "approximate_presence_count");
}

static void approximate_presence_count_counts_visible_members(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot"), *eve = world_client(w, "eve");
    const char *guild = found_guild(ada, "Hall");
    const char *room = make_channel(ada, guild, "{'name': 'room'}");
    struct answer invite = client_post(ada, "{}", "/channels/%s/invites", room);

    put_member(guild, bob);
    put_member(guild, bot);
    expect_soon(read_presence_count(ada, guild) == 0);
    struct gateway_conn *b = conn_session(bob, PLAIN, ""), *again = conn_session(bob, PLAIN, "");
    conn_session(eve, PLAIN, ""); /* is not in the guild */
    expect_soon(read_presence_count(ada, guild) == 1);
    struct gateway_conn *r = conn_session(bot, PLAIN, "'intents': 1");
    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_soon(read_presence_count(ada, guild) == 2);
    expect(read_count(ada, TEXT(w, "/guilds/%s/preview", guild), "approximate_presence_count") ==
           2);
    expect(read_count(ada, "/users/@me/guilds?with_counts=true", "0.approximate_presence_count") ==
           2);
    expect(read_count(world_anonymous(w),
                      TEXT(w, "/invites/%s?with_counts=true", answer_text(invite, "code")),
                      "approximate_presence_count") == 2);
    expect_status(client_patch(ada, "{'enabled': true}", "/guilds/%s/widget", guild), 200);
    expect(read_count(world_anonymous(w), TEXT(w, "/guilds/%s/widget.json", guild),
                      "presence_count") == 2);
    /* The first of two sessions closes; the other one is invisible, then online. */
    conn_close(again, 1000);
    conn_send(b, "{'op':3,'d':{'status':'invisible','activities':[],'since':null,'afk':false}}");
    expect_soon(read_presence_count(ada, guild) == 1);
    conn_send(b, "{'op':3,'d':{'status':'idle','activities':[],'since':null,'afk':false}}");
    expect_soon(read_presence_count(ada, guild) == 2);
    /* A session without a socket counts for a minute. */
    conn_lose(b);
    expect_soon(read_presence_count(ada, guild) == 2);
    world_wait(w, 61);
    expect_soon(read_presence_count(ada, guild) == 1);
    /* A member who left does not count. */
    expect_status(client_delete(ada, "/guilds/%s/members/%s", guild, bot->id), 204);
    expect_soon(read_presence_count(ada, guild) == 0);
}

const struct test gateway_presence_tests[] = {
    TEST(approximate_presence_count_counts_visible_members),
    TEST(client_status_shows_each_platform_of_a_user),
    TEST(sessions_replace_lists_the_sessions_of_the_account),
    TEST(member_chunks_contain_presences_when_requested),
    TEST(guild_member_add_is_sent_to_users_in_small_guilds_only),
    TEST(activities_in_identify_are_shown_in_the_presence),
    TEST(invalid_activities_are_dropped_from_the_presence),
    TEST(guild_create_contains_the_visible_presences),
    TEST(large_guild_lists_only_members_with_visible_presence),
    TEST(members_of_small_guilds_receive_each_others_presence),
    TEST(in_large_guilds_only_bots_with_intent_receive_presences),
    TEST(friends_receive_each_others_presence_without_a_guild),
    TEST(presence_shows_the_most_active_session_of_a_user),
    TEST(user_goes_offline_a_minute_after_losing_the_socket),
    { 0 },
};
