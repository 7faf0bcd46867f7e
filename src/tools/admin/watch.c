/* watch.c - `guildhall watch`: follows the traffic of the running server. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "json/schema.h"
#include "json/write.h"
#include "model/events/events.h"
#include "model/fields/types.h"
#include "net/http/http_parser.h"
#include "tools/admin/console.h"

#define WATCH_OFFSET(member) .offset = offsetof(struct command_settings, console.member)

const struct option_row watch_option_rows[] = {
    { "kind", OPTION_CHOICE, WATCH_OFFSET(kind),
      .choices = "call|request|frame|opened|received|sent|closed|delivered|refused",
      .help = "Only records of this kind; request: calls and refused requests; frame: all others" },
    { "user", OPTION_TEXT, WATCH_OFFSET(user), .value = "NAME",
      .help = "Only records of this account" },
    { "route", OPTION_TEXT, WATCH_OFFSET(route), .value = "PART",
      .help = "Only records whose route name or path contains this" },
    { "method", OPTION_TEXT, WATCH_OFFSET(method), .value = "METHOD",
      .help = "Only requests with this method: GET, POST, …" },
    { "status", OPTION_TEXT, WATCH_OFFSET(status), .value = "STATUS",
      .help = "Only requests with this status: 404, 4xx, or error" },
    { "event", OPTION_TEXT, WATCH_OFFSET(event), .value = "EVENT", .help = "MESSAGE_CREATE, …" },
    { "session", OPTION_TEXT, WATCH_OFFSET(session), .value = "ID",
      .help = "Only records of this gateway session" },
    { "text", OPTION_TEXT, WATCH_OFFSET(text), .value = "TEXT",
      .help = "Only records whose path or body contains this" },
    { "after", OPTION_INT, WATCH_OFFSET(after), .fallback = "-1", .min = -1, .max = INT64_MAX,
      .help = "Start after this record; 0: with all stored records; -1: with new records" },
    { "count", OPTION_INT, WATCH_OFFSET(count), .fallback = "0", .min = 0, .max = 1000000,
      .help = "Stop after this number of records" },
    { "seconds", OPTION_INT, WATCH_OFFSET(seconds), .fallback = "0", .min = 0, .max = 86400,
      .help = "Stop after this time; exit status 5 if --count was not reached" },
    { "json", OPTION_SWITCH, WATCH_OFFSET(json), .fallback = "off",
      .help = "Print one line of JSON per record" },
    { 0 },
};

struct watch_batch {
    int64_t lost;
    struct list records; /* items: struct str with JSON */
};
struct watch_line {
    struct str line;
};
static const struct type type_records = { .kind = KIND_ARRAY, .of = &type_raw };
static const struct field batch_fields[] = {
    { FIELD(struct watch_batch, lost), .type = &type_int },
    { FIELD(struct watch_batch, records), .type = &type_records },
    { 0 },
};
static const struct schema batch_schema = { .size = sizeof(struct watch_batch),
                                            .fields = batch_fields };
static const struct type type_batch = { .kind = KIND_OBJECT, .schema = &batch_schema };
static const struct field line_fields[] = {
    { FIELD(struct watch_line, line), .type = &type_text },
    { 0 },
};
static const struct schema line_schema = { .size = sizeof(struct watch_line),
                                           .fields = line_fields };
static const struct type type_line = { .kind = KIND_OBJECT, .schema = &line_schema };

static void append_traffic_filter_parameter(struct json_writer *j, const char *name,
                                            const char *value)
{
    if (!value)
        return;
    json_write_key(j, str_of(name));
    json_write_text(j, str_of(value));
}

static struct str format_watch_filters(const struct console_options *o, const char *key,
                                       struct arena *arena)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 4096);
    json_begin_object(&j);
    append_traffic_filter_parameter(&j, "key", key);
    append_traffic_filter_parameter(&j, "kind", o->kind);
    append_traffic_filter_parameter(&j, "user", o->user);
    append_traffic_filter_parameter(&j, "route", o->route);
    append_traffic_filter_parameter(&j, "method", o->method);
    append_traffic_filter_parameter(&j, "status", o->status);
    append_traffic_filter_parameter(&j, "event", o->event);
    append_traffic_filter_parameter(&j, "session", o->session);
    append_traffic_filter_parameter(&j, "text", o->text);
    if (o->after >= 0) {
        json_write_name(&j, "after");
        json_write_int(&j, o->after);
    }
    json_end_object(&j);
    return buf_move_to_arena(&out, arena);
}

static void print_traffic_record(struct str json, bool raw, struct arena *arena)
{
    struct form form = { .arena = arena };
    void *read;

    if (raw)
        printf("%.*s\n", STR_ARGS(json));
    else if (!schema_decode(&type_line, json, &form, &read))
        printf("%.*s\n", STR_ARGS(((const struct watch_line *)read)->line));
}

