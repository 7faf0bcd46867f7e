/* relay.c - starts and stops the voice relay; message queues between its thread and sockets. */
#include "relay/internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "relay/webrtc/dtls.h"

enum {
    MESSAGES_NS_PER_ITERATION = 4 * 1000 * 1000
}; /* time for queued messages per loop iteration */

/* --- messages to the relay's thread, and to sockets --------------------------------------- */

struct relay_message *relay_message_new(struct relay *r, enum relay_message_kind kind, size_t text)
{
    struct relay_message *n = mem_new(sizeof *n + text);

    n->relay = r;
    n->kind = kind;
    n->n = text;
    return n;
}

static void handle_relay_message(struct relay_message *n)
{
    if (!n->relay->stopping)
        participants_handle_message(n->relay->participants, n);
    mem_free(n);
}

static void message_queue_append(struct relay_message_queue *l, struct relay_message *n)
{
    n->next = NULL;
    if (l->first)
        l->last->next = n;
    else
        l->first = n;
    l->last = n;
}

/* Moves new messages to the two queues: committed changes, and messages of clients. */
static void collect_new_messages(struct relay *r)
{
    struct relay_message *newest = atomic_exchange(&r->messages, NULL), *oldest = NULL, *next;

    for (; newest; newest = next) {
        next = newest->next;
        newest->next = oldest;
        oldest = newest;
    }
    for (; oldest; oldest = next) {
        next = oldest->next;
        message_queue_append(oldest->kind == RELAY_MESSAGE_STATE_CHANGE ? &r->state_changes
                                                                        : &r->client_messages,
                             oldest);
    }
}

static void wake_relay_thread(struct relay *r)
{
    if (!atomic_exchange(&r->woken, true))
        loop_post(relay_thread_loop(r), &r->wake);
}

/* The time per iteration is limited, because one message may be sent to thousands. Committed
 * changes overtake messages of the same client, which is harmless: such a message finds no
 * participant or lacks the permission. */
bool relay_handle_messages(struct relay *r)
{
    int64_t until = clock_monotonic_ns() + MESSAGES_NS_PER_ITERATION;
    struct relay_message_queue *l;

    collect_new_messages(r);
    while ((l = r->state_changes.first ? &r->state_changes : &r->client_messages)->first &&
           (r->stopping || clock_monotonic_ns() < until)) {
        struct relay_message *n = l->first;

        l->first = n->next;
        handle_relay_message(n);
    }
    if (l->first)
        wake_relay_thread(r);
    return !r->state_changes.first;
}

static void on_relay_woken(struct loop_message *p)
{
    struct relay *r = container_of(p, struct relay, wake);

    r->woken = false;
    if (relay_handle_messages(r) && !r->stopping)
        media_socket_handle_waiting(r->media);
}

/* Wakes the relay's thread once instead of calling loop_post for each message, because posts wait
 * while packets are read. */
void relay_message_send(struct relay_message *n)
{
    struct relay *r = n->relay;

    n->next = atomic_load(&r->messages);
    while (!atomic_compare_exchange_weak(&r->messages, &n->next, n))
        ;
    wake_relay_thread(r);
}

static void on_peer_message(struct loop_message *p)
{
    struct relay_peer_message *l = container_of(p, struct relay_peer_message, post);

    voice_loop_deliver(l->relay->loop_states[loop_index(l->loop)], l);
    serialized_message_unref(l->text);
    mem_free(l);
}

static struct relay_peer_message *peer_message_new(struct relay *r, struct loop *loop,
                                                   uint64_t peer, enum peer_message_kind kind)
{
    struct relay_peer_message *l = mem_new(sizeof *l);

    l->post.run = on_peer_message;
    l->relay = r;
    l->loop = loop;
    l->kind = kind;
    l->peer = peer;
    return l;
}

void peer_message_send(struct relay *r, struct loop *loop, uint64_t peer,
                       enum peer_message_kind kind, enum relay_close_code code,
                       const struct voice_state_key *location)
{
    struct relay_peer_message *l = peer_message_new(r, loop, peer, kind);

    l->code = code;
    if (location)
        l->voice_state = *location;
    loop_post(loop, &l->post);
}

void peer_message_send_text(struct relay *r, struct loop *loop, uint64_t peer,
                            struct serialized_message *text, unsigned seq)
{
    struct relay_peer_message *l = peer_message_new(r, loop, peer, PEER_MESSAGE_TEXT);

    l->text = serialized_message_ref(text);
    l->seq = seq;
    loop_post(loop, &l->post);
}

