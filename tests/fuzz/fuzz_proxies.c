/* fuzz_proxies.c - fuzzes the parsers of trusted proxy lists, of the PROXY protocol and of
 * forwarding headers; a client must not be able to forge its address. Input: any bytes. */
#include "fuzz.h"

#include <string.h>

#include "net/proxies.h"

enum { HEAD_MAX = 20 * 1024 };

#define START "GET / HTTP/1.1\r\nHost: x\r\n"

static bool same_address(const struct ip_address *a, const struct ip_address *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* --- the option ----------------------------------------------------------------------- */

static void check_list(struct str bytes)
{
    struct trusted_proxy_networks p = { 0 };
    const char *problem = NULL;
    bool ok = parse_trusted_proxies(bytes, &p, &problem);

    FUZZ_CHECK(p.count <= MAX_TRUSTED_PROXIES);
    FUZZ_CHECK(ok || problem);
}

/* --- the PROXY protocol --------------------------------------------------------------- */

/* A truncated header is incomplete until the parser has seen enough to give the result of the
 * whole. */
static void check_parsed_proxy_header(struct str bytes)
{
    struct ip_address whole = { 0 }, part = { 0 };
    bool found, part_found, decided = false;
    long result = parse_proxy_protocol_header(bytes, &whole, &found);

    FUZZ_CHECK(result <= (long)bytes.n && result <= PROXY_HEADER_MAX);
    FUZZ_CHECK(result == 0 || result == PROXY_NONE || result == PROXY_BAD || result >= 16);
    FUZZ_CHECK(!found || result >= 28);
    for (size_t n = 0; n <= bytes.n && n <= 64; n++) {
        long step = parse_proxy_protocol_header(str_slice(bytes.p, n), &part, &part_found);

        FUZZ_CHECK(step == result || (step == 0 && !decided));
        FUZZ_CHECK(!part_found || (found && same_address(&part, &whole)));
        decided = step != 0;
    }
}

/* --- lines of a request --------------------------------------------------------------- */

static char head[HEAD_MAX];

/* Parses a request with these lines; returns false if it is refused before proxies are
 * evaluated. */
static bool request_of(struct str before, struct str lines, struct http_request *ret)
{
    size_t n = sizeof START - 1 + before.n + lines.n;

    if (n + 4 > sizeof head)
        return false;
    memcpy(head, START, sizeof START - 1);
    memcpy(head + sizeof START - 1, before.p, before.n);
    if (lines.n)
        memcpy(head + sizeof START - 1 + before.n, lines.p, lines.n);
    memcpy(head + n, "\r\n\r\n", 4);
    return http_parse_head(str_slice(head, n + 4), ret) > 0;
}

static struct ip_address client_of(const struct trusted_proxy_networks *p,
                                   const struct http_request *r)
{
    struct ip_address a;

    FUZZ_CHECK(ip_address_parse(STR("10.0.0.1"), &a));
    find_forwarded_client_address(p, r, &a);
    return a;
}

/* Lines that a client sends before the proxy's lines must not change an untrusted address that
 * was found. */
static void check_forged_forwarding_lines(const struct trusted_proxy_networks *p, struct str lines,
                                          struct str forged, struct str name)
{
    struct http_request r;

    if (!request_of(STR(""), lines, &r) || !http_find_header(&r, name).p)
        return;
    struct ip_address honest = client_of(p, &r);
    if (is_trusted_proxy(p, &honest) || !request_of(forged, lines, &r))
        return;
    struct ip_address delivered_to = client_of(p, &r);

    FUZZ_CHECK(same_address(&delivered_to, &honest));
}

/* The proxy appends its entry to the client's header line. */
static void check_entry_appended_by_proxy(const struct trusted_proxy_networks *p, struct str words)
{
    char line[HEAD_MAX];
    struct ip_address real;

    if (words.n > sizeof line / 2 || memchr(words.p, '\n', words.n))
        return;
    FUZZ_CHECK(ip_address_parse(STR("192.0.2.7"), &real));
    static const char *const forms[] = { "X-Forwarded-For: %.*s, 192.0.2.7",
                                         "Forwarded: %.*s, for=192.0.2.7;proto=https",
                                         "Forwarded: %.*s, for=\"192.0.2.7:80\"" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct http_request r;
        int n = snprintf(line, sizeof line, forms[i], (int)words.n, words.p);

        if (!request_of(STR(""), str_slice(line, (size_t)n), &r))
            continue;
        struct ip_address delivered_to = client_of(p, &r);
        FUZZ_CHECK(same_address(&delivered_to, &real));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = { (const char *)data, size };
    struct trusted_proxy_networks p;
    const char *problem;
    struct http_request r;

    check_list(bytes);
    check_parsed_proxy_header(bytes);
    FUZZ_CHECK(parse_trusted_proxies(STR("loopback, 10.0.0.0/8, 2001:db8::/32"), &p, &problem));
    if (request_of(STR(""), bytes, &r)) {
        forwarded_headers_say_client_used_tls(&r, false);
        client_of(&p, &r);
    }
    check_forged_forwarding_lines(&p, bytes, STR("X-Forwarded-For: 6.6.6.6, \"\r\n"),
                                  STR("X-Forwarded-For"));
    if (size)
        check_entry_appended_by_proxy(&p, bytes);
    return 0;
}
