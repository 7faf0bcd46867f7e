/* faults.c - operator commands that inject faults into calls and events, for tests. */
#include "api/faults/faults.h"

#include "gateway/gateway.h"
#include "admin/operator_commands/internal.h"

static const struct type type_boolean = { .kind = KIND_BOOL };
struct fault_request {
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
    { FIELD(struct fault_request, method), .type = &type_method, .flags = OPTIONAL,
      .doc = "Default: every method" },
    { FIELD(struct fault_request, path), .type = &type_path,
      .doc = "Like \"/channels/*/messages\": * matches one segment, ** the rest; \"events\": "
             "gateway events" },
    { FIELD(struct fault_request, status), .type = &type_status, .flags = OPTIONAL,
      .doc = "Status of the response, 400-599; 0: the request is served" },
    { FIELD(struct fault_request, delay_ms), .type = &type_delay, .flags = OPTIONAL,
      .doc = "Delay in milliseconds before the request is served or fails" },
    { FIELD(struct fault_request, retry_after_ms), .type = &type_pause, .flags = OPTIONAL,
      .doc = "retry_after in milliseconds; only with status 429" },
    { FIELD(struct fault_request, times), .type = &type_times, .flags = OPTIONAL,
      .doc = "Number of requests that it affects; 0: all, until it is removed" },
    { FIELD(struct fault_request, drop), .type = &type_boolean, .flags = OPTIONAL,
      .doc = "Close the connection without a response" },
    { 0 },
};
/* clang-format on */
static const struct schema fault_schema = { .name = "FaultRequest",
                                            .size = sizeof(struct fault_request),
                                            .fields = fault_fields };
const struct type operator_fault_type = { .kind = KIND_OBJECT, .schema = &fault_schema };

static void add_fault_row(struct running_operator_command *o, const struct injected_fault *f)
{
    OPERATOR_ROW(o, v_int((int64_t)f->id), v_cstr(f->any_method ? "" : http_method_name(f->method)),
                 v_cstr(f->path), v_int(f->status), v_int(f->delay_ms), v_int(f->retry_after_ms),
                 v_int(f->times), v_int(f->drop), v_int((int64_t)f->hits));
}

enum err operator_fault_list(struct call *call, struct running_operator_command *o)
{
    struct injected_fault *list = arena_array(call->arena, struct injected_fault, MOST_FAULTS);
    size_t count = injected_faults_list(api_get_injected_faults(call->api), list);

    for (size_t i = 0; i < count; i++)
        add_fault_row(o, &list[i]);
    return OK;
}

static bool parse_fault_method(struct str text, struct injected_fault *ret)
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

/* Returns whether a fault's path is "events", so that the fault delays only gateway events. */
static bool fault_path_is_events(const char *path)
{
    return strcmp(path, "events") == 0;
}

/* Sets the delay of gateway events to the longest delay of all faults whose path is "events". */
static void apply_longest_event_delay(struct call *call)
{
    struct injected_fault *list = arena_array(call->arena, struct injected_fault, MOST_FAULTS);
    size_t count = injected_faults_list(api_get_injected_faults(call->api), list);
    int64_t ms = 0;

    for (size_t i = 0; i < count; i++)
        if (fault_path_is_events(list[i].path) && list[i].delay_ms > ms)
            ms = list[i].delay_ms;
    gateway_set_event_delay(api_get_options(call->api)->gateway, ms);
}

enum err operator_fault_add(struct call *call, struct running_operator_command *o)
{
    const struct fault_request *in = o->body;
    struct injected_fault f = { .status = (int)in->status,
                                .drop = in->drop,
                                .delay_ms = in->delay_ms,
                                .retry_after_ms = in->retry_after_ms,
                                .times = in->times };

    if (!parse_fault_method(in->method, &f))
        return call_add_field_error(call, "method", FORM_CHOICES, "Must be an HTTP method.");
    if (in->status && in->status < 400)
        return call_add_field_error(call, "status", FORM_CHOICES, "Must be between 400 and 599.");
    if (!in->status && !in->drop && !in->delay_ms)
        return call_add_field_error(call, "status", "BASE_TYPE_REQUIRED",
                                    "A fault needs a status, a delay_ms or drop.");
    memcpy(f.path, in->path.p, in->path.n < sizeof f.path ? in->path.n : sizeof f.path - 1);
    if (fault_path_is_events(f.path) && (in->status || in->drop || in->method.n))
        return call_add_field_error(call, "path", FORM_CHOICES, "Events accept only delay_ms.");
    if (fault_path_is_events(f.path))
        f.times = 0;
    if (!injected_faults_add(api_get_injected_faults(call->api), &f))
        return call_add_field_error(call, "path", FORM_CHOICES, "There may be at most 64 faults.");
    apply_longest_event_delay(call);
    add_fault_row(o, &f);
    return OK;
}

/* Removes the fault with the id in the argument, or without an argument all faults. */
enum err operator_fault_clear(struct call *call, struct running_operator_command *o)
{
    snowflake id = 0;

    if (o->count && !snowflake_parse(o->words[0], &id))
        return operator_command_set_error_sentence(o, ERR_NOT_FOUND,
                                                   "there is no fault with this id");
    bool found = injected_faults_remove(api_get_injected_faults(call->api), id);
    apply_longest_event_delay(call);
    return found || !id ? OK
                        : operator_command_set_error_sentence(o, ERR_NOT_FOUND,
                                                              "there is no fault with this id");
}
