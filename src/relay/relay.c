/* relay.c - starts and stops the voice relay; sends messages from its threads to sockets. */
#include "relay/internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "relay/webrtc/dtls.h"

/* --- messages to sockets ------------------------------------------------------------------ */

static void on_peer_message_posted(struct loop_message *p)
{
    struct relay_peer_message *l = container_of(p, struct relay_peer_message, post);

    voice_loop_deliver_peer_message(l->relay->loop_states[loop_get_index(l->loop)], l);
    serialized_message_unref(l->text);
    mem_free(l);
}

static struct relay_peer_message *peer_message_new(struct relay *r, struct loop *loop,
                                                   uint64_t peer, enum peer_message_kind kind)
{
    struct relay_peer_message *l = mem_new(sizeof *l);

    l->post.run = on_peer_message_posted;
    l->relay = r;
    l->loop = loop;
    l->kind = kind;
    l->peer = peer;
    return l;
}

void peer_message_send(struct relay *r, struct loop *loop, uint64_t peer,
                       enum peer_message_kind kind, enum relay_close_code code)
{
    struct relay_peer_message *l = peer_message_new(r, loop, peer, kind);

    l->code = code;
    loop_post_message(loop, &l->post);
}

void peer_message_send_identified(struct relay_worker *w, struct loop *loop, uint64_t peer,
                                  enum peer_message_kind kind, const struct voice_state_key *key)
{
    struct relay_peer_message *l = peer_message_new(w->relay, loop, peer, kind);

    l->worker = w->index;
    l->voice_state = *key;
    loop_post_message(loop, &l->post);
}

void peer_message_send_text(struct relay *r, struct loop *loop, uint64_t peer,
                            struct serialized_message *text, unsigned seq)
{
    struct relay_peer_message *l = peer_message_new(r, loop, peer, PEER_MESSAGE_TEXT);

    l->text = serialized_message_ref(text);
    l->seq = seq;
    loop_post_message(loop, &l->post);
}

/* --- broadcasts ----------------------------------------------------------------------- */

/* Maximum number of receivers per posted message, which limits its time on an event loop. */
enum { BROADCAST_RECEIVERS_MAX = 256 };
struct broadcast_receiver {
    uint64_t peer;
    unsigned seq;
};
/* Receivers on one event loop to which no message was posted yet (post_broadcast). Only the
 * worker's OS thread uses this queue. */
struct broadcast_queue {
    struct loop *loop;
    unsigned count;
    struct broadcast_receiver to[BROADCAST_RECEIVERS_MAX];
};

struct broadcast_queue *relay_broadcast_queues_new(const struct relay *r)
{
    return mem_new(loops_get_count(r->loops) * sizeof(struct broadcast_queue));
}

/* A message for many sockets of an event loop. While a room fills with 1,000 participants, half a
 * million messages about arrivals are sent; one post per socket would take ten times the memory. */
struct relay_broadcast {
    struct loop_message post;
    struct relay *relay;
    struct loop *loop;
    struct serialized_message *text;
    unsigned count;
    struct broadcast_receiver to[];
};

static void on_broadcast_posted(struct loop_message *p)
{
    struct relay_broadcast *b = container_of(p, struct relay_broadcast, post);

    for (unsigned i = 0; i < b->count; i++)
        voice_loop_deliver_peer_message(b->relay->loop_states[loop_get_index(b->loop)],
                                        &(struct relay_peer_message){ .relay = b->relay,
                                                                      .loop = b->loop,
                                                                      .kind = PEER_MESSAGE_TEXT,
                                                                      .peer = b->to[i].peer,
                                                                      .text = b->text,
                                                                      .seq = b->to[i].seq });
    serialized_message_unref(b->text);
    mem_free(b);
}

static void post_broadcast(struct relay *r, struct broadcast_queue *lot,
                           struct serialized_message *text)
{
    size_t bytes = lot->count * sizeof *lot->to;
    struct relay_broadcast *b = mem_new(sizeof *b + bytes);

    *b = (struct relay_broadcast){ .post.run = on_broadcast_posted,
                                   .relay = r,
                                   .loop = lot->loop,
                                   .text = serialized_message_ref(text),
                                   .count = lot->count };
    memcpy(b->to, lot->to, bytes);
    lot->count = 0;
    loop_post_message(b->loop, &b->post);
}

void relay_broadcast_add_receiver(struct relay_worker *w, struct loop *loop, uint64_t peer,
                                  struct serialized_message *text, unsigned seq)
{
    struct broadcast_queue *lot = &w->broadcast_queues[loop_get_index(loop)];

    lot->loop = loop;
    lot->to[lot->count++] = (struct broadcast_receiver){ peer, seq };
    if (lot->count == BROADCAST_RECEIVERS_MAX)
        post_broadcast(w->relay, lot, text);
}

void relay_broadcast_send_to_receivers(struct relay_worker *w, struct serialized_message *text)
{
    for (unsigned i = 0; i < loops_get_count(w->relay->loops); i++)
        if (w->broadcast_queues[i].count)
            post_broadcast(w->relay, &w->broadcast_queues[i], text);
}

