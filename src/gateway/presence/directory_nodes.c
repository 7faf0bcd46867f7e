/* directory_nodes.c - receives the sessions of other nodes.
 *
 * Clients of a dead node may resume on another node. Therefore the sessions of a dead node are
 * shown as online for SHOW_OFFLINE_MS, like disconnected sessions. They stay in the directory for
 * SESSION_EXPIRY_MS, while they can be resumed. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/test_faults.h"
#include "cluster/cluster.h"
#include "gateway/presence/directory_internal.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/sessions/registry.h"

enum {
    REQUEST_INTERVAL_MS = 300,
    SESSIONS_PER_CALL = 500 /* number of sessions of a dead node that one call handles */
};

struct directory_node {
    uint32_t identity;
    uint64_t change_number; /* change number of the node's last message; valid if `up_to_date` */
    bool up_to_date;        /* no message was lost since the node's last full update */
    uint32_t round;         /* number of full updates received from the node */
    uint64_t next_piece;    /* index of the next part of the full update in progress, or 0 */
    int64_t asked_at;       /* time of the last DIRECTORY_REQUEST_ALL (clock_monotonic_ns), or 0 */
    /* Time at which the node was first found missing (clock_steady_ms); 0 if the node is alive. */
    int64_t gone_at;
    struct list_link sessions; /* items: struct remote_session */
};

static void update_online_members_of_guilds(struct gateway *g, const struct remote_session *r,
                                            bool comes)
{
    if (r->shown_offline || r->status == PRESENCE_INVISIBLE)
        return;
    for (size_t i = 0; i < r->guild_count; i++)
        if (comes)
            online_members_add_session(&g->online_members, r->guilds[i], r->user_id);
        else
            online_members_remove_session(&g->online_members, r->guilds[i], r->user_id);
}

static bool remote_presence_equals(const struct remote_session *a, const struct remote_session *b)
{
    return a->status == b->status && str_eq(a->presence, b->presence);
}

static void remote_session_replace(struct session_directory *d, struct directory_node *p,
                                   struct remote_session *r)
{
    struct gateway *g = d->gateway;

    pthread_mutex_lock(&g->lock);
    struct remote_session *old = map_find_value(&g->remotes, r->number);
    if (old && old->user_id != r->user_id) /* session numbers are never reused */
        r->user_id = old->user_id;
    remote_session_add(g, r);
    if (old) {
        remote_session_remove(g, old);
        map_set_value(&g->remotes, r->number, r);
    }
    linked_list_append(&p->sessions, &r->of_node);
    pthread_mutex_unlock(&g->lock);
    update_online_members_of_guilds(g, r, true);
    if (old)
        update_online_members_of_guilds(g, old, false);
    presence_on_remote_session_change(g, r);
    if (!r->bot && !(old && remote_presence_equals(old, r)))
        send_session_list_after_remote_change(g, r->user_id);
    remote_session_free(old);
}

static bool remote_session_show_offline(struct session_directory *d, struct remote_session *r)
{
    struct gateway *g = d->gateway;

    update_online_members_of_guilds(g, r, false);
    pthread_mutex_lock(&g->lock);
    r->shown_offline = true;
    pthread_mutex_unlock(&g->lock);
    return presence_on_remote_session_change(g, r);
}

static void remote_session_show_offline_and_remove(struct session_directory *d,
                                                   struct remote_session *r)
{
    struct gateway *g = d->gateway;

    remote_session_show_offline(d, r);
    pthread_mutex_lock(&g->lock);
    remote_session_remove(g, r);
    pthread_mutex_unlock(&g->lock);
    if (!r->bot)
        send_session_list_after_remote_change(g, r->user_id);
    remote_session_free(r);
}

static bool copy_with_nul_terminator(char *to, size_t size, struct str from)
{
    if (from.n >= size)
        return false;
    memcpy(to, from.p, from.n);
    to[from.n] = '\0';
    return true;
}

static void read_guilds_of_session_record(struct serialized_data_reader *in,
                                          struct remote_session *r)
{
    for (int round = 0; round < 2; round++) {
        size_t n = deserialize_element_count(in, 8);

        r->guilds = mem_resize(r->guilds, (r->guild_count + n + 1) * sizeof *r->guilds);
        for (size_t i = 0; i < n; i++)
            r->guilds[r->guild_count++] = deserialize_u64(in);
        if (!round)
            r->small_count = n;
    }
}

/* Parses the record of a session. Returns NULL if the record is malformed. */
static struct remote_session *read_session_record(struct serialized_data_reader *in)
{
    struct remote_session *r = mem_new(sizeof *r);

