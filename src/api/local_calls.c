/* local_calls.c - detects calls from this machine, and decides what only such calls may do. */
#include "api/internal.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/local_requests.h"

#define HOUR_NS (INT64_C(3600) * 1000 * 1000 * 1000)

/* Returns true if the server is configured to run behind a proxy. */
static bool is_behind_configured_proxy(const struct api *api)
{
    return api->options.public_url || api->options.trusts_proxies;
}

void api_warn_untrusted_proxy(struct api *api, const struct http_exchange *x)
{
    int64_t now, before;
    const char *proxy_header;

    if (is_behind_configured_proxy(api) || !address_text_is_loopback(x->remote))
        return;
    proxy_header = request_find_proxy_evidence(x->request);
    if (!proxy_header)
        return;
    now = clock_monotonic_ns();
    before = atomic_load_explicit(&api->proxy_warned_at, memory_order_relaxed);
    if ((before && now - before < HOUR_NS) ||
        !atomic_compare_exchange_strong(&api->proxy_warned_at, &before, now))
        return;
    log_warn("api: a proxy on this machine forwards requests (header: %s), but public-url and "
             "trusted-proxies are not set: its clients share one address in rate limits, and "
             "links may be wrong. Set both; docs/HOSTING.md has an example",
             proxy_header);
}

bool call_comes_from_this_machine(const struct call *call)
{
    const struct http_exchange *x = call->exchange;

    return x && !is_behind_configured_proxy(call->api) &&
           request_comes_from_this_machine(x->remote, x->request);
}

enum registration_mode api_get_registration_mode_for_call(const struct call *call)
{
    enum registration_mode mode = call->api->options.registration;

    if (mode != REGISTRATION_LOCAL)
        return mode;
    return call_comes_from_this_machine(call) ? REGISTRATION_OPEN : REGISTRATION_INVITE;
}

bool api_may_request_private_address(const struct call *call)
{
    const struct api_options *o = &call->api->options;

    return o->private_endpoints && (!o->private_for_local || call_comes_from_this_machine(call));
}
