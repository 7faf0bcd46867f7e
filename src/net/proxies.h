/* proxies.h - who a client is when proxies that we trust stand between.
 *
 * Only what a trusted peer says is looked at, and of a list of hops only its end, from the
 * right, as far as each hop is trusted too: what stands before may be the client's own words.
 * Words that cannot be understood end the walk; they never fail a request. Pure functions. */
#ifndef NET_PROXIES_H
#define NET_PROXIES_H

#include "net/address.h"
#include "net/http/http.h"

enum { PROXIES_MAX = 64, PROXY_HEADER_MAX = 4 * 1024 };

struct proxies {
    struct network list[PROXIES_MAX];
    size_t count;
};

/* "loopback, 10.0.0.0/8, 2001:db8::1"; false with a few words that follow the option's name. */
bool proxies_parse(struct str list, struct proxies *ret, const char **ret_problem);
bool proxies_hold(const struct proxies *p, const struct address *a);

/* By X-Forwarded-For or Forwarded (RFC 7239). *client is the trusted peer before, and stays so
 * when nothing is said, or when the two headers contradict each other: then one of them is the
 * client's own. */
void forwarded_client(const struct proxies *p, const struct http_request *r,
                      struct address *client);
/* Did the client speak TLS to the proxy? was is what the connection itself says. */
bool forwarded_secure(const struct http_request *r, bool was);

/* The header of the PROXY protocol, version 2, in front of a connection. Returns its length, 0
 * when more bytes are needed, PROXY_NONE when there is none, PROXY_BAD for one that is no good.
 * *ret_found: it names a client. */
enum { PROXY_NONE = -1, PROXY_BAD = -2 };
long proxy_header_read(struct str bytes, struct address *ret, bool *ret_found);

#endif
