/* address.h - who a peer is, as far as its address tells. */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { ADDRESS_TEXT = 46 }; /* the longest, and its NUL */

/* IPv4 is kept as ::ffff:a.b.c.d, so that there is one kind of address. */
struct address {
    unsigned char bytes[16];
};

/* From a struct sockaddr; all zeros for other families. */
struct address address_from(const void *sockaddr);
bool address_parse(struct str text, struct address *ret);
/* Writes the usual form ("127.0.0.1", "2001:db8::1"); returns its length. */
size_t address_write(const struct address *a, char out[ADDRESS_TEXT]);

/* Whom limits count it as: one IPv4 address, or one /64 of IPv6, which is what a single
 * line or machine is given. */
uint64_t address_key(const struct address *a);

struct network {
    struct address address;
    unsigned bits; /* of 128 */
};

/* "10.0.0.0/8", "2001:db8::/32", or one address. */
bool network_parse(struct str text, struct network *ret);
bool network_holds(const struct network *n, const struct address *a);

/* May a request of ours go there? Only what is on the public internet. */
bool address_is_public(const void *sockaddr);
/* Does an http or https address name a host that may be there? False for numbers that are private
 * and names that only mean something nearby (localhost, printer.local), and for what browsers
 * would first turn into something else. Nobody is asked what a name stands for. */
bool url_is_public(struct str url);

#endif
