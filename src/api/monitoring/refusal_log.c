/* refusal_log.c - logs refused calls with their address, for tools such as fail2ban. */
#include <stdatomic.h>

#include "api/call.h"
#include "base/clock.h"
#include "base/log.h"
#include "net/http/server.h"

/* Maximum number of log lines per second and kind, so that a flood of calls does not fill the log.
 * A client that continues is logged again in the next second. */
enum { LINES_A_SECOND = 20 };

static struct {
    _Atomic int64_t second;
    _Atomic int lines;
} log_rates[REFUSED_TOO_MANY + 1];

void call_log_refusal(const struct call *call, enum logged_refusal_kind kind)
{
    int64_t now = clock_monotonic_ns() / 1000000000;

    if (!call->exchange)
        return;
    if (atomic_exchange_explicit(&log_rates[kind].second, now, memory_order_relaxed) != now)
        atomic_store_explicit(&log_rates[kind].lines, 0, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&log_rates[kind].lines, 1, memory_order_relaxed) >=
        LINES_A_SECOND)
        return;
    if (kind == REFUSED_PASSWORD)
        log_info("accounts: wrong password from %.*s", STR_ARGS(call->exchange->remote));
    else
        log_info("limits: too many calls from %.*s", STR_ARGS(call->exchange->remote));
}
