/* public_address.c - decides whether addresses and URLs are on the public internet. */
#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "net/address.h"

struct net4 {
    uint32_t net;
    int bits;
};

#define NET4(a, b, c, d, bits)                                                               \
    {                                                                                        \
        (uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d), bits \
    }

/* Networks that are not globally reachable, from IANA's special-purpose registry. */
static const struct net4 special4[] = {
    NET4(0, 0, 0, 0, 8),       /* this network */
    NET4(10, 0, 0, 0, 8),      /* private */
    NET4(100, 64, 0, 0, 10),   /* carrier-grade NAT */
    NET4(127, 0, 0, 0, 8),     /* loopback */
    NET4(169, 254, 0, 0, 16),  /* link-local */
    NET4(172, 16, 0, 0, 12),   /* private */
    NET4(192, 0, 0, 0, 24),    /* protocol assignments */
    NET4(192, 0, 2, 0, 24),    /* documentation */
    NET4(192, 31, 196, 0, 24), /* AS112 */
    NET4(192, 52, 193, 0, 24), /* AMT */
    NET4(192, 88, 99, 0, 24),  /* 6to4 relays */
    NET4(192, 168, 0, 0, 16),  /* private */
    NET4(192, 175, 48, 0, 24), /* AS112 */
    NET4(198, 18, 0, 0, 15),   /* benchmarks */
    NET4(198, 51, 100, 0, 24), /* documentation */
    NET4(203, 0, 113, 0, 24),  /* documentation */
    NET4(224, 0, 0, 0, 4),     /* multicast */
    NET4(240, 0, 0, 0, 4),     /* reserved, broadcast */
};

static bool public_address_public4(uint32_t address)
{
    for (size_t i = 0; i < COUNT_OF(special4); i++)
        if (((address ^ special4[i].net) >> (32 - special4[i].bits)) == 0)
            return false;
    return true;
}

struct net6 {
    uint8_t net[16];
    int bits;
};

/* Special-purpose networks inside 2000::/3, the only block that is allocated. */
static const struct net6 special6[] = {
    { { 0x20, 0x01, 0x00, 0x00 }, 23 }, /* protocol assignments, Teredo, ORCHID */
    { { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
    { { 0x3f, 0xff }, 20 },             /* documentation */
};

static bool public_address_inside6(const uint8_t *address, const uint8_t *net, int bits)
{
    int bytes = bits / 8, rest = bits % 8;

    return memcmp(address, net, (size_t)bytes) == 0 &&
           (rest == 0 || ((address[bytes] ^ net[bytes]) >> (8 - rest)) == 0);
}

static uint32_t public_address_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool public_address_public6(const uint8_t *a)
{
    static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff };
    static const uint8_t translated[16] = { 0x00, 0x64, 0xff, 0x9b };

    /* IPv6 forms of an IPv4 address (mapped, NAT64, 6to4) are public if the IPv4 address is. */
    if (public_address_inside6(a, mapped, 96) || public_address_inside6(a, translated, 96))
        return public_address_public4(public_address_be32(a + 12));
    if (a[0] == 0x20 && a[1] == 0x02)
        return public_address_public4(public_address_be32(a + 2));
    if ((a[0] & 0xe0) != 0x20)
        return false;
    for (size_t i = 0; i < COUNT_OF(special6); i++)
        if (public_address_inside6(a, special6[i].net, special6[i].bits))
            return false;
    return true;
}

bool address_is_public(const void *sockaddr)
{
    const struct sockaddr *any = sockaddr;

    if (any->sa_family == AF_INET)
        return public_address_public4(
            ntohl(((const struct sockaddr_in *)sockaddr)->sin_addr.s_addr));
    if (any->sa_family == AF_INET6)
        return public_address_public6(((const struct sockaddr_in6 *)sockaddr)->sin6_addr.s6_addr);
    return false;
}

/* --- hosts of URLs -------------------------------------------------------------------- */

/* The host of a URL without scheme, user, port and trailing dot. Browsers treat '\' as '/'. */
static struct str public_address_host(struct str url)
{
    struct str host = str_from(url, str_starts(url, STR("https://")) ? 8 : 7);
    size_t end = 0;

    while (end < host.n && !strchr("/\\?#", host.p[end]))
        end++;
    host = str_slice(host.p, end);
    for (size_t i = host.n; i > 0; i--)
        if (host.p[i - 1] == '@') {
            host = str_from(host, i);
            break;
        }
    if (host.n && host.p[0] == '[')
        return host;
    host = str_cut(&host, ':');
    return host.n && host.p[host.n - 1] == '.' ? str_slice(host.p, host.n - 1) : host;
}

static bool public_address_ends(struct str host, const char *name)
{
    struct str end = str_of(name);
    bool longer = host.n > end.n;

    return host.n >= end.n && str_eq_nocase(str_from(host, host.n - end.n), end) &&
           (!longer || host.p[host.n - end.n - 1] == '.');
}

/* Returns true for "127.0.0.1", and also for "0x7f.1" and "2130706433". */
static bool public_address_is_number(struct str host)
{
    size_t at = host.n;

    while (at > 0 && host.p[at - 1] != '.')
        at--;
    return at < host.n && host.p[at] >= '0' && host.p[at] <= '9';
}

static bool public_address_number(struct str host)
{
    struct address a;

    if (host.p[0] == '[') {
        host = str_from(host, 1);
        host = str_cut(&host, ']');
    }
    return address_parse(host, &a) && public_address_public6(a.bytes);
}

bool url_is_public(struct str url)
{
    static const char *const nearby[] = { "localhost", "localdomain", "local", "internal",
                                          "intranet",  "private",     "corp",  "home",
                                          "lan",       "home.arpa" };
    struct str host = public_address_host(url);

    if (!host.n)
        return false;
    if (host.p[0] == '[' || public_address_is_number(host))
        return public_address_number(host);
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] == '%' || (unsigned char)host.p[i] >= 0x80)
            return false;
    if (!memchr(host.p, '.', host.n)) /* a single label, such as "nas" or "router" */
        return false;
    for (size_t i = 0; i < COUNT_OF(nearby); i++)
        if (public_address_ends(host, nearby[i]))
            return false;
    return true;
}
