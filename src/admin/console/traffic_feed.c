/* traffic_feed.c - the live feed of the traffic log over a WebSocket.
 *
 * The client's first message contains the filter and the key; later messages change the filter. Up
 * to ten times per second the server sends the new records in one message. */
#include <stddef.h>

#include "api/jobs/internal_call.h"
#include "base/mem.h"
#include "net/http/server.h"
#include "net/local_requests.h"
#include "admin/console/internal.h"

enum {
    FEED_INTERVAL_MS = 100,
    FEED_PAGE = 200,
    FIRST_MESSAGE_TICKS = 100, /* timer ticks until a client that sent no message is disconnected */
    MAX_REQUEST = 4096,
    FEED_MESSAGE_MAX_BYTES = 2 * 1024 * 1024,
    FEED_UNSENT_MAX_BYTES = 8 * 1024 * 1024,
    /* A client with more unsent bytes than this gets no records until the bytes are sent. */
    SLOW_CLIENT_BYTES = 1024 * 1024,
    CLOSE_FORBIDDEN = 4004,
    CLOSE_BAD_REQUEST = 4002,
    CLOSE_TOO_MANY_WATCHERS = 4008,
};

static const struct type type_live = { .kind = KIND_OBJECT, .schema = &traffic_live_schema };

struct traffic_watcher {
    struct workbench *workbench;
    struct websocket *ws; /* NULL after the socket was closed */
    struct loop *loop;
    uv_timer_t timer;
    struct arena *filter_arena; /* owns the strings of the filter */
    bool local_head, admitted, reading, closed;
    unsigned ticks; /* timer ticks since the socket was opened, until the first message */
    struct traffic_record_page page;
    struct buf records;
};

static void traffic_watcher_free(uv_handle_t *handle)
{
    struct traffic_watcher *x = handle->data;

    if (x->admitted)
        traffic_stop_watching(x->workbench->traffic);
    atomic_fetch_sub(&x->workbench->watchers, 1);
    buf_clear(&x->records);
    arena_free(x->filter_arena);
    mem_free(x);
}

static void traffic_watcher_free_if_closed(struct traffic_watcher *x)
{
    if (x->closed && !x->reading)
        uv_close((uv_handle_t *)&x->timer, traffic_watcher_free);
}

static enum err read_feed_records(struct call *call)
{
    struct traffic_watcher *x = call_get_stage_data(call, "traffic_watcher");

    /* Formatting up to 512 KiB of records would block an event loop. */
    enum err e = tx_require_background_thread(call->tx);

    return e ? e : traffic_read_record_page_json(call->tx, x->workbench->traffic, &x->page);
}

static void send_feed_records(struct traffic_watcher *x)
{
    struct buf out;

    buf_init(&out, FEED_MESSAGE_MAX_BYTES);
    buf_printf(&out, "{\"last\":%llu,\"lost\":%llu,\"records\":[", (unsigned long long)x->page.last,
               (unsigned long long)x->page.lost);
    buf_add_str(&out, buf_as_str(&x->records));
    buf_add_lit(&out, "]}");
    if (buf_is_full(&out) || buf_is_full(&x->records))
        websocket_close(x->ws, 1009, STR("the records exceed the message size limit"));
    else if (x->records.n || x->page.lost)
        websocket_send(x->ws, WS_TEXT, buf_as_str(&out));
    buf_clear(&out);
}

static void on_feed_records_read(struct call *call, enum err e, void *arg)
{
    struct traffic_watcher *x = arg;

    (void)call;
    x->reading = false;
    if (!e && x->ws) {
        send_feed_records(x);
        x->page.after = x->page.last;
    }
    traffic_watcher_free_if_closed(x);
}

static void on_traffic_watcher_timer(uv_timer_t *timer)
{
    struct traffic_watcher *x = timer->data;
    uint64_t oldest, newest;

    if (!x->ws)
        return;
    if (!x->admitted && ++x->ticks == FIRST_MESSAGE_TICKS)
        websocket_close(x->ws, CLOSE_FORBIDDEN, STR("no filter was received"));
    traffic_read_record_number_range(x->workbench->traffic, &oldest, &newest);
    if (!x->admitted || x->reading || newest <= x->page.after ||
        websocket_count_unsent_bytes(x->ws) > SLOW_CLIENT_BYTES)
        return;
    x->reading = true;
    internal_call_start(x->workbench->api, x->loop,
                        &(struct internal_call){ .name = "traffic feed",
                                                 .store = ROUTE_STORE_READ,
                                                 .run = read_feed_records,
                                                 .done = on_feed_records_read,
                                                 .type = "traffic_watcher",
                                                 .data = x,
                                                 .arg = x });
}