    r->number = deserialize_u64(in);
    r->user_id = deserialize_u64(in);
    uint64_t status = deserialize_u64(in), kind = deserialize_u64(in);
    r->shown_offline = deserialize_u64(in) != 0;
    r->bot = deserialize_u64(in) != 0;
    r->shard_id = (uint32_t)deserialize_u64(in);
    r->shard_count = (uint32_t)deserialize_u64(in);
    in->bad |= status > PRESENCE_INVISIBLE || kind >= CLIENT_KINDS || !r->shard_count;
    in->bad |= !copy_with_nul_terminator(r->id, sizeof r->id, deserialize_bytes(in));
    in->bad |= !copy_with_nul_terminator(r->client, sizeof r->client, deserialize_bytes(in));
    struct str presence = deserialize_bytes(in);
    if (presence.n) {
        char *copy = mem_resize(NULL, presence.n);

        memcpy(copy, presence.p, presence.n);
        r->presence = str_slice(copy, presence.n);
    }
    read_guilds_of_session_record(in, r);
    if (in->bad) {
        remote_session_free(r);
        return NULL;
    }
    r->status = (unsigned char)status;
    r->kind = (unsigned char)kind;
    return r;
}

static struct directory_node *session_directory_node_get_or_create(struct session_directory *d,
                                                                   uint32_t identity)
{
    struct directory_node *p = map_find_value(&d->nodes, identity);

    if (!p) {
        p = mem_new(sizeof *p);
        p->identity = identity;
        linked_list_init(&p->sessions);
        map_set_value(&d->nodes, identity, p);
    }
    return p;
}

static void session_directory_node_request_sessions(struct session_directory *d,
                                                    struct directory_node *p)
{
    int64_t now = clock_monotonic_ns();

    p->up_to_date = false;
    if (p->asked_at && now - p->asked_at < REQUEST_INTERVAL_MS * INT64_C(1000000))
        return;
    p->asked_at = now;
    session_directory_request_all_sessions(d, p->identity);
}

static void handle_published_session_record(struct session_directory *d, struct directory_node *p,
                                            struct serialized_data_reader *in)
{
    struct remote_session *r = read_session_record(in);

    if (!r)
        return;
    r->server = p->identity;
    r->round = p->round;
    uint64_t number = r->number;
    remote_session_replace(d, p, r);
    session_directory_on_session_resumed(d, number);
}

static void handle_published_session_removal(struct session_directory *d,
                                             const struct directory_node *p,
                                             struct serialized_data_reader *in)
{
    uint64_t number = deserialize_u64(in);

    pthread_mutex_lock(&d->gateway->lock);
    struct remote_session *r = map_find_value(&d->gateway->remotes, number);
    pthread_mutex_unlock(&d->gateway->lock);
    /* Do not remove a record that another node has published meanwhile. */
    if (r && r->server == p->identity)
        remote_session_show_offline_and_remove(d, r);
}

static void remove_sessions_not_in_full_update(struct session_directory *d,
                                               struct directory_node *p)
{
    for (struct list_link *at = p->sessions.next, *next; at != &p->sessions; at = next) {
        struct remote_session *r = container_of(at, struct remote_session, of_node);

        next = at->next;
        if (r->round != p->round)
            remote_session_show_offline_and_remove(d, r);
    }
}

/* Handles one part of a full update. Parts arrive in the order in which they were sent. The next
 * DIRECTORY_CHANGE_NUMBER reveals a lost part. */
static void handle_part_of_full_session_update(struct session_directory *d,
                                               struct directory_node *p, uint64_t delivered_to,
                                               struct serialized_data_reader *in)
{
    uint64_t piece = deserialize_u64(in), pieces = deserialize_u64(in), count = deserialize_u64(in);

    if (p->up_to_date && p->change_number == delivered_to)
        return;
    if (!piece)
        p->round++;
    else if (piece != p->next_piece)
        return;
    for (; count && !in->bad; count--)
        handle_published_session_record(d, p, in);
    p->next_piece = piece + 1;
    if (in->bad || piece + 1 != pieces)
        return;
    remove_sessions_not_in_full_update(d, p);
    p->next_piece = 0;
    p->change_number = delivered_to;
    p->up_to_date = true;
}

static void handle_session_change_numbers(struct session_directory *d, struct directory_node *p,
                                          enum session_directory_message_kind kind,
                                          uint64_t delivered_to, struct serialized_data_reader *in)
{
    if (!p->up_to_date || delivered_to != p->change_number + 1) {
        session_directory_node_request_sessions(d, p);
        return;
    }
    p->change_number = delivered_to;
    if (kind == DIRECTORY_PUT)
        handle_published_session_record(d, p, in);
    else
        handle_published_session_removal(d, p, in);
}

