/* access.c - who may use the workbench. */
#include <sodium.h>
#include <string.h>

#include "net/address.h"
#include "workbench/internal.h"

/* --- without a key -------------------------------------------------------------------- */

/* Read as an address: "127.evil.example" is a name that anybody can own. */
bool address_is_local(struct str address)
{
    static const unsigned char four[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 };
    static const unsigned char six[16] = { [15] = 1 };
    struct address a;

    return address_parse(address, &a) &&
           (memcmp(a.bytes, four, sizeof four) == 0 || memcmp(a.bytes, six, sizeof six) == 0);
}

/* A browser sends the name that its page was fetched by: one of these means that no foreign
 * name leads here. */
static bool host_is_local(struct str host)
{
    if (str_starts(host, STR("[::1]")))
        return host.n == 5 || host.p[5] == ':';
    struct str name = str_cut(&host, ':');
    return str_is(name, "localhost") || address_is_local(name);
}

/* "http://127.0.0.1:8080" for the host "127.0.0.1:8080". */
static bool origin_is_own(struct str origin, struct str host)
{
    struct str rest = str_starts(origin, STR("https://"))  ? str_from(origin, 8)
                      : str_starts(origin, STR("http://")) ? str_from(origin, 7)
                                                           : STR("");

    return rest.n && str_eq(rest, host);
}

bool head_is_local(const struct http_request *r)
{
    struct str origin = http_header(r, STR("Origin"));
    struct str site = http_header(r, STR("Sec-Fetch-Site"));

    if (http_header(r, STR("X-Forwarded-For")).p || http_header(r, STR("Forwarded")).p)
        return false;
    if (site.p && !str_is(site, "same-origin") && !str_is(site, "none"))
        return false;
    return host_is_local(r->host) && (!origin.p || origin_is_own(origin, r->host));
}

/* --- with one ------------------------------------------------------------------------- */

bool key_is_right(const struct workbench *w, struct str key)
{
    size_t n = strlen(w->key);

    return key.n == n && n && sodium_memcmp(key.p, w->key, n) == 0;
}

struct workbench *workbench_of(const struct call *call)
{
    return api_options(call->api)->workbench;
}

enum err console_admit(struct call *call)
{
    const struct workbench *w = workbench_of(call);
    const struct exchange *x = call->exchange;
    struct str key;

    if (!w)
        return ERR_NOT_FOUND;
    if (w->options.open && address_is_local(x->remote) && head_is_local(x->request))
        return OK;
    if (x->request->authorization.p &&
        credential_kind(x->request->authorization, &key) == CALLER_BEARER && key_is_right(w, key))
        return OK;
    return ERR_UNAUTHORIZED;
}

enum err console_admit_controls(struct call *call)
{
    enum err e = console_admit(call);

    if (!e && !workbench_of(call)->options.controls)
        e = ERR_FORBIDDEN;
    return e;
}
