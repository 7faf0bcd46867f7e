/* connect.c - connecting to the gateway, heartbeats, limits and close codes. */
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

static void gateway_sends_hello_first(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), PLAIN);
    const struct dom *d = expect_op(g, 10);

    expect(str_is(dom_at(d, "d.heartbeat_interval")->text, "41250"));
    expect(dom_at(d, "s")->kind == JSON_NULL && dom_at(d, "t")->kind == JSON_NULL);
    expect(!conn_was_binary(g));
}

static void unknown_gateway_version_or_encoding_closes_the_connection(struct world *w)
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

static void identify_of_a_user_gets_ready(struct world *w)
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

/* A client sends its token to resume_gateway_url. */
static void resume_url_ignores_host_headers_of_other_clients(struct world *w)
{
    enum { HOSTS = 300 };
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g;

    for (int i = 0; i < HOSTS; i++)
        conn_kill(conn_open_as(ada, "/?v=10", TEXT(w, "elsewhere-%d.test", i)));
    g = conn_open_as(ada, "/?v=10&compress=zstd-stream", "mine.test");
    expect_op(g, 10);
    conn_identify(g, "");
    const struct dom *d = expect_dispatch(g, "READY", "{}");
    struct str url = dom_at(d, "resume_gateway_url")->text;
    expect(str_starts_with(url, STR("ws://127.0.0.1:")));
    expect(atoi(url.p + strlen("ws://127.0.0.1:")) == world_port(w));
}

static void identify_of_a_bot_gets_ready_with_shard_and_application(struct world *w)
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

/* Libraries send a bot's token with and without the prefix Bot. */
static void identify_accepts_bot_tokens_with_and_without_prefix(struct world *w)
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

/* Reads what has arrived 2 ms after the upgrade request; HELLO is sent 10 ms after it. */
static struct str read_upgrade_response(struct client *c, char *bytes, size_t max, int *ret_fd)
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

/* Seyfert drops bytes that arrive together with the upgrade response and then waits for HELLO
 * forever. Several tries, because a busy machine may read late. */
static void hello_is_not_sent_together_with_the_upgrade_response(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    bool apart = false;

    for (int i = 0; i < 50 && !apart; i++) {
        char bytes[4096];
        int fd;
        struct str head = read_upgrade_response(ada, bytes, sizeof bytes, &fd);

        expect(str_starts_with(head, STR("HTTP/1.1 101 ")));
        apart = head.n > 4 && memcmp(head.p + head.n - 4, "\r\n\r\n", 4) == 0;
        if (apart)
            expect(recv(fd, bytes, sizeof bytes, 0) > 2 && (unsigned char)bytes[0] == 0x81);
        close(fd);
    }
    expect(apart);
}

static void client_that_sends_first_still_gets_hello_first(struct world *w)
{
    struct gateway_conn *g = conn_open(world_client(w, "ada"), PLAIN);

    conn_send(g, "{'op':1,'d':null}");
    expect_op(g, 10);
    expect_op(g, 11);
}

static void invalid_identify_closes_with_the_matching_code(struct world *w)
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
        /* the shard is checked before the intents */
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
    /* Concord sends bit masks as strings. */
    conn_session(bot, PLAIN, "'intents': '37376', 'large_threshold': '50', 'shard': ['0', '1']");
}

static void malformed_payloads_close_with_4001_or_4002(struct world *w)
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

static void second_identify_or_resume_closes_with_4005(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    conn_identify(g, "");
    expect_close(g, 4005);
    g = conn_session(world_client(w, "ada"), PLAIN, "");
    conn_resume(g, conn_id(g), 1);
    expect_close(g, 4005);
}

static void heartbeat_is_acknowledged_before_and_after_identify(struct world *w)
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

/* Unknown opcodes, and known ones without effect. */
static void unknown_opcodes_are_ignored(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");
    static const int ops[] = { 0,  5,  7,  9,  10, 11, 12, 15, 16, 17, 23, 24, 25,
                               26, 27, 28, 29, 30, 32, 33, 38, 39, 41, 42, 44, 63 };

    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        conn_send(g, "{'op':%d,'d':{}}", ops[i]);
    expect_quiet(g);
}

static void more_than_120_payloads_per_minute_close_with_4008(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    /* IDENTIFY was the first of the 120 payloads. */
    for (int i = 0; i < 119; i++)
        conn_send(g, "{'op':15,'d':{}}");
    expect_quiet(g); /* ten heartbeats do not count */
    world_wait(w, 60);
    for (int i = 0; i < 120; i++)
        conn_send(g, "{'op':15,'d':{}}");
    expect_quiet(g);
    conn_send(g, "{'op':15,'d':{}}");
    expect_close(g, 4008);
}

static void heartbeats_beyond_ten_count_towards_the_payload_limit(struct world *w)
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

