/* faults.c - calls that go wrong because a test wants them to. */
#include "api/faults/faults.h"

#include "admin/console/internal.h"

static const struct type type_any = { .kind = KIND_RAW };
static const struct type type_switch = { .kind = KIND_BOOL };
struct fault_order {
    struct str method, path;
    int64_t status, delay_ms, retry_after_ms, times;
    bool drop;
};

/* clang-format off */
static const struct type type_method = { .kind = KIND_STRING, .max = 10 };
static const struct type type_path = { .kind = KIND_STRING, .min = 1, .max = LONGEST_FAULT_PATH };
static const struct type type_status = { .kind = KIND_INT, .min = 0, .max = 599 };
static const struct type type_delay = { .kind = KIND_INT, .min = 0, .max = LONGEST_FAULT_DELAY_MS };
static const struct type type_pause = { .kind = KIND_INT, .min = 0, .max = 3600 * 1000 };
static const struct type type_times = { .kind = KIND_INT, .min = 0, .max = 1000000 };
static const struct field fault_fields[] = {
    { FIELD(struct fault_order, method), .type = &type_method, .flags = OPTIONAL,
      .doc = "Any without it" },
    { FIELD(struct fault_order, path), .type = &type_path,
      .doc = "\"/channels/*/messages\": * is any segment, ** all that follow; \"events\": what "
             "sessions are told" },
    { FIELD(struct fault_order, status), .type = &type_status, .flags = OPTIONAL,
      .doc = "400-599, answered instead" },
    { FIELD(struct fault_order, delay_ms), .type = &type_delay, .flags = OPTIONAL,
      .doc = "Before the answer, or before the call goes on" },
    { FIELD(struct fault_order, retry_after_ms), .type = &type_pause, .flags = OPTIONAL,
      .doc = "With status 429" },
    { FIELD(struct fault_order, times), .type = &type_times, .flags = OPTIONAL,
      .doc = "How many calls meet it; 0: all, until it is taken back" },
    { FIELD(struct fault_order, drop), .type = &type_switch, .flags = OPTIONAL,
      .doc = "The connection ends without an answer" },
    { 0 },
};
/* clang-format on */
static const struct schema fault_schema = { .name = "FaultOrder",
                                            .size = sizeof(struct fault_order),
                                            .fields = fault_fields };
static const struct type type_fault = { .kind = KIND_OBJECT, .schema = &fault_schema };

static void write_fault(const struct fault *f, struct json *j)
{
    json_object(j);
    json_name(j, "id");
    json_int(j, (int64_t)f->id);
    json_name(j, "method");
    json_text(j, str_of(f->any_method ? "" : http_method_name(f->method)));
    json_name(j, "path");
    json_text(j, str_of(f->path));
    json_name(j, "status");
    json_int(j, f->status);
    json_name(j, "delay_ms");
    json_int(j, f->delay_ms);
    json_name(j, "retry_after_ms");
    json_int(j, f->retry_after_ms);
    json_name(j, "times");
    json_int(j, f->times);
    json_name(j, "drop");
    json_bool(j, f->drop);
    json_name(j, "hits");
    json_int(j, (int64_t)f->hits);
    json_object_end(j);
}

/* GET /console/faults: those that wait for a call. */
static enum err list_faults(struct call *call)
{
    struct fault *list = arena_array(call->arena, struct fault, MOST_FAULTS);
    size_t count = faults_list(api_faults(call->api), list);
    struct json j = call_reply_json(call);

    json_array(&j);
    for (size_t i = 0; i < count; i++)
        write_fault(&list[i], &j);
    json_array_end(&j);
    return OK;
}

static bool read_method(struct str text, struct fault *ret)
{
    ret->any_method = text.n == 0 || str_is(text, "*");
    for (int m = 0; !ret->any_method && m < HTTP_METHODS; m++) {
        if (str_eq_nocase(text, str_of(http_method_name((enum http_method)m)))) {
            ret->method = (enum http_method)m;
            return true;
        }
    }
    return ret->any_method;
}

