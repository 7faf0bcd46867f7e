/* replay.c - `guildhall replay FILE`: plays the server of a recording for a bot, and compares the
 * calls of the bot with the recorded ones.
 *
 * One event loop runs everything: the HTTP server, the gateway socket of the bot and a timer that
 * sends the events. An event is sent at its recorded time after READY, but not before the bot has
 * made the calls that were recorded before the event. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gateway/message_stream.h"
#include "json/schema.h"
#include "model/fields/types.h"
#include "net/http/server.h"
#include "tools/replay/differences.h"
#include "tools/replay/recording.h"
#include "tools/tools.h"

enum {
    REPLAY_TICK_MS = 5,
    REPLAY_QUIET_MS = 500, /* the replay ends after this time without a call */
    REPLAY_MAX_MESSAGE = 16 * 1024,
    REPLAY_MAX_BODY = 32 * 1024 * 1024,
    REPLAY_MAX_UNSENT = 256 * 1024 * 1024,
    REPLAY_DIFFERS = 3 /* exit status */
};
enum { REPLAY_HEARTBEAT = 1, REPLAY_IDENTIFY = 2, REPLAY_RESUME = 6 }; /* opcodes */
#define MILLISECOND INT64_C(1000000)

#define REPLAY_OFFSET(member) .offset = offsetof(struct command_settings, console.member)

const struct option_row replay_option_rows[] = {
    { "speed", OPTION_INT, REPLAY_OFFSET(speed), .fallback = "1", .min = 1, .max = 1000,
      .help = "Send the events this many times as fast as they were recorded" },
    { "wait", OPTION_INT, REPLAY_OFFSET(seconds), .fallback = "5", .min = 1, .max = 600,
      .help =
          "Seconds to wait for a recorded call, and twelve times as long for the bot to connect" },
    { 0 },
};

struct replaced_custom_id {
    struct str recorded, now;
};

struct replay {
    const struct console_options *options;
    struct arena *arena; /* lives as long as the replay */
    struct recorded_traffic recording;
    struct str own_authority;
    /* Gateway connection of the bot after IDENTIFY; NULL if there is none. */
    struct replay_socket *socket;
    size_t next_event;
    int64_t started_ns, ready_ns;
    int64_t last_progress_ns; /* time of the last call, or of the last event that was sent */
    struct replaced_custom_id *custom_ids;
    size_t custom_id_count;
    struct buf sentences; /* differences, one per line */
    size_t difference_count, calls_made;
    uv_timer_t timer;
    _Atomic bool finished;
};

/* A gateway connection. */
struct replay_socket {
    struct replay *replay;
    struct websocket *ws;
    struct message_stream *stream;
    uint64_t seq;
};

/* --- texts ----------------------------------------------------------------------------- */

static struct str replace_all_in_text(struct arena *arena, struct str text, struct str from,
                                      struct str to)
{
    const char *at;
    struct buf out;

    if (!from.n || !text.n || !memmem(text.p, text.n, from.p, from.n))
        return text;
    buf_init(&out, SIZE_MAX);
    while (text.n && (at = memmem(text.p, text.n, from.p, from.n))) {
        size_t n = (size_t)(at - text.p);

        buf_add(&out, text.p, n);
        buf_add_str(&out, to);
        text = str_skip_bytes(text, n + from.n);
    }
    buf_add_str(&out, text);
    return buf_move_to_arena(&out, arena);
}

/* Replaces the value of each field "name":"…" in a JSON text. */
static struct str replace_json_member(struct arena *arena, struct str json, const char *name,
                                      struct str value)
{
    struct str key = str_printf(arena, "\"%s\":\"", name);
    const char *at = json.n ? memmem(json.p, json.n, key.p, key.n) : NULL;

    if (!at)
        return json;
    size_t start = (size_t)(at - json.p) + key.n;
    const char *end = memchr(json.p + start, '"', json.n - start);
    if (!end)
        return json;
    return STR_CONCAT(arena, str_slice(json.p, start), value,
                      str_slice(end, (size_t)(json.p + json.n - end)));
}

/* Replaces recorded component ids and the server's address in a text by those of the replay. */
static struct str replace_recorded_ids_in_text(struct replay *p, struct arena *arena,
                                               struct str text)
{
    text = replace_all_in_text(arena, text, p->recording.authority, p->own_authority);
    text = replace_all_in_text(arena, text, STR_CONCAT(arena, STR("https://"), p->own_authority),
                               STR_CONCAT(arena, STR("http://"), p->own_authority));
    text = replace_json_member(arena, text, "resume_gateway_url",
                               STR_CONCAT(arena, STR("ws://"), p->own_authority));
    for (size_t i = 0; i < p->custom_id_count; i++)
        text = replace_all_in_text(arena, text, p->custom_ids[i].recorded, p->custom_ids[i].now);
    return text;
}

