/* delayed_reads.c - the gateway while a database read is delayed. */
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

/* --- a delayed data source ------------------------------------------------------------ */

static atomic_int to_delay, waiting; /* number of reads to delay, and of delayed reads */
static atomic_bool delaying, was_delayed;

static void delay_reads(int reads)
{
    was_delayed = false;
    delaying = true;
    to_delay = reads;
}

static void release_delayed_store_reads(void)
{
    to_delay = 0;
    delaying = false;
    while (waiting)
        usleep(1000);
}

/* Waits at most two minutes, so that a failing test ends. */
static void wait_until_store_read_is_released(void)
{
    if (atomic_fetch_sub(&to_delay, 1) <= 0) {
        atomic_fetch_add(&to_delay, 1);
        return;
    }
    waiting++;
    was_delayed = true;
    for (int i = 0; i < 12000 && delaying; i++)
        usleep(10 * 1000);
    waiting--;
}

static void expect_store_read_is_delayed(void)
{
    expect_soon(was_delayed);
}

static enum err delayed_friends(struct tx *tx, snowflake user_id, struct list *ret)
{
    wait_until_store_read_is_released();
    return gateway_source.friends(tx, user_id, ret);
}

static enum err delayed_members(struct tx *tx, const struct gateway_member_search *search,
                                struct list *ret)
{
    wait_until_store_read_is_released();
    return gateway_source.members(tx, search, ret);
}

static void use_gateway_source_with_delayed_reads(struct world *w)
{
    static struct gateway_source slow;

    release_delayed_store_reads();
    slow = gateway_source;
    slow.friends = delayed_friends;
    slow.members = delayed_members;
    world_use_source(w, &slow);
}

/* --- presences ------------------------------------------------------------------------ */

enum {
    SOCKETS = 24
}; /* so many that both loops have some: the kernel distributes sockets over loops */

static bool has_heartbeat_ack(struct gateway_conn *g, int wait_ms)
{
    const struct dom *m;

    while ((m = conn_read(g, wait_ms))) {
        if (str_is(dom_at(m, "op")->text, "11"))
            return true;
        conn_count(g, m);
    }
    return false;
}

static void wait_for_gateway_heartbeat_ack(struct gateway_conn *g)
{
    conn_send(g, "{'op':1,'d':null}");
    expect(has_heartbeat_ack(g, 30000));
}

/* Returns a session whose loop is not blocked. */
static struct gateway_conn *first_responding_session(struct gateway_conn **gates)
{
    for (int i = 0; i < SOCKETS; i++)
        conn_send(gates[i], "{'op':1,'d':null}");
    for (int i = 0; i < 10000; i++)
        for (int k = 0; k < SOCKETS; k++)
            if (has_heartbeat_ack(gates[k], 1))
                return gates[k];
    fail_test(__FILE__, __LINE__, "every loop waits");
}

static void send_presence_update_opcode(struct gateway_conn *g, const char *status)
{
    conn_send(g, "{'op':3,'d':{'status':'%s','since':null,'afk':false,'activities':[]}}", status);
}

static void expect_presence(struct gateway_conn *g, const struct client *who, const char *status)
{
    expect_dispatch(g, "PRESENCE_UPDATE", "{'user': {'id': '%s'}, 'status': '%s'}", who->id,
                    status);
}

/* The friends are read for the second change first. */
static void older_presence_is_not_delivered_after_a_newer_one(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct gateway_conn *others[SOCKETS], *friends[SOCKETS];

    make_friends(ada, bob);
    use_gateway_source_with_delayed_reads(w);
    struct gateway_conn *first = conn_session(ada, PLAIN, "");
    for (int i = 0; i < SOCKETS; i++)
        others[i] = conn_session(
            ada, PLAIN, "'presence': {'status': 'invisible', 'activities': [], 'afk': false}");
    for (int i = 0; i < SOCKETS; i++)
        friends[i] = conn_session(bob, PLAIN, "");
    delay_reads(1);
    send_presence_update_opcode(first, "idle");
    expect_store_read_is_delayed();
    struct gateway_conn *other = first_responding_session(others),
                        *friend = first_responding_session(friends);
    conn_watch(friend, true);
    send_presence_update_opcode(other, "online");
    expect_presence(friend, ada, "online");
    release_delayed_store_reads();
    wait_for_gateway_heartbeat_ack(first);
    expect_status(client_get(ada, "/users/@me"), 200);
    send_presence_update_opcode(first, "dnd");
    wait_for_gateway_heartbeat_ack(first);
    send_presence_update_opcode(other, "invisible");
    expect_presence(friend, ada, "dnd");
}

/* --- member list requests ------------------------------------------------------------- */

/* Reads everything that has arrived; returns the number of member chunks. */
static int count_member_chunks(struct gateway_conn *g)
{
    const struct dom *m;
    int count = 0;

    while ((m = conn_read(g, 1))) {
        const struct dom *t = dom_at(m, "t");

        count += t && str_is(t->text, "GUILD_MEMBERS_CHUNK");
    }
    return count;
}

/* Each session may have several requests, all sessions of an account together 1,024; the first
 * request of each session is always accepted. */
static void account_is_limited_to_1024_pending_member_requests(struct world *w)
{
    enum { SESSIONS = 11, ASKED = 100, MOST = 1024 };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    struct gateway_conn *gates[SESSIONS];
    int lists = 0;

    use_gateway_source_with_delayed_reads(w);
    for (int i = 0; i < SESSIONS; i++)
        gates[i] = conn_session(ada, PLAIN, "");
    delay_reads(1000 * 1000);
    for (int i = 0; i < SESSIONS; i++) {
        for (int k = 0; k < ASKED; k++)
            conn_send(gates[i], "{'op':8,'d':{'guild_id':'%s','query':'a','limit':1}}", v.id);
        wait_for_gateway_heartbeat_ack(gates[i]);
    }
    release_delayed_store_reads();
    for (int i = 0; i < 10000 && lists < MOST; i++)
        for (int k = 0; k < SESSIONS; k++)
            lists += count_member_chunks(gates[k]);
    for (int k = 0; k < SESSIONS; k++) {
        conn_send(gates[k], "{'op':1,'d':null}");
        lists += count_member_chunks(gates[k]);
    }
    expect(lists == MOST);
}

const struct test gateway_delayed_reads_tests[] = {
    TEST(older_presence_is_not_delivered_after_a_newer_one),
    TEST(account_is_limited_to_1024_pending_member_requests),
    { 0 },
};
