/* directory.c - publishes this node's sessions to the other nodes. */
#include "gateway/presence/directory.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/presence/directory_internal.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/subscriptions/guild_view.h"

enum { MESSAGE_MAX_BYTES = 1 << 20, PIECE_BYTES = 128 * 1024 };

/* Record of a session of this node, as this node last published it. */
struct published_session {
    uint64_t number;
    struct str bytes; /* the serialised record, on the heap */
    /* Time at which the record of a session that moved to another node expires, in ms
     * (clock_steady_ms); 0 if the session is on this node. */
    int64_t until;
};

struct session_directory *session_directory_new(struct gateway *g)
{
    struct session_directory *d = mem_new(sizeof *d);

    d->gateway = g;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->nodes_lock, NULL);
    map_init(&d->published);
    map_init(&d->nodes);
    return d;
}

static void published_session_free(struct published_session *r)
{
    mem_free((void *)(uintptr_t)r->bytes.p);
    mem_free(r);
}

void session_directory_free(struct session_directory *d)
{
    size_t at = 0;

    if (!d)
        return;
    for (struct published_session *r; (r = map_next_value(&d->published, &at));)
        published_session_free(r);
    map_clear(&d->published);
    session_directory_nodes_free(d);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->nodes_lock);
    mem_free(d);
}

static bool guild_is_small(const struct topic_subscription *seat)
{
    const struct guild_view *v = seat->topic->view;

    return v && v->member_count <= SMALL_GUILD_MEMBERS;
}

static void append_session_guilds(const struct session *s, bool small, struct buf *out)
{
    uint64_t count = 0;

    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < s->subscriptions.count; i++) {
            const struct topic_subscription *seat = s->subscriptions.items[i];

            if (seat->topic->kind != AUDIENCE_GUILD || guild_is_small(seat) != small)
                continue;
            if (round)
                serialize_u64(out, seat->topic->id);
            count++;
        }
        if (!round)
            serialize_u64(out, count);
    }
}

static void append_session_record(const struct session *s, struct buf *out)
{
    const uint64_t numbers[] = { s->number,
                                 s->caller.id,
                                 s->presence.status,
                                 s->presence.kind,
                                 s->presence.shown_offline,
                                 s->bot,
                                 s->options.shard_id,
                                 s->options.shard_count };
    char id[SESSION_ID + 1];

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        serialize_u64(out, numbers[i]);
    session_id_format(s, id);
    serialize_bytes(out, str_of(id));
    serialize_bytes(out, str_of(session_get_client_name(s)));
    serialize_bytes(out, session_get_activities(s));
    append_session_guilds(s, true, out);
    append_session_guilds(s, false, out);
}

static void session_directory_message_begin(const struct session_directory *d,
                                            enum session_directory_message_kind kind,
                                            struct buf *out)
{
    buf_init(out, MESSAGE_MAX_BYTES);
    serialize_u64(out, kind);
    serialize_u64(out, cluster_node_identity(d->gateway->cluster));
    serialize_u64(out, d->change_number);
}

/* Sends a message to all nodes, with a change number by which the nodes detect lost messages. */
static void session_directory_message_send(const struct session_directory *d, struct buf *out)
{
    if (!buf_is_full(out))
        cluster_send_message_to_all_nodes(d->gateway->cluster, CLUSTER_SESSIONS, buf_as_str(out));
    buf_clear(out);
}

/* Publishes the record of a session. Needs the directory's lock, so that messages are sent in the
 * order of their change numbers. */
static void publish_session_record(struct session_directory *d, struct str record)
{
    struct buf out;

    d->change_number++;
    session_directory_message_begin(d, DIRECTORY_PUT, &out);
    buf_add_str(&out, record);
    session_directory_message_send(d, &out);
}

static void publish_session_removal(struct session_directory *d, uint64_t number)
{
    struct buf out;

    d->change_number++;
    session_directory_message_begin(d, DIRECTORY_REMOVE, &out);
    serialize_u64(&out, number);
    session_directory_message_send(d, &out);
}

static void published_session_set_record_bytes(struct published_session *r, struct str bytes)
{
    char *copy = mem_resize(NULL, bytes.n);

    memcpy(copy, bytes.p, bytes.n);
    mem_free((void *)(uintptr_t)r->bytes.p);
    r->bytes = str_slice(copy, bytes.n);
    r->until = 0;
}

