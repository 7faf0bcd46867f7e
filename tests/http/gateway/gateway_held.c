/* gateway_held.c - what the gateway does while the store lets it wait. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "channels.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "gateway_source/gateway_source.h"
#include "test_guild.h"
#include "waits.h"

static const char *const PLAIN = "v=10&encoding=json";

/* --- a source that waits -------------------------------------------------------------- */

static atomic_int to_hold, waiting; /* looks that are to wait, and that do */
static atomic_bool holding, held;

static void hold(int looks)
{
    held = false;
    holding = true;
    to_hold = looks;
}

static void let_go(void)
{
    to_hold = 0;
    holding = false;
    while (waiting)
        usleep(1000);
}

/* For two minutes and not for ever: a test that fails meanwhile has to end, too. */
static void wait_if_told(void)
{
    if (atomic_fetch_sub(&to_hold, 1) <= 0) {
        atomic_fetch_add(&to_hold, 1);
        return;
    }
    waiting++;
    held = true;
    for (int i = 0; i < 12000 && holding; i++)
        usleep(10 * 1000);
    waiting--;
}

static void expect_held(void)
{
    expect_soon(held);
}

static enum err slow_friends(struct tx *tx, snowflake user_id, struct list *ret)
{
    wait_if_told();
    return gateway_source.friends(tx, user_id, ret);
}

static enum err slow_members(struct tx *tx, const struct gateway_search *search, struct list *ret)
{
    wait_if_told();
    return gateway_source.members(tx, search, ret);
}

static void use_slow_source(struct world *w)
{
    static struct gateway_source slow;

    let_go();
    slow = gateway_source;
    slow.friends = slow_friends;
    slow.members = slow_members;
    world_use_source(w, &slow);
}

/* --- presences ------------------------------------------------------------------------ */

enum { SOCKETS = 24 }; /* not all on one of two loops: which has a socket is the kernel's choice */

static bool has_answered(struct gateway_conn *g, int wait_ms)
{
    const struct dom *m;

    while ((m = conn_read(g, wait_ms))) {
        if (str_is(dom_at(m, "op")->text, "11"))
            return true;
        conn_count(g, m);
    }
    return false;
}

static void await_beat(struct gateway_conn *g)
{
    conn_send(g, "{'op':1,'d':null}");
    expect(has_answered(g, 30000));
}

/* One whose loop does not wait. */
static struct gateway_conn *first_that_answers(struct gateway_conn **gates)
{
    for (int i = 0; i < SOCKETS; i++)
        conn_send(gates[i], "{'op':1,'d':null}");
    for (int i = 0; i < 10000; i++)
        for (int k = 0; k < SOCKETS; k++)
            if (has_answered(gates[k], 1))
                return gates[k];
    fail_test(__FILE__, __LINE__, "every loop waits");
}

static void show(struct gateway_conn *g, const char *status)
{
    conn_send(g, "{'op':3,'d':{'status':'%s','since':null,'afk':false,'activities':[]}}", status);
}

static void expect_seen(struct gateway_conn *g, const struct client *who, const char *status)
{
    expect_dispatch(g, "PRESENCE_UPDATE", "{'user': {'id': '%s'}, 'status': '%s'}", who->id,
                    status);
}

/* Of two changes the friends are read for the second one first. */
static void an_older_presence_does_not_come_last(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *others[SOCKETS], *friends[SOCKETS];

    make_friends(ada, bob);
    use_slow_source(w);
    struct gateway_conn *first = conn_session(ada, PLAIN, "");
    for (int i = 0; i < SOCKETS; i++)
        others[i] = conn_session(
            ada, PLAIN, "'presence': {'status': 'invisible', 'activities': [], 'afk': false}");
    for (int i = 0; i < SOCKETS; i++)
        friends[i] = conn_session(bob, PLAIN, "");
    hold(1);
    show(first, "idle");
    expect_held();
    struct gateway_conn *other = first_that_answers(others), *friend = first_that_answers(friends);
    conn_watch(friend, true);
    show(other, "online");
    expect_seen(friend, ada, "online");
    let_go();
    await_beat(first);
    expect_status(client_get(ada, "/users/@me"), 200);
    show(first, "dnd");
    await_beat(first);
    show(other, "invisible");
    expect_seen(friend, ada, "dnd");
}

/* --- errands -------------------------------------------------------------------------- */

/* Reads all that has come; returns how many lists were among it. */
static int count_lists(struct gateway_conn *g)
{
    const struct dom *m;
    int count = 0;

    while ((m = conn_read(g, 1))) {
        const struct dom *t = dom_at(m, "t");

        count += t && str_is(t->text, "GUILD_MEMBERS_CHUNK");
    }
    return count;
}

/* Each session may ask for so many lists, but all of an account together for 1024; the first
 * of each is always taken. */
static void an_account_may_ask_for_1024_lists_at_once(struct world *w)
{
    enum { SESSIONS = 11, ASKED = 100, MOST = 1024 };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct gateway_conn *gates[SESSIONS];
    int lists = 0;

    use_slow_source(w);
    for (int i = 0; i < SESSIONS; i++)
        gates[i] = conn_session(ada, PLAIN, "");
    hold(1000 * 1000);
    for (int i = 0; i < SESSIONS; i++) {
        for (int k = 0; k < ASKED; k++)
            conn_send(gates[i], "{'op':8,'d':{'guild_id':'%s','query':'a','limit':1}}", v.id);
        await_beat(gates[i]);
    }
    let_go();
    for (int i = 0; i < 10000 && lists < MOST; i++)
        for (int k = 0; k < SESSIONS; k++)
            lists += count_lists(gates[k]);
    for (int k = 0; k < SESSIONS; k++) {
        conn_send(gates[k], "{'op':1,'d':null}");
        lists += count_lists(gates[k]);
    }
    expect(lists == MOST);
}

const struct test gateway_held_tests[] = {
    TEST(an_older_presence_does_not_come_last),
    TEST(an_account_may_ask_for_1024_lists_at_once),
    { 0 },
};
