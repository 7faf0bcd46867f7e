/* traffic_format.c - formats a traffic record as JSON or as a line of text. */
#include <stdio.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "base/utf8.h"
#include "net/http/http_parser.h"
#include "admin/console/traffic_records.h"

static const char *const caller_kind_names[] = { "nobody", "user", "bot", "app", "app" };

static void write_text_member_json(struct json_writer *j, const char *name, struct str text)
{
    json_write_key(j, str_of(name));
    json_write_text(j, text);
}

/* Writes a body, its full length, and whether it was truncated. */
static void write_body_json(const struct displayed_traffic_record *s, struct json_writer *j,
                            const char *name, enum traffic_record_text which)
{
    char key[32];

    write_text_member_json(j, name, which == TRAFFIC_REQUEST ? s->request : s->reply);
    snprintf(key, sizeof key, "%s_bytes", name);
    json_write_key(j, str_of(key));
    json_write_int(j, s->r.lengths[which]);
    if (s->r.lengths[which] > s->r.stored[which]) {
        snprintf(key, sizeof key, "%s_cut", name);
        json_write_key(j, str_of(key));
        json_write_bool(j, true);
    }
}

static void write_caller_json(const struct displayed_traffic_record *s, struct json_writer *j)
{
    json_write_name(j, "user");
    if (!s->r.user_id) {
        json_write_null(j);
        return;
    }
    json_begin_object(j);
    json_write_name(j, "id");
    json_write_id(j, s->r.user_id);
    write_text_member_json(j, "username", s->username);
    write_text_member_json(j, "kind",
                           str_of(caller_kind_names[s->r.caller % COUNT_OF(caller_kind_names)]));
    json_end_object(j);
    if (s->r.application_id) {
        json_write_name(j, "application_id");
        json_write_id(j, s->r.application_id);
    }
}

static void write_call_json(const struct displayed_traffic_record *s, struct json_writer *j)
{
    const struct traffic_record *r = &s->r;

    json_write_name(j, "ms");
    int64_t us = r->took_ns / 1000; /* shown as milliseconds with three decimal places */
    json_write_real(j, (double)us / 1000);
    write_text_member_json(j, "method", str_of(http_method_name(r->method)));
    write_text_member_json(j, "path", s->target);
    json_write_name(j, "route");
    if (r->name)
        json_write_text(j, str_of(r->name));
    else
        json_write_null(j);
    if (r->path_pattern)
        write_text_member_json(j, "template", str_of(r->path_pattern));
    json_write_name(j, "status");
    json_write_int(j, r->status);
    json_write_name(j, "code");
    json_write_int(j, r->code);
    if (s->problem.n)
        write_text_member_json(j, "problem", s->problem);
    write_text_member_json(j, "request_headers", s->request_headers);
    write_text_member_json(j, "reply_headers", s->reply_headers);
    write_body_json(s, j, "request", TRAFFIC_REQUEST);
    write_body_json(s, j, "reply", TRAFFIC_REPLY);
}

static void write_gateway_message_json(const struct displayed_traffic_record *s,
                                       struct json_writer *j)
{
    const struct traffic_record *r = &s->r;
    char session[SESSION_NUMBER_HEX + 1];

    json_write_name(j, "socket");
    json_write_int(j, (int64_t)r->socket);
    if (r->session) {
        format_traffic_session_number(r->session, session);
        write_text_member_json(j, "session", str_of(session));
    }
    if (r->kind == TRAFFIC_CLOSED) {
        json_write_name(j, "code");
        json_write_int(j, r->status);
        write_text_member_json(j, "reason", s->problem);
    } else if (r->kind == TRAFFIC_DELIVERED || r->kind == TRAFFIC_REFUSED) {
        write_text_member_json(j, "path", s->target);
        json_write_name(j, "status");
        json_write_int(j, r->status);
        write_text_member_json(j, "problem", s->problem);
    } else if (r->kind != TRAFFIC_OPENED) {
        json_write_name(j, "op");
        json_write_int(j, r->status);
        if (r->name)
            write_text_member_json(j, "event", str_of(r->name));
        if (r->seq) {
            json_write_name(j, "s");
            json_write_int(j, (int64_t)r->seq);
        }
        write_body_json(s, j, "d", r->kind == TRAFFIC_SENT ? TRAFFIC_REPLY : TRAFFIC_REQUEST);
    }
}

enum { PROBLEM_MAX_BYTES = 200 };

/* Returns whether a character controls the terminal (C0, C1) or the direction of text
 * (bidirectional marks). */