/* Publishes the record of a session if it has changed. While a session moves from another node,
 * that node still publishes the session, until the client connects to this node. */
static void publish_record_if_changed(struct session_directory *d, const struct session *s,
                                      struct str bytes)
{
    pthread_mutex_lock(&d->lock);
    struct published_session *r = map_find_value(&d->published, s->number);
    if (!r && !s->presence.shown_offline) {
        r = mem_new(sizeof *r);
        r->number = s->number;
        map_set_value(&d->published, r->number, r);
    }
    if (r && (r->until || !str_eq(r->bytes, bytes))) {
        published_session_set_record_bytes(r, bytes);
        publish_session_record(d, r->bytes);
    }
    pthread_mutex_unlock(&d->lock);
}

void session_directory_publish_session(struct session *s)
{
    struct session_directory *d = s->gateway_loop->gateway->directory;
    struct buf out;

    if (s->sync)
        linked_list_remove(&s->sync->unpublished);
    if (!d || !session_is_ready(s) || s->gateway_loop->gateway->draining)
        return;
    buf_init(&out, MESSAGE_MAX_BYTES);
    append_session_record(s, &out);
    if (!buf_is_full(&out))
        publish_record_if_changed(d, s, buf_as_str(&out));
    buf_clear(&out);
}

void session_directory_mark_session_changed(struct session *s)
{
    if (!s->gateway_loop->gateway->directory || !s->link.next)
        return;
    struct session_cluster_state *sync = session_get_or_create_cluster_state(s);
    if (!sync->unpublished.next)
        linked_list_append(&s->gateway_loop->unpublished, &sync->unpublished);
}

void session_directory_publish_changed_sessions(struct gateway_loop *h)
{
    while (!linked_list_is_empty(&h->unpublished))
        session_directory_publish_session(
            container_of(h->unpublished.next, struct session_cluster_state, unpublished)->session);
}

void session_directory_remove_session(struct session *s)
{
    struct session_directory *d = s->gateway_loop->gateway->directory;

    if (s->sync)
        linked_list_remove(&s->sync->unpublished);
    if (!d)
        return;
    pthread_mutex_lock(&d->lock);
    struct published_session *r = map_find_value(&d->published, s->number);
    if (r && session_continues_in_other_process(s)) {
        r->until = clock_steady_ms() + SHOW_OFFLINE_MS;
    } else if (r) {
        publish_session_removal(d, s->number);
        map_remove_value(&d->published, s->number);
        published_session_free(r);
    }
    pthread_mutex_unlock(&d->lock);
}

void session_directory_on_session_resumed(struct session_directory *d, uint64_t number)
{
    pthread_mutex_lock(&d->lock);
    struct published_session *r = map_find_value(&d->published, number);
    if (r && r->until) {
        publish_session_removal(d, number);
        map_remove_value(&d->published, number);
        published_session_free(r);
    }
    pthread_mutex_unlock(&d->lock);
}

void session_directory_publish_friend_ids(struct gateway *g, snowflake user_id,
                                          const struct list *friends)
{
    struct session_directory *d = g->directory;
    struct buf out;

    if (!d || !friends->count)
        return;
    pthread_mutex_lock(&d->lock);
    session_directory_message_begin(d, DIRECTORY_FRIENDS, &out);
    serialize_u64(&out, user_id);
    serialize_u64(&out, friends->count);
    for (size_t i = 0; i < friends->count; i++)
        serialize_u64(&out, ((const snowflake *)friends->items)[i]);
    session_directory_message_send(d, &out);
    pthread_mutex_unlock(&d->lock);
}

void session_directory_publish_session_start(struct gateway *g, snowflake user_id,
                                             uint32_t shard_id)
{
    struct session_directory *d = g->directory;
    struct buf out;

    if (!d || g->options.no_limits)
        return;
    struct session_starts s = registry_read_session_starts(g, user_id, shard_id);
    pthread_mutex_lock(&d->lock);
    session_directory_message_begin(d, DIRECTORY_STARTS, &out);
    serialize_u64(&out, s.user_id);
    serialize_u64(&out, s.key);
    serialize_u64(&out, (uint64_t)s.full_ms);
    serialize_u64(&out, (uint64_t)s.day);
    serialize_u64(&out, s.starts);
    session_directory_message_send(d, &out);
    pthread_mutex_unlock(&d->lock);
}