/* Not a call: what sessions are told comes later. */
static bool is_of_events(const char *path)
{
    return strcmp(path, "events") == 0;
}

/* Events wait as long as the longest of those faults says. */
static void delay_events(struct call *call)
{
    struct fault *list = arena_array(call->arena, struct fault, MOST_FAULTS);
    size_t count = faults_list(api_faults(call->api), list);
    int64_t ms = 0;

    for (size_t i = 0; i < count; i++)
        if (is_of_events(list[i].path) && list[i].delay_ms > ms)
            ms = list[i].delay_ms;
    gateway_set_delay(api_options(call->api)->gateway, ms);
}

/* POST /console/faults: the next calls that fit go wrong. */
static enum err create_fault(struct call *call)
{
    const struct fault_order *in = call->body;
    struct fault f = { .status = (int)in->status,
                       .drop = in->drop,
                       .delay_ms = in->delay_ms,
                       .retry_after_ms = in->retry_after_ms,
                       .times = in->times };

    if (!read_method(in->method, &f))
        return call_invalid(call, "method", FORM_CHOICES, "There is no such method.");
    if (in->status && in->status < 400)
        return call_invalid(call, "status", FORM_CHOICES, "Must be between 400 and 599.");
    if (!in->status && !in->drop && !in->delay_ms)
        return call_invalid(call, "status", "BASE_TYPE_REQUIRED",
                            "A fault has a status, a delay or a drop.");
    memcpy(f.path, in->path.p, in->path.n < sizeof f.path ? in->path.n : sizeof f.path - 1);
    if (is_of_events(f.path) && (in->status || in->drop || in->method.n))
        return call_invalid(call, "path", FORM_CHOICES, "Events can be delayed, no more.");
    if (is_of_events(f.path))
        f.times = 0;
    if (!faults_add(api_faults(call->api), &f))
        return call_invalid(call, "path", FORM_CHOICES, "There are 64 faults already.");
    delay_events(call);
    struct json j = call_reply_json(call);
    write_fault(&f, &j);
    return OK;
}

/* DELETE /console/faults: takes all back. */
static enum err delete_faults(struct call *call)
{
    faults_remove(api_faults(call->api), 0);
    delay_events(call);
    return OK;
}

/* DELETE /console/faults/{fault.id}: takes one back. */
static enum err delete_fault(struct call *call)
{
    bool found = faults_remove(api_faults(call->api), call_id(call, "fault.id"));

    delay_events(call);
    return found ? OK : ERR_NOT_FOUND;
}

static const struct resolver resolvers[] = {
    { .name = "fault.id", .field = "fault_id", .doc = "The fault's id." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/console/faults",
        .name = "list_faults",
        .doc = "Faults that wait for a call.",
        .service = true,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .admit = console_admit,
        .handle = list_faults,
    },
    {
        .method = POST,
        .path = "/console/faults",
        .name = "create_fault",
        .doc = "The next calls that fit are answered with another status, later, or not at "
               "all. Of servers with a workbench.",
        .service = true,
        .body = &type_fault,
        .reply = &type_any,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .admit = console_admit_controls,
        .handle = create_fault,
    },
    {
        .method = DELETE,
        .path = "/console/faults",
        .name = "delete_faults",
        .doc = "Takes all faults back.",
        .service = true,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .admit = console_admit_controls,
        .handle = delete_faults,
    },
    {
        .method = DELETE,
        .path = "/console/faults/{fault.id}",
        .name = "delete_fault",
        .doc = "Takes a fault back.",
        .service = true,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_console,
        .admit = console_admit_controls,
        .handle = delete_fault,
    },
    { 0 },
};

const struct domain console_faults_domain = {
    .name = "Workbench: faults",
    .doc = "For tests: calls that go wrong. At the root, below /console.",
    .routes = routes,
    .resolvers = resolvers,
};