static bool is_control_character(uint32_t c)
{
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Appends text with control characters and invalid bytes replaced, so that a record stays on one
 * line and the terminal shows what was sent. */
static void append_without_control_characters(struct buf *out, struct str text)
{
    uint32_t c = 0;

    while (text.n) {
        size_t n = utf8_decode(text, &c);

        if (n && !is_control_character(c))
            buf_add(out, text.p, n);
        else
            buf_add_char(out, ' ');
        text = str_skip_bytes(text, n ? n : 1);
    }
}

static void append_username(const struct displayed_traffic_record *s, struct buf *out)
{
    char who[40];
    struct str name = s->username.n ? s->username : STR("-");

    snprintf(who, sizeof who, "%.*s", STR_ARGS(name));
    buf_printf(out, "%-12s ", who);
}

/* Truncates the error message of a refused call at a character boundary. */
static struct str truncate_problem(struct str problem)
{
    size_t n = problem.n < PROBLEM_MAX_BYTES ? problem.n : PROBLEM_MAX_BYTES;

    while (n < problem.n && n > 0 && ((unsigned char)problem.p[n] & 0xc0) == 0x80)
        n--;
    return str_slice(problem.p, n);
}

static void append_call_line(const struct displayed_traffic_record *s, struct buf *out)
{
    buf_printf(out, "%-6s ", http_method_name(s->r.method));
    append_without_control_characters(out, s->target);
    buf_printf(out, " %d", s->r.status);
    if (s->r.code)
        buf_printf(out, " %d", s->r.code);
    buf_printf(out, " %.1f ms", (double)s->r.took_ns / 1e6);
    if (s->problem.n) {
        buf_add_lit(out, " | ");
        append_without_control_characters(out, truncate_problem(s->problem));
    }
}

static void append_gateway_message_line(const struct displayed_traffic_record *s, struct buf *out)
{
    static const char *const arrows[] = {
        [TRAFFIC_OPENED] = "opened", [TRAFFIC_RECEIVED] = "->",      [TRAFFIC_SENT] = "<-",
        [TRAFFIC_CLOSED] = "closed", [TRAFFIC_DELIVERED] = "to app", [TRAFFIC_REFUSED] = "refused",
    };

    buf_printf(out, "%-6s ", arrows[s->r.kind]);
    if (s->r.kind == TRAFFIC_CLOSED) {
        buf_printf(out, "%d ", s->r.status);
        append_without_control_characters(out, s->problem);
    } else if (s->r.kind == TRAFFIC_DELIVERED || s->r.kind == TRAFFIC_REFUSED) {
        append_without_control_characters(out, s->target.n ? s->target : STR("-"));
        buf_printf(out, " %d ", s->r.status);
        append_without_control_characters(out, s->problem);
    } else if (s->r.name) {
        buf_printf(out, "%s %llu", s->r.name, (unsigned long long)s->r.seq);
    } else if (s->r.kind != TRAFFIC_OPENED) {
        buf_printf(out, "op %d", s->r.status);
    }
}

void append_traffic_record_line(const struct displayed_traffic_record *s, struct buf *out)
{
    char when[TIMESTAMP_TEXT_SIZE];

    timestamp_format(s->r.at_us, when);
    buf_printf(out, "%.12s ", when + 11);
    append_username(s, out);
    if (s->r.kind == TRAFFIC_CALL)
        append_call_line(s, out);
    else
        append_gateway_message_line(s, out);
    if (s->hint.n) {
        buf_add_lit(out, " | ");
        append_without_control_characters(out, s->hint);
    }
    if (s->docs)
        buf_printf(out, " (docs/errors.md#%d)", s->docs);
    buf_add_char(out, '\n');
}

/* Adds the record as a line of text to the JSON, for readers who need no details. */
static void write_record_line_json(const struct displayed_traffic_record *s, struct json_writer *j)
{
    struct buf line;

    buf_init(&line, TRAFFIC_VIEW_MAX_BYTES);
    append_traffic_record_line(s, &line);
    write_text_member_json(j, "line", str_slice(line.p, line.n ? line.n - 1 : 0));
    buf_clear(&line);
}

void write_traffic_record_json(const struct displayed_traffic_record *s, struct json_writer *j)
{
    char docs[40];

    json_begin_object(j);
    json_write_name(j, "number");
    json_write_int(j, (int64_t)s->r.number);
    write_text_member_json(j, "kind", str_of(traffic_record_kind_name(s)));
    json_write_name(j, "at");
    json_write_time(j, s->r.at_us);
    json_write_name(j, "monotonic_ms");
    json_write_int(j, s->r.monotonic_ns / 1000000);
    write_caller_json(s, j);
    write_text_member_json(j, "address", s->address);
    if (s->r.kind == TRAFFIC_CALL)
        write_call_json(s, j);
    else
        write_gateway_message_json(s, j);
    if (s->hint.n)
        write_text_member_json(j, "hint", s->hint);
    if (s->docs) {
        snprintf(docs, sizeof docs, "docs/errors.md#%d", s->docs);
        write_text_member_json(j, "docs", str_of(docs));
    }
    write_record_line_json(s, j);
    json_end_object(j);
}
