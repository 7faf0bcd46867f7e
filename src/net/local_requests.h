/* local_requests.h - decides whether a request comes from a program on this machine.
 *
 * Registration, private endpoints, /metrics and /console use this definition. A proxy on this
 * machine also has a loopback address but acts for remote clients. It is recognised by HTTP/1.0, by
 * a header that proxies add, or by a Host or Origin that is not a loopback name. A proxy that
 * forwards bytes unchanged cannot be recognised, so public-url must be set for it. */
#ifndef NET_LOCAL_REQUESTS_H
#define NET_LOCAL_REQUESTS_H

#include "net/http/http_parser.h"

/* Returns true for loopback addresses such as "127.0.0.1" and "::1". Returns false for names such
 * as "127.evil.example". */
bool address_text_is_loopback(struct str address);

/* Returns evidence that a proxy sent the request: "HTTP/1.0" or the name of a header. Returns NULL
 * if there is no evidence. */
const char *request_find_proxy_evidence(const struct http_request *r);
/* Returns true if there is no evidence that a proxy sent the request, and Host and Origin are
 * loopback names. */
bool request_head_looks_local(const struct http_request *r);
/* Returns true if request_head_looks_local is true for the request and the client's address
 * `remote` is a loopback address. */
bool request_comes_from_this_machine(struct str remote, const struct http_request *r);

#endif