static void record_replay_difference(struct replay *p, struct str sentence)
{
    buf_add_str(&p->sentences, sentence);
    buf_add_char(&p->sentences, '\n');
    p->difference_count++;
}

static double seconds_after_ready(const struct replay *p, int64_t at_ms)
{
    return (double)(at_ms - p->recording.events[0].at_ms) / 1000;
}

/* --- calls ----------------------------------------------------------------------------- */

static void on_custom_id_changed(void *arg, struct str recorded, struct str now)
{
    struct replay *p = arg;

    if (!recorded.n || !now.n || p->custom_id_count == p->recording.call_count * 25)
        return;
    p->custom_ids[p->custom_id_count++] =
        (struct replaced_custom_id){ str_dup(p->arena, recorded), str_dup(p->arena, now) };
}

/* Appends how a call differs from the recorded call. */
static void compare_call_with_recording(struct replay *p, const struct recorded_call *c,
                                        struct str query, struct str body, struct arena *arena,
                                        struct buf *out)
{
    struct body_comparison comparison = {
        .arena = arena, .out = out, .custom_id_changed = on_custom_id_changed, .arg = p
    };

    if (!str_eq(c->query, query))
        buf_printf(out, "the query was \"%.*s\", is now \"%.*s\"", STR_ARGS(c->query),
                   STR_ARGS(query));
    if (!c->request_is_cut)
        compare_json_bodies(&comparison, c->request, body);
}

/* Returns the first recorded call with this method and path that the bot has not made yet. Prefers
 * a recorded call with the same body. */
static struct recorded_call *find_recorded_call(struct replay *p, struct str method,
                                                struct str path, struct str query, struct str body)
{
    struct recorded_call *first = NULL;

    for (size_t i = 0; i < p->recording.call_count; i++) {
        struct recorded_call *c = &p->recording.calls[i];

        if ((c->made && !c->missing) || !str_eq(c->method, method) ||
            !recorded_path_matches(c->path, path))
            continue;
        if (str_eq(c->request, body) && str_eq(c->query, query))
            return c;
        if (!first)
            first = c;
    }
    return first;
}

/* Returns whether two paths belong to the same route, that is, whether they differ only in ids. */
static bool paths_have_same_route(struct str a, struct str b)
{
    while (a.n && b.n) {
        struct str x = str_cut(&a, '/'), y = str_cut(&b, '/');
        uint64_t id;

        if (!str_eq(x, y) && !str_is(x, "***") && !(str_to_u64(x, &id) && str_to_u64(y, &id)))
            return false;
    }
    return !a.n && !b.n;
}

/* Returns the recorded call whose response is the best response to a call that is not in the
 * recording. Returns NULL if there is none. */
static const struct recorded_call *find_similar_call(const struct replay *p, struct str method,
                                                     struct str path)
{
    const struct recorded_call *found = NULL;

    for (size_t i = 0; i < p->recording.call_count; i++) {
        const struct recorded_call *c = &p->recording.calls[i];

        if (!str_eq(c->method, method) || !paths_have_same_route(c->path, path))
            continue;
        found = c;
        if (recorded_path_matches(c->path, path))
            return c;
    }
    return found;
}

static void respond_as_recorded(struct replay *p, struct http_exchange *x,
                                const struct recorded_call *c)
{
    struct response_head head = { .status = (int)c->status };
    struct str body = replace_recorded_ids_in_text(p, x->arena, c->reply);

    if (str_starts_with(c->path, STR("/gateway")))
        body = replace_json_member(x->arena, body, "url",
                                   STR_CONCAT(x->arena, STR("ws://"), p->own_authority));
    if (body.n)
        head.content_type = STR("application/json");
    http_respond(x, &head, body);
}

static struct str request_json_text(const struct http_exchange *x)
{
    const struct multipart_part *part =
        x->parts ? multipart_find_part(x->parts, STR("payload_json")) : NULL;

    return part ? buf_as_str(&part->data) : x->body;
}

/* Responds to a call that is not in the recording, or that the bot makes more often than recorded.
 * The response is that of a similar call. If there is none, a call that changes something succeeds,
 * so that the bot continues. */
