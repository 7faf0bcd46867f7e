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
      .doc = "Any without it" },
    { FIELD(struct fault_request, path), .type = &type_path,
      .doc = "\"/channels/*/messages\": * is any segment, ** all that follow; \"events\": what "
             "sessions are told" },
    { FIELD(struct fault_request, status), .type = &type_status, .flags = OPTIONAL,
      .doc = "400-599, answered instead" },
    { FIELD(struct fault_request, delay_ms), .type = &type_delay, .flags = OPTIONAL,
      .doc = "Before the answer, or before the call goes on" },
    { FIELD(struct fault_request, retry_after_ms), .type = &type_pause, .flags = OPTIONAL,
      .doc = "With status 429" },
    { FIELD(struct fault_request, times), .type = &type_times, .flags = OPTIONAL,
      .doc = "How many calls meet it; 0: all, until it is taken back" },
    { FIELD(struct fault_request, drop), .type = &type_boolean, .flags = OPTIONAL,
      .doc = "The connection ends without an answer" },
    { 0 },
};
/* clang-format on */
static const struct schema fault_schema = { .name = "FaultOrder",
                                            .size = sizeof(struct fault_request),
                                            .fields = fault_fields };
const struct type operator_fault_type = { .kind = KIND_OBJECT, .schema = &fault_schema };

static void fault_row_add(struct operator_command *o, const struct fault *f)
{
    OPERATOR_ROW(o, v_int((int64_t)f->id), v_cstr(f->any_method ? "" : http_method_name(f->method)),
                 v_cstr(f->path), v_int(f->status), v_int(f->delay_ms), v_int(f->retry_after_ms),
                 v_int(f->times), v_int(f->drop), v_int((int64_t)f->hits));
}

enum err operator_fault_list(struct call *call, struct operator_command *o)
{
    struct fault *list = arena_array(call->arena, struct fault, MOST_FAULTS);
    size_t count = faults_list(api_faults(call->api), list);

    for (size_t i = 0; i < count; i++)
        fault_row_add(o, &list[i]);
    return OK;
}

static bool parse_fault_method(struct str text, struct fault *ret)
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

/* Returns whether the path is "events", which delays gateway events instead of calls. */
static bool path_means_events(const char *path)
{
    return strcmp(path, "events") == 0;
}

/* Applies the longest delay of all faults on events. */
static void apply_event_delay(struct call *call)
{
    struct fault *list = arena_array(call->arena, struct fault, MOST_FAULTS);
    size_t count = faults_list(api_faults(call->api), list);
    int64_t ms = 0;

    for (size_t i = 0; i < count; i++)
        if (path_means_events(list[i].path) && list[i].delay_ms > ms)
            ms = list[i].delay_ms;
    gateway_set_delay(api_options(call->api)->gateway, ms);
}

enum err operator_fault_add(struct call *call, struct operator_command *o)
{
    const struct fault_request *in = o->body;
    struct fault f = { .status = (int)in->status,
                       .drop = in->drop,
                       .delay_ms = in->delay_ms,
                       .retry_after_ms = in->retry_after_ms,
                       .times = in->times };

    if (!parse_fault_method(in->method, &f))
        return call_add_field_error(call, "method", FORM_CHOICES, "There is no such method.");
    if (in->status && in->status < 400)
        return call_add_field_error(call, "status", FORM_CHOICES, "Must be between 400 and 599.");
    if (!in->status && !in->drop && !in->delay_ms)
        return call_add_field_error(call, "status", "BASE_TYPE_REQUIRED",
                                    "A fault has a status, a delay or a drop.");
    memcpy(f.path, in->path.p, in->path.n < sizeof f.path ? in->path.n : sizeof f.path - 1);
    if (path_means_events(f.path) && (in->status || in->drop || in->method.n))
        return call_add_field_error(call, "path", FORM_CHOICES, "Events can be delayed, no more.");
    if (path_means_events(f.path))
        f.times = 0;
    if (!faults_insert(api_faults(call->api), &f))
        return call_add_field_error(call, "path", FORM_CHOICES, "There are 64 faults already.");
    apply_event_delay(call);
    fault_row_add(o, &f);
    return OK;
}

/* Removes all faults, or the one with this id. */
enum err operator_fault_clear(struct call *call, struct operator_command *o)
{
    snowflake id = 0;

    if (o->count && !snowflake_parse(o->words[0], &id))
        return operator_command_refuse(o, ERR_NOT_FOUND, "there is no fault with that id");
    bool found = faults_remove(api_faults(call->api), id);
    apply_event_delay(call);
    return found || !id
               ? OK
               : operator_command_refuse(o, ERR_NOT_FOUND, "there is no fault with that id");
}
