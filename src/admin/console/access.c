/* access.c - authorization of the workbench routes: console key, or a local caller. */
#include <sodium.h>
#include <string.h>

#include "net/this_machine.h"
#include "net/http/server.h"
#include "admin/console/internal.h"

/* Returns whether the origin, as "http://127.0.0.1:8080", has the same host as the request. */
static bool origin_is_own(struct str origin, struct str host)
{
    struct str rest = str_starts(origin, STR("https://"))  ? str_from(origin, 8)
                      : str_starts(origin, STR("http://")) ? str_from(origin, 7)
                                                           : STR("");

    return rest.n && str_eq(rest, host);
}

/* Browsers send Origin and Sec-Fetch-Site with requests from pages of other sites. */
bool head_is_own(const struct http_request *r)
{
    struct str origin = http_header(r, STR("Origin"));
    struct str site = http_header(r, STR("Sec-Fetch-Site"));

    if (site.p && !str_is(site, "same-origin") && !str_is(site, "none"))
        return false;
    return request_head_is_local(r) && (!origin.p || origin_is_own(origin, r->host));
}

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
    if (w->options.open && api_call_is_local(call) && head_is_own(x->request))
        return OK;
    if (x->request->authorization.p &&
        credential_kind(x->request->authorization, &key) == CALLER_BEARER && key_is_right(w, key))
        return OK;
    return ERR_UNAUTHORIZED;
}

enum err console_admit_controls(struct call *call)
{
    enum err e = console_admit(call);

    if (!e && !workbench_has_controls(workbench_of(call)))
        e = ERR_FORBIDDEN;
    return e;
}
