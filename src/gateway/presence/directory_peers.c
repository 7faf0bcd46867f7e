/* directory_peers.c - receives the sessions of other nodes.
 *
 * Clients of a dead node may resume on another node. Sessions of a dead node are shown as online
 * as long as disconnected ones (FADE_MS), and stay in the directory as long as they can be
 * resumed (AWAY_MS). */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/planted.h"
#include "cluster/cluster.h"
#include "gateway/presence/directory_internal.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/sessions/registry.h"

enum { ASK_MS = 300, AT_ONCE = 500 /* AT_ONCE: sessions of a dead node that one call processes */ };

struct directory_peer {
    uint32_t identity;
    uint64_t told;        /* change number of the last message, if `known` */
    bool known;           /* no message of the node was missed */
    uint32_t round;       /* number of full updates received */
    uint64_t next_piece;  /* next piece of the full update in progress; 0: none */
    int64_t asked_at;     /* time of the last request (clock_mono); 0: never */
    int64_t gone_at;      /* when the node was first missing (clock_steady_ms); 0: alive */
    struct link sessions; /* items: struct remote_session */
};

static void count_in_guilds(struct gateway *g, const struct remote_session *r, bool comes)
{
    if (r->faded || r->status == PRESENCE_INVISIBLE)
        return;
    for (size_t i = 0; i < r->guild_count; i++)
        if (comes)
            crowd_enter(&g->crowds, r->guilds[i], r->user_id);
        else
            crowd_leave(&g->crowds, r->guilds[i], r->user_id);
}

static bool looks_the_same(const struct remote_session *a, const struct remote_session *b)
{
    return a->status == b->status && str_eq(a->presence, b->presence);
}

static void remote_put(struct directory *d, struct directory_peer *p, struct remote_session *r)
{
    struct gateway *g = d->gateway;

    pthread_mutex_lock(&g->lock);
    struct remote_session *old = map_get(&g->remotes, r->number);
    if (old && old->user_id != r->user_id) /* session numbers are never reused */
        r->user_id = old->user_id;
    remote_add(g, r);
    if (old) {
        remote_remove(g, old);
        map_put(&g->remotes, r->number, r);
    }
    links_append(&p->sessions, &r->of_peer);
    pthread_mutex_unlock(&g->lock);
    count_in_guilds(g, r, true);
    if (old)
        count_in_guilds(g, old, false);
    presence_remote_changed(g, r);
    if (!r->bot && !(old && looks_the_same(old, r)))
        sessions_changed_there(g, r->user_id);
    remote_free(old);
}

static bool remote_fade(struct directory *d, struct remote_session *r)
{
    struct gateway *g = d->gateway;

    count_in_guilds(g, r, false);
    pthread_mutex_lock(&g->lock);
    r->faded = true;
    pthread_mutex_unlock(&g->lock);
    return presence_remote_changed(g, r);
}

static void remote_drop(struct directory *d, struct remote_session *r)
{
    struct gateway *g = d->gateway;

    remote_fade(d, r);
    pthread_mutex_lock(&g->lock);
    remote_remove(g, r);
    pthread_mutex_unlock(&g->lock);
    if (!r->bot)
        sessions_changed_there(g, r->user_id);
    remote_free(r);
}

static bool copy_text(char *to, size_t size, struct str from)
{
    if (from.n >= size)
        return false;
    memcpy(to, from.p, from.n);
    to[from.n] = '\0';
    return true;
}

static void record_read_guilds(struct serial_reader *in, struct remote_session *r)
{
    for (int round = 0; round < 2; round++) {
        size_t n = serial_get_count(in, 8);

        r->guilds = mem_resize(r->guilds, (r->guild_count + n + 1) * sizeof *r->guilds);
        for (size_t i = 0; i < n; i++)
            r->guilds[r->guild_count++] = serial_get(in);
        if (!round)
            r->small_count = n;
    }
}

/* Returns NULL if the record is malformed. */
static struct remote_session *record_read(struct serial_reader *in)
{
    struct remote_session *r = mem_new(sizeof *r);

    r->number = serial_get(in);
    r->user_id = serial_get(in);
    uint64_t status = serial_get(in), kind = serial_get(in);
    r->faded = serial_get(in) != 0;
    r->bot = serial_get(in) != 0;
    r->shard_id = (uint32_t)serial_get(in);
    r->shard_count = (uint32_t)serial_get(in);
    in->bad |= status > PRESENCE_INVISIBLE || kind >= CLIENT_KINDS || !r->shard_count;
    in->bad |= !copy_text(r->id, sizeof r->id, serial_get_bytes(in));
    in->bad |= !copy_text(r->client, sizeof r->client, serial_get_bytes(in));
    struct str presence = serial_get_bytes(in);
    if (presence.n) {
        char *copy = mem_resize(NULL, presence.n);

        memcpy(copy, presence.p, presence.n);
        r->presence = str_slice(copy, presence.n);
    }
    record_read_guilds(in, r);
    if (in->bad) {
        remote_free(r);
        return NULL;
    }
    r->status = (unsigned char)status;
    r->kind = (unsigned char)kind;
    return r;
}

