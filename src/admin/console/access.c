/* access.c - checks who may call the workbench routes: callers with the console key, or local
 * callers. */
#include <sodium.h>
#include <string.h>

#include "net/local_requests.h"
#include "net/http/server.h"
#include "admin/console/internal.h"

/* Returns whether the origin, such as "http://127.0.0.1:8080", has the same host as the request. */
static bool request_origin_equals_host(struct str origin, struct str host)
{
    struct str rest = str_starts_with(origin, STR("https://"))  ? str_skip_bytes(origin, 8)
                      : str_starts_with(origin, STR("http://")) ? str_skip_bytes(origin, 7)
                                                                : STR("");

    return rest.n && str_eq(rest, host);
}

/* Checks the headers Origin and Sec-Fetch-Site, which browsers send with requests that pages of
 * other sites make. */
bool request_is_from_local_page(const struct http_request *r)
{
    struct str origin = http_find_header(r, STR("Origin"));
    struct str site = http_find_header(r, STR("Sec-Fetch-Site"));

    if (site.p && !str_is(site, "same-origin") && !str_is(site, "none"))
        return false;
    return request_head_looks_local(r) &&
           (!origin.p || request_origin_equals_host(origin, r->host));
}

bool console_key_is_valid(const struct workbench *w, struct str key)
{
    size_t n = strlen(w->key);

    return key.n == n && n && sodium_memcmp(key.p, w->key, n) == 0;
}

struct workbench *call_get_workbench(const struct call *call)
{
    return api_get_options(call->api)->workbench;
}

enum err check_console_permission(struct call *call)
{
    const struct workbench *w = call_get_workbench(call);
    const struct http_exchange *x = call->exchange;
    struct str key;

    if (!w)
        return ERR_NOT_FOUND;
    if (w->options.open && call_comes_from_this_machine(call) &&
        request_is_from_local_page(x->request))
        return OK;
    if (x->request->authorization.p &&
        parse_credential_kind(x->request->authorization, &key) == CALLER_BEARER &&
        console_key_is_valid(w, key))
        return OK;
    return ERR_UNAUTHORIZED;
}

enum err check_console_controls_permission(struct call *call)
{
    enum err e = check_console_permission(call);

    if (!e && !workbench_controls_are_enabled(call_get_workbench(call)))
        e = ERR_FORBIDDEN;
    return e;
}
