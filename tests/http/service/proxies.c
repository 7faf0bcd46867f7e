/* proxies.c - clients behind proxies, and those who only say so. */
#include "waits.h"
#include "net/http/server.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUIET_MS = 60000 };

static void limited(struct config *config)
{
    config->rate_limits = true;
    config->rate_limit_anonymous = 3;
}

static void behind_a_proxy(struct config *config)
{
    limited(config);
    config->trusted_proxies = "loopback,10.0.0.0/8";
}

static void with_preambles(struct config *config)
{
    behind_a_proxy(config);
    config->proxy_protocol = true;
}

static int call_as(struct world *w, const char *headers)
{
    return client_request(world_stranger(w), "GET", "/api/v10/gateway", headers, (struct str){ 0 })
        .status;
}

/* How many of ten anonymous calls in a second get through. */
static int count_allowed(struct world *w, const char *fmt)
{
    int allowed = 0;

    for (int i = 0; i < 10; i++) {
        char headers[200];

        snprintf(headers, sizeof headers, fmt, i);
        allowed += call_as(w, headers) == 200;
    }
    world_wait(w, 2);
    return allowed;
}

static void each_client_has_its_own_limit(struct world *w)
{
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.%d\r\n") == 10);
    expect(count_allowed(w, "Forwarded: for=192.0.2.%d;proto=https\r\n") == 10);
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.%d, 10.0.0.3\r\n") == 10);
    /* Its own words before the proxy's do not help it. */
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.%d, 198.51.100.1\r\n") == 3);
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.9\r\nForwarded: for=192.0.2.%d\r\n") == 4);
    /* A /64 is one client. */
    expect(count_allowed(w, "X-Forwarded-For: 2001:db8:1:1::%d\r\n") == 3);
    expect(count_allowed(w, "X-Forwarded-For: 2001:db8:1:%d::1\r\n") == 10);
    expect(count_allowed(w, "X-Forwarded-For: nonsense %d\r\n") == 3);
}

static void nobody_else_is_believed(struct world *w)
{
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.%d\r\n") == 3);
    expect(count_allowed(w, "Forwarded: for=192.0.2.%d\r\n") == 3);
}

/* What the client is told follows how it reached the proxy. */
static void the_scheme_is_the_clients(struct world *w)
{
    struct client *nobody = world_stranger(w);

    expect_json(client_request(nobody, "GET", "/api/v10/gateway",
                               "X-Forwarded-For: 192.0.2.50\r\nX-Forwarded-Proto: https\r\n",
                               (struct str){ 0 }),
                "{'url': 'wss://127.0.0.1:%d'}", world_port(w));
    expect_json(client_request(nobody, "GET", "/api/v10/gateway", "X-Forwarded-For: 192.0.2.51\r\n",
                               (struct str){ 0 }),
                "{'url': 'ws://127.0.0.1:%d'}", world_port(w));
}

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define GATEWAY   "GET /api/v10/gateway HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static uint64_t bytes_read(struct world *w)
{
    struct server_stats stats;

    server_stats(api_server(guildhall_api(world_server(w))), &stats);
    return stats.bytes_in;
}

static int status_with_preamble(struct world *w, unsigned char last, bool split)
{
    static const char fixed[] = SIGNATURE "\x21\x11\0\x0c\xc0\0\2?\x7f\0\0\1\x12\x34\0\x50" GATEWAY;
    char bytes[sizeof fixed], in[16] = "";
    int fd = client_dial(world_stranger(w));
    size_t cut = split ? 20 : sizeof fixed - 1;
    uint64_t before = bytes_read(w);

    memcpy(bytes, fixed, sizeof fixed);
    bytes[19] = (char)last;
    expect(send(fd, bytes, cut, MSG_NOSIGNAL) == (ssize_t)cut);
    if (split) {
        expect_soon(bytes_read(w) >= before + cut);
        expect(send(fd, bytes + cut, sizeof fixed - 1 - cut, MSG_NOSIGNAL) > 0);
    }
    recv(fd, in, 12, MSG_WAITALL);
    close(fd);
    return in[0] ? atoi(in + 9) : 0;
}

static void a_preamble_names_the_client(struct world *w)
{
    int allowed = 0;

    for (int i = 0; i < 10; i++)
        expect(status_with_preamble(w, (unsigned char)i, i & 1) == 200);
    for (int i = 0; i < 10; i++)
        allowed += status_with_preamble(w, 200, false) == 200;
    expect(allowed == 3);
    /* One that is no good ends the connection, and without any all is as ever. */
    struct str nothing =
        client_raw(world_stranger(w), STR(SIGNATURE "\x31\x11\0\x0c" GATEWAY), QUIET_MS);
    expect(nothing.n == 0);
    world_wait(w, 2);
    expect(call_as(w, "X-Forwarded-For: 192.0.2.77\r\n") == 200);
}

static void a_stranger_may_not_send_a_preamble(struct world *w)
{
    expect(status_with_preamble(w, 1, false) == 400);
}

/* --- what a public server does not do by itself --------------------------------------- */

static void public_url(struct config *config)
{
    config->public_url = "https://chat.example";
}

static void expect_private_endpoints(struct world *w, bool allowed)
{
    expect(api_options(guildhall_api(world_server(w)))->private_endpoints == allowed);
}

static void a_local_server_may_call_local_endpoints(struct world *w)
{
    expect_private_endpoints(w, true);
}

static void a_server_with_a_public_url_may_not(struct world *w)
{
    expect_private_endpoints(w, false);
}

static void a_server_behind_a_proxy_may_not(struct world *w)
{
    expect_private_endpoints(w, false);
}

static void listens_everywhere(struct config *config)
{
    config->listen = "0.0.0.0:0";
}

static void a_server_that_others_can_reach_may_not(struct world *w)
{
    expect_private_endpoints(w, false);
}

const struct test proxies_tests[] = {
    TEST_WITH(each_client_has_its_own_limit, behind_a_proxy),
    TEST_WITH(nobody_else_is_believed, limited),
    TEST_WITH(the_scheme_is_the_clients, behind_a_proxy),
    TEST_WITH(a_preamble_names_the_client, with_preambles),
    TEST_WITH(a_stranger_may_not_send_a_preamble, behind_a_proxy),
    TEST(a_local_server_may_call_local_endpoints),
    TEST_WITH(a_server_with_a_public_url_may_not, public_url),
    TEST_WITH(a_server_behind_a_proxy_may_not, behind_a_proxy),
    TEST_WITH(a_server_that_others_can_reach_may_not, listens_everywhere),
    { 0 },
};
