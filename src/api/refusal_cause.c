/* refusal_cause.c - the cause of a refused call, for the traffic log and X-Guildhall-Cause.
 *
 * Successful calls do not use this file. The sentence is written only while traffic is recorded.
 * Only refusals because of permissions or rank get the response header, which has a few dozen
 * bytes. */
#include <stdarg.h>
#include <stdio.h>

#include "api/hooks.h"
#include "api/internal.h"
#include "base/utf8.h"
#include "model/permissions/permissions.h"

enum { CAUSE_MAX_BYTES = 1024 };

void call_set_refusal_cause(const struct call *call, const char *format, ...)
{
    struct call_context *run = call_get_context(call);
    char text[CAUSE_MAX_BYTES];
    va_list values;

    if (!run->began || run->cause.n)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    run->cause = str_dup(call->arena, utf8_drop_incomplete_last_character(str_of(text)));
}

void call_set_application_in_traffic_record(struct call *call, snowflake application_id)
{
    call_get_context(call)->recorded_app = application_id;
}

void call_find_refusal_cause(struct call_context *run, enum err e)
{
    run->refusal.error = e;
    /* Ignore errors of the hook's listeners: the call is refused anyway, and after an error only
     * the cause is missing in the record. */
    if (run->began && error_info(e)->status < 500)
        (void)hook_call_refused(&run->call, &run->refusal);
}

void call_set_rate_limit_refusal_cause(struct call_context *run, const struct rate_limit *limit)
{
    const struct rate_limit_result *v = &run->limit_result;
    long long ms = (long long)v->reset_after_ms;

    if (v->global)
        call_set_refusal_cause(
            &run->call,
            "the global limit of %u calls per second was exceeded; send fewer calls, "
            "and wait %lld ms (Retry-After) before the next one",
            v->limit, ms);
    else if (limit && v->limit)
        call_set_refusal_cause(
            &run->call,
            "the bucket '%s' allows %u calls per %u s%s; the bot did not wait: stop "
            "when X-RateLimit-Remaining is 0, and wait %lld ms (Retry-After) now",
            limit->name, v->limit, limit->window_s,
            v->shared ? " for all callers together" : " and channel, guild or webhook", ms);
}

void add_refusal_cause_header(struct call_context *run)
{
    const struct call_refusal_cause *r = &run->refusal;
    struct buf text;

    if (run->refused != ERR_MISSING_PERMISSIONS && run->refused != ERR_GUILD_MFA_REQUIRED)
        return;
    if (!r->all && !r->any && !r->rank && !r->owner)
        return;
    buf_init(&text, 2048);
    buf_add_str(&text, str_of(r->rank    ? "rank"
                              : r->owner ? "owner"
                              : r->all   ? "missing "
                                         : "missing-any "));
    permission_set_append_names(&text, r->all ? r->all : r->any);
    call_add_header(&run->call, "X-Guildhall-Cause", buf_as_str(&text));
    buf_clear(&text);
}
