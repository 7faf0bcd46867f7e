/* voice_relay.c - starts the voice relay, and computes its address and endpoint for clients. */
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/log.h"
#include "net/address.h"
#include "server/as_discord.h"
#include "server/guildhall_internal.h"
#include "voice/voice.h"

/* Returns the IPv4 address to which clients send voice packets, or NULL if the server has no
 * address that clients can reach. */
static const char *voice_address_for_clients(const struct guildhall *g)
{
    const char *address = g->config->voice_address            ? g->config->voice_address
                          : strcmp(g->host, "localhost") == 0 ? "127.0.0.1"
                                                              : g->host;
    struct sockaddr_in parsed;

    return uv_ip4_addr(address, 0, &parsed) == 0 && parsed.sin_addr.s_addr != INADDR_ANY ? address
                                                                                         : NULL;
}

/* Returns the address to which the voice socket is bound. If the option voice_address is set to an
 * address that is not loopback, the wildcard address is returned, for two reasons. Behind a proxy
 * the server listens on loopback, but voice packets arrive directly. Behind NAT, voice_address is
 * not an address of this machine. */
static const char *voice_bind_address(const struct guildhall *g)
{
    const char *address = g->config->voice_address;

    if (!address)
        return g->host;
    if (str_starts_with(str_of(address), STR("127.")))
        return address;
    return strchr(g->host, ':') ? "::" : "0.0.0.0";
}

static enum relay_encryption_policy parse_voice_e2ee(struct str choice)
{
    return str_is(choice, "off")       ? RELAY_E2EE_OFF
           : str_is(choice, "require") ? RELAY_E2EE_REQUIRE
                                       : RELAY_E2EE_PREFER;
}

/* Finds the IPv6 address that browsers get as a second candidate, if the relay receives IPv6
 * packets: the listen address, or else the first public IPv6 address of this machine. */
static void find_voice_ipv6_address(const struct guildhall *g, char out[46])
{
    uv_interface_address_t *list = NULL;
    struct sockaddr_in6 listens;
    int count = 0;

    if (!strchr(voice_bind_address(g), ':'))
        return;
    if (uv_ip6_addr(g->host, 0, &listens) == 0 && ip_address_is_public(&listens)) {
        uv_ip6_name(&listens, out, 46);
        return;
    }
    if (uv_interface_addresses(&list, &count) != 0)
        return;
    for (int i = 0; i < count && !out[0]; i++)
        if (list[i].address.address6.sin6_family == AF_INET6 &&
            ip_address_is_public(&list[i].address.address6))
            uv_ip6_name(&list[i].address.address6, out, 46);
    uv_free_interface_addresses(list, count);
}

enum err start_voice_relay(struct guildhall *g)
{
    struct relay_options options = { .host = voice_bind_address(g),
                                     .address = voice_address_for_clients(g),
                                     .room_max = VOICE_ROOM_MAX,
                                     .no_xsalsa20 = !g->config->voice_xsalsa20,
                                     .e2ee = parse_voice_e2ee(str_of(g->config->voice_e2ee)),
                                     .source = voice_relay_callbacks(g->api) };
    uint64_t port;

    if (!g->config->voice_port)
        return OK;
    if (!str_to_u64(str_of(g->config->voice_port), &port) || port > 65535) {
        log_error("voice-port must be a port number from 0 to 65535, not '%s'",
                  g->config->voice_port);
        return ERR_INTERNAL;
    }
    if (!options.address) {
        log_error("voice-port requires voice-address: the IPv4 address to which clients send voice "
                  "packets");
        return ERR_INTERNAL;
    }
    options.port = (int)port;
    find_voice_ipv6_address(g, options.address6);
    return relay_start(g->loops, &options, &g->relay);
}

/* Writes the voice endpoint and returns its length. The endpoint is the option voice-endpoint, or
 * else the host of public-url, or else the listen address. Some clients replace the text after the
 * last colon by the default port, and fail without a colon. So if the host has no port, the
 * endpoint gets a port at the end of its path (relay_accept_websocket). */
static int format_voice_endpoint(const struct guildhall *g, char *out, size_t max)
{
    struct str url = str_of(g->config->public_url);

    if (g->config->voice_endpoint)
        return snprintf(out, max, "%s", g->config->voice_endpoint);
    if (g->config->as_discord)
        return snprintf(out, max, PLATFORM_VOICE_HOST ":443");
    if (!url.p)
        return snprintf(out, max, strchr(g->host, ':') ? "[%s]:%d/voice" : "%s:%d/voice", g->host,
                        http_server_get_port(g->server));
    str_cut(&url, '/');
    str_cut(&url, '/');
    struct str host = str_cut(&url, '/');
    return snprintf(out, max, "%.*s/voice%s", STR_ARGS(host),
                    memchr(host.p, ':', host.n) ? "" : RELAY_PATH_PORT);
}

enum err set_voice_relay_endpoint(struct guildhall *g)
{
    if (!g->relay)
        return OK;
    if (format_voice_endpoint(g, g->voice_endpoint, sizeof g->voice_endpoint) >=
        (int)sizeof g->voice_endpoint) {
        log_error(
            "voice-endpoint or public-url is too long to be sent to clients; use a shorter host "
            "name");
        return ERR_INTERNAL;
    }
    return voice_start_accepting_rooms(g->voice, g->voice_endpoint);
}
