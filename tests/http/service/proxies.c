/* proxies.c - client addresses from trusted proxies, and forged ones. */
#include "waits.h"
#include "net/http/server.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUIET_MS = 60000 };

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
    config->rate_limit_anonymous = 3;
}

static void configure_trusted_proxies(struct config *config)
{
    configure_enabled_rate_limits(config);
    config->trusted_proxies = "loopback,10.0.0.0/8";
}

static void configure_proxy_protocol(struct config *config)
{
    configure_trusted_proxies(config);
    config->proxy_protocol = true;
}

static int call_with_headers(struct world *w, const char *headers)
{
    return client_request(world_anonymous(w), "GET", "/api/v10/gateway", headers, (struct str){ 0 })
        .status;
}

/* Counts how many of ten anonymous requests in a second succeed. */
static int count_allowed(struct world *w, const char *fmt)
{
    int allowed = 0;

    for (int i = 0; i < 10; i++) {
        char headers[200];

        snprintf(headers, sizeof headers, fmt, i);
        allowed += call_with_headers(w, headers) == 200;
    }
    world_wait(w, 2);
    return allowed;
}

static void clients_behind_a_trusted_proxy_have_separate_limits(struct world *w)
{
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.%d\r\n") == 10);
    expect(count_allowed(w, "Forwarded: for=192.0.2.%d;proto=https\r\n") == 10);
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.%d, 10.0.0.3\r\n") == 10);
    /* Addresses that the client itself put before the proxy's are ignored. */
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.%d, 198.51.100.1\r\n") == 3);
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.9\r\nForwarded: for=192.0.2.%d\r\n") == 4);
    /* An IPv6 /64 is one client. */
    expect(count_allowed(w, "X-Forwarded-For: 2001:db8:1:1::%d\r\n") == 3);
    expect(count_allowed(w, "X-Forwarded-For: 2001:db8:1:%d::1\r\n") == 10);
    expect(count_allowed(w, "X-Forwarded-For: nonsense %d\r\n") == 3);
}

static void forwarded_headers_of_untrusted_clients_are_ignored(struct world *w)
{
    expect(count_allowed(w, "X-Forwarded-For: 192.0.2.%d\r\n") == 3);
    expect(count_allowed(w, "Forwarded: for=192.0.2.%d\r\n") == 3);
}

/* The gateway URL follows the scheme that the client used with the proxy. */
static void gateway_url_uses_the_clients_forwarded_scheme(struct world *w)
{
    struct client *nobody = world_anonymous(w);

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

static uint64_t count_bytes_read(struct world *w)
{
    struct http_server_stats stats;

    http_server_read_stats(api_get_http_server(guildhall_get_api(world_server(w))), &stats);
    return stats.bytes_in;
}

static int status_with_preamble(struct world *w, unsigned char last, bool split)
{
    static const char fixed[] = SIGNATURE "\x21\x11\0\x0c\xc0\0\2?\x7f\0\0\1\x12\x34\0\x50" GATEWAY;
    char bytes[sizeof fixed], in[16] = "";
    int fd = client_dial(world_anonymous(w));
    size_t cut = split ? 20 : sizeof fixed - 1;
    uint64_t before = count_bytes_read(w);

    memcpy(bytes, fixed, sizeof fixed);
    bytes[19] = (char)last;
    expect(send(fd, bytes, cut, MSG_NOSIGNAL) == (ssize_t)cut);
    if (split) {
        expect_soon(count_bytes_read(w) >= before + cut);
        expect(send(fd, bytes + cut, sizeof fixed - 1 - cut, MSG_NOSIGNAL) > 0);
    }
    recv(fd, in, 12, MSG_WAITALL);
    close(fd);
    return in[0] ? atoi(in + 9) : 0;
}

static void proxy_protocol_preamble_sets_the_client_address(struct world *w)
{
    int allowed = 0;

    for (int i = 0; i < 10; i++)
        expect(status_with_preamble(w, (unsigned char)i, i & 1) == 200);
    for (int i = 0; i < 10; i++)
        allowed += status_with_preamble(w, 200, false) == 200;
    expect(allowed == 3);
    /* An invalid preamble closes the connection; without one the connection works as usual. */
    struct str nothing =
        client_raw(world_anonymous(w), STR(SIGNATURE "\x31\x11\0\x0c" GATEWAY), QUIET_MS);
    expect(nothing.n == 0);
    world_wait(w, 2);
    expect(call_with_headers(w, "X-Forwarded-For: 192.0.2.77\r\n") == 200);
}

static void proxy_protocol_preamble_of_an_untrusted_client_is_400(struct world *w)
{
    expect(status_with_preamble(w, 1, false) == 400);
}

/* --- private endpoints ---------------------------------------------------------------- */

static void configure_public_url(struct config *config)
{
    config->public_url = "https://chat.example";
}

static void expect_private_endpoints_are_allowed(struct world *w, bool allowed)
{
    expect(api_get_options(guildhall_get_api(world_server(w)))->private_endpoints == allowed);
}

static void local_server_may_call_endpoints_on_private_addresses(struct world *w)
{
    expect_private_endpoints_are_allowed(w, true);
}

static void server_with_public_url_may_not_call_private_address_endpoints(struct world *w)
{
    expect_private_endpoints_are_allowed(w, false);
}

static void server_behind_a_proxy_may_not_call_private_address_endpoints(struct world *w)
{
    expect_private_endpoints_are_allowed(w, false);
}

static void configure_listen_on_all_addresses(struct config *config)
{
    config->listen = "0.0.0.0:0";
}

static void server_on_a_public_address_may_not_call_private_address_endpoints(struct world *w)
{
    expect_private_endpoints_are_allowed(w, false);
}

const struct test proxies_tests[] = {
    TEST_WITH(clients_behind_a_trusted_proxy_have_separate_limits, configure_trusted_proxies),
    TEST_WITH(forwarded_headers_of_untrusted_clients_are_ignored, configure_enabled_rate_limits),
    TEST_WITH(gateway_url_uses_the_clients_forwarded_scheme, configure_trusted_proxies),
    TEST_WITH(proxy_protocol_preamble_sets_the_client_address, configure_proxy_protocol),
    TEST_WITH(proxy_protocol_preamble_of_an_untrusted_client_is_400, configure_trusted_proxies),
    TEST(local_server_may_call_endpoints_on_private_addresses),
    TEST_WITH(server_with_public_url_may_not_call_private_address_endpoints, configure_public_url),
    TEST_WITH(server_behind_a_proxy_may_not_call_private_address_endpoints,
              configure_trusted_proxies),
    TEST_WITH(server_on_a_public_address_may_not_call_private_address_endpoints,
              configure_listen_on_all_addresses),
    { 0 },
};
