/* relay.c - starts and stops the voice relay; message queues between its thread and sockets. */
#include "relay/internal.h"

#include "base/clock.h"
#include "base/mem.h"

enum { NOTES_NS = 4 * 1000 * 1000 }; /* time for queued messages per loop iteration */

/* --- messages to the relay's thread, and to sockets --------------------------------------- */

struct relay_note *note_new(struct relay *r, enum note_kind kind, size_t text)
{
    struct relay_note *n = mem_new(sizeof *n + text);

    n->relay = r;
    n->kind = kind;
    n->n = text;
    return n;
}

static void note_read(struct relay_note *n)
{
    if (!n->relay->stopping)
        seats_take(n->relay->seats, n);
    mem_free(n);
}

static void line_add(struct note_line *l, struct relay_note *n)
{
    n->next = NULL;
    if (l->first)
        l->last->next = n;
    else
        l->first = n;
    l->last = n;
}

/* Moves new messages to the two queues: committed changes, and messages of clients. */
static void notes_gather(struct relay *r)
{
    struct relay_note *newest = atomic_exchange(&r->notes, NULL), *oldest = NULL, *next;

    for (; newest; newest = next) {
        next = newest->next;
        newest->next = oldest;
        oldest = newest;
    }
    for (; oldest; oldest = next) {
        next = oldest->next;
        line_add(oldest->kind == NOTE_FACT ? &r->facts : &r->words, oldest);
    }
}

static void notes_wake(struct relay *r)
{
    if (!atomic_exchange(&r->woken, true))
        loop_post(relay_loop(r), &r->wake);
}

/* The time per iteration is limited, because one message may be sent to thousands. Committed
 * changes overtake messages of the same client, which is harmless: such a message finds no
 * participant or lacks the permission. */
bool notes_read(struct relay *r)
{
    int64_t until = clock_mono() + NOTES_NS;
    struct note_line *l;

    notes_gather(r);
    while ((l = r->facts.first ? &r->facts : &r->words)->first &&
           (r->stopping || clock_mono() < until)) {
        struct relay_note *n = l->first;

        l->first = n->next;
        note_read(n);
    }
    if (l->first)
        notes_wake(r);
    return !r->facts.first;
}

static void relay_woken(struct post *p)
{
    struct relay *r = container_of(p, struct relay, wake);

    r->woken = false;
    if (notes_read(r) && !r->stopping)
        media_resume(r->media);
}

/* Wakes the relay's thread once instead of calling loop_post for each message, because posts wait
 * while packets are read. */
void note_send(struct relay_note *n)
{
    struct relay *r = n->relay;

    n->next = atomic_load(&r->notes);
    while (!atomic_compare_exchange_weak(&r->notes, &n->next, n))
        ;
    notes_wake(r);
}

static void letter_posted(struct post *p)
{
    struct relay_letter *l = container_of(p, struct relay_letter, post);

    relay_hub_deliver(l->relay->hubs[loop_index(l->loop)], l);
    relay_text_unref(l->text);
    mem_free(l);
}

static struct relay_letter *letter_new(struct relay *r, struct loop *loop, uint64_t peer,
                                       enum letter_kind kind)
{
    struct relay_letter *l = mem_new(sizeof *l);

    l->post.run = letter_posted;
    l->relay = r;
    l->loop = loop;
    l->kind = kind;
    l->peer = peer;
    return l;
}

void letter_send(struct relay *r, struct loop *loop, uint64_t peer, enum letter_kind kind,
                 enum relay_close code, const struct relay_place *place)
{
    struct relay_letter *l = letter_new(r, loop, peer, kind);

    l->code = code;
    if (place)
        l->place = *place;
    loop_post(loop, &l->post);
}

void letter_send_text(struct relay *r, struct loop *loop, uint64_t peer, struct relay_text *text,
                      unsigned seq)
{
    struct relay_letter *l = letter_new(r, loop, peer, LETTER_TEXT);

    l->text = relay_text_ref(text);
    l->seq = seq;
    loop_post(loop, &l->post);
}

/* --- broadcasts ----------------------------------------------------------------------- */

enum { BROADCAST_MOST = 256 }; /* receivers per post: limits the time on a loop */
struct broadcast_to {
    uint64_t peer;
    unsigned seq;
};
/* Receivers on one loop that wait for broadcast_flush. Only the relay's thread uses it. */
struct broadcast_lot {
    struct loop *loop;
    unsigned count;
    struct broadcast_to to[BROADCAST_MOST];
};

