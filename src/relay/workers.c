/* workers.c - the relay's OS threads: each handles the messages and datagrams of its rooms.
 *
 * Messages come from the server's event loops, datagrams from the receiver (media_socket.c). Each
 * loop iteration handles messages and datagrams for a limited time. Rooms share the time for media
 * (media_queue.h). */
#include "relay/internal.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

enum {
    /* Maximum time for committed changes per loop iteration. */
    STATE_CHANGES_NS = 4 * 1000 * 1000,
    /* Maximum time for client messages per loop iteration if no media is queued. */
    CLIENT_MESSAGES_NS = 4 * 1000 * 1000,
    /* Maximum time for client messages per loop iteration while media is queued. */
    BUSY_MESSAGES_NS = 1000 * 1000,
    /* Maximum time for media per loop iteration, exceeded by at most one datagram. */
    MEDIA_NS = 1000 * 1000,
    INBOX_MAX = 8192, /* maximum number of datagrams that wait for a worker */
    WORKERS_MAX = 16,
};

struct relay_worker *relay_get_worker_of_room(const struct relay *r, snowflake room_id)
{
    return &r->workers[hash_u64(room_id) % r->worker_count];
}

unsigned relay_get_worker_of_ssrc(const struct relay *r, uint32_t ssrc)
{
    return ssrc / SSRCS_PER_PARTICIPANT % r->worker_count;
}

static void wake_relay_worker_thread(struct relay_worker *w)
{
    if (!atomic_exchange(&w->woken, true))
        loop_post_message(w->loop, &w->wake);
}

/* --- messages --------------------------------------------------------------------------- */

struct relay_message *relay_message_new(struct relay *r, enum relay_message_kind kind, size_t text)
{
    struct relay_message *n = mem_new(sizeof *n + text);

    n->relay = r;
    n->kind = kind;
    n->n = text;
    return n;
}

/* Wakes the worker's thread once, instead of calling loop_post_message for each message, because
 * posts wait while packets are handled. */
