/* local_requests.c - decides whether a request comes from a program on this machine. */
#include "net/local_requests.h"

#include <string.h>

#include "net/address.h"

bool address_text_is_loopback(struct str address)
{
    static const unsigned char four[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 };
    static const unsigned char six[16] = { [15] = 1 };
    struct ip_address a;

    return ip_address_parse(address, &a) &&
           (memcmp(a.bytes, four, sizeof four) == 0 || memcmp(a.bytes, six, sizeof six) == 0);
}

/* Names below localhost are loopback names, and nobody can register them (RFC 6761). */
static bool name_is_localhost(struct str name)
{
    struct str last = STR("localhost");

    if (name.n < last.n || !str_eq_nocase(str_skip_bytes(name, name.n - last.n), last))
        return false;
    return name.n == last.n || name.p[name.n - last.n - 1] == '.';
}

/* Returns true if the value of a Host header is a loopback name or address, such as
 * "localhost:8080", "app.localhost", "127.0.0.1" or "[::1]:8080". */
static bool host_is_loopback(struct str host)
{
    if (str_starts_with(host, STR("[::1]")))
        return host.n == 5 || host.p[5] == ':';
    struct str name = str_cut(&host, ':');
    return name_is_localhost(name) || address_text_is_loopback(name);
}

static bool origin_is_loopback(struct str origin)
{
    if (str_starts_with(origin, STR("https://")))
        return host_is_loopback(str_skip_bytes(origin, 8));
    return str_starts_with(origin, STR("http://")) && host_is_loopback(str_skip_bytes(origin, 7));
}

/* Returns HTTP/1.0 as evidence, because nginx and lighttpd use it by default. Each listed header is
 * added by some of Apache, Caddy, Traefik, lighttpd and content delivery networks. */
const char *request_find_proxy_evidence(const struct http_request *r)
{
    static const char *const added[] = {
        "Forwarded",          "Via",         "X-Forwarded-For",   "X-Forwarded-Host",
        "X-Forwarded-By",     "X-Real-IP",   "X-Forwarded-Proto", "X-Forwarded-Port",
        "X-Forwarded-Server", "X-Client-IP", "CF-Connecting-IP",  "True-Client-IP",
    };

    if (r->minor == 0)
        return "HTTP/1.0";
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        if (http_find_header(r, str_of(added[i])).p)
            return added[i];
    return NULL;
}

bool request_head_looks_local(const struct http_request *r)
{
    struct str origin = http_find_header(r, STR("Origin"));

    return !request_find_proxy_evidence(r) && host_is_loopback(r->host) &&
           (!origin.p || origin_is_loopback(origin));
}

bool request_comes_from_this_machine(struct str remote, const struct http_request *r)
{
    return address_text_is_loopback(remote) && request_head_looks_local(r);
}
