/* app.h - a small application behind a real server, for tests of net/. */
#ifndef TESTS_UNIT_NET_APP_H
#define TESTS_UNIT_NET_APP_H

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/http/server.h"
#include "unit/net/peer.h"

enum { APP_SMALL_BODY = 1000, APP_BODY = 1024 * 1024, APP_FORM = 10000 };
enum { APP_PATIENCE_MS = 60 * 1000 }; /* default of tests that do not measure time */

static struct {
    struct loops *loops;
    struct http_server *server;
    _Atomic(struct http_exchange *) held; /* exchange held by /hold, or before the body of /wait */
    _Atomic int asked;                    /* number of bodies that were authorized */
    _Atomic int closed, code;             /* closed WebSockets, and the last close code */
    _Atomic int shutdowns;
    _Atomic int ends; /* number of "end" messages */
} app;

static void app_answer(struct http_exchange *x, int status, struct str body)
{
    struct response_head head = { .status = status, .content_type = STR("application/json") };

    http_respond(x, &head, body);
}

/* --- responses from another thread ---------------------------------------------------- */

struct app_later {
    struct loop_message post;
    struct http_exchange *x;
};

static void app_respond_later(struct loop_message *p)
{
    app_answer(container_of(p, struct app_later, post)->x, 200, STR("later"));
}

static void *app_think(void *arg)
{
    struct app_later *l = arg;

    usleep(2000);
    loop_post_message(l->x->loop, &l->post);
    return NULL;
}

static void app_respond_from_thread(struct http_exchange *x)
{
    struct app_later *l = arena_alloc(x->arena, sizeof *l);
    pthread_t thread;

    l->x = x;
    l->post.run = app_respond_later;
    assert_int_equal(pthread_create(&thread, NULL, app_think, l), 0);
    pthread_detach(thread);
}

static void app_release_held_on_loop(struct loop *l, void *arg)
{
    (void)l;
    app_answer(arg, 200, STR("held"));
}

/* Completes the exchange that /hold holds. */
static inline void app_release(void)
{
    struct http_exchange *x;

    while (!(x = atomic_exchange(&app.held, NULL)))
        usleep(1000);
    loop_run_function_and_wait(x->loop, app_release_held_on_loop, x);
}

/* --- routes --------------------------------------------------------------------------- */

/* Fills the buffer with repeated letters by copying blocks: counting them out under a sanitizer
 * would block the loop for seconds. */
static void app_fill(char *p, size_t n, size_t letters)
{
    size_t done = n < letters ? n : letters;

    for (size_t i = 0; i < done; i++)
        p[i] = (char)('a' + i);
    while (done < n) {
        size_t more = n - done < done ? n - done : done;

        memcpy(p + done, p, more);
        done += more;
    }
}

static struct str app_bytes(struct http_exchange *x)
{
    uint64_t n = 0;

    assert_true(str_to_u64(x->request->query, &n));
    char *p = arena_alloc_unzeroed(x->arena, n + 1);
    app_fill(p, n, 23);
    return str_slice(p, n);
}

static void app_send_file(struct http_exchange *x)
{
    struct response_head head = { .status = 200, .content_type = STR("image/png") };
    struct str bytes = app_bytes(x);
    int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    assert_int_equal(write(fd, bytes.p, bytes.n), bytes.n);
    lseek(fd, 0, SEEK_SET);
    http_respond_file(x, &head, fd, (int64_t)bytes.n);
}

/* Sends a text in its own buffer. */
static void app_send_text(struct http_exchange *x)
{
    struct response_head head = { .status = 200, .content_type = STR("text/plain") };
    struct str bytes = app_bytes(x);
    struct buf b;

    buf_init(&b, bytes.n);
    buf_add_str(&b, bytes);
    http_respond_long_text(x, &head, buf_as_str(&b), &b);
    assert_null(b.p);
}

enum { APP_STORED = 8 * 1024 * 1024 };

/* Sends a text that all responses share. */
static void app_send_shared_text(struct http_exchange *x)
{
    static char retained[APP_STORED];
    struct response_head head = { .status = 200, .content_type = STR("image/png") };

    http_respond_long_text(x, &head, str_slice(retained, sizeof retained), NULL);
}

static void app_list_form_parts(struct http_exchange *x)
{
    struct str out = STR("");

    for (size_t i = 0; x->parts && i < multipart_get_part_count(x->parts); i++) {
        const struct multipart_part *p = multipart_get_part_at(x->parts, i);
        out =
            str_printf(x->arena, "%.*s%s=%.*s;", STR_ARGS(out), p->name, (int)p->data.n, p->data.p);
    }
    app_answer(x, 200, out);
}

