/* gateway_connect.c - reaching the gateway, staying, and being sent away. */
#include "gateway_conn.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "gateway_source/gateway_source.h"
#include "server/guildhall.h"
#include "guilds.h"
#include "internal.h"
#include "net/websocket/websocket.h"
#include "test_guild.h"

static const char *const PLAIN = "v=10&encoding=json";

static void hello_comes_first(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), PLAIN);
    const struct dom *d = expect_op(g, 10);

    expect(str_is(dom_at(d, "d.heartbeat_interval")->text, "41250"));
    expect(dom_at(d, "s")->kind == JSON_NULL && dom_at(d, "t")->kind == JSON_NULL);
    expect(!conn_was_binary(g));
}

static void versions_and_encodings_are_checked(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_op(conn_open(ada, "v=9"), 10);
    expect_op(conn_open(ada, "encoding=json"), 10);
    expect_op(conn_open(ada, "v=10&encoding=json&compress=lzma"), 10);
    expect_close(conn_open(ada, "v=5&encoding=json"), 4012);
    expect_close(conn_open(ada, "v=11"), 4012);
    expect_close(conn_open(ada, "v=ten"), 4012);
    expect_close(conn_open(ada, "v=10&encoding=xml"), 4002);
}

static void a_user_gets_ready(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_open(ada, PLAIN);

    expect_op(g, 10);
    conn_identify(g, "");
    expect_dispatch(
        g, "READY",
        "{'v': 10, 'user': {'id': '%s', 'username': 'ada', 'pronouns': '', 'desktop': false,"
        " 'mobile': false, 'purchased_flags': 0, 'premium_usage_flags': 0}, 'guilds': [],"
        " 'private_channels': [], 'relationships': [], 'notes': {},"
        " 'session_type': 'normal', 'resume_gateway_url': 'ws://gate.test',"
        " 'sessions': [{'status': 'online'}]}",
        ada->id);
}

/* A client takes its token to where READY says that it may come back to. */
static void nobody_is_sent_to_a_name_that_another_brought(struct world *w)
{
    enum { MORE_THAN_ARE_KEPT = 300 };
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g;

    for (int i = 0; i < MORE_THAN_ARE_KEPT; i++)
        conn_kill(conn_open_as(ada, "/?v=10", TEXT(w, "elsewhere-%d.test", i)));
    g = conn_open_as(ada, "/?v=10&compress=zstd-stream", "mine.test");
    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *d = expect_dispatch(g, "READY", "{}");
    struct str url = dom_at(d, "resume_gateway_url")->text;
    expect(str_starts(url, STR("ws://127.0.0.1:")));
    expect(atoi(url.p + strlen("ws://127.0.0.1:")) == world_port(w));
}

static void a_bot_gets_ready(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct gateway_conn *g = conn_open(bot, PLAIN);

    expect_op(g, 10);
    conn_identify(g, "'intents': 1, 'shard': [0, 1]");
    const struct dom *d =
        expect_dispatch(g, "READY",
                        "{'user': {'id': '%s', 'bot': true}, 'guilds': [], 'shard': [0, 1],"
                        " 'application': {'id': '%s'}, 'private_channels': []}",
                        bot->id, bot->id);
    expect(dom_at(d, "session_id")->text.n == 32);
    expect(str_eq(dom_at(d, "application.flags_new")->text, dom_at(d, "application.flags")->text));
}

