/* gateway_presence.c - who sees whom come and go. */

#include "base/mem.h"
#include "channels.h"
#include "gateway_conn.h"
#include "test_guild.h"
#include "waits.h"

static const char *const PLAIN = "v=10&encoding=json";

static struct gateway_conn *watcher(struct client *c, const char *more)
{
    struct gateway_conn *g = conn_session(c, PLAIN, more);

    expect_quiet(g);
    conn_watch(g, true);
    return g;
}

static void expect_seen(struct gateway_conn *g, const struct client *who, const char *guild,
                        const char *status)
{
    const struct dom *d = expect_dispatch(
        g, "PRESENCE_UPDATE", "{'user': {'id': '%s'}, 'status': '%s', 'activities': []}", who->id,
        status);
    const struct dom *at = dom_at(d, "guild_id");

    expect(guild ? at && str_is(at->text, guild) : !at);
}

static void members_of_small_guilds_see_each_other(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *a = watcher(ada, ""), *e = watcher(eve, "");
    struct gateway_conn *b = watcher(bob, "");
    expect_seen(a, bob, v.id, "online");
    expect_quiet(b); /* not of itself */
    struct gateway_conn *r = conn_session(bot, PLAIN, "'intents': 1");
    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_seen(a, bot, v.id, "online");
    expect_seen(b, bot, v.id, "online");
    conn_close(b, 1000);
    expect_seen(a, bob, v.id, "offline");
    conn_close(r, 1000);
    expect_seen(a, bot, v.id, "offline");
    expect_quiet(a);
    expect_quiet(e); /* shares nothing with them */
}

static void in_large_guilds_only_bots_that_ask_do(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    world_sql(w, "update guilds set member_count = 250 where id = %s", v.id);
    struct gateway_conn *a = watcher(ada, ""), *b = watcher(bob, "");
    expect_seen(a, bob, v.id, "online");
    conn_close(a, 1000);
    conn_close(b, 1000);
    world_sql(w, "update guilds set member_count = 251 where id = %s", v.id);
    a = watcher(ada, "");
    b = watcher(bob, "");
    expect_quiet(a);
    conn_close(b, 1000);
    struct gateway_conn *r = watcher(bot, "'intents': 256"), *deaf = watcher(bot, "'intents': 512");
    expect_soon(conn_census(r, "guilds") == 1);
    b = watcher(bob, "");
    expect_seen(r, bob, v.id, "online");
    expect_quiet(r);
    expect_quiet(a);
    expect_quiet(deaf);
}

static void friends_see_each_other_wherever_they_are(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct gateway_conn *a = watcher(ada, ""), *e = watcher(eve, "");

    make_friends(ada, bob);
    struct gateway_conn *b = conn_open(bob, PLAIN);
    expect_op(b, 10);
    conn_identify(b, "");
    expect_dispatch(b, "READY",
                    "{'presences': [{'user': {'id': '%s'}, 'status': 'online',"
                    " 'client_status': {'web': 'online'}}]}",
                    ada->id);
    expect_seen(a, bob, NULL, "online");
    conn_send(b, "{'op':3,'d':{'status':'dnd','since':null,'afk':false,'activities':[]}}");
    expect_seen(a, bob, NULL, "dnd");
    conn_close(b, 1000);
    expect_seen(a, bob, NULL, "offline");
    /* Who does not want to be seen is not, and sees others all the same. */
    b = watcher(bob, "'presence': {'status': 'invisible', 'activities': [], 'afk': false}");
    expect_quiet(a);
    conn_close(a, 1000);
    expect_seen(b, ada, NULL, "offline");
    a = conn_open(ada, PLAIN);
    expect_op(a, 10);
    conn_identify(a, "");
    const struct dom *d = expect_dispatch(a, "READY", "{'presences': []}");
    expect(dom_at(d, "presences")->count == 0);
    expect_quiet(e);
}

