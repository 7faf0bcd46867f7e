/* revoke.c - ends sessions whose credential is revoked or whose address is banned.
 *
 * A session belongs to the credential of its last IDENTIFY or RESUME. Every loop receives the
 * revocation and ends its sessions. Others are only marked: an IDENTIFY or RESUME in progress is
 * refused when it continues, a session that moves between loops ends when it arrives. */
#include "base/mem.h"
#include "gateway/identify/greeting.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "net/address.h"
#include "net/http/server.h"

struct revocation {
    struct post post;
    struct hub *hub;
    snowflake account;
    bool one; /* only this token; else all tokens of the account */
    unsigned char token[8];
    uint64_t forgets;
};

/* A client may already have identified with a new token, as after a reset of a bot's token. A
 * credential that was read after the revocation does not have a smaller `forgets`. */
static bool is_revoked(const struct revocation *r, snowflake account, const unsigned char *token,
                       uint64_t forgets)
{
    return account == r->account && forgets < r->forgets &&
           (!r->one || memcmp(token, r->token, sizeof r->token) == 0);
}

/* A token contains its account id, so authentications are found before the token is read from
 * the store. */
static void revoke_greetings(const struct revocation *r)
{
    struct link *list = &r->hub->greetings;

    for (struct link *at = list->next; at != list; at = at->next) {
        struct greeting *g = container_of(at, struct greeting, link);

        if (is_revoked(r, g->credential.account, g->credential.session, g->credential.forgets))
            g->revoked = true;
    }
}

/* A session that waits for READY belongs to its identification, which ends it. */
static bool may_end_here(const struct session *s, const struct hub *h)
{
    return s->hub == h && s->link.next && session_is_ready(s);
}

/* Marks the sessions of the credential; *ret: numbers of the sessions that this loop can end
 * now. */
static size_t mark_sessions(const struct revocation *r, uint64_t **ret)
{
    struct gateway *g = r->hub->gateway;
    size_t n = 0;

    pthread_mutex_lock(&g->lock);
    struct account *a = map_get(&g->accounts, r->account);
    *ret = a ? mem_resize(NULL, (a->session_count + 1) * sizeof **ret) : NULL;
    for (struct link *at = a ? a->sessions.next : NULL; at && at != &a->sessions; at = at->next) {
        struct session *s = container_of(at, struct session, of_user);

        if (!is_revoked(r, s->caller.id, s->caller.session, s->forgets))
            continue;
        s->revoked = true;
        if (may_end_here(s, r->hub))
            (*ret)[n++] = s->number;
    }
    pthread_mutex_unlock(&g->lock);
    return n;
}

static void revoke_here(struct post *post)
{
    struct revocation *r = container_of(post, struct revocation, post);
    uint64_t *numbers;
    size_t count = mark_sessions(r, &numbers);

    revoke_greetings(r);
    for (size_t i = 0; i < count; i++) {
        struct session *s = registry_local(r->hub, numbers[i]);

        if (s && s->peer)
            peer_close(s->peer, CLOSE_BAD_TOKEN, "authentication failed");
        if (s)
            session_end(s);
    }
    mem_free(numbers);
    mem_free(r);
}

void gateway_forget(struct gateway *g, snowflake account, const unsigned char *token,
                    uint64_t forgets)
{
    /* Posts made with this lock held reach the loops before their gateway state is freed. */
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->hub_count; i++) {
        struct revocation *r = mem_new(sizeof *r);

        r->post.run = revoke_here;
        r->hub = g->hubs[i];
        r->account = account;
        r->forgets = forgets;
        r->one = token != NULL;
        if (token)
            memcpy(r->token, token, sizeof r->token);
        loop_post(r->hub->loop, &r->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

enum { ENDED_AT_ONCE = 100 }; /* sessions that are ended in one loop iteration */

struct address_revocation {
    struct post post;
    struct hub *hub;
    struct network network;
};

static bool peer_is_from(const struct peer *p, const struct network *n)
{
    struct address a;

    return p && address_parse(websocket_remote(p->ws), &a) && network_holds(n, &a);
}

static void session_mark_revoked(struct session *s)
{
    pthread_mutex_lock(&s->hub->gateway->lock);
    s->revoked = true;
    pthread_mutex_unlock(&s->hub->gateway->lock);
}

static void refuse_greetings_from(const struct address_revocation *r)
{
    struct link *list = &r->hub->greetings;

    for (struct link *at = list->next; at != list; at = at->next) {
        struct greeting *g = container_of(at, struct greeting, link);

        if (peer_is_from(g->peer, &r->network))
            g->revoked = true;
    }
}

/* Continues in the next loop iteration, unless the gateway is stopping. */
static void revoke_more_addresses(struct address_revocation *r)
{
    struct gateway *g = r->hub->gateway;

    pthread_mutex_lock(&g->publishing);
    bool goes_on = g->hub_count && !g->draining;
    if (goes_on)
        loop_post(r->hub->loop, &r->post);
    pthread_mutex_unlock(&g->publishing);
    if (!goes_on)
        mem_free(r);
}

static void revoke_addresses_here(struct post *post)
{
    struct address_revocation *r = container_of(post, struct address_revocation, post);
    struct link *list = &r->hub->sessions;
    unsigned ended = 0;

    for (struct link *at = list->next, *next; at != list && ended < ENDED_AT_ONCE; at = next) {
        struct session *s = container_of(at, struct session, link);

        next = at->next;
        if (!peer_is_from(s->peer, &r->network))
            continue;
        if (!session_is_ready(s)) { /* the identification ends the session */
            session_mark_revoked(s);
            continue;
        }
        peer_close(s->peer, CLOSE_BAD_TOKEN, "your network address is banned");
        session_end(s);
        ended++;
    }
    refuse_greetings_from(r);
    if (ended == ENDED_AT_ONCE)
        revoke_more_addresses(r);
    else
        mem_free(r);
}

void gateway_forget_addresses(struct gateway *g, const struct network *n)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->hub_count; i++) {
        struct address_revocation *r = mem_new(sizeof *r);

        r->post.run = revoke_addresses_here;
        r->hub = g->hubs[i];
        r->network = *n;
        loop_post(r->hub->loop, &r->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

void session_bind(struct session *s, const struct greeting *g)
{
    struct gateway *gateway = s->hub->gateway;

    pthread_mutex_lock(&gateway->lock);
    s->caller = g->caller;
    s->caller.application_id = g->application_id;
    s->forgets = g->credential.forgets;
    pthread_mutex_unlock(&gateway->lock);
}