/* Libraries send a bot's token with and without the word. */
static void tokens_come_with_and_without_bot(struct world *w)
{
    struct client *bot = world_bot(w, "robot"), *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_open(bot, PLAIN);

    expect_op(g, 10);
    conn_send(g, "{'op':2,'d':{'token':'%s','properties':{},'intents':0}}", bot->authorization + 4);
    expect_dispatch(g, "READY", "{}");
    g = conn_open(ada, PLAIN);
    expect_op(g, 10);
    conn_send(g,
              "{'op':2,'d':{'token':'Bot %s','properties':{},'intents':0,"
              "'presence':{'status':'idle','activities':[{'name':'kept nowhere','type':0}]}}}",
              ada->authorization);
    expect_close(g, 4004);
    g = conn_open(ada, PLAIN);
    expect_op(g, 10);
    conn_send(g, "{'op':2,'d':{'token':'Bearer %s','properties':{}}}", ada->authorization);
    expect_close(g, 4004);
    g = conn_open(ada, PLAIN);
    expect_op(g, 10);
    conn_send(g, "{'op':2,'d':{'token':'nonsense','properties':{}}}");
    expect_close(g, 4004);
}

/* What is there to read 2 ms after the upgrade was asked for; HELLO comes 10 ms after it. */
static struct str late_read(struct client *c, char *bytes, size_t max, int *ret_fd)
{
    static const char ask[] = "GET /gateway?v=10 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
                              "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    ssize_t n;

    *ret_fd = client_dial(c);
    expect(send(*ret_fd, ask, sizeof ask - 1, 0) == sizeof ask - 1);
    usleep(2 * 1000);
    n = recv(*ret_fd, bytes, max, 0);
    expect(n > 0);
    return str_slice(bytes, (size_t)n);
}

/* Seyfert drops what its first read holds behind the answer to the upgrade, and then waits for
 * HELLO for ever. A busy machine may read late by chance, so it may try some times. */
static void hello_does_not_come_with_the_upgrade(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    bool apart = false;

    for (int i = 0; i < 50 && !apart; i++) {
        char bytes[4096];
        int fd;
        struct str head = late_read(ada, bytes, sizeof bytes, &fd);

        expect(str_starts(head, STR("HTTP/1.1 101 ")));
        apart = head.n > 4 && memcmp(head.p + head.n - 4, "\r\n\r\n", 4) == 0;
        if (apart)
            expect(recv(fd, bytes, sizeof bytes, 0) > 2 && (unsigned char)bytes[0] == 0x81);
        close(fd);
    }
    expect(apart);
}

static void a_client_that_speaks_first_gets_hello_first(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), PLAIN);

    conn_send(g, "{'op':1,'d':null}");
    expect_op(g, 10);
    expect_op(g, 11);
}

