/* gateway_presence.c - who sees whom come and go. */
#include <unistd.h>

#include "channels.h"
#include "gate.h"
#include "venues.h"

static const char *const PLAIN = "v=10&encoding=json";

static struct gate *watcher(struct client *c, const char *more)
{
    struct gate *g = gate_session(c, PLAIN, more);

    expect_quiet(g);
    gate_watch(g, true);
    return g;
}

static void expect_seen(struct gate *g, const struct client *who, const char *guild,
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
    struct venue v = world_venue(w, ada);

    venue_add(&v, bob);
    venue_add(&v, bot);
    struct gate *a = watcher(ada, ""), *e = watcher(eve, "");
    struct gate *b = watcher(bob, "");
    expect_seen(a, bob, v.id, "online");
    expect_quiet(b); /* not of itself */
    struct gate *r = gate_session(bot, PLAIN, "'intents': 1");
    expect_dispatch(r, "GUILD_CREATE", "{}");
    expect_seen(a, bot, v.id, "online");
    expect_seen(b, bot, v.id, "online");
    gate_close(b, 1000);
    expect_seen(a, bob, v.id, "offline");
    gate_close(r, 1000);
    expect_seen(a, bot, v.id, "offline");
    expect_quiet(a);
    expect_quiet(e); /* shares nothing with them */
}

static void in_large_guilds_only_bots_that_ask_do(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *bot = world_bot(w, "robot");
    struct venue v = world_venue(w, ada);

    venue_add(&v, bob);
    venue_add(&v, bot);
    world_sql(w, "update guilds set member_count = 250 where id = %s", v.id);
    struct gate *a = watcher(ada, ""), *b = watcher(bob, "");
    expect_seen(a, bob, v.id, "online");
    gate_close(a, 1000);
    gate_close(b, 1000);
    usleep(100 * 1000);
    world_sql(w, "update guilds set member_count = 251 where id = %s", v.id);
    a = watcher(ada, "");
    b = watcher(bob, "");
    expect_quiet(a);
    gate_close(b, 1000);
    struct gate *r = watcher(bot, "'intents': 256"), *deaf = watcher(bot, "'intents': 512");
    usleep(100 * 1000); /* on PostgreSQL the guild comes a little later */
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
    struct gate *a = watcher(ada, ""), *e = watcher(eve, "");

    make_friends(ada, bob);
    struct gate *b = gate_open(bob, PLAIN);
    expect_op(b, 10);
    gate_identify(b, "");
    expect_dispatch(b, "READY",
                    "{'presences': [{'user': {'id': '%s'}, 'status': 'online',"
                    " 'client_status': {'web': 'online'}}]}",
                    ada->id);
    expect_seen(a, bob, NULL, "online");
    gate_send(b, "{'op':3,'d':{'status':'dnd','since':null,'afk':false,'activities':[]}}");
    expect_seen(a, bob, NULL, "dnd");
    gate_close(b, 1000);
    expect_seen(a, bob, NULL, "offline");
    /* Who does not want to be seen is not, and sees others all the same. */
    b = watcher(bob, "'presence': {'status': 'invisible', 'activities': [], 'afk': false}");
    expect_quiet(a);
    gate_close(a, 1000);
    expect_seen(b, ada, NULL, "offline");
    a = gate_open(ada, PLAIN);
    expect_op(a, 10);
    gate_identify(a, "");
    const struct dom *d = expect_dispatch(a, "READY", "{'presences': []}");
    expect(dom_at(d, "presences")->count == 0);
    expect_quiet(e);
}

static void the_most_present_session_counts(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct venue v = world_venue(w, ada);

    venue_add(&v, bob);
    struct gate *a = watcher(ada, "");
    struct gate *first = gate_session(bob, PLAIN, "'presence': {'status': 'idle'}");
    expect_seen(a, bob, v.id, "idle");
    struct gate *second = gate_session(bob, PLAIN, "");
    expect_seen(a, bob, v.id, "online");
    struct gate *third = gate_session(bob, PLAIN, "'presence': {'status': 'dnd'}");
    expect_seen(a, bob, v.id, "dnd");
    struct gate *fourth = gate_session(bob, PLAIN, "'presence': {'status': 'online'}");
    expect_quiet(a);
    gate_close(third, 1000);
    expect_seen(a, bob, v.id, "online");
    gate_close(second, 1000);
    usleep(100 * 1000);
    expect_quiet(a);
    gate_close(fourth, 1000);
    expect_seen(a, bob, v.id, "idle");
    gate_close(first, 1000);
    expect_seen(a, bob, v.id, "offline");
}

static void who_lost_the_socket_is_seen_for_a_minute(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct venue v = world_venue(w, ada);

    venue_add(&v, bob);
    struct gate *a = watcher(ada, ""), *b = watcher(bob, "");
    expect_seen(a, bob, v.id, "online");
    gate_kill(b);
    usleep(100 * 1000);
    world_wait(w, 58);
    usleep(500 * 1000);
    expect_quiet(a);
    world_wait(w, 3);
    expect_seen(a, bob, v.id, "offline");
    struct gate *back = gate_open(bob, PLAIN);
    expect_op(back, 10);
    gate_resume(back, gate_id(b), gate_seq(b));
    expect_dispatch(back, "RESUMED", "{}");
    expect_seen(a, bob, v.id, "online");
    expect_quiet(a);
}

const struct test gateway_presence_tests[] = {
    TEST(members_of_small_guilds_see_each_other),   TEST(in_large_guilds_only_bots_that_ask_do),
    TEST(friends_see_each_other_wherever_they_are), TEST(the_most_present_session_counts),
    TEST(who_lost_the_socket_is_seen_for_a_minute), { 0 },
};