static struct directory_peer *peer_of(struct directory *d, uint32_t identity)
{
    struct directory_peer *p = map_get(&d->peers, identity);

    if (!p) {
        p = mem_new(sizeof *p);
        p->identity = identity;
        links_init(&p->sessions);
        map_put(&d->peers, identity, p);
    }
    return p;
}

static void peer_ask(struct directory *d, struct directory_peer *p)
{
    int64_t now = clock_mono();

    p->known = false;
    if (p->asked_at && now - p->asked_at < ASK_MS * INT64_C(1000000))
        return;
    p->asked_at = now;
    directory_ask(d, p->identity);
}

static void hear_record(struct directory *d, struct directory_peer *p, struct serial_reader *in)
{
    struct remote_session *r = record_read(in);

    if (!r)
        return;
    r->server = p->identity;
    r->round = p->round;
    uint64_t number = r->number;
    remote_put(d, p, r);
    directory_taken_up(d, number);
}

static void hear_drop(struct directory *d, const struct directory_peer *p, struct serial_reader *in)
{
    uint64_t number = serial_get(in);

    pthread_mutex_lock(&d->gateway->lock);
    struct remote_session *r = map_get(&d->gateway->remotes, number);
    pthread_mutex_unlock(&d->gateway->lock);
    /* Another node may have published the session meanwhile. */
    if (r && r->server == p->identity)
        remote_drop(d, r);
}

static void drop_untold(struct directory *d, struct directory_peer *p)
{
    for (struct link *at = p->sessions.next, *next; at != &p->sessions; at = next) {
        struct remote_session *r = container_of(at, struct remote_session, of_peer);

        next = at->next;
        if (r->round != p->round)
            remote_drop(d, r);
    }
}

/* Handles one piece of a full update. Pieces arrive in sequence. If one is lost, the next
 * DIRECTORY_HEAD shows the gap. */
static void hear_all(struct directory *d, struct directory_peer *p, uint64_t told,
                     struct serial_reader *in)
{
    uint64_t piece = serial_get(in), pieces = serial_get(in), count = serial_get(in);

    if (p->known && p->told == told)
        return;
    if (!piece)
        p->round++;
    else if (piece != p->next_piece)
        return;
    for (; count && !in->bad; count--)
        hear_record(d, p, in);
    p->next_piece = piece + 1;
    if (in->bad || piece + 1 != pieces)
        return;
    drop_untold(d, p);
    p->next_piece = 0;
    p->told = told;
    p->known = true;
}

static void hear_change(struct directory *d, struct directory_peer *p, enum directory_kind kind,
                        uint64_t told, struct serial_reader *in)
{
    if (!p->known || told != p->told + 1) {
        peer_ask(d, p);
        return;
    }
    p->told = told;
    if (kind == DIRECTORY_PUT)
        hear_record(d, p, in);
    else
        hear_drop(d, p, in);
}

static void hear_friends(struct directory *d, struct serial_reader *in)
{
    snowflake user_id = serial_get(in);
    size_t n = serial_get_count(in, 8);
    snowflake *ids = mem_new((n + 1) * sizeof *ids);

    for (size_t i = 0; i < n; i++)
        ids[i] = serial_get(in);
    presence_tell_friends_here(d->gateway, user_id, &(struct list){ .items = ids, .count = n });
    mem_free(ids);
}

static void hear_starts(struct directory *d, struct serial_reader *in)
{
    struct session_starts s = { .user_id = serial_get(in) };

    s.key = (uint32_t)serial_get(in);
    s.full_ms = (int64_t)serial_get(in);
    s.day = (int64_t)serial_get(in);
    s.starts = (unsigned)serial_get(in);
    if (!in->bad)
        registry_hear_starts(d->gateway, &s);
}

static void directory_hear(struct directory *d, struct str message)
{
    struct serial_reader in = { .rest = message };
    uint64_t kind = serial_get(&in);
    uint32_t from = (uint32_t)serial_get(&in);
    uint64_t told = serial_get(&in);

    if (in.bad || from == cluster_identity(d->gateway->cluster))
        return;
    struct directory_peer *p = peer_of(d, from);
    switch (kind) {
    case DIRECTORY_HEAD:
        if (!p->known || p->told != told)
            peer_ask(d, p);
        break;
    case DIRECTORY_ASK: {
        uint64_t whom = serial_get(&in);

        if (!whom || whom == cluster_identity(d->gateway->cluster))
            directory_send_all(d);
        break;
    }
    case DIRECTORY_PUT:
    case DIRECTORY_DROP:
        hear_change(d, p, (enum directory_kind)kind, told, &in);
        break;
    case DIRECTORY_ALL:
        hear_all(d, p, told, &in);
        break;
    case DIRECTORY_STARTS:
        hear_starts(d, &in);
        break;
    case DIRECTORY_FRIENDS:
        hear_friends(d, &in);
        break;
    default: /* sent by a newer version */
        break;
    }
}

void gateway_hear(struct gateway *g, struct str message)
{
    struct directory *d = g->directory;

    if (!d)
        return;
    pthread_mutex_lock(&d->hearing);
    directory_hear(d, message);
    pthread_mutex_unlock(&d->hearing);
}