void relay_message_send(struct relay_message *n)
{
    struct relay_worker *w = &n->relay->workers[n->worker];

    n->next = atomic_load(&w->messages);
    while (!atomic_compare_exchange_weak(&w->messages, &n->next, n))
        ;
    wake_relay_worker_thread(w);
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

/* Moves new messages to the worker's two queues, for committed changes and for client messages. */
static void collect_new_messages(struct relay_worker *w)
{
    struct relay_message *newest = atomic_exchange(&w->messages, NULL), *oldest = NULL, *next;

    for (; newest; newest = next) {
        next = newest->next;
        newest->next = oldest;
        oldest = newest;
    }
    for (; oldest; oldest = next) {
        next = oldest->next;
        message_queue_append(oldest->kind == RELAY_MESSAGE_STATE_CHANGE ? &w->state_changes
                                                                        : &w->client_messages,
                             oldest);
    }
}

static void handle_queued_messages(struct relay_worker *w, struct relay_message_queue *l,
                                   int64_t time_ns)
{
    int64_t until = l->first ? clock_monotonic_ns() + time_ns : 0;

    while (l->first && clock_monotonic_ns() < until) {
        struct relay_message *n = l->first;

        l->first = n->next;
        participants_handle_message(w->participants, n);
        mem_free(n);
    }
}

static void message_queue_free(struct relay_message_queue *l)
{
    for (struct relay_message *n; (n = l->first);) {
        l->first = n->next;
        mem_free(n);
    }
}

/* Applies committed changes for a limited time, because one change may be sent to thousands of
 * participants. A change may be applied before an earlier message of the same client; the message
 * then finds no participant or is refused. Returns false if changes are left. */
static bool apply_voice_state_changes(struct relay_worker *w)
{
    collect_new_messages(w);
    handle_queued_messages(w, &w->state_changes, STATE_CHANGES_NS);
    return !w->state_changes.first;
}

/* --- datagrams -------------------------------------------------------------------------- */

static void append_datagram_list(struct datagram_list *to, struct datagram_list *from)
{
    if (!from->first)
        return;
    if (to->first)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    to->count += from->count;
    *from = (struct datagram_list){ 0 };
}

static struct media_datagram *remove_first_datagram(struct datagram_list *list)
{
    struct media_queue_item *item = list->first;

    if (!item)
        return NULL;
    list->first = item->next;
    list->count--;
    return container_of(item, struct media_datagram, item);
}

static void free_datagram_list(struct datagram_list *list)
{
    for (struct media_datagram *d; (d = remove_first_datagram(list));)
        mem_free(d);
}

/* Moves datagrams from the inbox to the received list, unless too many datagrams there wait for
 * committed changes. A full inbox drops new datagrams. */
static void move_inbox_to_received_list(struct relay_worker *w)
{
    if (w->received.count >= INBOX_MAX)
        return;
    pthread_mutex_lock(&w->lock);
    append_datagram_list(&w->received, &w->inbox);
    pthread_mutex_unlock(&w->lock);
}

/* --- iterations ------------------------------------------------------------------------- */

/* Applies committed changes, then dispatches the received datagrams, which had to wait for changes
 * of permissions. */
static bool apply_changes_and_dispatch_datagrams(struct relay_worker *w)
{
    move_inbox_to_received_list(w);
    if (!apply_voice_state_changes(w))
        return false;
    for (struct media_datagram *d; (d = remove_first_datagram(&w->received));)
        media_answer_or_queue_datagram(w->work, d);
    return true;
}

static void run_worker_iteration(struct relay_worker *w)
{
    int64_t until;
    bool ready = apply_changes_and_dispatch_datagrams(w);

    if (ready)
        handle_queued_messages(w, &w->client_messages,
                               w->queue.count ? BUSY_MESSAGES_NS : CLIENT_MESSAGES_NS);
    until = clock_monotonic_ns() + MEDIA_NS;
    while (ready && clock_monotonic_ns() < until && media_handle_next_datagram(w->work))
        ready = apply_changes_and_dispatch_datagrams(w);
    media_send_queued_datagrams(w->work);
    if (!ready || w->queue.count || w->client_messages.first)
        wake_relay_worker_thread(w);
}

/* Handles the datagrams of rooms that were idle. It must not remove participants of the room that
 * is currently served. So it handles no committed changes, no client messages, and no datagrams of
 * the served room. */
void relay_worker_handle_idle_rooms(struct relay_worker *w)
{
    if (w->interrupted)
        return;
    move_inbox_to_received_list(w);
    collect_new_messages(w);
    if (w->state_changes.first)
        return;
    w->interrupted = true;
    for (struct media_datagram *d; (d = remove_first_datagram(&w->received));)
        media_answer_or_queue_datagram(w->inner_work, d);
    for (struct media_queue_room *room; (room = media_queue_interrupt_for_idle_rooms(&w->queue));) {
        media_handle_next_datagram(w->inner_work);
        media_queue_resume_interrupted_room(&w->queue, room);
    }
    w->interrupted = false;
}

static void on_worker_woken(struct loop_message *p)
{
    struct relay_worker *w = container_of(p, struct relay_worker, wake);

    w->woken = false;
    if (w->relay->stopping)
        return;
    loop_set_measured_activity("voice_media");
    run_worker_iteration(w);
}

void relay_worker_add_datagrams(struct relay_worker *w, struct datagram_list *list)
{
    pthread_mutex_lock(&w->lock);
    if (w->inbox.count < INBOX_MAX)
        append_datagram_list(&w->inbox, list);
    pthread_mutex_unlock(&w->lock);
    atomic_fetch_add(&w->relay->count.packets_in, list->count);
    atomic_fetch_add(&w->relay->count.dropped, list->count);
    free_datagram_list(list);
    if (loop_get_current() == w->loop)
        run_worker_iteration(w);
    else
        wake_relay_worker_thread(w);
}

/* --- start and end ---------------------------------------------------------------------- */

static void init_worker_on_its_loop(struct loop *loop, void *arg)
{
    struct relay_worker *w = arg;

    (void)loop;
    w->participants = participants_new(w);
}

void relay_workers_start(struct relay *r)
{
    unsigned wanted = r->options.threads ? r->options.threads : uv_available_parallelism();

    r->worker_count = wanted < WORKERS_MAX ? wanted : WORKERS_MAX;
    r->workers = mem_new(r->worker_count * sizeof *r->workers);
    r->worker_loops = loops_start(r->worker_count, NULL, NULL);
    r->receiver_loops = r->worker_count > 1 ? loops_start(1, NULL, NULL) : NULL;
    for (unsigned i = 0; i < r->worker_count; i++) {
        struct relay_worker *w = &r->workers[i];

        w->relay = r;
        w->index = i;
        w->loop = loops_get_loop_at(r->worker_loops, i);
        w->wake.run = on_worker_woken;
        w->broadcast_queues = relay_broadcast_queues_new(r);
        pthread_mutex_init(&w->lock, NULL);
        media_queue_init(&w->queue);
        loop_run_function_and_wait(w->loop, init_worker_on_its_loop, w);
    }
}

static void free_worker_data_on_its_loop(struct loop *loop, void *arg)
{
    struct relay_worker *w = arg;

    (void)loop;
    participants_free(w->participants);
    w->participants = NULL;
}

void relay_workers_clear(struct relay *r)
{
    for (unsigned i = 0; i < r->worker_count; i++)
        loop_run_function_and_wait(r->workers[i].loop, free_worker_data_on_its_loop,
                                   &r->workers[i]);
}

void relay_workers_stop(struct relay *r)
{
    loops_stop(r->worker_loops);
    for (unsigned i = 0; i < r->worker_count; i++) {
        struct relay_worker *w = &r->workers[i];

        collect_new_messages(w);
        message_queue_free(&w->state_changes);
        message_queue_free(&w->client_messages);
        free_datagram_list(&w->inbox);
        free_datagram_list(&w->received);
        media_packet_handler_free(w->inner_work);
        media_packet_handler_free(w->work);
        mem_free(w->broadcast_queues);
        pthread_mutex_destroy(&w->lock);
    }
    mem_free(r->workers);
}