static void the_most_present_session_counts(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *a = watcher(ada, "");
    struct gateway_conn *first = conn_session(bob, PLAIN, "'presence': {'status': 'idle'}");
    expect_seen(a, bob, v.id, "idle");
    struct gateway_conn *second = conn_session(bob, PLAIN, "");
    expect_seen(a, bob, v.id, "online");
    struct gateway_conn *third = conn_session(bob, PLAIN, "'presence': {'status': 'dnd'}");
    expect_seen(a, bob, v.id, "dnd");
    struct gateway_conn *fourth = conn_session(bob, PLAIN, "'presence': {'status': 'online'}");
    expect_quiet(a);
    conn_close(third, 1000);
    expect_seen(a, bob, v.id, "online");
    conn_close(second, 1000);
    expect_quiet(a);
    conn_close(fourth, 1000);
    expect_seen(a, bob, v.id, "idle");
    conn_close(first, 1000);
    expect_seen(a, bob, v.id, "offline");
}

static void who_lost_the_socket_is_seen_for_a_minute(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *a = watcher(ada, ""), *b = watcher(bob, "");
    expect_seen(a, bob, v.id, "online");
    conn_lose(b);
    world_wait(w, 50);
    expect_quiet(a);
    world_wait(w, 11);
    expect_seen(a, bob, v.id, "offline");
    struct gateway_conn *back = conn_open(bob, PLAIN);
    expect_op(back, 10);
    conn_resume(back, conn_id(b), conn_seq(b));
    expect_dispatch(back, "RESUMED", "{}");
    expect_seen(a, bob, v.id, "online");
    expect_quiet(a);
}

static void what_somebody_does_is_seen_from_the_beginning(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, bot);
    struct gateway_conn *a = watcher(ada, "");
    conn_session(bot, PLAIN,
                 "'intents': 1, 'presence': {'status': 'idle', 'activities':"
                 " [{'name': 'chess', 'type': 0, 'secret': 1}], 'since': null, 'afk': false}");
    const struct dom *d = expect_dispatch(
        a, "PRESENCE_UPDATE",
        "{'user': {'id': '%s'}, 'status': 'idle', 'activities': [{'name': 'chess', 'type': 0}]}",
        bot->id);
    expect(!dom_at(d, "activities.0.secret")); /* bots have a name, a type, a state and a url */
    /* The old way: one, or none. */
    conn_session(bob, PLAIN, "'presence': {'game': {'name': 'go', 'type': 3, 'details': 'x'}}");
    expect_dispatch(a, "PRESENCE_UPDATE",
                    "{'status': 'online', 'activities': [{'name': 'go', 'details': 'x'}]}");
    struct gateway_conn *other = conn_open(bob, PLAIN);
    expect_op(other, 10);
    conn_identify(other, "'presence': {'game': null, 'activities': null, 'status': 'idle'}");
    expect_dispatch(other, "READY",
                    "{'sessions': [{'activities': [{'name': 'go'}]}, {'activities': []}]}");
}

static void what_is_no_activity_is_not_shown(struct world *w)
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
        "{'name': 'x', 'a': [[[[[[[[[1]]]]]]]]]}", /* deeper than others have to read */
    };
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *a = watcher(ada, "");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct gateway_conn *b = conn_session(bob, PLAIN, "");
        const struct dom *d;

        expect_seen(a, bob, v.id, "online");
        conn_send(b, "{'op':3,'d':{'status':'dnd','activities':[%s,{'name':'ok','type':5}]}}",
                  bad[i]);
        d = expect_dispatch(a, "PRESENCE_UPDATE", "{'activities': [{'name': 'ok'}]}");
        expect(dom_at(d, "activities")->count == 1);
        conn_close(b, 1000);
        expect_seen(a, bob, v.id, "offline");
    }
}

/* Of a guild as somebody is shown it: how many members are listed, and who is seen. */
static void expect_shown(const struct dom *guild, size_t members, const char *seen)
{
    const struct dom *all = dom_at(guild, "presences");

    expect(dom_at(guild, "members")->count == members);
    expect(all->count == (seen ? 1 : 0));
    expect(!seen || str_is(dom_at(all, "0.user.id")->text, seen));
}

static const struct dom *guild_of_bot(struct client *bot, const char *intents)
{
    struct gateway_conn *g = conn_session(bot, PLAIN, intents);

    return expect_dispatch(g, "GUILD_CREATE", "{}");
}

static const struct dom *guild_of_user(struct client *c)
{
    struct gateway_conn *g = conn_open(c, PLAIN);

    expect_op(g, 10);
    conn_identify(g, "");
    return dom_at(expect_dispatch(g, "READY", "{}"), "guilds.0");
}