/* Takes 1 ms of the loop's time. */
static void app_work(void)
{
    int64_t until = clock_monotonic_ns() + 1000 * 1000;

    while (clock_monotonic_ns() < until)
        ;
}

static void app_respond_slowly(struct http_exchange *x)
{
    app_work();
    app_answer(x, 200, STR("at last"));
}

static void app_request(void *arg, struct http_exchange *x)
{
    struct str path = x->request->path;
    struct response_head closing = { .status = 200,
                                     .content_type = STR("text/plain"),
                                     .close = true };
    struct response_head tagged = { .status = 200, .headers = STR("X-Tag: yes\r\n") };
    struct response_head moved = { .status = 302, .headers = STR("Location: /echo\r\n") };

    (void)arg;
    if (str_is(path, "/echo") || str_is(path, "/small") || str_is(path, "/wait"))
        app_answer(x, 200, x->body.n ? x->body : STR("hello"));
    else if (str_is(path, "/size"))
        app_answer(x, 200, app_bytes(x));
    else if (str_is(path, "/nothing"))
        app_answer(x, 204, STR(""));
    else if (str_is(path, "/unchanged"))
        app_answer(x, 304, STR("not sent"));
    else if (str_is(path, "/closing"))
        http_respond(x, &closing, STR("bye"));
    else if (str_is(path, "/tagged"))
        http_respond(x, &tagged, STR("tag"));
    else if (str_is(path, "/moved"))
        http_respond(x, &moved, STR("elsewhere"));
    else if (str_is(path, "/header"))
        app_answer(x, 200, http_find_header(x->request, STR("X-Sent")));
    else if (str_is(path, "/slow"))
        app_respond_slowly(x);
    else if (str_is(path, "/later"))
        app_respond_from_thread(x);
    else if (str_is(path, "/hold"))
        atomic_store(&app.held, x);
    else if (str_is(path, "/file"))
        app_send_file(x);
    else if (str_is(path, "/text"))
        app_send_text(x);
    else if (str_is(path, "/kept"))
        app_send_shared_text(x);
    else if (str_is(path, "/form"))
        app_list_form_parts(x);
    else if (str_is(path, "/who"))
        app_answer(x, 200, str_printf(x->arena, "%.*s %d", STR_ARGS(x->remote), x->secure));
    else
        app_answer(x, 404, STR("no such path"));
}

static struct body_limits app_intake(void *arg, const struct http_request *r)
{
    bool form = str_is(r->path, "/form");

    (void)arg;
    return (struct body_limits){ str_is(r->path, "/small") ? APP_SMALL_BODY : APP_BODY,
                                 form ? APP_FORM : 0 };
}

/* Admits a long body for every path except /closed. */
static void app_admit(void *arg, struct http_exchange *x)
{
    (void)arg;
    atomic_fetch_add(&app.asked, 1);
    if (str_is(x->request->path, "/closed"))
        app_answer(x, 401, STR("who are you"));
    else if (str_is(x->request->path, "/wait"))
        atomic_store(&app.held, x);
    else
        http_accept_request_body(x, 7);
}

static void app_admit_body_on_loop(struct loop *l, void *arg)
{
    (void)l;
    http_accept_request_body(arg, 7);
}

/* Admits the body that /wait holds. */
static inline void app_let_in(void)
{
    struct http_exchange *x;

    while (!(x = atomic_exchange(&app.held, NULL)))
        usleep(1000);
    loop_run_function_and_wait(x->loop, app_admit_body_on_loop, x);
}

static void app_refusal(void *arg, int status, struct buf *out)
{
    (void)arg;
    buf_printf(out, "{\"refused\":%d}", status);
}

/* --- WebSockets ----------------------------------------------------------------------- */

static void app_open(struct websocket *ws, void *arg)
{
    assert_string_equal(arg, "app");
    websocket_set_data(ws, &app);
    websocket_send(ws, WS_TEXT, STR("wel"));
    websocket_send(ws, WS_TEXT, STR("come"));
}

/* The last piece of a long message is not a short one. */
enum { APP_LONG = 9 * 1024 * 1024 + 120 * 1024 + 5 };

/* Sends a long message in pieces, and a short one after it. */
static void app_send_long_message(struct websocket *ws)
{
    struct buf b;

    buf_init(&b, APP_LONG);
    char *p = buf_reserve(&b, APP_LONG);
    app_fill(p, APP_LONG, 19);
    b.n = APP_LONG;
    websocket_send_buf(ws, WS_BINARY, &b);
    assert_null(b.p);
    assert_true(websocket_count_unsent_bytes(ws) >= APP_LONG);
    websocket_send(ws, WS_TEXT, STR("behind"));
}