/* --- committed voice-state changes ---------------------------------------------------- */

/* Delivers a voice-state change to every worker, because the user may leave a room of one worker
 * and join a room of another. */
void relay_deliver_voice_state_change(struct relay *r, const struct relay_voice_state *fact)
{
    for (unsigned i = 0; r && !r->stopping && i < r->worker_count; i++) {
        struct relay_message *n = relay_message_new(r, RELAY_MESSAGE_STATE_CHANGE, 0);

        n->state_change = *fact;
        n->worker = i;
        relay_message_send(n);
    }
}

/* --- pending IDENTIFYs ---------------------------------------------------------------- */

void pending_identify_add(struct pending_identify *c)
{
    struct relay *r = c->relay;

    pthread_mutex_lock(&r->lock);
    map_set_value(&r->pending_identifies, c->number, c);
    pthread_mutex_unlock(&r->lock);
}

struct pending_identify *pending_identify_remove(struct relay *r, uint64_t number)
{
    pthread_mutex_lock(&r->lock);
    struct pending_identify *c = map_find_value(&r->pending_identifies, number);
    if (c)
        map_remove_value(&r->pending_identifies, number);
    pthread_mutex_unlock(&r->lock);
    return c;
}

void relay_refuse_identify(const struct pending_identify *c, enum relay_close_code code)
{
    struct pending_identify *mine = pending_identify_remove(c->relay, c->number);

    if (mine)
        peer_message_send(mine->relay, mine->loop, mine->number, PEER_MESSAGE_CLOSE, code);
    mem_free(mine);
}

static void pending_identifies_free(struct relay *r)
{
    size_t at = 0;

    for (struct pending_identify *c; (c = map_next_value(&r->pending_identifies, &at));)
        mem_free(c);
    map_clear(&r->pending_identifies);
}

/* Returns the gateway version in the URL's query: the last parameter "v", or the oldest version if
 * there is none, as with discordgo. */
static const struct voice_gateway_version *gateway_version_of_query(const struct relay *r,
                                                                    struct str query)
{
    uint64_t version = VOICE_OLDEST_VERSION;

    while (query.n) {
        struct str value = str_cut(&query, '&'), name = str_cut(&value, '=');

        if (str_is(name, "v") && !str_to_u64(value, &version))
            version = 0;
    }
    return &r->versions[version >= VOICE_OLDEST_VERSION && version <= VOICE_NEWEST_VERSION ? version
                                                                                           : 0];
}

static bool is_voice_path(struct str path)
{
    if (!str_starts_with(path, STR("/voice")))
        return false;
    path = str_skip_bytes(path, strlen("/voice"));
    if (str_starts_with(path, STR(RELAY_PATH_PORT)))
        path = str_skip_bytes(path, strlen(RELAY_PATH_PORT));
    return path.n == 0 || str_is(path, "/");
}

bool relay_accept_websocket(struct relay *r, const struct http_request *request,
                            struct websocket_handler *ret)
{
    if (!r || !is_voice_path(request->path))
        return false;
    *ret = (struct websocket_handler){
        .arg = (void *)(uintptr_t)gateway_version_of_query(r, request->query),
        .max_message = VOICE_MAX_BINARY_MESSAGE,
        .too_large = RELAY_BAD_PAYLOAD,
        .max_unsent = VOICE_MAX_UNSENT_BYTES,
        .open = on_voice_socket_open,
        .message = on_voice_socket_message,
        .closed = on_voice_socket_closed,
        .shutdown = on_voice_socket_shutdown,
    };
    return true;
}

/* --- unauthenticated sockets ---------------------------------------------------------- */

enum { UNAUTHENTICATED_PER_ADDRESS = 64 };

bool relay_count_unauthenticated_socket(struct relay *r, uint64_t address)
{
    pthread_mutex_lock(&r->lock);
    uintptr_t count = (uintptr_t)map_find_value(&r->unauthenticated, address);
    bool ok = count < UNAUTHENTICATED_PER_ADDRESS;
    if (ok)
        map_set_value(&r->unauthenticated, address, (void *)(count + 1));
    pthread_mutex_unlock(&r->lock);
    return ok;
}

void relay_uncount_unauthenticated_socket(struct relay *r, uint64_t address)
{
    pthread_mutex_lock(&r->lock);
    uintptr_t count = (uintptr_t)map_find_value(&r->unauthenticated, address);
    if (count > 1)
        map_set_value(&r->unauthenticated, address, (void *)(count - 1));
    else
        map_remove_value(&r->unauthenticated, address);
    pthread_mutex_unlock(&r->lock);
}

static void create_voice_loop(struct loop *loop, void *arg)
{
    struct relay *r = arg;

    r->loop_states[loop_get_index(loop)] = voice_loop_new(r, loop);
}

static void free_voice_loop(struct loop *loop, void *arg)
{
    struct relay *r = arg;

    voice_loop_free(r->loop_states[loop_get_index(loop)]);
}

struct media_open_request {
    struct relay *relay;
    enum err result;
};