/* One message for many sockets of a loop. A room that fills with 1,000 participants causes half a
 * million arrival messages: a post for each would take ten times the memory. */
struct relay_broadcast {
    struct post post;
    struct relay *relay;
    struct loop *loop;
    struct relay_text *text;
    unsigned count;
    struct broadcast_to to[];
};

static void broadcast_posted(struct post *p)
{
    struct relay_broadcast *b = container_of(p, struct relay_broadcast, post);

    for (unsigned i = 0; i < b->count; i++)
        relay_hub_deliver(b->relay->hubs[loop_index(b->loop)],
                          &(struct relay_letter){ .relay = b->relay,
                                                  .loop = b->loop,
                                                  .kind = LETTER_TEXT,
                                                  .peer = b->to[i].peer,
                                                  .text = b->text,
                                                  .seq = b->to[i].seq });
    relay_text_unref(b->text);
    mem_free(b);
}

static void broadcast_flush(struct relay *r, struct broadcast_lot *lot, struct relay_text *text)
{
    size_t bytes = lot->count * sizeof *lot->to;
    struct relay_broadcast *b = mem_new(sizeof *b + bytes);

    *b = (struct relay_broadcast){ .post.run = broadcast_posted,
                                   .relay = r,
                                   .loop = lot->loop,
                                   .text = relay_text_ref(text),
                                   .count = lot->count };
    memcpy(b->to, lot->to, bytes);
    lot->count = 0;
    loop_post(b->loop, &b->post);
}

void broadcast_add(struct relay *r, struct loop *loop, uint64_t peer, struct relay_text *text,
                   unsigned seq)
{
    struct broadcast_lot *lot = &r->lots[loop_index(loop)];

    lot->loop = loop;
    lot->to[lot->count++] = (struct broadcast_to){ peer, seq };
    if (lot->count == BROADCAST_MOST)
        broadcast_flush(r, lot, text);
}

void broadcast_end(struct relay *r, struct relay_text *text)
{
    for (unsigned i = 0; i < loops_count(r->loops); i++)
        if (r->lots[i].count)
            broadcast_flush(r, &r->lots[i], text);
}

/* --- committed voice-state changes ---------------------------------------------------- */

void relay_heard(struct relay *r, const struct voice_fact *fact)
{
    if (!r || r->stopping)
        return;
    struct relay_note *n = note_new(r, NOTE_FACT, 0);

    n->fact = *fact;
    note_send(n);
}

/* --- pending IDENTIFYs ---------------------------------------------------------------- */

void claim_keep(struct relay_claim *c)
{
    struct relay *r = c->relay;

    pthread_mutex_lock(&r->lock);
    map_put(&r->claims, c->number, c);
    pthread_mutex_unlock(&r->lock);
}

struct relay_claim *claim_take(struct relay *r, uint64_t number)
{
    pthread_mutex_lock(&r->lock);
    struct relay_claim *c = map_get(&r->claims, number);
    if (c)
        map_remove(&r->claims, number);
    pthread_mutex_unlock(&r->lock);
    return c;
}

void relay_refuse(const struct relay_claim *c, enum relay_close code)
{
    struct relay_claim *mine = claim_take(c->relay, c->number);

    if (mine)
        letter_send(mine->relay, mine->loop, mine->number, LETTER_CLOSE, code, NULL);
    mem_free(mine);
}

static void claims_clear(struct relay *r)
{
    size_t at = 0;

    for (struct relay_claim *c; (c = map_next(&r->claims, &at));)
        mem_free(c);
    map_clear(&r->claims);
}

/* The last "v" of the query counts. Without one (discordgo), the oldest version is used. */
static const struct voice_door *door_of(const struct relay *r, struct str query)
{
    uint64_t version = VOICE_OLDEST;

    while (query.n) {
        struct str value = str_cut(&query, '&'), name = str_cut(&value, '=');

        if (str_is(name, "v") && !str_to_u64(value, &version))
            version = 0;
    }
    return &r->doors[version >= VOICE_OLDEST && version <= VOICE_NEWEST ? version : 0];
}

static bool path_is_voice(struct str path)
{
    if (!str_starts(path, STR("/voice")))
        return false;
    path = str_from(path, strlen("/voice"));
    if (str_starts(path, STR(RELAY_PORT_OF_PATH)))
        path = str_from(path, strlen(RELAY_PORT_OF_PATH));
    return path.n == 0 || str_is(path, "/");
}