/* --- broadcasts ----------------------------------------------------------------------- */

enum { BROADCAST_RECEIVERS_MAX = 256 }; /* receivers per post: limits the time on a loop */
struct broadcast_receiver {
    uint64_t peer;
    unsigned seq;
};
/* Receivers on one loop that wait for post_broadcast. Only the relay's thread uses it. */
struct broadcast_queue {
    struct loop *loop;
    unsigned count;
    struct broadcast_receiver to[BROADCAST_RECEIVERS_MAX];
};

/* A message for many sockets of a loop. A room that fills with 1,000 participants causes half a
 * million arrival messages: a post for each would take ten times the memory. */
struct relay_broadcast {
    struct loop_message post;
    struct relay *relay;
    struct loop *loop;
    struct serialized_message *text;
    unsigned count;
    struct broadcast_receiver to[];
};

static void on_broadcast(struct loop_message *p)
{
    struct relay_broadcast *b = container_of(p, struct relay_broadcast, post);

    for (unsigned i = 0; i < b->count; i++)
        voice_loop_deliver(b->relay->loop_states[loop_index(b->loop)],
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

    *b = (struct relay_broadcast){ .post.run = on_broadcast,
                                   .relay = r,
                                   .loop = lot->loop,
                                   .text = serialized_message_ref(text),
                                   .count = lot->count };
    memcpy(b->to, lot->to, bytes);
    lot->count = 0;
    loop_post(b->loop, &b->post);
}

void broadcast_add_receiver(struct relay *r, struct loop *loop, uint64_t peer,
                            struct serialized_message *text, unsigned seq)
{
    struct broadcast_queue *lot = &r->broadcast_queues[loop_index(loop)];

    lot->loop = loop;
    lot->to[lot->count++] = (struct broadcast_receiver){ peer, seq };
    if (lot->count == BROADCAST_RECEIVERS_MAX)
        post_broadcast(r, lot, text);
}

void broadcast_send(struct relay *r, struct serialized_message *text)
{
    for (unsigned i = 0; i < loops_count(r->loops); i++)
        if (r->broadcast_queues[i].count)
            post_broadcast(r, &r->broadcast_queues[i], text);
}

/* --- committed voice-state changes ---------------------------------------------------- */

void relay_deliver_state_change(struct relay *r, const struct relay_voice_state *fact)
{
    if (!r || r->stopping)
        return;
    struct relay_message *n = relay_message_new(r, RELAY_MESSAGE_STATE_CHANGE, 0);

    n->state_change = *fact;
    relay_message_send(n);
}

/* --- pending IDENTIFYs ---------------------------------------------------------------- */

void pending_identify_add(struct pending_identify *c)
{
    struct relay *r = c->relay;

    pthread_mutex_lock(&r->lock);
    map_put(&r->pending_identifies, c->number, c);
    pthread_mutex_unlock(&r->lock);
}

struct pending_identify *pending_identify_remove(struct relay *r, uint64_t number)
{
    pthread_mutex_lock(&r->lock);
    struct pending_identify *c = map_get(&r->pending_identifies, number);
    if (c)
        map_remove(&r->pending_identifies, number);
    pthread_mutex_unlock(&r->lock);
    return c;
}

void relay_refuse_identify(const struct pending_identify *c, enum relay_close_code code)
{
    struct pending_identify *mine = pending_identify_remove(c->relay, c->number);

    if (mine)
        peer_message_send(mine->relay, mine->loop, mine->number, PEER_MESSAGE_CLOSE, code, NULL);
    mem_free(mine);
}

static void pending_identifies_free(struct relay *r)
{
    size_t at = 0;

    for (struct pending_identify *c; (c = map_next(&r->pending_identifies, &at));)
        mem_free(c);
    map_clear(&r->pending_identifies);
}

/* The last "v" of the query counts. Without one (discordgo), the oldest version is used. */
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

bool relay_count_unauthenticated(struct relay *r, uint64_t address)
{
    pthread_mutex_lock(&r->lock);
    uintptr_t count = (uintptr_t)map_get(&r->unauthenticated, address);
    bool ok = count < UNAUTHENTICATED_PER_ADDRESS;
    if (ok)
        map_put(&r->unauthenticated, address, (void *)(count + 1));
    pthread_mutex_unlock(&r->lock);
    return ok;
}

void relay_uncount_unauthenticated(struct relay *r, uint64_t address)
{
    pthread_mutex_lock(&r->lock);
    uintptr_t count = (uintptr_t)map_get(&r->unauthenticated, address);
    if (count > 1)
        map_put(&r->unauthenticated, address, (void *)(count - 1));
    else
        map_remove(&r->unauthenticated, address);
    pthread_mutex_unlock(&r->lock);
}

static void create_voice_loop(struct loop *loop, void *arg)
{
    struct relay *r = arg;

    r->loop_states[loop_index(loop)] = voice_loop_new(r, loop);
}

static void free_voice_loop(struct loop *loop, void *arg)
{
    struct relay *r = arg;

    voice_loop_free(r->loop_states[loop_index(loop)]);
}

struct media_open_request {
    struct relay *relay;
    enum err result;
};

static void open_media_on_relay_thread(struct loop *loop, void *arg)
{
    struct media_open_request *o = arg;

    (void)loop;
    o->relay->participants = participants_new(o->relay);
    o->result = media_socket_open(o->relay, &o->relay->media);
}

static void close_media_on_relay_thread(struct loop *loop, void *arg)
{
    struct relay *r = arg;

    (void)loop;
    media_socket_close(r->media);
    participants_free(r->participants);
}

enum err relay_start(struct loops *loops, const struct relay_options *options, struct relay **ret)
{
    struct relay *r = mem_new(sizeof *r);
    struct media_open_request opening = { .relay = r };

    r->options = *options;
    r->loops = loops;
    r->wake.run = on_relay_woken;
    for (int v = VOICE_OLDEST_VERSION; v <= VOICE_NEWEST_VERSION; v++)
        r->versions[v].version = v;
    for (int v = 0; v <= VOICE_NEWEST_VERSION; v++)
        r->versions[v].relay = r;
    pthread_mutex_init(&r->lock, NULL);
    map_init(&r->unauthenticated);
    map_init(&r->pending_identifies);
    r->loop_states = mem_new(loops_count(loops) * sizeof *r->loop_states);
    r->broadcast_queues = mem_new(loops_count(loops) * sizeof *r->broadcast_queues);
    for (unsigned i = 0; i < loops_count(loops); i++)
        loop_call_and_wait(loops_get(loops, i), create_voice_loop, r);
    r->relay_thread = loops_start(1, NULL, NULL);
    loop_call_and_wait(relay_thread_loop(r), open_media_on_relay_thread, &opening);
    if (opening.result)
        relay_stop(r);
    else
        *ret = r;
    return opening.result;
}

void relay_stop(struct relay *r)
{
    if (!r)
        return;
    r->stopping = true;
    loop_call_and_wait(relay_thread_loop(r), close_media_on_relay_thread, r);
    /* Messages that were already posted to a loop run before its voice sockets are freed. */
    for (unsigned i = 0; i < loops_count(r->loops); i++)
        loop_call_and_wait(loops_get(r->loops, i), free_voice_loop, r);
    loops_stop(r->relay_thread);
    relay_handle_messages(r);
    dtls_identity_free(r->identity);
    map_clear(&r->unauthenticated);
    pending_identifies_free(r);
    pthread_mutex_destroy(&r->lock);
    mem_free(r->loop_states);
    mem_free(r->broadcast_queues);
    mem_free(r);
}

int relay_port(const struct relay *r)
{
    return r->port;
}

void relay_stats(const struct relay *r, struct relay_stats *ret)
{
    *ret = (struct relay_stats){
        .sockets = r->count.sockets,
        .participants = r->count.participants,
        .rooms = r->count.rooms,
        .packets_in = r->count.packets_in,
        .packets_out = r->count.packets_out,
        .bytes_in = r->count.bytes_in,
        .bytes_out = r->count.bytes_out,
        .dropped = r->count.dropped,
        .unsent = r->count.unsent,
        .overruns = media_socket_count_overruns(r->media),
        .missing = r->count.missing,
        .late = r->count.late,
        .jitter_us = r->count.jitter_ns / 1000,
        .crypto_us = r->count.crypto_ns / 1000,
        .bundled = r->count.bundled,
        .encrypted_rooms = r->count.encrypted_rooms,
        .epochs = r->count.epochs,
        .transitions = r->count.transitions,
        .refused_commits = r->count.refused_commits,
        .refused_key_packages = r->count.refused_key_packages,
        .downgrades = r->count.downgrades,
        .resets = r->count.resets,
        .browsers = r->count.browsers,
        .handshakes = r->count.handshakes,
        .handshakes_failed = r->count.handshakes_failed,
        .checks_refused = r->count.checks_refused,
    };
}