static void a_guild_comes_with_who_is_seen_in_it(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    test_guild_add(&v, bot);
    make_friends(ada, bob);
    conn_session(ada, PLAIN, "");
    /* Without that intent a bot is shown itself. */
    expect_shown(guild_of_bot(bot, "'intents': 1"), 1, NULL);
    expect_shown(guild_of_bot(bot, "'intents': 257"), 4, ada->id);
    expect_shown(guild_of_user(bob), 4, ada->id);
    expect_shown(guild_of_user(eve), 4, NULL);
}

static void in_large_guilds_who_is_seen_is_listed(struct world *w)
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
    expect_shown(guild_of_bot(bot, "'intents': 1"), 1, NULL);
    expect_shown(guild_of_bot(bot, "'intents': 257, 'large_threshold': 250"), 2, ada->id);
    expect_shown(guild_of_user(eve), 1, NULL);
    expect_shown(guild_of_user(bob), 2, ada->id);
}

static void listed_members_come_with_who_is_seen(struct world *w)
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

static void newcomers_are_told_of_in_small_guilds(struct world *w)
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

/* --- by which client ------------------------------------------------------------------ */

static struct gateway_conn *session_by(struct client *c, const char *browser, const char *status)
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

static void expect_clients(struct gateway_conn *g, const char *status, const char *clients,
                           size_t count)
{
    const struct dom *d = expect_dispatch(g, "PRESENCE_UPDATE",
                                          "{'status': '%s', 'client_status': %s}", status, clients);

    expect(dom_at(d, "client_status")->count == count);
}

static void each_kind_of_client_is_seen(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    struct gateway_conn *a = watcher(ada, ""), *e = watcher(eve, "");
    struct gateway_conn *web = session_by(bob, "Firefox", "idle");
    expect_clients(a, "idle", "{'web': 'idle'}", 1);
    struct gateway_conn *desktop = session_by(bob, "Some Client", "online");
    expect_clients(a, "online", "{'web': 'idle', 'desktop': 'online'}", 2);
    struct gateway_conn *phone = session_by(bob, "Some Android", "dnd");
    expect_clients(a, "dnd", "{'web': 'idle', 'desktop': 'online', 'mobile': 'dnd'}", 3);
    struct gateway_conn *tablet = session_by(bob, "Some iOS", "idle");
    expect_quiet(a); /* the phone is more present */
    conn_close(phone, 1000);
    expect_clients(a, "online", "{'web': 'idle', 'desktop': 'online', 'mobile': 'idle'}", 3);
    /* What is the same on the whole is told when it is not by the clients. */
    conn_close(web, 1000);
    expect_clients(a, "online", "{'desktop': 'online', 'mobile': 'idle'}", 2);
    conn_close(desktop, 1000);
    expect_clients(a, "idle", "{'mobile': 'idle'}", 1);
    struct gateway_conn *late = conn_open(ada, PLAIN);
    expect_op(late, 10);
    make_friends(ada, bob);
    conn_identify(late, "");
    expect_dispatch(late, "READY", "{'presences': [{'client_status': {'mobile': 'idle'}}]}");
    conn_watch(late, true);
    conn_close(tablet, 1000);
    /* On PostgreSQL friends are read beside the loop: the newest of them may still be told
     * what READY said already. */
    const struct dom *d;
    do
        d = expect_dispatch(late, "PRESENCE_UPDATE", "{'user': {'id': '%s'}}", bob->id);
    while (str_is(dom_at(d, "status")->text, "idle"));
    expect(str_is(dom_at(d, "status")->text, "offline"));
    expect(dom_at(d, "client_status")->count == 0);
    expect_quiet(e);
}

