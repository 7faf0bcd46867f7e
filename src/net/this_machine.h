/* this_machine.h - does a request come from a program on this machine?
 *
 * This is the only definition: registration, private endpoints, /metrics and /console use it. A
 * proxy on this machine has a loopback address too, but calls for others. It is recognised by
 * HTTP/1.0, by a header that proxies add, or by a Host or Origin that is not a loopback name. A
 * proxy that forwards bytes unchanged cannot be recognised: then public-url has to be set. */
#ifndef NET_THIS_MACHINE_H
#define NET_THIS_MACHINE_H

#include "net/http/http.h"

/* "127.0.0.1", "::1". "127.evil.example" is a name that anybody can own. */
bool address_is_loopback(struct str address);
/* "localhost:8080", "app.localhost", "127.0.0.1", "[::1]:8080". */
bool host_is_loopback(struct str host);

/* Why the request is a proxy's: "HTTP/1.0", or the name of a header. NULL: no sign of one. */
const char *request_proxy_sign(const struct http_request *r);
/* No sign of a proxy, and Host and Origin are loopback names. */
bool request_head_is_local(const struct http_request *r);
/* The same, from a loopback address. */
bool request_is_local(struct str remote, const struct http_request *r);

#endif