static void identify_is_checked(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    static const struct {
        const char *more;
        int code;
    } cases[] = {
        { "'intents': 0, 'shard': [1, 1]", 4010 },
        { "'intents': 0, 'shard': [0, 0]", 4010 },
        { "'intents': 0, 'shard': [-1, 1]", 4010 },
        { "'intents': 0, 'shard': [0]", 4010 },
        { "'intents': 0, 'shard': [0, 16385]", 4010 },
        { "'intents': 0, 'shard': 'none'", 4010 },
        { "'shard': [0, 1]", 4013 },
        { "'intents': null", 4013 },
        { "'intents': 536870912", 4013 },
        { "'intents': -1", 4013 },
        { "'intents': 1.5", 4013 },
        { "'intents': 'all'", 4013 },
        { "'intents': '1.5'", 4013 },
        { "'intents': true", 4013 },
        { "'intents': '536870912'", 4013 },
        { "'intents': 0, 'shard': ['1', '1']", 4010 },
        { "'intents': 0, 'shard': ['a', 'b']", 4010 },
        /* the shard is looked at before the intents */
        { "'intents': -1, 'shard': [1, 1]", 4010 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gateway_conn *g = conn_open(bot, PLAIN);

        expect_op(g, 10);
        conn_identify(g, cases[i].more);
        expect_close(g, cases[i].code);
    }
    conn_session(bot, PLAIN, "'intents': 536870911");
    conn_session(bot, PLAIN, "'intents': 0, 'shard': [16383, 16384]");
    /* Concord writes bit masks as strings. */
    conn_session(bot, PLAIN, "'intents': '37376', 'large_threshold': '50', 'shard': ['0', '1']");
}

static void malformed_messages_close(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    static const struct {
        const char *message;
        int code;
    } cases[] = {
        { "{", 4002 },
        { "[]", 4002 },
        { "", 4002 },
        { "{'d':null}", 4001 },
        { "{'op':'two','d':{}}", 4001 },
        { "{'op':'1.5','d':{}}", 4001 },
        { "{'op':true,'d':{}}", 4001 },
        { "{'op':'2','d':{}}", 4002 },
        { "{'op':1.5,'d':{}}", 4001 },
        { "{'op':64,'d':{}}", 4001 },
        { "{'op':-1,'d':{}}", 4001 },
        { "{'op':2,'d':[]}", 4001 },
        { "{'op':2}", 4001 },
        { "{'op':2,'d':{'token':{}}}", 4002 },
        { "{'op':2,'d':{'token':5}}", 4002 },
        { "{'op':2,'d':{}}", 4002 },
        { "{'op':3,'d':{}}", 4003 },
        { "{'op':8,'d':{}}", 4003 },
        { "{'op':63,'d':{}}", 4003 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gateway_conn *g = conn_open(ada, PLAIN);

        expect_op(g, 10);
        conn_send(g, "%s", cases[i].message);
        expect_close(g, cases[i].code);
    }
}

static void identified_ones_do_not_identify_again(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    conn_identify(g, "");
    expect_close(g, 4005);
    g = conn_session(world_client(w, "ada"), PLAIN, "");
    conn_resume(g, conn_id(g), 1);
    expect_close(g, 4005);
}

static void heartbeats_are_answered_at_any_time(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), PLAIN);

    conn_send(g, "{'op':1,'d':null}");
    expect_op(g, 10);
    expect_op(g, 11);
    conn_send(g, "{'op':40,'d':{'seq':-1,'qos':{}}}");
    expect_op(g, 11);
    conn_identify(g, "");
    expect_dispatch(g, "READY", "{}");
    conn_send(g, "{'op':1,'d':1}");
    expect_op(g, 11);
}

/* Unknown opcodes and those we take but have no use for. */
static void other_opcodes_are_taken_quietly(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");
    static const int ops[] = { 0,  5,  7,  9,  10, 11, 12, 15, 16, 17, 23, 24, 25,
                               26, 27, 28, 29, 30, 32, 33, 38, 39, 41, 42, 44, 63 };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        conn_send(g, "{'op':%d,'d':{}}", ops[i]);
    expect_quiet(g);
}

static void too_many_payloads_close(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    /* One was the identify. */
    for (int i = 0; i < 119; i++)
        conn_send(g, "{'op':15,'d':{}}");
    expect_quiet(g); /* ten heartbeats are free */
    world_wait(w, 60);
    for (int i = 0; i < 120; i++)
        conn_send(g, "{'op':15,'d':{}}");
    expect_quiet(g);
    conn_send(g, "{'op':15,'d':{}}");
    expect_close(g, 4008);
}

static void heartbeats_beyond_ten_count(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), PLAIN);

    expect_op(g, 10);
    for (int i = 0; i < 130; i++)
        conn_send(g, "{'op':1,'d':null}");
    for (int i = 0; i < 130; i++)
        expect_op(g, 11);
    conn_send(g, "{'op':1,'d':null}");
    expect_close(g, 4008);
}

static void large_messages_close(struct world *w)
{
    enum { LARGE = 60 * 1000 };
    char *text = arena_alloc(world_arena(w), LARGE);
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    memset(text, ' ', LARGE);
    memcpy(text, "{\"op\":15,\"d\":{}}", 16);
    conn_send_bytes(g, WS_TEXT, str_slice(text, 15360));
    expect_quiet(g);
    conn_send_bytes(g, WS_TEXT, str_slice(text, 15361));
    expect_close(g, 4002);
    g = conn_session(world_bot(w, "robot"), PLAIN, "'intents': 0");
    conn_send_bytes(g, WS_TEXT, str_slice(text, 4096));
    expect_quiet(g);
    conn_send_bytes(g, WS_TEXT, str_slice(text, 4097));
    expect_close(g, 4002);
    /* So large that it is not even read. */
    g = conn_session(world_client(w, "ada"), PLAIN, "");
    conn_send_bytes(g, WS_TEXT, str_slice(text, LARGE));
    expect_close(g, 4002);
}