void session_directory_request_all_sessions(struct session_directory *d, uint32_t identity)
{
    struct buf out;

    pthread_mutex_lock(&d->lock);
    session_directory_message_begin(d, DIRECTORY_REQUEST_ALL, &out);
    serialize_u64(&out, identity);
    session_directory_message_send(d, &out);
    pthread_mutex_unlock(&d->lock);
}

/* Returns the number of records in the part of a full update that begins at slot `at` of the map.
 * Sets *ret_end to the slot after the part. */
static uint64_t count_records_of_full_update_part(const struct session_directory *d, size_t at,
                                                  size_t *ret_end)
{
    uint64_t count = 0;
    size_t bytes = 0;

    for (; at < d->published.cap && bytes < PIECE_BYTES; at++) {
        const struct published_session *r = d->published.slots[at].value;

        count += r != NULL;
        bytes += r ? r->bytes.n : 0;
    }
    *ret_end = at;
    return count;
}

static uint64_t count_full_update_parts(const struct session_directory *d)
{
    uint64_t count = 0;
    size_t at = 0;

    do {
        count_records_of_full_update_part(d, at, &at);
        count++;
    } while (at < d->published.cap);
    return count;
}

static void send_part_of_full_session_update(struct session_directory *d, uint64_t piece,
                                             uint64_t pieces, size_t *at)
{
    size_t end;
    uint64_t count = count_records_of_full_update_part(d, *at, &end);
    struct buf out;

    session_directory_message_begin(d, DIRECTORY_ALL, &out);
    serialize_u64(&out, piece);
    serialize_u64(&out, pieces);
    serialize_u64(&out, count);
    for (; *at < end; ++*at) {
        const struct published_session *r = d->published.slots[*at].value;

        if (r)
            buf_add_str(&out, r->bytes);
    }
    session_directory_message_send(d, &out);
}

#define FULL_UPDATE_INTERVAL_NS (INT64_C(250) * 1000 * 1000)

/* Needs the directory's lock. */
static void send_full_session_update_if_due(struct session_directory *d)
{
    int64_t now = clock_monotonic_ns();
    size_t at = 0;

    if (!d->all_wanted || (d->all_sent_at && now - d->all_sent_at < FULL_UPDATE_INTERVAL_NS))
        return;
    d->all_wanted = false;
    d->all_sent_at = now;
    uint64_t pieces = count_full_update_parts(d);
    for (uint64_t i = 0; i < pieces; i++)
        send_part_of_full_session_update(d, i, pieces, &at);
}

void session_directory_send_all_to_nodes(struct session_directory *d)
{
    pthread_mutex_lock(&d->lock);
    d->all_wanted = true;
    send_full_session_update_if_due(d);
    pthread_mutex_unlock(&d->lock);
}

/* Finds a session that moved to another node, but was not published by any node before its record
 * expired. Returns NULL if there is none. */
static struct published_session *find_moved_session_not_resumed(const struct session_directory *d,
                                                                int64_t now)
{
    size_t at = 0;

    for (struct published_session *r; (r = map_next_value(&d->published, &at));)
        if (r->until && r->until <= now)
            return r;
    return NULL;
}

/* Removes and returns the record of a session that moved, but was not published by any node before
 * its record expired. Returns NULL if there is none. */
static struct published_session *remove_moved_session_not_resumed(struct session_directory *d)
{
    pthread_mutex_lock(&d->lock);
    struct published_session *r = find_moved_session_not_resumed(d, clock_steady_ms());
    if (r) {
        publish_session_removal(d, r->number);
        map_remove_value(&d->published, r->number);
    }
    pthread_mutex_unlock(&d->lock);
    return r;
}

void session_directory_run_every_second(struct session_directory *d)
{
    struct published_session *r;
    struct buf out;

    while ((r = remove_moved_session_not_resumed(d))) {
        session_directory_on_moved_session_expired(d, r->bytes);
        published_session_free(r);
    }
    pthread_mutex_lock(&d->lock);
    send_full_session_update_if_due(d);
    session_directory_message_begin(d, DIRECTORY_CHANGE_NUMBER, &out);
    session_directory_message_send(d, &out);
    pthread_mutex_unlock(&d->lock);
}
