/* address.h - IP addresses and networks: parse, print, compare, public or private. */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { ADDRESS_TEXT_SIZE = 46 }; /* size in bytes of the longest text form, with its NUL */

/* An IP address in IPv6 form; IPv4 is stored as an IPv4-mapped address (::ffff:a.b.c.d). */
struct ip_address {
    unsigned char bytes[16];
};

/* Converts a struct sockaddr; the result is zeros unless the family is AF_INET or AF_INET6. */
struct ip_address ip_address_from_sockaddr(const void *sockaddr);
bool ip_address_parse(struct str text, struct ip_address *ret);
/* Writes the usual text form ("127.0.0.1", "2001:db8::1") and returns its length. */
size_t ip_address_format(const struct ip_address *a, char out[ADDRESS_TEXT_SIZE]);

/* Returns the key of a client address for rate limits and quotas: a hash of an IPv4 address, or of
 * the /64 of an IPv6 address, because one customer or machine usually has a whole /64. */
uint64_t address_rate_limit_key(const struct ip_address *a);

struct ip_network {
    struct ip_address address;
    unsigned bits; /* prefix length in bits, 0-128; for an IPv4 network, 96 plus the IPv4 prefix
                    * length */
};

/* Parses the text of a network, such as "10.0.0.0/8" or "2001:db8::/32", or of a single address. */
bool ip_network_parse(struct str text, struct ip_network *ret);
bool ip_network_contains(const struct ip_network *n, const struct ip_address *a);

/* Returns true if the address is on the public internet. Outgoing requests may connect only to
 * public addresses, unless the operator allows private ones. */
bool ip_address_is_public(const void *sockaddr);
/* Returns true if the host of an http(s) URL may be public. Returns false for private IP addresses,
 * local names (localhost, printer.local), and hosts that browsers rewrite ('%', non-ASCII). Makes
 * no DNS lookup. */
bool url_is_public(struct str url);

#endif