/* Prints records and returns their number. `left` is the maximum number of records; -1 means no
 * limit. */
static int64_t print_traffic_record_batch(struct str text, bool raw, int64_t left,
                                          struct arena *arena)
{
    struct form form = { .arena = arena };
    void *read;
    int64_t printed = 0;

    if (schema_decode(&type_batch, text, &form, &read))
        return 0;
    const struct watch_batch *b = read;
    const struct str *records = b->records.items;
    if (b->lost)
        fprintf(stderr, "guildhall: %lld records were overwritten before they could be printed\n",
                (long long)b->lost);
    for (size_t i = 0; i < b->records.count && printed != left; i++, printed++)
        print_traffic_record(records[i], raw, arena);
    fflush(stdout);
    return printed;
}

static int receive_and_print_traffic_records(struct api_client *w, const struct console_options *o)
{
    int64_t until =
        o->seconds ? clock_monotonic_ns() + o->seconds * INT64_C(1000000000) : INT64_MAX;
    int64_t left = o->count ? o->count : -1;
    struct arena *arena = arena_new();
    enum api_client_event_result result = CLIENT_EVENT;

    while (left) {
        struct str text;

        arena_reset(arena);
        result = api_client_wait_for_websocket_text(w, until, arena, &text);
        if (result != CLIENT_EVENT)
            break;
        int64_t printed = print_traffic_record_batch(text, o->json, left, arena);
        left -= left > 0 ? printed : 0;
    }
    arena_free(arena);
    return result == CLIENT_CONNECTION_LOST ? 1 : left && o->count ? 5 : 0;
}

/* --- invalid filters, which cannot match any record ------------------------------------- */

static bool is_http_method(const char *name)
{
    for (int m = 0; m < HTTP_METHODS; m++)
        if (strcasecmp(http_method_name((enum http_method)m), name) == 0)
            return true;
    return false;
}

static bool is_status_filter(const char *status)
{
    uint64_t number;

    if (strcmp(status, "error") == 0)
        return true;
    if (strlen(status) != 3 || status[0] < '1' || status[0] > '5')
        return false;
    return strcmp(status + 1, "xx") == 0 || str_to_u64(str_of(status), &number);
}

static const char *find_similar_event_name(const char *name)
{
    struct option_row names[EVENT_COUNT + 1] = { 0 };
    const struct option_row *lists[] = { names, NULL };

    for (int e = EVENT_NONE + 1; e < EVENT_COUNT; e++)
        names[e - EVENT_NONE - 1].name = get_name_of_event_type((enum event)e);
    return option_find_most_similar(lists, str_of(name));
}

/* Returns a sentence about the first filter that cannot match any record. Returns NULL if there is
 * no such filter. */
static const char *describe_first_invalid_filter(const struct console_options *o,
                                                 struct arena *arena)
{
    if (o->method && !is_http_method(o->method))
        return str_printf(arena,
                          "--method must be GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS, "
                          "not '%.64s'",
                          o->method)
            .p;
    if (o->status && !is_status_filter(o->status))
        return str_printf(arena,
                          "--status must be a status such as 404, a class such as 4xx, or "
                          "error, not '%.64s'",
                          o->status)
            .p;
    if (o->event && find_event_type_by_name(str_of(o->event)) == EVENT_NONE) {
        const char *meant = find_similar_event_name(o->event);

        return str_printf(arena, "--event: the gateway has no event '%.64s'%s%s%s", o->event,
                          meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "")
            .p;
    }
    return NULL;
}

/* Checks that the account of --user exists, because otherwise no record would ever match. Prints
 * why not. */
static bool watched_user_exists(struct api_client *w, const char *user, struct arena *arena)
{
    struct api_client_response a;

    if (!user)
        return true;
    struct str name = str_percent_encode(arena, str_of(user));
    const char *path =
        str_printf(arena, "/console/commands/user/show?argument=%.*s", STR_ARGS(name)).p;
    if (!api_client_request(w, "GET", path, (struct str){ 0 }, NULL, 0, &a))
        return false;
    if (a.status != 200)
        print_console_refusal(&a, arena);
    return a.status == 200;
}

int run_command_watch(const struct command_settings *s, char **arguments)
{
    struct arena *arena = arena_new();
    const char *problem = describe_first_invalid_filter(&s->console, arena);
    int status = 1;

    (void)arguments;
    if (problem) {
        status = print_usage_error(problem);
        arena_free(arena);
        return status;
    }
    struct api_client *w = connect_to_server_console(&s->config, arena);
    if (w) {
        const char *key = api_client_get_token(w) + sizeof "Bearer " - 1;

        if (watched_user_exists(w, s->console.user, arena) &&
            api_client_open_websocket(w, "/console/traffic/live",
                                      format_watch_filters(&s->console, key, arena)))
            status = receive_and_print_traffic_records(w, &s->console);
    }
    api_client_free(w);
    arena_free(arena);
    return status;
}