static void payload_over_15360_bytes_closes_with_4002(struct world *w)
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
    /* A payload that is too large to be read at all. */
    g = conn_session(world_client(w, "ada"), PLAIN, "");
    conn_send_bytes(g, WS_TEXT, str_slice(text, LARGE));
    expect_close(g, 4002);
}

static void client_without_heartbeats_is_pinged_then_closed_with_4000(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    world_wait(w, 50);
    expect_quiet(g); /* the heartbeat is not overdue yet */
    world_wait(w, 62);
    expect_op(g, 1);
    conn_send(g, "{'op':1,'d':null}");
    expect_op(g, 11);
    world_wait(w, 62);
    expect_op(g, 1);
    world_wait(w, 21);
    expect_close(g, 4000);
}

static void unidentified_connection_stays_open_while_it_heartbeats(struct world *w)
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

static void address_is_limited_to_64_unidentified_connections(struct world *w)
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

static void user_is_limited_to_fifty_sessions(struct world *w)
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

static void configure_two_unidentified_connections(struct config *c)
{
    c->pending_sessions = 2;
}

static void option_limits_unidentified_connections_of_an_address(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *first = conn_open(ada, PLAIN);

    expect_op(first, 10);
    expect_op(conn_open(ada, PLAIN), 10);
    expect_close(conn_open(ada, PLAIN), 4008);
    conn_identify(first, "");
    expect_dispatch(first, "READY", "{}");
    expect_op(conn_open(ada, PLAIN), 10);
}

static void configure_enabled_rate_limits(struct config *c)
{
    c->rate_limits = true;
}

static void bot_identifies_are_limited_per_max_concurrency_key(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct gateway_conn *g;

    for (int i = 0; i < 5; i++)
        conn_session(bot, PLAIN, "'intents': 0, 'shard': [0, 20]");
    g = conn_open(bot, PLAIN);
    expect_op(g, 10);
    conn_identify(g, "'intents': 0, 'shard': [16, 20]"); /* same rate limit key */
    const struct dom *d = expect_op(g, 9);
    expect(dom_at(d, "d")->kind == JSON_BOOL && !dom_at(d, "d")->truth);
    conn_session(bot, PLAIN, "'intents': 0, 'shard': [1, 20]"); /* another rate limit key */
    world_wait(w, 5);
    conn_identify(g, "'intents': 0, 'shard': [16, 20]"); /* same socket */
    expect_dispatch(g, "READY", "{'shard': [16, 20]}");
}

static void session_start_limit_counts_down_and_resets_daily(struct world *w)
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

static enum err insert_session_start(struct tx *tx, void *arg)
{
    return gateway_source.add_start(tx, ((struct node *)arg)->bot_id, clock_ms() / 86400000);
}

static void *insert_session_starts(void *arg)
{
    struct node *n = arg;

    for (int i = 0; i < STARTS_EACH; i++)
        expect(store_run_transaction_and_wait(n->store, STORE_WRITE, NULL, insert_session_start,
                                              n) == OK);
    return NULL;
}

static void concurrent_session_starts_are_all_counted(struct world *w)
{
    struct client *bot = world_bot(w, "robot");
    struct node nodes[NODES];

    for (int i = 0; i < NODES; i++) {
        nodes[i] =
            (struct node){ .store = guildhall_get_store(w->server), .bot_id = id_of(bot->id) };
        expect(pthread_create(&nodes[i].thread, NULL, insert_session_starts, &nodes[i]) == 0);
    }
    for (int i = 0; i < NODES; i++)
        pthread_join(nodes[i].thread, NULL);
    expect_json(client_get(bot, "/gateway/bot"), "{'session_start_limit': {'remaining': %d}}",
                1000 - NODES * STARTS_EACH);
}

static void session_start_count_survives_a_restart(struct world *w)
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

static void metrics_count_sessions_identifies_and_dispatches(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");
    struct answer a =
        client_request(world_anonymous(w), "GET", "/metrics", NULL, (struct str){ 0 });

    expect_quiet(g);
    expect(memmem(a.body.p, a.body.n, "\nguildhall_sessions 1\n", 22));
    expect(memmem(a.body.p, a.body.n, "\nguildhall_identified_total 1\n", 30));
    expect(memmem(a.body.p, a.body.n, "\nguildhall_dispatches_total 1\n", 30));
}

/* --- encodings ------------------------------------------------------------------------ */

