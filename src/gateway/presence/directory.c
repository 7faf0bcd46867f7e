/* directory.c - publishes this node's sessions to the other nodes. */
#include "gateway/presence/directory.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/presence/directory_internal.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/views/view.h"

enum { MAX_TOLD = 1 << 20, PIECE_BYTES = 128 * 1024 };

/* The record of a local session as it was last published. */
struct own_record {
    uint64_t number;
    struct str bytes; /* on the heap */
    /* 0: the session is on this node; else the session moved, and this is the record's expiry
     * time. */
    int64_t until;
};

struct directory *directory_new(struct gateway *g)
{
    struct directory *d = mem_new(sizeof *d);

    d->gateway = g;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->hearing, NULL);
    map_init(&d->own);
    map_init(&d->peers);
    return d;
}

static void own_record_free(struct own_record *r)
{
    mem_free((void *)(uintptr_t)r->bytes.p);
    mem_free(r);
}

void directory_free(struct directory *d)
{
    size_t at = 0;

    if (!d)
        return;
    for (struct own_record *r; (r = map_next(&d->own, &at));)
        own_record_free(r);
    map_clear(&d->own);
    directory_peers_free(d);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->hearing);
    mem_free(d);
}

static bool is_small(const struct seat *seat)
{
    const struct guild_view *v = seat->topic->view;

    return v && v->member_count <= SMALL_GUILD;
}

static void put_guilds(const struct session *s, bool small, struct buf *out)
{
    uint64_t count = 0;

    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < s->seats.count; i++) {
            const struct seat *seat = s->seats.items[i];

            if (seat->topic->kind != SUBJECT_GUILD || is_small(seat) != small)
                continue;
            if (round)
                serial_put(out, seat->topic->id);
            count++;
        }
        if (!round)
            serial_put(out, count);
    }
}

static void record_write(const struct session *s, struct buf *out)
{
    const uint64_t numbers[] = { s->number,           s->caller.id,          s->presence.status,
                                 s->presence.kind,    s->presence.faded,     s->bot,
                                 s->options.shard_id, s->options.shard_count };
    char id[SESSION_ID + 1];

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        serial_put(out, numbers[i]);
    session_id_write(s, id);
    serial_put_bytes(out, str_of(id));
    serial_put_bytes(out, str_of(session_client(s)));
    serial_put_bytes(out, session_activities(s));
    put_guilds(s, true, out);
    put_guilds(s, false, out);
}

static void message_begin(const struct directory *d, enum directory_kind kind, struct buf *out)
{
    buf_init(out, MAX_TOLD);
    serial_put(out, kind);
    serial_put(out, cluster_identity(d->gateway->cluster));
    serial_put(out, d->told);
}

/* Sends the message. The receiver detects lost messages by the change number. */
static void message_send(const struct directory *d, struct buf *out)
{
    if (!buf_full(out))
        cluster_tell(d->gateway->cluster, CLUSTER_SESSIONS, buf_str(out));
    buf_clear(out);
}

/* Needs the lock, so that messages are sent in the order of their numbers. */
static void tell_record(struct directory *d, struct str record)
{
    struct buf out;

    d->told++;
    message_begin(d, DIRECTORY_PUT, &out);
    buf_add_str(&out, record);
    message_send(d, &out);
}

static void tell_drop(struct directory *d, uint64_t number)
{
    struct buf out;

    d->told++;
    message_begin(d, DIRECTORY_DROP, &out);
    serial_put(&out, number);
    message_send(d, &out);
}

static void own_record_set(struct own_record *r, struct str bytes)
{
    char *copy = mem_resize(NULL, bytes.n);

    memcpy(copy, bytes.p, bytes.n);
    mem_free((void *)(uintptr_t)r->bytes.p);
    r->bytes = str_slice(copy, bytes.n);
    r->until = 0;
}

/* A session from another node is published by that node until its client is connected to this
 * node. */
static void directory_keep(struct directory *d, const struct session *s, struct str bytes)
{
    pthread_mutex_lock(&d->lock);
    struct own_record *r = map_get(&d->own, s->number);
    if (!r && !s->presence.faded) {
        r = mem_new(sizeof *r);
        r->number = s->number;
        map_put(&d->own, r->number, r);
    }
    if (r && (r->until || !str_eq(r->bytes, bytes))) {
        own_record_set(r, bytes);
        tell_record(d, r->bytes);
    }
    pthread_mutex_unlock(&d->lock);
}

void directory_note(struct session *s)
{
    struct directory *d = s->hub->gateway->directory;
    struct buf out;

    if (s->sync)
        link_remove(&s->sync->unpublished);
    if (!d || !session_is_ready(s) || s->hub->gateway->draining)
        return;
    buf_init(&out, MAX_TOLD);
    record_write(s, &out);
    if (!buf_full(&out))
        directory_keep(d, s, buf_str(&out));
    buf_clear(&out);
}

void directory_mark(struct session *s)
{
    if (!s->hub->gateway->directory || !s->link.next)
        return;
    struct session_sync *sync = session_sync(s);
    if (!sync->unpublished.next)
        links_append(&s->hub->unpublished, &sync->unpublished);
}

void directory_flush(struct hub *h)
{
    while (!links_empty(&h->unpublished))
        directory_note(
            container_of(h->unpublished.next, struct session_sync, unpublished)->session);
}

