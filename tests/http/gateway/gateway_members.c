/* gateway_members.c - long lists of members over the gateway. */
#include <stdlib.h>
#include <sys/socket.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

enum { MEMBERS = 20000, CHUNK = 1000 };

static const char *const PLAIN = "v=10&encoding=json";

/* A guild with so many members, of whom one is a bot. */
static struct test_guild crowded_test_guild(struct world *w, struct client *bot)
{
    struct test_guild v = world_test_guild(w, world_client(w, "ada"));

    test_guild_add(&v, bot);
    world_sql(w,
              "insert into users (id, username) with recursive n(i) as (select 1 union all select "
              "i + 1 from n where i < %d) select i, 'u' || i from n",
              MEMBERS - 2);
    /* In pieces: a store that takes long for one statement gives up on it. */
    for (int from = 0; from < MEMBERS; from += CHUNK)
        world_sql(w,
                  "insert into members (guild_id, user_id, joined_at) select %s, id, id from "
                  "users where id >= %d and id < %d and id < %d",
                  v.id, from, from + CHUNK, MEMBERS);
    world_sql(w, "update guilds set member_count = %d where id = %s", MEMBERS, v.id);
    return v;
}

static void ask_for_all(struct gateway_conn *g, const struct test_guild *v)
{
    conn_send(g, "{'op':8,'d':{'guild_id':'%s','query':'','limit':0,'nonce':'n'}}", v->id);
}

static void expect_chunk(struct gateway_conn *g, int index)
{
    const struct dom *d = expect_dispatch(g, "GUILD_MEMBERS_CHUNK",
                                          "{'chunk_index': %d, 'chunk_count': %d, 'nonce': 'n'}",
                                          index, MEMBERS / CHUNK);

    expect(dom_at(d, "members")->count == CHUNK);
}

/* Another session asks for the same and gets it: whatever did not wait is told by then. */
static void hear_all_elsewhere(struct client *bot, const struct test_guild *v)
{
    struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 3");

    expect_dispatch(g, "GUILD_CREATE", "{}");
    ask_for_all(g, v);
    for (int i = 0; i < MEMBERS / CHUNK; i++)
        expect_chunk(g, i);
    conn_close(g, 1000);
}

/* All of it is more than what is kept for a session that is away. It waits for a socket. */
static void a_list_waits_for_who_lost_the_socket(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct test_guild v = crowded_test_guild(w, bot);
    struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 3");
    int index = 0;

    expect_dispatch(g, "GUILD_CREATE", "{}");
    ask_for_all(g, &v);
    expect_chunk(g, index++);
    conn_lose(g);
    hear_all_elsewhere(bot, &v); /* meanwhile all could have been told */
    struct gateway_conn *back = conn_open(bot, PLAIN);
    expect_op(back, 10);
    conn_resume(back, conn_id(g), conn_seq(g));
    for (bool resumed = false; index < MEMBERS / CHUNK || !resumed;) {
        const struct dom *m = conn_read(back, 60000);

        expect(m != NULL);
        conn_count(back, m);
        if (str_is(dom_at(m, "t")->text, "RESUMED")) {
            resumed = true;
            continue;
        }
        expect(atoi(dom_at(m, "d.chunk_index")->text.p) == index++);
        expect(dom_at(m, "d.members")->count == CHUNK);
    }
    expect_quiet(back);
}

static void set_room(struct gateway_conn *g, int bytes)
{
    expect(setsockopt(conn_fd(g), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0);
}

/* Who does not read is told no more than its socket takes, and one chunk. */
static void a_list_waits_for_who_does_not_read(struct world *w)
{
    struct client *bot = world_bot(w, "robot"), *ada = world_client(w, "ada");
    struct test_guild v = crowded_test_guild(w, bot);
    struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 3");

    expect_dispatch(g, "GUILD_CREATE", "{}");
    set_room(g, 64 * 1024);
    long before = conn_census(g, "events");
    ask_for_all(g, &v);
    expect_soon(conn_census(g, "events") > before);
    hear_all_elsewhere(bot, &v);
    expect(conn_census(g, "events") - before < MEMBERS / CHUNK);
    expect_status(client_get(ada, "/voice/regions"), 200);
    set_room(g, 1 << 20);
    for (int i = 0; i < MEMBERS / CHUNK; i++)
        expect_chunk(g, i);
    expect_quiet(g);
}

const struct test gateway_members_tests[] = {
    TEST(a_list_waits_for_who_lost_the_socket),
    TEST(a_list_waits_for_who_does_not_read),
    { 0 },
};