static void all_gateway_encodings_and_compressions_work(struct world *w)
{
    static const struct {
        const char *query;
        bool binary;
    } variants[] = {
        { "v=10&encoding=json&compress=zlib-stream", true },
        { "v=10&encoding=json&compress=zstd-stream", true },
        { "v=10&encoding=etf", true },
        { "v=10&encoding=etf&compress=zlib-stream", true },
        { "v=10&encoding=etf&compress=zstd-stream", true },
        { "v=10&encoding=json", false },
    };

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct client *ada = world_client(w, str_printf(world_arena(w), "ada%zu", i).p);
        struct gateway_conn *g = conn_open(ada, variants[i].query);

        expect_op(g, 10);
        expect(conn_was_binary(g) == variants[i].binary);
        conn_identify(g, "'compress': false");
        expect_dispatch(g, "READY", "{'user': {'id': '%s'}, 'notes': {}}", ada->id);
        expect(conn_was_binary(g) == variants[i].binary);
        expect_status(client_patch(ada, "{'global_name': 'Ada'}", "/users/@me"), 200);
        expect_dispatch(g, "USER_UPDATE", "{'id': '%s', 'global_name': 'Ada'}", ada->id);
        expect_quiet(g);
        conn_close(g, 1000);
    }
}

static void identify_compress_compresses_only_large_payloads(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway_conn *g = conn_open(ada, PLAIN);

    expect_op(g, 10);
    conn_identify(g, "'compress': true");
    expect_dispatch(g, "READY", "{}");
    expect(conn_was_binary(g)); /* more than 1 KiB */
    expect_quiet(g);
    expect(!conn_was_binary(g));
    /* Transport compression takes precedence. */
    g = conn_open(ada, "v=10&encoding=json&compress=zlib-stream");
    expect_op(g, 10);
    conn_identify(g, "'compress': true");
    expect_dispatch(g, "READY", "{}");
}

static void malformed_etf_payloads_close_with_4002(struct world *w)
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

/* --- closing -------------------------------------------------------------------------- */

static void draining_gateway_sends_reconnect(struct world *w)
{
    struct gateway_conn *g = conn_session(world_client(w, "ada"), PLAIN, "");

    gateway_drain(guildhall_get_gateway(world_server(w)), 0);
    expect_op(g, 7);
}

/* A busy loop may process a revocation late; sessions with a newer token stay. */
static void delayed_revocation_closes_only_sessions_of_older_tokens(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct gateway *gateway = guildhall_get_gateway(world_server(w));
    uint64_t forgets = auth_revocation_count(guildhall_get_auth(world_server(w)));
    struct gateway_conn *g = conn_session(ada, PLAIN, "");

    gateway_revoke_credential(gateway, id_of(ada->id), NULL, forgets);
    expect_quiet(g);
    gateway_revoke_credential(gateway, id_of(ada->id), NULL, forgets + 1);
    expect_close(g, 4004);
}

static void sessions_close_when_their_token_is_revoked(struct world *w)
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
    TEST(gateway_sends_hello_first),
    TEST(unknown_gateway_version_or_encoding_closes_the_connection),
    TEST(identify_of_a_user_gets_ready),
    TEST(resume_url_ignores_host_headers_of_other_clients),
    TEST(identify_of_a_bot_gets_ready_with_shard_and_application),
    TEST(identify_accepts_bot_tokens_with_and_without_prefix),
    TEST(hello_is_not_sent_together_with_the_upgrade_response),
    TEST(client_that_sends_first_still_gets_hello_first),
    TEST(invalid_identify_closes_with_the_matching_code),
    TEST(malformed_payloads_close_with_4001_or_4002),
    TEST(second_identify_or_resume_closes_with_4005),
    TEST(heartbeat_is_acknowledged_before_and_after_identify),
    TEST(unknown_opcodes_are_ignored),
    TEST_WITH(option_limits_unidentified_connections_of_an_address,
              configure_two_unidentified_connections),
    TEST_WITH(more_than_120_payloads_per_minute_close_with_4008, configure_enabled_rate_limits),
    TEST_WITH(heartbeats_beyond_ten_count_towards_the_payload_limit, configure_enabled_rate_limits),
    TEST(payload_over_15360_bytes_closes_with_4002),
    TEST(client_without_heartbeats_is_pinged_then_closed_with_4000),
    TEST(unidentified_connection_stays_open_while_it_heartbeats),
    TEST(address_is_limited_to_64_unidentified_connections),
    TEST(user_is_limited_to_fifty_sessions),
    TEST_WITH(bot_identifies_are_limited_per_max_concurrency_key, configure_enabled_rate_limits),
    TEST_WITH(session_start_limit_counts_down_and_resets_daily, configure_enabled_rate_limits),
    TEST_WITH(session_start_count_survives_a_restart, configure_enabled_rate_limits),
    TEST_WITH(concurrent_session_starts_are_all_counted, configure_enabled_rate_limits),
    TEST(metrics_count_sessions_identifies_and_dispatches),
    TEST(all_gateway_encodings_and_compressions_work),
    TEST(identify_compress_compresses_only_large_payloads),
    TEST(malformed_etf_payloads_close_with_4002),
    TEST(draining_gateway_sends_reconnect),
    TEST(delayed_revocation_closes_only_sessions_of_older_tokens),
    TEST(sessions_close_when_their_token_is_revoked),
    { 0 },
};
