/* member_chunks.c - long member lists over the gateway. */
#include <stdlib.h>
#include <sys/socket.h>

#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"
#include "waits.h"

enum { MEMBERS = 20000, CHUNK = 1000 };

static const char *const PLAIN = "v=10&encoding=json";

/* Creates a guild with MEMBERS members, one of them the bot. */
static struct test_guild create_large_guild(struct world *w, struct client *bot)
{
    struct test_guild v = world_test_guild(w, world_client(w, "ada"));

    test_guild_add(&v, bot);
    world_sql(w,
              "insert into users (id, username) with recursive n(i) as (select 1 union all select "
              "i + 1 from n where i < %d) select i, 'u' || i from n",
              MEMBERS - 2);
    /* In pieces, because the store aborts long statements. */
    for (int from = 0; from < MEMBERS; from += CHUNK)
        world_sql(w,
                  "insert into members (guild_id, user_id, joined_at) select %s, id, id from "
                  "users where id >= %d and id < %d and id < %d",
                  v.id, from, from + CHUNK, MEMBERS);
    world_sql(w, "update guilds set member_count = %d where id = %s", MEMBERS, v.id);
    return v;
}

static void request_all_members(struct gateway_conn *g, const struct test_guild *v)
{
    conn_send(g, "{'op':8,'d':{'guild_id':'%s','query':'','limit':0,'nonce':'n'}}", v->id);
}

static void expect_member_chunk(struct gateway_conn *g, int index)
{
    const struct dom *d = expect_dispatch(g, "GUILD_MEMBERS_CHUNK",
                                          "{'chunk_index': %d, 'chunk_count': %d, 'nonce': 'n'}",
                                          index, MEMBERS / CHUNK);

    expect(dom_at(d, "members")->count == CHUNK);
}

/* Another session requests and receives the same members: events that were not delayed have been
 * sent by then. */
static void request_members_of_other_session(struct client *bot, const struct test_guild *v)
{
    struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 3");

    expect_dispatch(g, "GUILD_CREATE", "{}");
    request_all_members(g, v);
    for (int i = 0; i < MEMBERS / CHUNK; i++)
        expect_member_chunk(g, i);
    conn_close(g, 1000);
}

/* The chunks exceed the resume buffer, so they wait for a socket. */
static void member_chunks_wait_until_the_session_resumes(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct test_guild v = create_large_guild(w, bot);
    struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 3");
    int index = 0;

    expect_dispatch(g, "GUILD_CREATE", "{}");
    request_all_members(g, &v);
    expect_member_chunk(g, index++);
    conn_lose(g);
    request_members_of_other_session(bot, &v); /* in the meantime all chunks could have been sent */
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

static void set_receive_buffer_size_of_socket(struct gateway_conn *g, int bytes)
{
    expect(setsockopt(conn_fd(g), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0);
}

/* A client that does not read gets what its socket buffers, and one chunk. */
static void member_chunks_wait_for_a_client_that_does_not_read(struct world *w)
{
    struct client *bot = world_bot(w, "robot"), *ada = world_client(w, "ada");
    struct test_guild v = create_large_guild(w, bot);
    struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 3");

    expect_dispatch(g, "GUILD_CREATE", "{}");
    set_receive_buffer_size_of_socket(g, 64 * 1024);
    long before = conn_census(g, "events");
    request_all_members(g, &v);
    expect_soon(conn_census(g, "events") > before);
    request_members_of_other_session(bot, &v);
    expect(conn_census(g, "events") - before < MEMBERS / CHUNK);
    expect_status(client_get(ada, "/voice/regions"), 200);
    set_receive_buffer_size_of_socket(g, 1 << 20);
    for (int i = 0; i < MEMBERS / CHUNK; i++)
        expect_member_chunk(g, i);
    expect_quiet(g);
}

const struct test gateway_member_chunks_tests[] = {
    TEST(member_chunks_wait_until_the_session_resumes),
    TEST(member_chunks_wait_for_a_client_that_does_not_read),
    { 0 },
};
