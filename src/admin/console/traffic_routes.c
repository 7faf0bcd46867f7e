/* traffic_routes.c - GET /console/traffic: the traffic log. */
#include "admin/console/internal.h"
#include "base/error_causes.h"

const struct rate_limit limit_console = {
    .name = "console", .count = 300, .window_s = 10, .by_address = true
};

/* clang-format off */
static const struct type type_word = { .kind = KIND_STRING, .max = 200 };
static const struct type type_app = { .kind = KIND_ID };
static const struct type type_number = { .kind = KIND_INT, .min = 0, .max = INT64_MAX };
static const struct type type_page = { .kind = KIND_INT, .min = 1, .max = 200 };
static const struct type type_any = { .kind = KIND_RAW };
static const struct field traffic_query_fields[] = {
    /* console key; sent only in messages of the live feed */
    { FIELD(struct traffic_filter_query, key), .type = &type_word, .flags = OPTIONAL },
    { FIELD(struct traffic_filter_query, kind), .type = &type_word, .flags = OPTIONAL,
      .doc = "request, frame, or one of call, opened, received, sent, closed, delivered, refused" },
    { FIELD(struct traffic_filter_query, user), .type = &type_word, .flags = OPTIONAL,
      .doc = "Id or name of the caller" },
    { FIELD(struct traffic_filter_query, route), .type = &type_word, .flags = OPTIONAL,
      .doc = "Part of the route's name or path" },
    { FIELD(struct traffic_filter_query, method), .type = &type_word, .flags = OPTIONAL },
    { FIELD(struct traffic_filter_query, status), .type = &type_word, .flags = OPTIONAL,
      .doc = "A status such as 404, a class such as 4xx, or error" },
    { FIELD(struct traffic_filter_query, event), .type = &type_word, .flags = OPTIONAL,
      .doc = "Name of an event" },
    { FIELD(struct traffic_filter_query, session), .type = &type_word, .flags = OPTIONAL,
      .doc = "Session id" },
    { FIELD(struct traffic_filter_query, text), .type = &type_word, .flags = OPTIONAL,
      .doc = "Text to find in the path, headers, bodies and error" },
    { FIELD(struct traffic_filter_query, application_id), .type = &type_app, .flags = OPTIONAL },
    { FIELD(struct traffic_filter_query, after), .type = &type_number, .flags = OPTIONAL,
      .doc = "Return records with higher numbers, oldest first; default: the newest records" },
    { FIELD(struct traffic_filter_query, limit), .type = &type_page, .flags = OPTIONAL,
      .doc = "1-200; default 100" },
    { 0 },
};
/* clang-format on */
static const struct schema traffic_query_schema = { .name = "TrafficQuery",
                                                    .size = sizeof(struct traffic_filter_query),
                                                    .fields = traffic_query_fields + 1 };
const struct schema traffic_live_schema = { .size = sizeof(struct traffic_filter_query),
                                            .fields = traffic_query_fields };

struct traffic_filter traffic_filter_from_query(const struct traffic_filter_query *q)
{
    return (struct traffic_filter){ q->kind,  q->user,    q->route, q->method,        q->status,
                                    q->event, q->session, q->text,  q->application_id };
}

/* GET /console/traffic: recorded calls and gateway messages. */
static enum err get_traffic(struct call *call)
{
    const struct traffic_filter_query *q = call->query;
    struct traffic_ring *t = call_get_workbench(call)->traffic;
    struct buf records;
    struct traffic_record_page page = {
        .filter = traffic_filter_from_query(q),
        .after = q->after.given ? (uint64_t)q->after.value : 0,
        .from_end = !q->after.given,
        .limit = q->limit ? q->limit : 100,
        .out = &records,
    };

    buf_init(&records, CALL_MAX_REPLY);
    enum err e = traffic_read_record_page_json(call->tx, t, &page);
    if (!e) {
        struct json_writer j = call_get_reply_json_writer(call);

        json_begin_object(&j);
        json_write_name(&j, "on");
        json_write_bool(&j, traffic_is_recorded(t));
        json_write_name(&j, "last");
        json_write_int(&j, (int64_t)page.last);
        json_write_name(&j, "newest");
        json_write_int(&j, (int64_t)page.newest);
        json_write_name(&j, "lost");
        json_write_int(&j, (int64_t)page.lost);
        json_write_name(&j, "records");
        buf_add_char(&call->reply, '[');
        buf_add_str(&call->reply, buf_as_str(&records));
        buf_add_lit(&call->reply, "]}");
    }
    if (!e && buf_is_full(&records))
        e = ERR_ANSWER_TOO_LARGE;
    buf_clear(&records);
    return e;
}

/* GET /console/errors: docs/errors.md. */
static enum err get_error_reference(struct call *call)
{
    struct buf text;

    buf_init(&text, CALL_MAX_REPLY);
    write_error_reference(&text);
    return call_reply_with_buf(call, STR("text/markdown; charset=utf-8"), &text);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/errors",
        .name = "get_error_reference",
        .doc =
            "Returns all errors with their usual causes and fixes, as Markdown (docs/errors.md).",
        .service = true,
        .store = ROUTE_STORE_NONE,
        .status = 200,
        .limit = &limit_console,
        .admit = check_console_permission,
        .handle = get_error_reference,
    },
    {
        .method = GET,
        .path = "/console/traffic",
        .name = "get_traffic",
        .doc = "Returns recent requests and gateway messages, without secrets. The caller needs "
               "the console's key as a bearer token, or is on the machine of a demo server.",
        .service = true,
        .query = &traffic_query_schema,
        .reply = &type_any,
        .store = ROUTE_STORE_READ,
        /* Runs in the background, because the query searches the texts of up to 1,000 records. */
        .background = true,
        .limit = &limit_console,
        .admit = check_console_permission,
        .handle = get_traffic,
    },
    { 0 },
};

const struct domain workbench_domain = {
    .name = "Workbench",
    .doc = "For the operator: recent traffic. Paths begin with /console, not with /api.",
    .routes = routes,
};
