/* headers.c - X-RateLimit headers and the bodies of 429 responses. */
#include "api/limits/limits.h"

#include "json/write.h"

/* Appends milliseconds as seconds with three decimals. */
static void append_ms_as_seconds(struct buf *out, int64_t ms)
{
    buf_add_i64(out, ms / 1000);
    buf_add_char(out, '.');
    for (int64_t digit = 100; digit; digit /= 10)
        buf_add_char(out, (char)('0' + ms / digit % 10));
}

static void add_number_header(struct buf *out, const char *name, int64_t value)
{
    buf_add_str(out, str_of(name));
    buf_add_lit(out, ": ");
    buf_add_i64(out, value);
    buf_add_lit(out, "\r\n");
}

static void add_bucket_headers(const struct rate_limit_result *v, const struct rate_limit *limit,
                               struct buf *out)
{
    char bucket[17];

    format_rate_limit_bucket_id(limit, bucket);
    add_number_header(out, "X-RateLimit-Limit", v->limit);
    add_number_header(out, "X-RateLimit-Remaining", v->remaining);
    buf_add_lit(out, "X-RateLimit-Reset: ");
    append_ms_as_seconds(out, v->reset_at_ms);
    buf_add_lit(out, "\r\nX-RateLimit-Reset-After: ");
    append_ms_as_seconds(out, v->reset_after_ms);
    buf_add_lit(out, "\r\nX-RateLimit-Bucket: ");
    buf_add(out, bucket, 16);
    buf_add_lit(out, "\r\n");
}

void write_rate_limit_headers(const struct rate_limit_result *v, const struct rate_limit *limit,
                              struct buf *out)
{
    if (!v->global)
        add_bucket_headers(v, limit, out);
    if (v->allowed)
        return;
    if (v->global)
        buf_add_lit(out, "X-RateLimit-Global: true\r\nX-RateLimit-Scope: global\r\n");
    else if (v->shared)
        buf_add_lit(out, "X-RateLimit-Scope: shared\r\n");
    else
        buf_add_lit(out, "X-RateLimit-Scope: user\r\n");
    /* Round up, because clients would retry at once if Retry-After were 0. */
    add_number_header(out, "Retry-After", (v->reset_after_ms + 999) / 1000);
}

void write_rate_limit_response_body(const struct rate_limit_result *v, enum err e, struct buf *out)
{
    int code = error_info(e)->code;
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    json_write_name(&j, "message");
    json_write_text(&j, v->shared ? STR("The resource is being rate limited.")
                                  : str_of(error_info(e)->message));
    json_write_name(&j, "retry_after");
    json_write_real(&j, (double)v->reset_after_ms / 1000);
    json_write_name(&j, "global");
    json_write_bool(&j, v->global);
    if (code) {
        json_write_name(&j, "code");
        json_write_int(&j, code);
    }
    json_end_object(&j);
}