static void handle_friend_presence_message(struct session_directory *d,
                                           struct serialized_data_reader *in)
{
    snowflake user_id = deserialize_u64(in);
    size_t n = deserialize_element_count(in, 8);
    snowflake *ids = mem_new((n + 1) * sizeof *ids);

    for (size_t i = 0; i < n; i++)
        ids[i] = deserialize_u64(in);
    presence_publish_to_local_friends(d->gateway, user_id,
                                      &(struct list){ .items = ids, .count = n });
    mem_free(ids);
}

static void handle_session_starts_message(struct session_directory *d,
                                          struct serialized_data_reader *in)
{
    struct session_starts s = { .user_id = deserialize_u64(in) };

    s.key = (uint32_t)deserialize_u64(in);
    s.full_ms = (int64_t)deserialize_u64(in);
    s.day = (int64_t)deserialize_u64(in);
    s.starts = (unsigned)deserialize_u64(in);
    if (!in->bad)
        registry_add_remote_session_starts(d->gateway, &s);
}

static void handle_session_directory_message(struct session_directory *d, struct str message)
{
    struct serialized_data_reader in = { .rest = message };
    uint64_t kind = deserialize_u64(&in);
    uint32_t from = (uint32_t)deserialize_u64(&in);
    uint64_t delivered_to = deserialize_u64(&in);

    if (in.bad || from == cluster_node_identity(d->gateway->cluster))
        return;
    struct directory_node *p = session_directory_node_get_or_create(d, from);
    switch (kind) {
    case DIRECTORY_CHANGE_NUMBER:
        if (!p->up_to_date || p->change_number != delivered_to)
            session_directory_node_request_sessions(d, p);
        break;
    case DIRECTORY_REQUEST_ALL: {
        uint64_t whom = deserialize_u64(&in);

        if (!whom || whom == cluster_node_identity(d->gateway->cluster))
            session_directory_send_all_to_nodes(d);
        break;
    }
    case DIRECTORY_PUT:
    case DIRECTORY_REMOVE:
        handle_session_change_numbers(d, p, (enum session_directory_message_kind)kind, delivered_to,
                                      &in);
        break;
    case DIRECTORY_ALL:
        handle_part_of_full_session_update(d, p, delivered_to, &in);
        break;
    case DIRECTORY_STARTS:
        handle_session_starts_message(d, &in);
        break;
    case DIRECTORY_FRIENDS:
        handle_friend_presence_message(d, &in);
        break;
    default: /* message of a newer version */
        break;
    }
}

void gateway_on_session_directory_message(struct gateway *g, struct str message)
{
    struct session_directory *d = g->directory;

    if (!d)
        return;
    pthread_mutex_lock(&d->nodes_lock);
    handle_session_directory_message(d, message);
    pthread_mutex_unlock(&d->nodes_lock);
}

/* Requests all sessions again, because messages were lost while NATS was not connected. */
void gateway_on_nats_connected(struct gateway *g)
{
    journal_replication_resend_all_loops(g);
    if (!g->directory)
        return;
    session_directory_request_all_sessions(g->directory, 0);
    session_directory_run_every_second(g->directory);
}

/* --- dead nodes ----------------------------------------------------------------------- */

/* A store read of an account's friends. The account's sessions were on a dead node, which can no
 * longer send the presence to these friends. */
struct lost_session_friends {
    struct session_store_read store_read;
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    snowflake user_id;
    struct list friends;
};

static enum err read_friends_of_lost_session(struct session_store_read *l, struct tx *tx)
{
    struct lost_session_friends *f = container_of(l, struct lost_session_friends, store_read);

    return l->gateway_loop->gateway->options.source->friends(tx, f->user_id, &f->friends);
}

static void on_lost_session_friends_read(struct session_store_read *l, enum err e)
{
    struct lost_session_friends *f = container_of(l, struct lost_session_friends, store_read);

    if (!e)
        presence_publish_to_local_friends(l->gateway_loop->gateway, f->user_id, &f->friends);
    mem_free(f);
}

static void begin_lost_session_friends_read(struct loop_message *post)
{
    struct lost_session_friends *f = container_of(post, struct lost_session_friends, post);

    f->store_read = (struct session_store_read){ .run = read_friends_of_lost_session,
                                                 .done = on_lost_session_friends_read };
    begin_unordered_session_store_read(f->gateway_loop, &f->store_read);
}