/* Sends a text in parts of different lengths. */
static void app_send_in_parts(struct websocket *ws, struct str text)
{
    struct str parts[] = { str_slice(text.p, 3), STR(""), str_slice(text.p + 3, text.n - 4),
                           str_slice(text.p + text.n - 1, 1) };

    websocket_send_parts(ws, WS_TEXT, parts, WEBSOCKET_PARTS_MAX);
}

/* Each frame is sent immediately until the socket is full; the rest follows. Every third is sent in
 * parts, and every sixth behind a queued frame. */
enum { APP_FRAMES = 300, APP_FRAME = 50 * 1024 };
static void app_send_frames(struct websocket *ws)
{
    struct buf b;

    buf_init(&b, APP_FRAME + WS_MAX_HEAD);
    char *text = mem_new(APP_FRAME);
    for (int i = 0; i < APP_FRAMES; i++) {
        app_fill(text, APP_FRAME, (size_t)(2 + i % 20));
        buf_reset(&b);
        ws_append_frame(&b, WS_TEXT, str_slice(text, APP_FRAME));
        if (i % 3 == 2)
            app_send_in_parts(ws, str_slice(text, APP_FRAME));
        else
            websocket_send_frame(ws, buf_as_str(&b), i % 6 != 1);
    }
    buf_clear(&b);
    mem_free(text);
    websocket_send(ws, WS_TEXT, STR("behind"));
}

static void app_message(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    assert_ptr_equal(websocket_get_data(ws), &app);
    if (str_is(payload, "slow"))
        app_work();
    if (str_is(payload, "close"))
        websocket_close(ws, 4000, STR("bye"));
    else if (str_is(payload, "frames"))
        app_send_frames(ws);
    else if (str_is(payload, "long"))
        app_send_long_message(ws);
    else if (str_is(payload, "who"))
        websocket_send(ws, WS_TEXT,
                       websocket_uses_tls(ws) ? STR("secure") : websocket_get_client_address(ws));
    else
        websocket_send(ws, opcode, payload);
    if (str_is(payload, "end"))
        atomic_fetch_add(&app.ends, 1);
}

static void app_closed(struct websocket *ws, int code)
{
    websocket_send(ws, WS_TEXT, STR("too late"));
    atomic_store(&app.code, code);
    atomic_fetch_add(&app.closed, 1);
}

static void app_shutdown(struct websocket *ws)
{
    atomic_fetch_add(&app.shutdowns, 1);
    websocket_close(ws, 1001, STR("going"));
}

/* Many sockets of a loop that get a message at the same time, each of which takes long. */
enum { APP_GROUP = 40, APP_SLOW_US = 2000 };

static struct app_socket_group {
    struct loop_message post;
    struct loop *loop;
    struct websocket *all[APP_GROUP];
    int count;
    int last;
    bool delivered_to;         /* set by the first message */
    _Atomic int drained, most; /* at the end of one iteration */
} app_groups[2];

static struct app_socket_group *app_socket_group(void)
{
    return &app_groups[loop_get_index(loop_get_current())];
}

static void app_group_on_open(struct websocket *ws, void *arg)
{
    struct app_socket_group *c = app_socket_group();

    app_open(ws, arg);
    c->loop = loop_get_current();
    c->all[c->count++] = ws;
}

/* Runs once per iteration. */
static void app_group_count_iteration(struct loop_message *post)
{
    struct app_socket_group *c = container_of(post, struct app_socket_group, post);
    int now = c->drained;

    if (now - c->last > c->most)
        c->most = now - c->last;
    c->last = now;
    if (now < c->count)
        loop_post_message(c->loop, &c->post);
}

static void app_group_on_message(struct websocket *ws, enum ws_opcode opcode, struct str payload)
{
    struct app_socket_group *c = app_socket_group();

    (void)ws;
    if (c->delivered_to)
        return;
    c->delivered_to = true;
    for (int i = 0; i < c->count; i++) {
        websocket_send(c->all[i], opcode, payload);
        websocket_notify_when_all_is_sent(c->all[i]);
    }
    c->post.run = app_group_count_iteration;
    loop_post_message(c->loop, &c->post);
}

static void app_group_on_drained(struct websocket *ws)
{
    (void)ws;
    usleep(APP_SLOW_US);
    atomic_fetch_add(&app_socket_group()->drained, 1);
}

static bool app_upgrade(void *arg, const struct http_request *r, struct websocket_handler *ret)
{
    static char name[] = "app";
    (void)arg;
    bool patient = str_is(r->path, "/patient"), group = str_is(r->path, "/crowd");

    if (!patient && !group && !str_is(r->path, "/socket"))
        return false;
    *ret = (struct websocket_handler){ .arg = name,
                                       .max_message = 100000,
                                       .max_unsent = (patient ? 64 : 1) * 1024 * 1024,
                                       .open = group ? app_group_on_open : app_open,
                                       .message = group ? app_group_on_message : app_message,
                                       .drained = app_group_on_drained,
                                       .closed = app_closed,
                                       .shutdown = app_shutdown };
    return true;
}