static void respond_to_additional_call(struct replay *p, struct http_exchange *x, struct str method,
                                       struct str path)
{
    const struct recorded_call *similar = find_similar_call(p, method, path);
    bool is_recorded = similar && recorded_path_matches(similar->path, path);

    record_replay_difference(
        p,
        str_printf(x->arena, "The bot called %.*s %.*s%s.", STR_ARGS(method), STR_ARGS(path),
                   is_recorded ? " more often than recorded" : ", which is not in the recording"));
    if (similar)
        respond_as_recorded(p, x, similar);
    else if (x->request->method == HTTP_GET)
        http_respond(
            x, &(struct response_head){ .status = 404, .content_type = STR("application/json") },
            STR("{\"message\":\"This call is not in the recording.\",\"code\":0}"));
    else
        http_respond(x, &(struct response_head){ .status = 204 }, STR(""));
}

static void on_replay_request(void *arg, struct http_exchange *x)
{
    struct replay *p = arg;
    struct str method = x->request->method_text, path = remove_version_from_path(x->request->path),
               body = request_json_text(x);
    struct recorded_call *c = find_recorded_call(p, method, path, x->request->query, body);
    struct buf out;

    p->last_progress_ns = clock_monotonic_ns();
    p->calls_made++;
    if (!c) {
        respond_to_additional_call(p, x, method, path);
        return;
    }
    c->made = true;
    c->missing = false;
    buf_init(&out, SIZE_MAX);
    compare_call_with_recording(p, c, x->request->query, body, x->arena, &out);
    if (out.n)
        record_replay_difference(p,
                                 str_printf(x->arena, "%.*s %.*s differs: %.*s.", STR_ARGS(method),
                                            STR_ARGS(path), STR_ARGS(buf_as_str(&out))));
    buf_clear(&out);
    respond_as_recorded(p, x, c);
}

static struct body_limits get_body_limits_of_replay(void *arg, const struct http_request *r)
{
    (void)arg, (void)r;
    return (struct body_limits){ REPLAY_MAX_BODY, REPLAY_MAX_BODY };
}

static void append_error_response_body(void *arg, int status, struct buf *out)
{
    (void)arg;
    buf_printf(out, "{\"message\":\"%d\",\"code\":0}", status);
}

/* --- gateway --------------------------------------------------------------------------- */

static void send_json_to_bot(struct replay_socket *s, struct str json)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    bool text = message_stream_encode(s->stream, json, &out);
    websocket_send(s->ws, text ? WS_TEXT : WS_BINARY, buf_as_str(&out));
    buf_clear(&out);
}

static void send_recorded_event(struct replay *p, const struct recorded_event *e)
{
    struct arena *arena = arena_new();
    struct str data = replace_recorded_ids_in_text(p, arena, e->data);

    send_json_to_bot(p->socket,
                     str_printf(arena, "{\"t\":\"%.*s\",\"s\":%" PRIu64 ",\"op\":0,\"d\":%.*s}",
                                STR_ARGS(e->name), ++p->socket->seq, STR_ARGS(data)));
    arena_free(arena);
}