static void the_silent_are_asked_and_then_cut(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    world_wait(w, 50);
    expect_quiet(g); /* not yet overdue */
    world_wait(w, 62);
    expect_op(g, 1);
    conn_send(g, "{'op':1,'d':null}");
    expect_op(g, 11);
    world_wait(w, 62);
    expect_op(g, 1);
    world_wait(w, 21);
    expect_close(g, 4000);
}

static void strangers_that_heartbeat_may_wait(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), PLAIN);
    struct gateway_conn *silent = conn_open(world_client(w, "ada"), PLAIN);

    expect_op(g, 10);
    expect_op(silent, 10);
    for (int i = 0; i < 3; i++) {
        world_wait(w, 50);
        expect_quiet(g);
    }
    expect_close(silent, 4000);
    world_wait(w, 50);
    expect_quiet(g);
    conn_identify(g, "");
    expect_dispatch(g, "READY", "{}");
}

static void an_address_has_only_so_many_strangers(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *gates[64];

    for (int i = 0; i < 64; i++) {
        gates[i] = conn_open(ada, PLAIN);
        expect_op(gates[i], 10);
    }
    expect_close(conn_open(ada, PLAIN), 4008);
    conn_identify(gates[0], "");
    expect_dispatch(gates[0], "READY", "{}");
    expect_op(conn_open(ada, PLAIN), 10);
}

static void a_user_has_at_most_fifty_sessions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = NULL;

    for (int i = 0; i < 50; i++)
        g = conn_session(ada, PLAIN, "");
    struct gateway_conn *more = conn_open(ada, PLAIN);
    expect_op(more, 10);
    conn_identify(more, "");
    expect_close(more, 4015);
    conn_close(g, 1000);
    conn_session(ada, PLAIN, "");
}

static void limited(struct config *c)
{
    c->rate_limits = true;
}

static void bots_identify_at_a_pace(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct gateway_conn *g;

    for (int i = 0; i < 5; i++)
        conn_session(bot, PLAIN, "'intents': 0, 'shard': [0, 20]");
    g = conn_open(bot, PLAIN);
    expect_op(g, 10);
    conn_identify(g, "'intents': 0, 'shard': [16, 20]"); /* the same key */
    const struct dom *d = expect_op(g, 9);
    expect(dom_at(d, "d")->kind == JSON_BOOL && !dom_at(d, "d")->truth);
    conn_session(bot, PLAIN, "'intents': 0, 'shard': [1, 20]"); /* another key */
    world_wait(w, 5);
    conn_identify(g, "'intents': 0, 'shard': [16, 20]"); /* the same socket */
    expect_dispatch(g, "READY", "{'shard': [16, 20]}");
}

static void starts_are_counted_down(struct world *w)
{
    struct client *bot = world_bot(w, "robot");

    expect_json(client_get(bot, "/gateway/bot"),
                "{'shards': 1, 'session_start_limit': {'total': 1000, 'remaining': 1000,"
                " 'max_concurrency': 16}}");
    struct gateway_conn *g = conn_session(bot, PLAIN, "'intents': 0");
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': 999}}");
    conn_kill(g);
    struct gateway_conn *back = conn_open(bot, PLAIN);
    expect_op(back, 10);
    conn_resume(back, conn_id(g), conn_seq(g));
    expect_dispatch(back, "RESUMED", "{}");
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': 999}}");
    world_wait(w, 24 * 60 * 60);
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': 1000}}");
}

enum { NODES = 4, STARTS_EACH = 10 };