void directory_end(struct session *s)
{
    struct directory *d = s->hub->gateway->directory;

    if (s->sync)
        link_remove(&s->sync->unpublished);
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    struct own_record *r = map_get(&d->own, s->number);
    if (r && session_continues(s)) {
        r->until = clock_steady_ms() + FADE_MS;
    } else if (r) {
        tell_drop(d, s->number);
        map_remove(&d->own, s->number);
        own_record_free(r);
    }
    pthread_mutex_unlock(&d->lock);
}

void directory_taken_up(struct directory *d, uint64_t number)
{
    pthread_mutex_lock(&d->lock);
    struct own_record *r = map_get(&d->own, number);
    if (r && r->until) {
        tell_drop(d, number);
        map_remove(&d->own, number);
        own_record_free(r);
    }
    pthread_mutex_unlock(&d->lock);
}

void directory_tell_friends(struct gateway *g, snowflake user_id, const struct list *friends)
{
    struct directory *d = g->directory;
    struct buf out;

    if (!d || !friends->count)
        return;
    pthread_mutex_lock(&d->lock);
    message_begin(d, DIRECTORY_FRIENDS, &out);
    serial_put(&out, user_id);
    serial_put(&out, friends->count);
    for (size_t i = 0; i < friends->count; i++)
        serial_put(&out, ((const snowflake *)friends->items)[i]);
    message_send(d, &out);
    pthread_mutex_unlock(&d->lock);
}

void directory_tell_starts(struct gateway *g, snowflake user_id, uint32_t shard_id)
{
    struct directory *d = g->directory;
    struct buf out;

    if (!d || g->options.no_limits)
        return;
    struct session_starts s = registry_starts(g, user_id, shard_id);
    pthread_mutex_lock(&d->lock);
    message_begin(d, DIRECTORY_STARTS, &out);
    serial_put(&out, s.user_id);
    serial_put(&out, s.key);
    serial_put(&out, (uint64_t)s.full_ms);
    serial_put(&out, (uint64_t)s.day);
    serial_put(&out, s.starts);
    message_send(d, &out);
    pthread_mutex_unlock(&d->lock);
}

void directory_ask(struct directory *d, uint32_t identity)
{
    struct buf out;

    pthread_mutex_lock(&d->lock);
    message_begin(d, DIRECTORY_ASK, &out);
    serial_put(&out, identity);
    message_send(d, &out);
    pthread_mutex_unlock(&d->lock);
}

/* Returns the number of records in the next piece, which begins at a slot of the map; *ret_end
 * is its end. */
static uint64_t measure_piece(const struct directory *d, size_t at, size_t *ret_end)
{
    uint64_t count = 0;
    size_t bytes = 0;

    for (; at < d->own.cap && bytes < PIECE_BYTES; at++) {
        const struct own_record *r = d->own.slots[at].value;

        count += r != NULL;
        bytes += r ? r->bytes.n : 0;
    }
    *ret_end = at;
    return count;
}

static uint64_t count_pieces(const struct directory *d)
{
    uint64_t count = 0;
    size_t at = 0;

    do {
        measure_piece(d, at, &at);
        count++;
    } while (at < d->own.cap);
    return count;
}

static void send_piece(struct directory *d, uint64_t piece, uint64_t pieces, size_t *at)
{
    size_t end;
    uint64_t count = measure_piece(d, *at, &end);
    struct buf out;

    message_begin(d, DIRECTORY_ALL, &out);
    serial_put(&out, piece);
    serial_put(&out, pieces);
    serial_put(&out, count);
    for (; *at < end; ++*at) {
        const struct own_record *r = d->own.slots[*at].value;

        if (r)
            buf_add_str(&out, r->bytes);
    }
    message_send(d, &out);
}

#define ALL_PAUSE_NS (INT64_C(250) * 1000 * 1000)

/* Needs the lock. */
static void send_all_when_due(struct directory *d)
{
    int64_t now = clock_mono();
    size_t at = 0;

    if (!d->all_wanted || (d->all_sent_at && now - d->all_sent_at < ALL_PAUSE_NS))
        return;
    d->all_wanted = false;
    d->all_sent_at = now;
    uint64_t pieces = count_pieces(d);
    for (uint64_t i = 0; i < pieces; i++)
        send_piece(d, i, pieces, &at);
}

void directory_send_all(struct directory *d)
{
    pthread_mutex_lock(&d->lock);
    d->all_wanted = true;
    send_all_when_due(d);
    pthread_mutex_unlock(&d->lock);
}

/* Finds a session that moved away and that no node has published in time; or returns NULL. */
static struct own_record *find_lapsed(const struct directory *d, int64_t now)
{
    size_t at = 0;

    for (struct own_record *r; (r = map_next(&d->own, &at));)
        if (r->until && r->until <= now)
            return r;
    return NULL;
}

/* Removes and returns a record of a session that no node has published in time; or NULL. */
static struct own_record *take_lapsed(struct directory *d)
{
    pthread_mutex_lock(&d->lock);
    struct own_record *r = find_lapsed(d, clock_steady_ms());
    if (r) {
        tell_drop(d, r->number);
        map_remove(&d->own, r->number);
    }
    pthread_mutex_unlock(&d->lock);
    return r;
}

void directory_tend(struct directory *d)
{
    struct own_record *r;
    struct buf out;

    while ((r = take_lapsed(d))) {
        directory_lapsed(d, r->bytes);
        own_record_free(r);
    }
    pthread_mutex_lock(&d->lock);
    send_all_when_due(d);
    message_begin(d, DIRECTORY_HEAD, &out);
    message_send(d, &out);
    pthread_mutex_unlock(&d->lock);
}