struct bot_message {
    int64_t op;
    struct opt_str d;
};
static const struct field bot_message_fields[] = {
    { FIELD(struct bot_message, op), .type = &type_int },
    { FIELD(struct bot_message, d), .type = &type_raw, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema bot_message_schema = { .size = sizeof(struct bot_message),
                                                  .fields = bot_message_fields };
static const struct type type_bot_message = { .kind = KIND_OBJECT, .schema = &bot_message_schema };
struct bot_identify {
    struct opt_bool compress;
};
static const struct field bot_identify_fields[] = {
    { FIELD(struct bot_identify, compress), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema bot_identify_schema = { .size = sizeof(struct bot_identify),
                                                   .fields = bot_identify_fields };
static const struct type type_bot_identify = { .kind = KIND_OBJECT,
                                               .schema = &bot_identify_schema };

static void on_bot_identify(struct replay_socket *s, struct str d, struct arena *arena)
{
    struct replay *p = s->replay;
    const struct bot_identify *identify = schema_decode_or_null(&type_bot_identify, d, arena);

    if (identify && identify->compress.value)
        message_stream_enable_compression(s->stream);
    p->socket = s;
    if (!p->ready_ns)
        p->ready_ns = p->last_progress_ns = clock_monotonic_ns();
    if (!p->next_event)
        p->next_event = 1;
    send_recorded_event(p, &p->recording.events[0]);
}

static void on_replay_message(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    struct replay_socket *s = websocket_get_data(ws);
    struct arena *arena = arena_new();
    struct buf json;

    (void)opcode;
    buf_init(&json, SIZE_MAX);
    const struct bot_message *m =
        message_stream_decode(s->stream, payload, &json)
            ? schema_decode_or_null(&type_bot_message, buf_as_str(&json), arena)
            : NULL;
    if (m && m->op == REPLAY_HEARTBEAT)
        send_json_to_bot(s, STR("{\"t\":null,\"s\":null,\"op\":11,\"d\":null}"));
    else if (m && m->op == REPLAY_IDENTIFY)
        on_bot_identify(s, m->d.value, arena);
    else if (m && m->op == REPLAY_RESUME)
        send_json_to_bot(s, STR("{\"t\":null,\"s\":null,\"op\":9,\"d\":false}"));
    buf_clear(&json);
    arena_free(arena);
}

static void on_replay_open(struct websocket *ws, void *arg)
{
    struct replay_socket *s = arg;

    s->ws = ws;
    websocket_set_data(ws, s);
    send_json_to_bot(s,
                     STR("{\"t\":null,\"s\":null,\"op\":10,\"d\":{\"heartbeat_interval\":41250}}"));
}

static void on_replay_closed(struct websocket *ws, int code)
{
    struct replay_socket *s = websocket_get_data(ws);

    (void)code;
    if (!s)
        return;
    if (s->replay->socket == s)
        s->replay->socket = NULL;
    message_stream_free(s->stream);
    s->stream = NULL;
}

static bool on_replay_upgrade(void *arg, const struct http_request *r,
                              struct websocket_handler *ret)
{
    struct replay *p = arg;
    struct replay_socket *s = arena_alloc(p->arena, sizeof *s);

    s->replay = p;
    s->stream = message_stream_new(r);
    *ret = (struct websocket_handler){ .arg = s,
                                       .max_message = REPLAY_MAX_MESSAGE,
                                       .max_unsent = REPLAY_MAX_UNSENT,
                                       .open = on_replay_open,
                                       .message = on_replay_message,
                                       .closed = on_replay_closed };
    return true;
}

/* --- time ------------------------------------------------------------------------------ */

static int64_t due_ns(const struct replay *p, int64_t at_ms)
{
    return p->ready_ns + (at_ms - p->recording.events[0].at_ms) * MILLISECOND / p->options->speed;
}

/* Returns whether the bot has made the first `count` calls. After the time limit, reports the
 * missing calls and returns true. */
static bool bot_has_made_calls(struct replay *p, size_t count, int64_t due, int64_t now)
{
    int64_t since = due > p->last_progress_ns ? due : p->last_progress_ns;
    bool late = now - since > p->options->seconds * 1000 * MILLISECOND;

    for (size_t i = 0; i < count; i++) {
        struct recorded_call *c = &p->recording.calls[i];

        if (c->made)
            continue;
        if (!late)
            return false;
        c->made = c->missing = true;
    }
    return true;
}

static void on_replay_tick(uv_timer_t *timer)
{
    struct replay *p = timer->data;
    int64_t now = clock_monotonic_ns();

    if (!p->ready_ns) {
        p->finished = now - p->started_ns > p->options->seconds * 12000 * MILLISECOND;
        return;
    }
    while (p->socket && p->next_event < p->recording.event_count) {
        const struct recorded_event *e = &p->recording.events[p->next_event];
        int64_t due = due_ns(p, e->at_ms);

        if (now < due || !bot_has_made_calls(p, e->calls_before, due, now))
            return;
        send_recorded_event(p, e);
        p->next_event++;
        p->last_progress_ns = now;
    }
    int64_t end = due_ns(p, p->recording.end_ms);
    bool lost = !p->socket && now - p->last_progress_ns > p->options->seconds * 1000 * MILLISECOND;
    if (lost || (p->next_event == p->recording.event_count && now > end &&
                 now - p->last_progress_ns > REPLAY_QUIET_MS * MILLISECOND &&
                 bot_has_made_calls(p, p->recording.call_count, end, now)))
        p->finished = true;
}

static void start_replay_timer(struct loop *loop, void *arg)
{
    struct replay *p = arg;

    uv_timer_init(loop_get_uv_loop(loop), &p->timer);
    p->timer.data = p;
    uv_timer_start(&p->timer, on_replay_tick, REPLAY_TICK_MS, REPLAY_TICK_MS);
}

static void stop_replay_timer(struct loop *loop, void *arg)
{
    struct replay *p = arg;

    (void)loop;
    uv_close((uv_handle_t *)&p->timer, NULL);
}

/* --- the command ----------------------------------------------------------------------- */

static void describe_missing_calls(struct replay *p)
{
    for (size_t i = 0; i < p->recording.call_count; i++) {
        const struct recorded_call *c = &p->recording.calls[i];

        if (!c->made || c->missing)
            record_replay_difference(
                p, str_printf(p->arena,
                              "The bot did not call %.*s %.*s, which was recorded %.1f s after "
                              "READY%s%.*s.",
                              STR_ARGS(c->method), STR_ARGS(c->path),
                              seconds_after_ready(p, c->at_ms), c->request.n ? " with " : "",
                              (int)(c->request.n < 200 ? c->request.n : 200), c->request.p));
    }
    if (p->next_event < p->recording.event_count)
        record_replay_difference(
            p, str_printf(p->arena,
                          "The bot closed its connection before %zu of %zu events were "
                          "sent.",
                          p->recording.event_count - p->next_event, p->recording.event_count));
}

static int print_replay_result(struct replay *p)
{
    if (!p->ready_ns) {
        fprintf(stderr, "guildhall: no bot connected; start it with the URL above\n");
        return 1;
    }
    describe_missing_calls(p);
    printf("%.*s", STR_ARGS(buf_as_str(&p->sentences)));
    printf("%s%zu difference%s: %zu of %zu events sent, %zu calls made, %zu recorded\n",
           p->difference_count ? "" : "no differences, ", p->difference_count,
           p->difference_count == 1 ? "" : "s", p->next_event, p->recording.event_count,
           p->calls_made, p->recording.call_count);
    return p->difference_count ? REPLAY_DIFFERS : 0;
}

static int run_replay(struct replay *p, const char *host, int port)
{
    struct loops *loops = loops_start(1, NULL, NULL);
    struct http_server_options options = { .host = host,
                                           .port = port,
                                           .head_timeout_ms = 30 * 1000,
                                           .idle_timeout_ms = 75 * 1000,
                                           .via = "1.1 guildhall" };
    struct http_server_callbacks app = { .arg = p,
                                         .body_limits = get_body_limits_of_replay,
                                         .request = on_replay_request,
                                         .refusal = append_error_response_body,
                                         .upgrade = on_replay_upgrade };
    struct http_server *server = NULL;
    int status = 1;

    p->started_ns = clock_monotonic_ns();
    if (!http_server_start(loops, &options, &app, &server)) {
        p->own_authority = str_printf(p->arena, "%s:%d", host, http_server_get_port(server));
        printf("guildhall: listening on http://%.*s\n", STR_ARGS(p->own_authority));
        printf("Start the bot with the API base http://%.*s/api and any token.\n",
               STR_ARGS(p->own_authority));
        fflush(stdout);
        loop_run_function_and_wait(loops_get_loop_at(loops, 0), start_replay_timer, p);
        while (!p->finished)
            usleep(REPLAY_TICK_MS * 1000);
        loop_run_function_and_wait(loops_get_loop_at(loops, 0), stop_replay_timer, p);
        http_server_stop(server, 0);
        status = print_replay_result(p);
    }
    http_server_free(server);
    loops_stop(loops);
    return status;
}

/* Splits "HOST:PORT". Returns false if there is no port. */
static bool split_listen_option(const char *listen, char *host, size_t max, int *ret_port)
{
    const char *colon = strrchr(listen, ':');
    uint64_t port;

    if (!colon || (size_t)(colon - listen) >= max || !str_to_u64(str_of(colon + 1), &port) ||
        port > 65535)
        return false;
    snprintf(host, max, "%.*s", (int)(colon - listen), listen);
    *ret_port = (int)port;
    return true;
}

int run_command_replay(const struct command_settings *s, char **arguments)
{
    struct replay p = { .options = &s->console };
    char host[256];
    int port, status = 1;

    if (!arguments[0] || arguments[1])
        return print_usage_forms("replay FILE");
    if (!split_listen_option(s->config.listen, host, sizeof host, &port))
        return print_usage_error("--listen is HOST:PORT");
    p.arena = arena_new();
    buf_init(&p.sentences, SIZE_MAX);
    if (recorded_traffic_read(arguments[0], p.arena, &p.recording)) {
        p.custom_ids =
            arena_array(p.arena, struct replaced_custom_id, p.recording.call_count * 25 + 1);
        if (p.recording.moved_clocks)
            fprintf(stderr, "guildhall: the server's clock was moved while this was recorded; the "
                            "events have its times, the bot's own clock does not move\n");
        status = run_replay(&p, host, port);
    }
    buf_clear(&p.sentences);
    arena_free(p.arena);
    return status;
}
