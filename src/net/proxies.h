/* proxies.h - finds the client's address behind trusted proxies (X-Forwarded-For, Forwarded, PROXY
 * protocol).
 *
 * Headers are used only if the peer is trusted. The addresses in a list are read from right to
 * left, as long as they are trusted proxies: the client may have forged everything to the left of
 * the first untrusted address. An invalid address ends the search, but is no error. All functions
 * are pure. */
#ifndef NET_PROXIES_H
#define NET_PROXIES_H

#include "net/address.h"
#include "net/http/http_parser.h"

enum { MAX_TRUSTED_PROXIES = 64, PROXY_HEADER_MAX = 4 * 1024 };

struct trusted_proxy_networks {
    struct ip_network list[MAX_TRUSTED_PROXIES];
    size_t count;
};

/* Parses a list such as "loopback, 10.0.0.0/8, 2001:db8::1". On failure, sets *ret_problem to the
 * end of an error sentence; the caller puts the option's name before it. */
bool parse_trusted_proxies(struct str list, struct trusted_proxy_networks *ret,
                           const char **ret_problem);
bool is_trusted_proxy(const struct trusted_proxy_networks *p, const struct ip_address *a);

/* Finds the client's address in X-Forwarded-For or Forwarded (RFC 7239). Before the call, *client
 * must be the address of the trusted peer. *client does not change if there is no such header, or
 * if both headers disagree, because the client may have sent one of them. */
void find_forwarded_client_address(const struct trusted_proxy_networks *p,
                                   const struct http_request *r, struct ip_address *client);
/* Returns true if the headers say that the client used TLS to the proxy. Returns `was` if the
 * headers say nothing about TLS. */
bool forwarded_headers_say_client_used_tls(const struct http_request *r, bool was);

/* Parses the header of PROXY protocol version 2 at the start of a connection. Returns its length, 0
 * if more bytes are needed, PROXY_NONE if there is no header, or PROXY_BAD if it is invalid.
 * **ret_found is set to true if the header contains a client address. */
enum { PROXY_NONE = -1, PROXY_BAD = -2 };
long parse_proxy_protocol_header(struct str bytes, struct ip_address *ret, bool *ret_found);

#endif