/* Returns the event loop that receives datagrams. If there is only one worker, this is the worker's
 * own loop, so that datagrams need not change the OS thread. */
static struct loop *get_receiver_loop(const struct relay *r)
{
    return r->receiver_loops ? loops_get_loop_at(r->receiver_loops, 0) : r->workers[0].loop;
}

static void open_media_socket(struct loop *loop, void *arg)
{
    struct media_open_request *o = arg;

    o->result = media_socket_open(o->relay, loop, &o->relay->media);
    for (unsigned i = 0; !o->result && i < o->relay->worker_count; i++) {
        struct relay_worker *w = &o->relay->workers[i];

        w->work = media_packet_handler_new(w, NULL);
        w->inner_work = media_packet_handler_new(w, w->work);
    }
}

static void start_receiving_datagrams(struct loop *loop, void *arg)
{
    (void)loop;
    media_socket_start(((struct relay *)arg)->media);
}

static void close_media_socket(struct loop *loop, void *arg)
{
    (void)loop;
    media_socket_close(((struct relay *)arg)->media);
}

enum err relay_start(struct loops *loops, const struct relay_options *options, struct relay **ret)
{
    struct relay *r = mem_new(sizeof *r);
    struct media_open_request opening = { .relay = r };

    r->options = *options;
    r->loops = loops;
    for (int v = VOICE_OLDEST_VERSION; v <= VOICE_NEWEST_VERSION; v++)
        r->versions[v].version = v;
    for (int v = 0; v <= VOICE_NEWEST_VERSION; v++)
        r->versions[v].relay = r;
    pthread_mutex_init(&r->lock, NULL);
    map_init(&r->unauthenticated);
    map_init(&r->pending_identifies);
    r->loop_states = mem_new(loops_get_count(loops) * sizeof *r->loop_states);
    r->routes = address_routes_new();
    for (unsigned i = 0; i < loops_get_count(loops); i++)
        loop_run_function_and_wait(loops_get_loop_at(loops, i), create_voice_loop, r);
    relay_workers_start(r);
    loop_run_function_and_wait(get_receiver_loop(r), open_media_socket, &opening);
    if (opening.result) {
        relay_stop(r);
        return opening.result;
    }
    loop_run_function_and_wait(get_receiver_loop(r), start_receiving_datagrams, r);
    *ret = r;
    return OK;
}

void relay_stop(struct relay *r)
{
    if (!r)
        return;
    r->stopping = true;
    loop_run_function_and_wait(get_receiver_loop(r), close_media_socket, r);
    relay_workers_clear(r);
    /* Before its voice sockets are freed, run all messages that were posted to the loop. */
    for (unsigned i = 0; i < loops_get_count(r->loops); i++)
        loop_run_function_and_wait(loops_get_loop_at(r->loops, i), free_voice_loop, r);
    if (r->receiver_loops)
        loops_stop(r->receiver_loops);
    relay_workers_stop(r);
    address_routes_free(r->routes);
    dtls_identity_free(r->identity);
    map_clear(&r->unauthenticated);
    pending_identifies_free(r);
    pthread_mutex_destroy(&r->lock);
    mem_free(r->loop_states);
    mem_free(r);
}

int relay_get_media_port(const struct relay *r)
{
    return r->port;
}

/* Returns the sum of the counters of the relay and of all its workers. All members of struct
 * relay_counters must have the same type. */
static struct relay_counters sum_counters_of_workers(const struct relay *r)
{
    struct relay_counters ret = { 0 };
    _Atomic uint64_t *sum = (_Atomic uint64_t *)&ret;

    for (unsigned i = 0; i <= r->worker_count; i++) {
        const struct relay_counters *c = i ? &r->workers[i - 1].count : &r->count;

        for (size_t k = 0; k < sizeof ret / sizeof *sum; k++)
            sum[k] += atomic_load_explicit((const _Atomic uint64_t *)c + k, memory_order_relaxed);
    }
    return ret;
}

void relay_read_stats(const struct relay *r, struct relay_stats *ret)
{
    struct relay_counters count = sum_counters_of_workers(r);

    *ret = (struct relay_stats){
        .sockets = count.sockets,
        .participants = count.participants,
        .rooms = count.rooms,
        .packets_in = count.packets_in,
        .packets_out = count.packets_out,
        .bytes_in = count.bytes_in,
        .bytes_out = count.bytes_out,
        .dropped = count.dropped,
        .unsent = count.unsent,
        .overruns = media_socket_count_overruns(r->media),
        .missing = count.missing,
        .late = count.late,
        .jitter_us = count.jitter_ns / 1000,
        .crypto_us = count.crypto_ns / 1000,
        .bundled = count.bundled,
        .encrypted_rooms = count.encrypted_rooms,
        .epochs = count.epochs,
        .transitions = count.transitions,
        .refused_commits = count.refused_commits,
        .refused_key_packages = count.refused_key_packages,
        .downgrades = count.downgrades,
        .resets = count.resets,
        .browsers = count.browsers,
        .handshakes = count.handshakes,
        .handshakes_failed = count.handshakes_failed,
        .checks_refused = count.checks_refused,
    };
}
