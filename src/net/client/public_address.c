/* public_address.c - decides whether addresses and URLs are on the public internet. */
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "net/address.h"

struct ipv4_network {
    uint32_t net;
    int bits;
};

#define IPV4_NETWORK(a, b, c, d, bits)                                                       \
    {                                                                                        \
        (uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d), bits \
    }

/* Networks that are not globally reachable, from IANA's special-purpose registry. */
static const struct ipv4_network special_ipv4_networks[] = {
    IPV4_NETWORK(0, 0, 0, 0, 8),       /* this network */
    IPV4_NETWORK(10, 0, 0, 0, 8),      /* private */
    IPV4_NETWORK(100, 64, 0, 0, 10),   /* carrier-grade NAT */
    IPV4_NETWORK(127, 0, 0, 0, 8),     /* loopback */
    IPV4_NETWORK(169, 254, 0, 0, 16),  /* link-local */
    IPV4_NETWORK(172, 16, 0, 0, 12),   /* private */
    IPV4_NETWORK(192, 0, 0, 0, 24),    /* protocol assignments */
    IPV4_NETWORK(192, 0, 2, 0, 24),    /* documentation */
    IPV4_NETWORK(192, 31, 196, 0, 24), /* AS112 */
    IPV4_NETWORK(192, 52, 193, 0, 24), /* AMT */
    IPV4_NETWORK(192, 88, 99, 0, 24),  /* 6to4 relays */
    IPV4_NETWORK(192, 168, 0, 0, 16),  /* private */
    IPV4_NETWORK(192, 175, 48, 0, 24), /* AS112 */
    IPV4_NETWORK(198, 18, 0, 0, 15),   /* benchmarks */
    IPV4_NETWORK(198, 51, 100, 0, 24), /* documentation */
    IPV4_NETWORK(203, 0, 113, 0, 24),  /* documentation */
    IPV4_NETWORK(224, 0, 0, 0, 4),     /* multicast */
    IPV4_NETWORK(240, 0, 0, 0, 4),     /* reserved, broadcast */
};

static bool ipv4_is_public(uint32_t address)
{
    for (size_t i = 0; i < COUNT_OF(special_ipv4_networks); i++)
        if (((address ^ special_ipv4_networks[i].net) >> (32 - special_ipv4_networks[i].bits)) == 0)
            return false;
    return true;
}

struct ipv6_network {
    uint8_t net[16];
    int bits;
};

/* Special-purpose networks inside 2000::/3. All public IPv6 addresses are in 2000::/3. */
static const struct ipv6_network special_ipv6_networks[] = {
    { { 0x20, 0x01, 0x00, 0x00 }, 23 }, /* protocol assignments, Teredo, ORCHID */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
    { { 0x3f, 0xff }, 20 },             /* documentation */
};

static bool ipv6_network_contains(const uint8_t *address, const uint8_t *net, int bits)
{
    int bytes = bits / 8, rest = bits % 8;

    return memcmp(address, net, (size_t)bytes) == 0 &&
           (rest == 0 || ((address[bytes] ^ net[bytes]) >> (8 - rest)) == 0);
}

static uint32_t read_big_endian_32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool ipv6_is_public(const uint8_t *a)
{
    static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff };
    static const uint8_t translated[16] = { 0x00, 0x64, 0xff, 0x9b };

    /* An IPv6 address that contains an IPv4 address (mapped, NAT64, 6to4) is public if the IPv4
     * address is public. */
    if (ipv6_network_contains(a, mapped, 96) || ipv6_network_contains(a, translated, 96))
        return ipv4_is_public(read_big_endian_32(a + 12));
    if (a[0] == 0x20 && a[1] == 0x02)
        return ipv4_is_public(read_big_endian_32(a + 2));
    if ((a[0] & 0xe0) != 0x20)
        return false;
    for (size_t i = 0; i < COUNT_OF(special_ipv6_networks); i++)
        if (ipv6_network_contains(a, special_ipv6_networks[i].net, special_ipv6_networks[i].bits))
            return false;
    return true;
}

bool ip_address_is_public(const void *sockaddr)
{
    const struct sockaddr *any = sockaddr;

    if (any->sa_family == AF_INET)
        return ipv4_is_public(ntohl(((const struct sockaddr_in *)sockaddr)->sin_addr.s_addr));
    if (any->sa_family == AF_INET6)
        return ipv6_is_public(((const struct sockaddr_in6 *)sockaddr)->sin6_addr.s6_addr);
    return false;
}

/* Returns the host of a URL, without scheme, user, port and trailing dot. '\' counts as '/', as in
 * browsers. */
static struct str find_host_of_url(struct str url)
{
    struct str host = str_skip_bytes(url, str_starts_with(url, STR("https://")) ? 8 : 7);
    size_t end = 0;

    while (end < host.n && !strchr("/\\?#", host.p[end]))
        end++;
    host = str_slice(host.p, end);
    for (size_t i = host.n; i > 0; i--)
        if (host.p[i - 1] == '@') {
            host = str_skip_bytes(host, i);
            break;
        }
    if (host.n && host.p[0] == '[')
        return host;
    host = str_cut(&host, ':');
    return host.n && host.p[host.n - 1] == '.' ? str_slice(host.p, host.n - 1) : host;
}

static bool host_is_in_domain(struct str host, const char *name)
{
    struct str end = str_of(name);
    bool longer = host.n > end.n;

    return host.n >= end.n && str_eq_nocase(str_skip_bytes(host, host.n - end.n), end) &&
           (!longer || host.p[host.n - end.n - 1] == '.');
}

/* Returns true if the host is an IPv4 address in any form that browsers accept: "127.0.0.1",
 * "0x7f.1", "2130706433". */
static bool host_is_numeric(struct str host)
{
    size_t at = host.n;

    while (at > 0 && host.p[at - 1] != '.')
        at--;
    return at < host.n && host.p[at] >= '0' && host.p[at] <= '9';
}

static bool numeric_host_is_public(struct str host)
{
    struct ip_address a;

    if (host.p[0] == '[') {
        host = str_skip_bytes(host, 1);
        host = str_cut(&host, ']');
    }
    return ip_address_parse(host, &a) && ipv6_is_public(a.bytes);
}

bool url_is_public(struct str url)
{
    static const char *const nearby[] = { "localhost", "localdomain", "local", "internal",
                                          "intranet",  "private",     "corp",  "home",
                                          "lan",       "home.arpa" };
    struct str host = find_host_of_url(url);

    if (!host.n)
        return false;
    if (host.p[0] == '[' || host_is_numeric(host))
        return numeric_host_is_public(host);
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] == '%' || (unsigned char)host.p[i] >= 0x80)
            return false;
    if (!memchr(host.p, '.', host.n)) /* not public: a name without a dot, such as "nas" or
                                       * "router" */
        return false;
    for (size_t i = 0; i < COUNT_OF(nearby); i++)
        if (host_is_in_domain(host, nearby[i]))
            return false;
    return true;
}