/* --- start and stop ------------------------------------------------------------------- */

static const struct http_server_callbacks app_calls = {
    .body_limits = app_intake,
    .authorize_body = app_admit,
    .request = app_request,
    .refusal = app_refusal,
    .upgrade = app_upgrade,
};

static inline void app_start(const struct http_server_options *changes)
{
    struct http_server_options o = *changes;

    o.host = o.host ? o.host : "127.0.0.1";
    o.head_timeout_ms = o.head_timeout_ms ? o.head_timeout_ms : APP_PATIENCE_MS;
    o.idle_timeout_ms = o.idle_timeout_ms ? o.idle_timeout_ms : APP_PATIENCE_MS;
    o.via = "1.1 guildhall";
    atomic_store(&app.closed, 0);
    atomic_store(&app.asked, 0);
    atomic_store(&app.code, 0);
    atomic_store(&app.shutdowns, 0);
    atomic_store(&app.ends, 0);
    app.loops = loops_start(2, NULL, NULL);
    assert_int_equal(http_server_start(app.loops, &o, &app_calls, &app.server), OK);
}

static inline void app_stop(void)
{
    http_server_stop(app.server, 1000);
    http_server_free(app.server);
    loops_stop(app.loops);
}

/* --- iterations ----------------------------------------------------------------------- */

enum { APP_LOOPS = 2 };

/* Pauses the loops, so that everything sent meanwhile is ready when they continue. */
static struct {
    struct loop_message post[APP_LOOPS];
    struct loop_iteration_callback ends[APP_LOOPS];
    sem_t held[APP_LOOPS], go[APP_LOOPS];
    _Atomic int turns;
} app_jam;

static inline void app_jam_hold(struct loop_message *p)
{
    long i = p - app_jam.post;

    sem_post(&app_jam.held[i]);
    sem_wait(&app_jam.go[i]);
}

static inline void app_jam_count(struct loop_iteration_callback *t)
{
    (void)t;
    app_jam.turns++;
}

static inline void app_jam_begin(struct loop *l, void *arg)
{
    unsigned i = loop_get_index(l);

    (void)arg;
    app_jam.ends[i].run = app_jam_count;
    loop_add_iteration_callback(l, &app_jam.ends[i]);
    app_jam.post[i].run = app_jam_hold;
    loop_post_message(l, &app_jam.post[i]);
}

static inline void app_jam_end(struct loop *l, void *arg)
{
    (void)arg;
    loop_remove_iteration_callback(&app_jam.ends[loop_get_index(l)]);
}

static inline void app_hold_loops(void)
{
    for (unsigned i = 0; i < APP_LOOPS; i++) {
        sem_init(&app_jam.held[i], 0, 0);
        sem_init(&app_jam.go[i], 0, 0);
        loop_run_function_and_wait(loops_get_loop_at(app.loops, i), app_jam_begin, NULL);
        sem_wait(&app_jam.held[i]);
    }
}

static inline void app_let_go(void)
{
    app_jam.turns = 0;
    for (unsigned i = 0; i < APP_LOOPS; i++)
        sem_post(&app_jam.go[i]);
}

/* Iterations of all loops since they continued. */
static inline int app_iterations(void)
{
    int turns = app_jam.turns;

    for (unsigned i = 0; i < APP_LOOPS; i++) {
        loop_run_function_and_wait(loops_get_loop_at(app.loops, i), app_jam_end, NULL);
        sem_destroy(&app_jam.held[i]);
        sem_destroy(&app_jam.go[i]);
    }
    return turns;
}

static inline int app_connect(void)
{
    return peer_connect(http_server_get_port(app.server));
}

static void app_do_nothing_on_loop(struct loop *l, void *arg)
{
    (void)l, (void)arg;
}

/* Runs this many iterations on every loop, so that all possible reads and writes are done. */
static inline void app_run_loop_iterations(int times)
{
    for (int i = 0; i < times; i++)
        for (unsigned k = 0; k < loops_get_count(app.loops); k++)
            loop_run_function_and_wait(loops_get_loop_at(app.loops, k), app_do_nothing_on_loop,
                                       NULL);
}

/* Waits until another thread makes the condition true. */
#define app_wait_until(condition)                            \
    do {                                                     \
        for (int left = 60000; !(condition) && left; left--) \
            usleep(1000);                                    \
        assert_true(condition);                              \
    } while (0)

#endif
