/* revoke.c - ends sessions whose credential is revoked or whose address is banned.
 *
 * A session belongs to the credential of its last IDENTIFY or RESUME. Every loop receives the
 * revocation and ends its sessions of that credential. An IDENTIFY or RESUME in progress is only
 * marked, and refused when it continues. A session that is moving between loops is only marked, and
 * ends when it arrives. */
#include "base/mem.h"
#include "gateway/identify/authentication.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "net/address.h"
#include "net/http/server.h"

struct credential_revocation {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    snowflake account;
    bool one; /* true: revoke only this token; false: revoke all tokens of the account */
    unsigned char token[8];
    uint64_t revocation_count;
};

/* Returns whether the revocation applies to the credential. A client may already have identified
 * with a new token, for example after a password reset. The new token was read after the
 * revocation, so its revocation count is not lower, and the new token stays valid. */
static bool credential_is_revoked(const struct credential_revocation *r, snowflake account,
                                  const unsigned char *token, uint64_t forgets)
{
    return account == r->account && forgets < r->revocation_count &&
           (!r->one || memcmp(token, r->token, sizeof r->token) == 0);
}

/* Marks authentications in progress as revoked. A token contains its account id, so the account is
 * known before the token is read from the store. */
static void revoke_authentications(const struct credential_revocation *r)
{
    struct list_link *list = &r->gateway_loop->authentications;

    for (struct list_link *at = list->next; at != list; at = at->next) {
        struct gateway_authentication *g = container_of(at, struct gateway_authentication, link);

        if (credential_is_revoked(r, g->credential.account, g->credential.session,
                                  g->credential.revocations_seen))
            g->revoked = true;
    }
}

/* Returns whether the session can end now. If READY was not sent yet, the code that handles
 * IDENTIFY ends the session later. */
static bool session_can_end_on_loop(const struct session *s, const struct gateway_loop *h)
{
    return s->gateway_loop == h && s->link.next && session_is_ready(s);
}

/* Marks the sessions of the credential as revoked. Sets *ret to the numbers of the sessions that
 * this loop can end now. */
static size_t mark_revoked_sessions(const struct credential_revocation *r, uint64_t **ret)
{
    struct gateway *g = r->gateway_loop->gateway;
    size_t n = 0;

    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = map_find_value(&g->accounts, r->account);
    *ret = a ? mem_resize(NULL, (a->session_count + 1) * sizeof **ret) : NULL;
    for (struct list_link *at = a ? a->sessions.next : NULL; at && at != &a->sessions;
         at = at->next) {
        struct session *s = container_of(at, struct session, of_user);

        if (!credential_is_revoked(r, s->caller.id, s->caller.session, s->revocation_count))
            continue;
        s->revoked = true;
        if (session_can_end_on_loop(s, r->gateway_loop))
            (*ret)[n++] = s->number;
    }
    pthread_mutex_unlock(&g->lock);
    return n;
}

static void on_revocation_posted(struct loop_message *post)
{
    struct credential_revocation *r = container_of(post, struct credential_revocation, post);
    uint64_t *numbers;
    size_t count = mark_revoked_sessions(r, &numbers);

    revoke_authentications(r);
    for (size_t i = 0; i < count; i++) {
        struct session *s = registry_find_session_on_loop(r->gateway_loop, numbers[i]);

        if (s && s->socket)
            gateway_socket_close(s->socket, CLOSE_BAD_TOKEN, "authentication failed");
        if (s)
            session_end(s);
    }
    mem_free(numbers);
    mem_free(r);
}

void gateway_revoke_credential(struct gateway *g, snowflake account, const unsigned char *token,
                               uint64_t forgets)
{
    /* Hold the lock, so that the message is posted before the loops' gateway state is freed. */
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->gateway_loop_count; i++) {
        struct credential_revocation *r = mem_new(sizeof *r);

        r->post.run = on_revocation_posted;
        r->gateway_loop = g->gateway_loops[i];
        r->account = account;
        r->revocation_count = forgets;
        r->one = token != NULL;
        if (token)
            memcpy(r->token, token, sizeof r->token);
        loop_post_message(r->gateway_loop->loop, &r->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

/* Maximum number of sessions that one loop iteration ends. */
enum { SESSIONS_ENDED_PER_ITERATION = 100 };

struct address_revocation {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    struct ip_network network;
};

static bool socket_is_from_network(const struct gateway_socket *p, const struct ip_network *n)
{
    struct ip_address a;

    return p && ip_address_parse(websocket_get_client_address(p->ws), &a) &&
           ip_network_contains(n, &a);
}

static void session_mark_revoked(struct session *s)
{
    pthread_mutex_lock(&s->gateway_loop->gateway->lock);
    s->revoked = true;
    pthread_mutex_unlock(&s->gateway_loop->gateway->lock);
}

static void revoke_authentications_from_network(const struct address_revocation *r)
{
    struct list_link *list = &r->gateway_loop->authentications;

    for (struct list_link *at = list->next; at != list; at = at->next) {
        struct gateway_authentication *g = container_of(at, struct gateway_authentication, link);

        if (socket_is_from_network(g->socket, &r->network))
            g->revoked = true;
    }
}

/* Continues the revocation in the next loop iteration, unless the gateway is stopping. */
static void continue_revocation_next_iteration(struct address_revocation *r)
{
    struct gateway *g = r->gateway_loop->gateway;

    pthread_mutex_lock(&g->publishing);
    bool goes_on = g->gateway_loop_count && !g->draining;
    if (goes_on)
        loop_post_message(r->gateway_loop->loop, &r->post);
    pthread_mutex_unlock(&g->publishing);
    if (!goes_on)
        mem_free(r);
}

static void on_address_revocation_posted(struct loop_message *post)
{
    struct address_revocation *r = container_of(post, struct address_revocation, post);
    struct list_link *list = &r->gateway_loop->sessions;
    unsigned ended = 0;

    for (struct list_link *at = list->next, *next;
         at != list && ended < SESSIONS_ENDED_PER_ITERATION; at = next) {
        struct session *s = container_of(at, struct session, link);

        next = at->next;
        if (!socket_is_from_network(s->socket, &r->network))
            continue;
        if (!session_is_ready(s)) { /* the identification will end the session */
            session_mark_revoked(s);
            continue;
        }
        gateway_socket_close(s->socket, CLOSE_BAD_TOKEN, "your network address is banned");
        session_end(s);
        ended++;
    }
    revoke_authentications_from_network(r);
    if (ended == SESSIONS_ENDED_PER_ITERATION)
        continue_revocation_next_iteration(r);
    else
        mem_free(r);
}

void gateway_close_sockets_of_banned_addresses(struct gateway *g, const struct ip_network *n)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->gateway_loop_count; i++) {
        struct address_revocation *r = mem_new(sizeof *r);

        r->post.run = on_address_revocation_posted;
        r->gateway_loop = g->gateway_loops[i];
        r->network = *n;
        loop_post_message(r->gateway_loop->loop, &r->post);
    }
    pthread_mutex_unlock(&g->publishing);
}

void session_set_credential(struct session *s, const struct gateway_authentication *g)
{
    struct gateway *gateway = s->gateway_loop->gateway;

    pthread_mutex_lock(&gateway->lock);
    s->caller = g->caller;
    s->caller.application_id = g->application_id;
    s->revocation_count = g->credential.revocations_seen;
    pthread_mutex_unlock(&gateway->lock);
}