static void sessions_of_an_account_know_of_each_other(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct gateway_conn *other = conn_session(bob, PLAIN, "");
    struct gateway_conn *robot = conn_session(bot, PLAIN, "'intents': 0");
    struct gateway_conn *first = conn_session(ada, PLAIN, "");
    struct gateway_conn *second = session_by(ada, "Some iOS", "dnd");

    expect_dispatch(first, "SESSIONS_REPLACE",
                    "[{'session_id': '%s', 'client_info': {'os': 'test'}},"
                    " {'status': 'dnd', 'client_info': {'client': 'Some iOS'}}]",
                    conn_id(first));
    expect_quiet(second);
    conn_close(second, 1000);
    expect_dispatch(first, "SESSIONS_REPLACE", "[{'session_id': '%s'}]", conn_id(first));
    /* Bots have no such list, and it is nobody else's business. */
    conn_close(conn_session(bot, PLAIN, "'intents': 0"), 1000);
    expect_quiet(robot);
    expect_quiet(other);
    /* One without a socket is there until it cannot come back. */
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

/* --- how many are there --------------------------------------------------------------- */

static int64_t counted(struct client *c, const char *path, const char *name)
{
    struct answer a = client_get(c, "%s", path);
    int64_t n = -1;

    expect_status(a, 200);
    expect(dom_at(a.json, name) && str_to_i64(dom_at(a.json, name)->text, &n));
    return n;
}

static int64_t count_in(struct client *c, const char *guild)
{
    return counted(c, TEXT(c->world, "/guilds/%s?with_counts=true", guild),
                   "approximate_presence_count");
}

static void who_is_seen_is_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot"), *eve = world_client(w, "eve");
    const char *guild = found_guild(ada, "Hall");
    const char *room = make_channel(ada, guild, "{'name': 'room'}");
    struct answer invite = client_post(ada, "{}", "/channels/%s/invites", room);

    put_member(guild, bob);
    put_member(guild, bot);
    expect_soon(count_in(ada, guild) == 0);
    struct gateway_conn *b = conn_session(bob, PLAIN, ""), *again = conn_session(bob, PLAIN, "");
    conn_session(eve, PLAIN, ""); /* is not in the guild */
    expect_soon(count_in(ada, guild) == 1);
    struct gateway_conn *r = conn_session(bot, PLAIN, "'intents': 1");
    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_soon(count_in(ada, guild) == 2);
    expect(counted(ada, TEXT(w, "/guilds/%s/preview", guild), "approximate_presence_count") == 2);
    expect(counted(ada, "/users/@me/guilds?with_counts=true", "0.approximate_presence_count") == 2);
    expect(counted(world_stranger(w),
                   TEXT(w, "/invites/%s?with_counts=true", answer_text(invite, "code")),
                   "approximate_presence_count") == 2);
    expect_status(client_patch(ada, "{'enabled': true}", "/guilds/%s/widget", guild), 200);
    expect(counted(world_stranger(w), TEXT(w, "/guilds/%s/widget.json", guild), "presence_count") ==
           2);
    /* One of two sessions goes; the other does not want to be seen, and then does. */
    conn_close(again, 1000);
    conn_send(b, "{'op':3,'d':{'status':'invisible','activities':[],'since':null,'afk':false}}");
    expect_soon(count_in(ada, guild) == 1);
    conn_send(b, "{'op':3,'d':{'status':'idle','activities':[],'since':null,'afk':false}}");
    expect_soon(count_in(ada, guild) == 2);
    /* Who has lost the socket counts for a minute. */
    conn_lose(b);
    expect_soon(count_in(ada, guild) == 2);
    world_wait(w, 61);
    expect_soon(count_in(ada, guild) == 1);
    /* Who leaves the guild does not count there. */
    expect_status(client_delete(ada, "/guilds/%s/members/%s", guild, bot->id), 204);
    expect_soon(count_in(ada, guild) == 0);
}

const struct test gateway_presence_tests[] = {
    TEST(who_is_seen_is_counted),
    TEST(each_kind_of_client_is_seen),
    TEST(sessions_of_an_account_know_of_each_other),
    TEST(listed_members_come_with_who_is_seen),
    TEST(newcomers_are_told_of_in_small_guilds),
    TEST(what_somebody_does_is_seen_from_the_beginning),
    TEST(what_is_no_activity_is_not_shown),
    TEST(a_guild_comes_with_who_is_seen_in_it),
    TEST(in_large_guilds_who_is_seen_is_listed),
    TEST(members_of_small_guilds_see_each_other),
    TEST(in_large_guilds_only_bots_that_ask_do),
    TEST(friends_see_each_other_wherever_they_are),
    TEST(the_most_present_session_counts),
    TEST(who_lost_the_socket_is_seen_for_a_minute),
    { 0 },
};
