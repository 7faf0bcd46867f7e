/* session_moves.c - sessions that move between loops while channels and guilds change. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels.h"
#include "gateway_conn.h"
#include "gateway/gateway.h"
#include "guilds.h"
#include "waits.h"

enum { SESSIONS = 8, ROUNDS = 60, PACE_US = 40 };

static const char *const PLAIN = "v=10&encoding=json";

/* --- a request without waiting for its response --------------------------------------- */

static int dial_server(struct world *w)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)world_port(w)) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    expect(fd >= 0);
    expect(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

static void send_request(int fd, const struct client *c, const char *method, const char *path,
                         const char *body)
{
    struct str text = str_printf(world_arena(c->world),
                                 "%s /api/v10%s HTTP/1.1\r\nHost: localhost\r\n"
                                 "Authorization: %s\r\nContent-Type: application/json\r\n"
                                 "Content-Length: %zu\r\n\r\n%s",
                                 method, path, c->authorization, strlen(body), body);

    expect(send(fd, text.p, text.n, MSG_NOSIGNAL) == (ssize_t)text.n);
}

static void expect_2xx_response(int fd)
{
    char text[65536];
    ssize_t n = recv(fd, text, sizeof text, 0);

    expect(n > 12 && text[9] == '2');
}

/* --- sessions that move --------------------------------------------------------------- */

struct moving_sessions {
    struct client *ada, *bob;
    const char *guild, *role;
    const char *by_role, *by_overwrite; /* channels that are shown and hidden */
    struct gateway_conn *gates[SESSIONS];
    int fd;
};

static const char *create_hidden_channel(struct moving_sessions *m, const char *name,
                                         const char *for_role)
{
    return make_channel(m->ada, m->guild,
                        TEXT(m->ada->world,
                             "{'name': '%s', 'permission_overwrites': ["
                             "{'id': '%s', 'type': 0, 'deny': '1024'},"
                             "{'id': '%s', 'type': 0, 'allow': '1024'}]}",
                             name, m->guild, for_role));
}

static struct moving_sessions open_moving_sessions(struct world *w)
{
    struct moving_sessions m = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    m.guild = found_guild(m.ada, "Hall");
    m.role = make_role(m.ada, m.guild, "{'name': 'Keepers', 'permissions': '0'}");
    m.by_role = create_hidden_channel(&m, "r", m.role);
    m.by_overwrite = create_hidden_channel(&m, "o", m.role);
    put_member(m.guild, m.bob);
    for (int i = 0; i < SESSIONS; i++)
        m.gates[i] = conn_session(m.bob, PLAIN, "");
    for (int i = 0; i < SESSIONS; i++)
        for (int k = i + 1; k < SESSIONS; k++) /* SESSIONS_REPLACE */
            conn_count(m.gates[i], conn_read(m.gates[i], 60000));
    m.fd = dial_server(w);
    return m;
}

/* Cuts all sockets and opens new ones that have not resumed yet. */
static void open_new_gateway_sockets(struct moving_sessions *m, struct gateway_conn **next)
{
    for (int i = 0; i < SESSIONS; i++) {
        conn_kill(m->gates[i]);
        next[i] = conn_open(m->bob, PLAIN);
        expect_op(next[i], 10);
    }
}

static void resume_all_moving_sessions(struct moving_sessions *m, struct gateway_conn **next)
{
    for (int i = 0; i < SESSIONS; i++) {
        conn_resume(next[i], conn_id(m->gates[i]), conn_seq(m->gates[i]));
        m->gates[i] = next[i];
    }
}

/* Expects RESUMED and this event once each, among other events. */
static void expect_resumed_event_and_other_event(struct gateway_conn *g, const char *event,
                                                 const char *id)
{
    int resumed = 0, received = 0;

    while (!resumed || !received) {
        const struct dom *m = conn_read(g, 60000);

        if (!m)
            fail_test(__FILE__, __LINE__, "resumed %d, heard %s %d", resumed, event, received);
        conn_count(g, m);
        struct str t = dom_at(m, "t")->text;
        const struct dom *of = dom_at(m, "d.id");
        if (str_is(t, "RESUMED"))
            resumed++;
        else if (of && str_is(of->text, id) &&
                 (str_is(t, "CHANNEL_CREATE") || str_is(t, "CHANNEL_DELETE") ||
                  str_is(t, "GUILD_DELETE")))
            received += str_is(t, event) ? 1 : 100;
        if (received > 1)
            fail_test(__FILE__, __LINE__, "resumed %d, waited for %s, heard %d: %.*s", resumed,
                      event, received, STR_ARGS(t));
    }
}

/* Expects that no event about this id is left. */
static void expect_no_event_about_id(struct gateway_conn *g, const char *id)
{
    conn_send(g, "{'op':1,'d':null}");
    for (;;) {
        const struct dom *m = conn_read(g, 60000);

        expect(m != NULL);
        if (!str_is(dom_at(m, "op")->text, "0"))
            break;
        conn_count(g, m);
        const struct dom *of = dom_at(m, "d.id");
        expect(!of || !str_is(of->text, id) || str_is(dom_at(m, "t")->text, "CHANNEL_UPDATE"));
    }
}

/* Hides or shows one of the channels while all sessions move. */
static void change_channel_visibility_during_session_moves(struct moving_sessions *m, int round)
{
    struct world *w = m->ada->world;
    struct gateway_conn *next[SESSIONS];
    bool shown = round % 2 == 0, by_role = round / 2 % 2 == 0;
    const char *id = by_role ? m->by_role : m->by_overwrite;

    open_new_gateway_sockets(m, next);
    if (by_role)
        send_request(m->fd, m->ada, "PATCH", TEXT(w, "/guilds/%s/members/%s", m->guild, m->bob->id),
                     shown ? TEXT(w, "{\"roles\":[\"%s\"]}", m->role) : "{\"roles\":[]}");
    else
        send_request(m->fd, m->ada, "PUT", TEXT(w, "/channels/%s/permissions/%s", id, m->bob->id),
                     shown ? "{\"type\":1,\"allow\":\"1024\",\"deny\":\"0\"}"
                           : "{\"type\":1,\"allow\":\"0\",\"deny\":\"1024\"}");
    usleep((useconds_t)(round % 16 * PACE_US));
    resume_all_moving_sessions(m, next);
    expect_2xx_response(m->fd);
    for (int i = 0; i < SESSIONS; i++)
        expect_resumed_event_and_other_event(m->gates[i],
                                             shown ? "CHANNEL_CREATE" : "CHANNEL_DELETE", id);
    for (int i = 0; i < SESSIONS; i++)
        expect_no_event_about_id(m->gates[i], id);
}

static void sessions_moving_between_loops_get_each_visibility_change_once(struct world *w)
{
    struct moving_sessions m = open_moving_sessions(w);

    /* The role gives access to one channel only. */
    expect_status(client_put(m.ada, "{'type': 0, 'allow': '0', 'deny': '0'}",
                             "/channels/%s/permissions/%s", m.by_overwrite, m.role),
                  204);
    for (int round = 0; round < ROUNDS; round++)
        change_channel_visibility_during_session_moves(&m, round);
    close(m.fd);
}

/* --- deleted guilds and channels ------------------------------------------------------ */

static void sessions_moving_between_loops_get_channel_delete_once(struct world *w)
{
    struct moving_sessions m = open_moving_sessions(w);
    struct gateway_conn *next[SESSIONS];

    for (int round = 0; round < ROUNDS / 2; round++) {
        const char *id = make_channel(m.ada, m.guild, "{'name': 'short'}");

        for (int i = 0; i < SESSIONS; i++)
            expect_dispatch(m.gates[i], "CHANNEL_CREATE", "{'id': '%s'}", id);
        open_new_gateway_sockets(&m, next);
        send_request(m.fd, m.ada, "DELETE", TEXT(w, "/channels/%s", id), "");
        usleep((useconds_t)(round % 16 * PACE_US));
        resume_all_moving_sessions(&m, next);
        expect_2xx_response(m.fd);
        for (int i = 0; i < SESSIONS; i++)
            expect_resumed_event_and_other_event(m.gates[i], "CHANNEL_DELETE", id);
        for (int i = 0; i < SESSIONS; i++)
            expect_no_event_about_id(m.gates[i], id);
    }
    close(m.fd);
}

/* The guild is deleted, or the member is kicked. */
static void sessions_moving_between_loops_get_guild_delete_once(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *guilds[ROUNDS / 2];
    struct gateway_conn *next[SESSIONS];

    for (int i = 0; i < ROUNDS / 2; i++) {
        guilds[i] = found_guild(ada, "Short");
        put_member(guilds[i], bob);
    }
    struct moving_sessions m = open_moving_sessions(w);
    for (int round = 0; round < ROUNDS / 2; round++) {
        const char *id = guilds[round];

        open_new_gateway_sockets(&m, next);
        send_request(m.fd, m.ada, "DELETE",
                     round % 2 ? TEXT(w, "/guilds/%s", id)
                               : TEXT(w, "/guilds/%s/members/%s", id, m.bob->id),
                     "");
        usleep((useconds_t)(round % 16 * PACE_US));
        resume_all_moving_sessions(&m, next);
        expect_2xx_response(m.fd);
        for (int i = 0; i < SESSIONS; i++)
            expect_resumed_event_and_other_event(m.gates[i], "GUILD_DELETE", id);
        for (int i = 0; i < SESSIONS; i++)
            expect_no_event_about_id(m.gates[i], id);
    }
    close(m.fd);
}

/* --- sessions that do not arrive ------------------------------------------------------ */

static uint64_t count_sockets(struct world *w)
{
    struct gateway_stats stats;

    gateway_read_stats(guildhall_get_gateway(world_server(w)), &stats);
    return stats.connected;
}

/* Returns whether a presence "offline" arrives before the heartbeat ACK. */
static bool receives_offline_presence(struct gateway_conn *g)
{
    bool received = false;

    conn_send(g, "{'op':1,'d':null}");
    for (;;) {
        const struct dom *m = conn_read(g, 60000);

        expect(m != NULL);
        if (str_is(dom_at(m, "op")->text, "11"))
            return received;
        conn_count(g, m);
        expect(str_is(dom_at(m, "d.status")->text, "offline"));
        received = true;
    }
}

/* A socket is cut while its session moves to it: the session is shown online for one more
 * minute, not for three. */
static void session_lost_while_moving_between_loops_goes_offline_in_a_minute(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *guild = found_guild(ada, "Hall");

    put_member(guild, bob);
    struct gateway_conn *a = conn_session(ada, PLAIN, "");
    conn_watch(a, true);
    for (int round = 0; round < 6; round++) {
        struct gateway_conn *first = conn_session(bob, PLAIN, "");

        expect_dispatch(a, "PRESENCE_UPDATE", "{'status': 'online'}");
        conn_kill(first);
        for (int i = 0; i < 3; i++) {
            struct gateway_conn *g = conn_open(bob, PLAIN);

            expect_op(g, 10);
            conn_resume(g, conn_id(first), 1);
            conn_kill(g);
        }
        expect_soon(count_sockets(w) == 1 && conn_census(first, "connected") == 0);
        bool received = false;
        for (int i = 0; i < 4; i++) { /* two minutes: the session may have arrived only now */
            world_wait(w, 31);
            received |= receives_offline_presence(a);
        }
        expect(received);
    }
}

static void configure_four_event_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_session_moves_tests[] = {
    TEST_WITH(sessions_moving_between_loops_get_each_visibility_change_once,
              configure_four_event_loops),
    TEST_WITH(sessions_moving_between_loops_get_channel_delete_once, configure_four_event_loops),
    TEST_WITH(sessions_moving_between_loops_get_guild_delete_once, configure_four_event_loops),
    TEST_WITH(session_lost_while_moving_between_loops_goes_offline_in_a_minute,
              configure_four_event_loops),
    { 0 },
};