/* Messages were lost while NATS was not connected: request all sessions again. */
void gateway_hears(struct gateway *g)
{
    replication_restart(g);
    if (!g->directory)
        return;
    directory_ask(g->directory, 0);
    directory_tend(g->directory);
}

/* --- dead nodes ----------------------------------------------------------------------- */

/* Reads the friends of an account whose node died, because no other node sends them the
 * presence. */
struct left_friends {
    struct load load;
    struct post post;
    struct hub *hub;
    snowflake user_id;
    struct list friends;
};

static enum err read_left_friends(struct load *l, struct tx *tx)
{
    struct left_friends *f = container_of(l, struct left_friends, load);

    return l->hub->gateway->options.source->friends(tx, f->user_id, &f->friends);
}

static void left_friends_read(struct load *l, enum err e)
{
    struct left_friends *f = container_of(l, struct left_friends, load);

    if (!e)
        presence_tell_friends_here(l->hub->gateway, f->user_id, &f->friends);
    mem_free(f);
}

static void left_friends_begin(struct post *post)
{
    struct left_friends *f = container_of(post, struct left_friends, post);

    f->load = (struct load){ .run = read_left_friends, .done = left_friends_read };
    hub_load_now(f->hub, &f->load);
}

static void tell_left_friends(struct gateway *g, snowflake user_id)
{
    pthread_mutex_lock(&g->publishing);
    if (g->hub_count && !g->draining) {
        struct left_friends *f = mem_new(sizeof *f);

        f->post.run = left_friends_begin;
        f->hub = g->hubs[0];
        f->user_id = user_id;
        loop_post(f->hub->loop, &f->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

void directory_lapsed(struct directory *d, struct str record)
{
    struct serial_reader in = { .rest = record };
    struct remote_session *r = record_read(&in);

    if (r && presence_remote_changed(d->gateway, r) && !r->bot)
        tell_left_friends(d->gateway, r->user_id);
    remote_free(r);
}

/* Shows up to AT_ONCE sessions as offline. Returns true if all are. */
static bool fade_some(struct directory *d, struct directory_peer *p)
{
    unsigned faded = 0;

    for (struct link *at = p->sessions.next; at != &p->sessions && faded < AT_ONCE; at = at->next) {
        struct remote_session *r = container_of(at, struct remote_session, of_peer);

        if (r->faded)
            continue;
        faded++;
        if (remote_fade(d, r) && !r->bot)
            tell_left_friends(d->gateway, r->user_id);
    }
    return faded == 0;
}

static bool drop_some(struct directory *d, struct directory_peer *p)
{
    for (unsigned i = 0; i < AT_ONCE && !links_empty(&p->sessions); i++)
        remote_drop(d, container_of(p->sessions.next, struct remote_session, of_peer));
    return links_empty(&p->sessions);
}

static bool is_among(const uint32_t *identities, size_t count, uint32_t identity)
{
    for (size_t i = 0; i < count; i++)
        if (identities[i] == identity)
            return true;
    return false;
}

static void peer_lives(struct directory *d, struct directory_peer *p)
{
    if (!p->gone_at)
        return;
    p->gone_at = 0; /* the node was only paused; its sessions are online again */
    peer_ask(d, p);
}

/* Returns true if the missing node has no session left. */
static bool peer_is_missed(struct directory *d, struct directory_peer *p)
{
    int64_t now = clock_steady_ms();

    if (!p->gone_at)
        p->gone_at = now;
    if (now - p->gone_at >= AWAY_MS)
        return drop_some(d, p);
    if (now - p->gone_at >= FADE_MS || fault_planted(PLANTED_QUICK_FADE))
        fade_some(d, p);
    return links_empty(&p->sessions);
}

static void look_at_peers(struct directory *d, const uint32_t *identities, size_t count)
{
    size_t at = 0;
    struct directory_peer *ended = NULL;

    for (struct directory_peer *p; (p = map_next(&d->peers, &at));)
        if (is_among(identities, count, p->identity))
            peer_lives(d, p);
        else if (peer_is_missed(d, p))
            ended = p; /* frees one node per call */
    if (ended) {
        map_remove(&d->peers, ended->identity);
        mem_free(ended);
    }
}

void gateway_nodes_live(struct gateway *g, const uint32_t *identities, size_t count)
{
    struct directory *d = g->directory;

    replication_nodes_live(g, identities, count);
    if (g->replica)
        replica_prune(g->replica, clock_steady_ms());
    if (!d)
        return;
    pthread_mutex_lock(&d->hearing);
    look_at_peers(d, identities, count);
    pthread_mutex_unlock(&d->hearing);
    directory_tend(d);
}

void directory_peers_free(struct directory *d)
{
    struct gateway *g = d->gateway;
    size_t at = 0;

    for (struct directory_peer *p; (p = map_next(&d->peers, &at));) {
        while (!links_empty(&p->sessions)) {
            struct remote_session *r =
                container_of(p->sessions.next, struct remote_session, of_peer);

            remote_remove(g, r);
            remote_free(r);
        }
        mem_free(p);
    }
    map_clear(&d->peers);
}