static void traffic_watcher_set_filter(struct traffic_watcher *x,
                                       const struct traffic_filter_query *in)
{
    uint64_t oldest, newest;

    x->page.filter = traffic_filter_from_query(in);
    /* Read the number of the newest record before traffic_start_watching starts the recording, so
     * that no record is missed. */
    traffic_read_record_number_range(x->workbench->traffic, &oldest, &newest);
    if (!x->admitted)
        traffic_start_watching(x->workbench->traffic);
    if (in->after.given)
        x->page.after = (uint64_t)in->after.value;
    else if (!x->admitted)
        x->page.after = newest;
    x->admitted = true;
}

static void on_traffic_watcher_message(struct websocket *ws, enum ws_opcode opcode,
                                       struct str payload)
{
    struct traffic_watcher *x = websocket_get_data(ws);
    struct arena *arena = arena_new();
    struct form form = { .arena = arena };
    void *read = NULL;

    (void)opcode;
    /* Refuse a new filter while a read still uses the old filter. */
    if (x->reading || schema_decode(&type_live, str_dup(arena, payload), &form, &read)) {
        websocket_close(ws, CLOSE_BAD_REQUEST,
                        x->reading ? STR("filters sent too fast") : STR("invalid filter"));
        arena_free(arena);
        return;
    }
    const struct traffic_filter_query *in = read;
    bool local = x->workbench->options.open && x->local_head &&
                 address_text_is_loopback(websocket_get_client_address(ws));
    if (!x->admitted && !local && !console_key_is_valid(x->workbench, in->key)) {
        websocket_close(ws, CLOSE_FORBIDDEN, STR("invalid console key"));
        arena_free(arena);
        return;
    }
    arena_free(x->filter_arena);
    x->filter_arena = arena;
    traffic_watcher_set_filter(x, in);
}

static void on_traffic_watcher_open(struct websocket *ws, void *arg)
{
    const struct traffic_feed_upgrade_request *door = arg;
    struct traffic_watcher *x = mem_new(sizeof *x);

    x->workbench = door->workbench;
    x->ws = ws;
    x->loop = websocket_get_loop(ws);
    x->local_head = door->local_head;
    x->filter_arena = arena_new();
    x->page.limit = FEED_PAGE;
    buf_init(&x->records, FEED_MESSAGE_MAX_BYTES);
    x->page.out = &x->records;
    x->timer.data = x;
    uv_timer_init(loop_get_uv_loop(x->loop), &x->timer);
    uv_timer_start(&x->timer, on_traffic_watcher_timer, FEED_INTERVAL_MS, FEED_INTERVAL_MS);
    websocket_set_data(ws, x);
    if (atomic_fetch_add(&x->workbench->watchers, 1) >= FEED_WATCHERS_MAX)
        websocket_close(ws, CLOSE_TOO_MANY_WATCHERS, STR("too many clients watch the traffic"));
}

static void on_traffic_watcher_closed(struct websocket *ws, int code)
{
    struct traffic_watcher *x = websocket_get_data(ws);

    (void)code;
    if (!x)
        return;
    x->ws = NULL;
    x->closed = true;
    traffic_watcher_free_if_closed(x);
}

bool workbench_accept_websocket(struct workbench *w, const struct http_request *r,
                                struct websocket_handler *ret)
{
    if (!str_is(r->path, "/console/traffic/live"))
        return false;
    *ret = (struct websocket_handler){ .arg = &w->feed_upgrades[request_is_from_local_page(r)],
                                       .max_message = MAX_REQUEST,
                                       .max_unsent = FEED_UNSENT_MAX_BYTES,
                                       .open = on_traffic_watcher_open,
                                       .message = on_traffic_watcher_message,
                                       .closed = on_traffic_watcher_closed };
    return true;
}
