/* address.c - parses, prints and compares IP addresses and networks. */
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/hash.h"

static const unsigned char ipv4_mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };

static bool is_ipv4_mapped(const struct ip_address *a)
{
    return memcmp(a->bytes, ipv4_mapped_prefix, sizeof ipv4_mapped_prefix) == 0;
}

struct ip_address ip_address_from_sockaddr(const void *sockaddr)
{
    const struct sockaddr *any = sockaddr;
    struct ip_address a = { 0 };

    if (any->sa_family == AF_INET) {
        memcpy(a.bytes, ipv4_mapped_prefix, sizeof ipv4_mapped_prefix);
        memcpy(a.bytes + 12, &((const struct sockaddr_in *)sockaddr)->sin_addr, 4);
    } else if (any->sa_family == AF_INET6) {
        memcpy(a.bytes, &((const struct sockaddr_in6 *)sockaddr)->sin6_addr, 16);
    }
    return a;
}

bool ip_address_parse(struct str text, struct ip_address *ret)
{
    char z[ADDRESS_TEXT_SIZE];
    struct ip_address a = { 0 };

    if (text.n == 0 || text.n >= sizeof z || memchr(text.p, '\0', text.n))
        return false;
    memcpy(z, text.p, text.n);
    z[text.n] = '\0';
    if (inet_pton(AF_INET, z, a.bytes + 12) == 1)
        memcpy(a.bytes, ipv4_mapped_prefix, sizeof ipv4_mapped_prefix);
    else if (inet_pton(AF_INET6, z, a.bytes) != 1)
        return false;
    *ret = a;
    return true;
}

/* Formats an IPv4 address as text. Faster than inet_ntop, which matters because this is called once
 * per connection. */
static size_t format_ipv4(const unsigned char bytes[4], char *out)
{
    char *at = out;

    for (int i = 0; i < 4; i++) {
        unsigned n = bytes[i];

        if (i)
            *at++ = '.';
        if (n >= 100)
            *at++ = (char)('0' + n / 100);
        if (n >= 10)
            *at++ = (char)('0' + n / 10 % 10);
        *at++ = (char)('0' + n % 10);
    }
    *at = '\0';
    return (size_t)(at - out);
}

size_t ip_address_format(const struct ip_address *a, char out[ADDRESS_TEXT_SIZE])
{
    if (is_ipv4_mapped(a))
        return format_ipv4(a->bytes + 12, out);
    inet_ntop(AF_INET6, a->bytes, out, ADDRESS_TEXT_SIZE);
    return strlen(out);
}

uint64_t address_rate_limit_key(const struct ip_address *a)
{
    return hash_str(str_slice((const char *)a->bytes, is_ipv4_mapped(a) ? 16 : 8));
}

bool ip_network_parse(struct str text, struct ip_network *ret)
{
    struct str bits = text, address = str_cut(&bits, '/');
    bool one = address.n == text.n; /* whether the text has no '/' */
    struct ip_network n = { .bits = 128 };
    uint64_t count = 0;

    if (!ip_address_parse(address, &n.address))
        return false;
    if (!one) {
        unsigned above = is_ipv4_mapped(&n.address) && !memchr(address.p, ':', address.n) ? 96 : 0;

        if (!str_to_u64(bits, &count) || count > 128 - above)
            return false;
        n.bits = (unsigned)count + above;
    }
    *ret = n;
    return true;
}

bool ip_network_contains(const struct ip_network *n, const struct ip_address *a)
{
    unsigned bytes = n->bits / 8, rest = n->bits % 8;

    return memcmp(a->bytes, n->address.bytes, bytes) == 0 &&
           (!rest || (a->bytes[bytes] ^ n->address.bytes[bytes]) >> (8 - rest) == 0);
}