struct node {
    pthread_t thread;
    struct store *store;
    snowflake bot_id;
};

static enum err add_start(struct tx *tx, void *arg)
{
    return gateway_source.add_start(tx, ((struct node *)arg)->bot_id, clock_ms() / 86400000);
}

static void *add_starts(void *arg)
{
    struct node *n = arg;

    for (int i = 0; i < STARTS_EACH; i++)
        expect(store_run(n->store, STORE_WRITE, NULL, add_start, n) == OK);
    return NULL;
}

static void starts_at_the_same_time_are_all_counted(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct node nodes[NODES];

    for (int i = 0; i < NODES; i++) {
        nodes[i] = (struct node){ .store = guildhall_store(w->server), .bot_id = id_of(bot->id) };
        expect(pthread_create(&nodes[i].thread, NULL, add_starts, &nodes[i]) == 0);
    }
    for (int i = 0; i < NODES; i++)
        pthread_join(nodes[i].thread, NULL);
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': %d}}",
                1000 - NODES * STARTS_EACH);
}

static void starts_are_counted_beyond_a_restart(struct world *w)
{
    struct client *bot = world_bot(w, "robot");

    for (int i = 0; i < 3; i++)
        conn_session(bot, PLAIN, "'intents': 0");
    world_restart(w);
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': 997}}");
    conn_session(bot, PLAIN, "'intents': 0");
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': 996}}");
    world_sql(w, "update session_starts set starts = 1000");
    world_restart(w);
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': 0}}");
    struct gateway_conn *g = conn_open(bot, PLAIN);
    expect_op(g, 10);
    conn_identify(g, "'intents': 0");
    expect_op(g, 9);
    world_wait(w, 24 * 60 * 60);
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': 1000}}");
    conn_session(bot, PLAIN, "'intents': 0");
}

static void figures_are_told(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");
    struct answer a = client_request(world_stranger(w), "GET", "/metrics", NULL, (struct str){ 0 });

    expect_quiet(g);
    expect(memmem(a.body.p, a.body.n, "\nguildhall_sessions 1\n", 22));
    expect(memmem(a.body.p, a.body.n, "\nguildhall_identified_total 1\n", 30));
    expect(memmem(a.body.p, a.body.n, "\nguildhall_dispatches_total 1\n", 30));
}

/* --- forms ---------------------------------------------------------------------------- */

static void every_encoding_and_compression_is_spoken(struct world *w)
{
    static const struct {
        const char *query;
        bool binary;
    } ways[] = {
        { "v=10&encoding=json&compress=zlib-stream", true },
        { "v=10&encoding=json&compress=zstd-stream", true },
        { "v=10&encoding=etf", true },
        { "v=10&encoding=etf&compress=zlib-stream", true },
        { "v=10&encoding=etf&compress=zstd-stream", true },
        { "v=10&encoding=json", false },
    };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct client *ada = world_client(w, str_printf(world_arena(w), "ada%zu", i).p);
        struct gateway_conn *g = conn_open(ada, ways[i].query);

        expect_op(g, 10);
        expect(conn_was_binary(g) == ways[i].binary);
        conn_identify(g, "'compress': false");
        expect_dispatch(g, "READY", "{'user': {'id': '%s'}, 'notes': {}}", ada->id);
        expect(conn_was_binary(g) == ways[i].binary);
        expect_status(client_patch(ada, "{'global_name': 'Ada'}", "/users/@me"), 200);
        expect_dispatch(g, "USER_UPDATE", "{'id': '%s', 'global_name': 'Ada'}", ada->id);
        expect_quiet(g);
        conn_close(g, 1000);
    }
}