bool relay_upgrade(struct relay *r, const struct http_request *request,
                   struct websocket_handler *ret)
{
    if (!r || !path_is_voice(request->path))
        return false;
    *ret = (struct websocket_handler){
        .arg = (void *)(uintptr_t)door_of(r, request->query),
        .max_message = VOICE_MAX_MESSAGE,
        .too_large = RELAY_BAD_PAYLOAD,
        .max_waiting = VOICE_MAX_WAITING,
        .open = voice_peer_open,
        .message = voice_peer_message,
        .closed = voice_peer_closed,
        .shutdown = voice_peer_shutdown,
    };
    return true;
}

/* --- unauthenticated sockets ---------------------------------------------------------- */

enum { STRANGERS_OF_ADDRESS = 64 };

bool relay_count_stranger(struct relay *r, uint64_t address)
{
    pthread_mutex_lock(&r->lock);
    uintptr_t count = (uintptr_t)map_get(&r->strangers, address);
    bool ok = count < STRANGERS_OF_ADDRESS;
    if (ok)
        map_put(&r->strangers, address, (void *)(count + 1));
    pthread_mutex_unlock(&r->lock);
    return ok;
}

void relay_uncount_stranger(struct relay *r, uint64_t address)
{
    pthread_mutex_lock(&r->lock);
    uintptr_t count = (uintptr_t)map_get(&r->strangers, address);
    if (count > 1)
        map_put(&r->strangers, address, (void *)(count - 1));
    else
        map_remove(&r->strangers, address);
    pthread_mutex_unlock(&r->lock);
}

static void make_hub(struct loop *loop, void *arg)
{
    struct relay *r = arg;

    r->hubs[loop_index(loop)] = relay_hub_new(r, loop);
}

static void drop_hub(struct loop *loop, void *arg)
{
    struct relay *r = arg;

    relay_hub_free(r->hubs[loop_index(loop)]);
}

struct media_opening {
    struct relay *relay;
    enum err result;
};

static void open_media(struct loop *loop, void *arg)
{
    struct media_opening *o = arg;

    (void)loop;
    o->relay->seats = seats_new(o->relay);
    o->result = media_open(o->relay, &o->relay->media);
}

static void close_media(struct loop *loop, void *arg)
{
    struct relay *r = arg;

    (void)loop;
    media_close(r->media);
    seats_free(r->seats);
}

enum err relay_start(struct loops *loops, const struct relay_options *options, struct relay **ret)
{
    struct relay *r = mem_new(sizeof *r);
    struct media_opening opening = { .relay = r };

    r->options = *options;
    r->loops = loops;
    r->wake.run = relay_woken;
    for (int v = VOICE_OLDEST; v <= VOICE_NEWEST; v++)
        r->doors[v].version = v;
    for (int v = 0; v <= VOICE_NEWEST; v++)
        r->doors[v].relay = r;
    pthread_mutex_init(&r->lock, NULL);
    map_init(&r->strangers);
    map_init(&r->claims);
    r->hubs = mem_new(loops_count(loops) * sizeof *r->hubs);
    r->lots = mem_new(loops_count(loops) * sizeof *r->lots);
    for (unsigned i = 0; i < loops_count(loops); i++)
        loop_call(loops_at(loops, i), make_hub, r);
    r->own = loops_start(1, NULL, NULL);
    loop_call(relay_loop(r), open_media, &opening);
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
    loop_call(relay_loop(r), close_media, r);
    /* Messages that were already posted to a loop run before its voice sockets are freed. */
    for (unsigned i = 0; i < loops_count(r->loops); i++)
        loop_call(loops_at(r->loops, i), drop_hub, r);
    loops_stop(r->own);
    notes_read(r);
    map_clear(&r->strangers);
    claims_clear(r);
    pthread_mutex_destroy(&r->lock);
    mem_free(r->hubs);
    mem_free(r->lots);
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
        .seats = r->count.seated,
        .rooms = r->count.rooms,
        .packets_in = r->count.packets_in,
        .packets_out = r->count.packets_out,
        .bytes_in = r->count.bytes_in,
        .bytes_out = r->count.bytes_out,
        .dropped = r->count.dropped,
        .unsent = r->count.unsent,
        .overruns = media_overruns(r->media),
        .missing = r->count.missing,
        .late = r->count.late,
        .jitter_us = r->count.jitter_ns / 1000,
        .crypto_us = r->count.crypto_ns / 1000,
        .bundled = r->count.bundled,
    };
}
