/* push.c - operator actions on a session (reconnect, invalidate, close), to test its client. */
#include "base/mem.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/session.h"

struct push_post {
    struct post post;
    struct hub *hub;
    uint64_t number;
    enum gateway_push what;
    int code;
};

static void push_peer(struct peer *p, enum gateway_push what, int code)
{
    switch (what) {
    case GATEWAY_PUSH_RECONNECT:
        send_op(p, OP_RECONNECT, STR("null"));
        break;
    case GATEWAY_PUSH_INVALIDATE:
        session_invalid(p);
        break;
    case GATEWAY_PUSH_RESUMABLE:
        send_op(p, OP_INVALID_SESSION, STR("true"));
        break;
    case GATEWAY_PUSH_CLOSE:
        peer_close(p, (enum close_code)code, "by the operator");
        break;
    }
}

static void push_run(struct post *post)
{
    struct push_post *x = container_of(post, struct push_post, post);
    struct session *s = registry_local(x->hub, x->number);

    if (s && s->peer && !s->peer->closing)
        push_peer(s->peer, x->what, x->code);
    else if (s && !s->peer && x->what == GATEWAY_PUSH_INVALIDATE)
        session_end(s); /* the client gets op 9 at its next RESUME */
    mem_free(x);
}

/* Returns false if there is no such session. */
static bool push_number(struct gateway *g, uint64_t number, enum gateway_push what, int code)
{
    /* Posts made with this lock held reach the loop before its gateway state is freed. */
    pthread_mutex_lock(&g->publishing);
    struct hub *home = g->hub_count ? registry_hub(g, number) : NULL;
    if (home) {
        struct push_post *x = mem_new(sizeof *x);

        *x = (struct push_post){ { .run = push_run }, home, number, what, code };
        loop_post(home->loop, &x->post);
    }
    pthread_mutex_unlock(&g->publishing);
    return home != NULL;
}

bool gateway_push(struct gateway *g, struct str session_id, enum gateway_push what, int code)
{
    uint64_t number;

    return session_id_read(session_id, &number) && push_number(g, number, what, code);
}

size_t gateway_push_account(struct gateway *g, snowflake user_id, enum gateway_push what, int code)
{
    uint64_t *numbers = NULL;
    size_t count = 0, pushed = 0;

    pthread_mutex_lock(&g->lock);
    struct account *a = map_get(&g->accounts, user_id);
    if (a)
        numbers = mem_resize(NULL, (a->session_count + 1) * sizeof *numbers);
    for (struct link *at = a ? a->sessions.next : NULL; at && at != &a->sessions; at = at->next)
        numbers[count++] = container_of(at, struct session, of_user)->number;
    pthread_mutex_unlock(&g->lock);
    for (size_t i = 0; i < count; i++)
        pushed += push_number(g, numbers[i], what, code);
    mem_free(numbers);
    return pushed;
}