static void payloads_are_compressed_one_by_one(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_open(ada, PLAIN);

    expect_op(g, 10);
    conn_identify(g, "'compress': true");
    expect_dispatch(g, "READY", "{}");
    expect(conn_was_binary(g)); /* more than a kilobyte */
    expect_quiet(g);
    expect(!conn_was_binary(g));
    /* The transport's compression wins. */
    g = conn_open(ada, "v=10&encoding=json&compress=zlib-stream");
    expect_op(g, 10);
    conn_identify(g, "'compress': true");
    expect_dispatch(g, "READY", "{}");
}

static void terms_are_read_strictly(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), "v=10&encoding=etf");

    expect_op(g, 10);
    conn_send_bytes(g, WS_TEXT, STR("{\"op\":1}"));
    expect_close(g, 4002);
    g = conn_open(world_client(w, "ada"), "v=10&encoding=etf");
    expect_op(g, 10);
    /* {op => 1} with an atom for a key */
    conn_send_bytes(g, WS_BINARY, STR("\x83t\0\0\0\1s\2opa\1"));
    expect_close(g, 4002);
}

/* --- the end of it -------------------------------------------------------------------- */

static void everybody_is_sent_away_at_the_end(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    gateway_drain(guildhall_gateway(world_server(w)), 0);
    expect_op(g, 7);
}

/* A loop that is busy hears late that tokens were revoked; who has a new one by then stays. */
static void a_late_revocation_means_the_tokens_of_before(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway *gateway = guildhall_gateway(world_server(w));
    uint64_t forgets = auth_forgets(guildhall_auth(world_server(w)));
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    gateway_forget(gateway, id_of(ada->id), NULL, forgets);
    expect_quiet(g);
    gateway_forget(gateway, id_of(ada->id), NULL, forgets + 1);
    expect_close(g, 4004);
}

static void sessions_end_with_their_token(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct client *other = world_token(w, ada, CALLER_USER, "", 0);
    struct gateway_conn *one = conn_session(ada, PLAIN, ""), *two = conn_session(other, PLAIN, "");

    expect_dispatch(one, "SESSIONS_REPLACE", "[{}, {}]");
    expect_status(client_post(other, "{}", "/auth/logout"), 204);
    expect_close(two, 4004);
    expect_dispatch(one, "SESSIONS_REPLACE", "[{'session_id': '%s'}]", conn_id(one));
    expect_quiet(one);
}

const struct test gateway_connect_tests[] = {
    TEST(hello_comes_first),
    TEST(versions_and_encodings_are_checked),
    TEST(a_user_gets_ready),
    TEST(nobody_is_sent_to_a_name_that_another_brought),
    TEST(a_bot_gets_ready),
    TEST(tokens_come_with_and_without_bot),
    TEST(hello_does_not_come_with_the_upgrade),
    TEST(a_client_that_speaks_first_gets_hello_first),
    TEST(identify_is_checked),
    TEST(malformed_messages_close),
    TEST(identified_ones_do_not_identify_again),
    TEST(heartbeats_are_answered_at_any_time),
    TEST(other_opcodes_are_taken_quietly),
    TEST_WITH(too_many_payloads_close, limited),
    TEST_WITH(heartbeats_beyond_ten_count, limited),
    TEST(large_messages_close),
    TEST(the_silent_are_asked_and_then_cut),
    TEST(strangers_that_heartbeat_may_wait),
    TEST(an_address_has_only_so_many_strangers),
    TEST(a_user_has_at_most_fifty_sessions),
    TEST_WITH(bots_identify_at_a_pace, limited),
    TEST_WITH(starts_are_counted_down, limited),
    TEST_WITH(starts_are_counted_beyond_a_restart, limited),
    TEST_WITH(starts_at_the_same_time_are_all_counted, limited),
    TEST(figures_are_told),
    TEST(every_encoding_and_compression_is_spoken),
    TEST(payloads_are_compressed_one_by_one),
    TEST(terms_are_read_strictly),
    TEST(everybody_is_sent_away_at_the_end),
    TEST(a_late_revocation_means_the_tokens_of_before),
    TEST(sessions_end_with_their_token),
    { 0 },
};