static void notify_lost_session_friends(struct gateway *g, snowflake user_id)
{
    pthread_mutex_lock(&g->publishing);
    if (g->gateway_loop_count && !g->draining) {
        struct lost_session_friends *f = mem_new(sizeof *f);

        f->post.run = begin_lost_session_friends_read;
        f->gateway_loop = g->gateway_loops[0];
        f->user_id = user_id;
        loop_post_message(f->gateway_loop->loop, &f->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

void session_directory_on_moved_session_expired(struct session_directory *d, struct str record)
{
    struct serialized_data_reader in = { .rest = record };
    struct remote_session *r = read_session_record(&in);

    if (r && presence_on_remote_session_change(d->gateway, r) && !r->bot)
        notify_lost_session_friends(d->gateway, r->user_id);
    remote_session_free(r);
}

/* Shows up to SESSIONS_PER_CALL sessions of a dead node as offline. Returns true if the node has no
 * more sessions. */
static bool show_some_node_sessions_offline(struct session_directory *d, struct directory_node *p)
{
    unsigned was_shown_offline = 0;

    for (struct list_link *at = p->sessions.next;
         at != &p->sessions && was_shown_offline < SESSIONS_PER_CALL; at = at->next) {
        struct remote_session *r = container_of(at, struct remote_session, of_node);

        if (r->shown_offline)
            continue;
        was_shown_offline++;
        if (remote_session_show_offline(d, r) && !r->bot)
            notify_lost_session_friends(d->gateway, r->user_id);
    }
    return was_shown_offline == 0;
}

static bool remove_some_sessions_of_node(struct session_directory *d, struct directory_node *p)
{
    for (unsigned i = 0; i < SESSIONS_PER_CALL && !linked_list_is_empty(&p->sessions); i++)
        remote_session_show_offline_and_remove(
            d, container_of(p->sessions.next, struct remote_session, of_node));
    return linked_list_is_empty(&p->sessions);
}

static bool node_identity_is_in_list(const uint32_t *identities, size_t count, uint32_t identity)
{
    for (size_t i = 0; i < count; i++)
        if (identities[i] == identity)
            return true;
    return false;
}

static void session_directory_on_node_alive(struct session_directory *d, struct directory_node *p)
{
    if (!p->gone_at)
        return;
    p->gone_at = 0; /* the node was only paused, so its sessions are online again */
    session_directory_node_request_sessions(d, p);
}

/* Updates a node that is not among the living nodes. Returns true if it has no session left. */
static bool session_directory_on_node_missing(struct session_directory *d, struct directory_node *p)
{
    int64_t now = clock_steady_ms();

    if (!p->gone_at)
        p->gone_at = now;
    if (now - p->gone_at >= SESSION_EXPIRY_MS)
        return remove_some_sessions_of_node(d, p);
    if (now - p->gone_at >= SHOW_OFFLINE_MS || test_fault_is_enabled(TEST_FAULT_OFFLINE_AT_ONCE))
        show_some_node_sessions_offline(d, p);
    return linked_list_is_empty(&p->sessions);
}

static void session_directory_check_nodes_are_alive(struct session_directory *d,
                                                    const uint32_t *identities, size_t count)
{
    size_t at = 0;
    struct directory_node *ended = NULL;

    for (struct directory_node *p; (p = map_next_value(&d->nodes, &at));)
        if (node_identity_is_in_list(identities, count, p->identity))
            session_directory_on_node_alive(d, p);
        else if (session_directory_on_node_missing(d, p))
            ended = p; /* each call of this function frees at most one node */
    if (ended) {
        map_remove_value(&d->nodes, ended->identity);
        mem_free(ended);
    }
}

void gateway_on_live_nodes_changed(struct gateway *g, const uint32_t *identities, size_t count)
{
    struct session_directory *d = g->directory;

    journal_replication_on_live_nodes_changed(g, identities, count);
    if (g->replica)
        journal_replicas_evict_expired(g->replica, clock_steady_ms());
    if (!d)
        return;
    pthread_mutex_lock(&d->nodes_lock);
    session_directory_check_nodes_are_alive(d, identities, count);
    pthread_mutex_unlock(&d->nodes_lock);
    session_directory_run_every_second(d);
}

void session_directory_nodes_free(struct session_directory *d)
{
    struct gateway *g = d->gateway;
    size_t at = 0;

    for (struct directory_node *p; (p = map_next_value(&d->nodes, &at));) {
        while (!linked_list_is_empty(&p->sessions)) {
            struct remote_session *r =
                container_of(p->sessions.next, struct remote_session, of_node);

            remote_session_remove(g, r);
            remote_session_free(r);
        }
        mem_free(p);
    }
    map_clear(&d->nodes);
}
