/* session_actions.c - operator actions on sessions (reconnect, invalidate, close), to test clients.
 */
#include "base/mem.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/session.h"

struct session_action_post {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    uint64_t number;
    enum operator_action_on_session what;
    int code;
};

static void apply_session_action_to_socket(struct gateway_socket *p,
                                           enum operator_action_on_session what, int code)
{
    switch (what) {
    case GATEWAY_ACTION_RECONNECT:
        send_opcode_to_client(p, OP_RECONNECT, STR("null"));
        break;
    case GATEWAY_ACTION_INVALIDATE:
        session_invalidate_and_end(p);
        break;
    case GATEWAY_ACTION_RESUMABLE:
        send_opcode_to_client(p, OP_INVALID_SESSION, STR("true"));
        break;
    case GATEWAY_ACTION_CLOSE:
        gateway_socket_close(p, (enum gateway_close_code)code, "closed by the operator");
        break;
    }
}

static void on_session_action_posted(struct loop_message *post)
{
    struct session_action_post *x = container_of(post, struct session_action_post, post);
    struct session *s = registry_find_session_on_loop(x->gateway_loop, x->number);

    if (s && s->socket && !s->socket->closing)
        apply_session_action_to_socket(s->socket, x->what, x->code);
    else if (s && !s->socket && x->what == GATEWAY_ACTION_INVALIDATE)
        session_end(s); /* the client gets op 9 when it tries to resume */
    mem_free(x);
}

/* Posts an action to the session's loop. Returns false if there is no such session. */
static bool post_session_action(struct gateway *g, uint64_t number,
                                enum operator_action_on_session what, int code)
{
    /* Hold the lock, so that the message is posted before the loop's gateway state is freed. */
    pthread_mutex_lock(&g->publishing);
    struct gateway_loop *owner =
        g->gateway_loop_count ? registry_find_loop_of_session(g, number) : NULL;
    if (owner) {
        struct session_action_post *x = mem_new(sizeof *x);

        *x = (struct session_action_post){
            { .run = on_session_action_posted }, owner, number, what, code
        };
        loop_post_message(owner->loop, &x->post);
    }
    pthread_mutex_unlock(&g->publishing);
    return owner != NULL;
}

bool gateway_run_operator_action_on_session(struct gateway *g, struct str session_id,
                                            enum operator_action_on_session what, int code)
{
    uint64_t number;

    return session_id_parse(session_id, &number) && post_session_action(g, number, what, code);
}

size_t gateway_run_operator_action_on_account(struct gateway *g, snowflake user_id,
                                              enum operator_action_on_session what, int code)
{
    uint64_t *numbers = NULL;
    size_t count = 0, pushed = 0;

    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = map_find_value(&g->accounts, user_id);
    if (a)
        numbers = mem_resize(NULL, (a->session_count + 1) * sizeof *numbers);
    for (struct list_link *at = a ? a->sessions.next : NULL; at && at != &a->sessions;
         at = at->next)
        numbers[count++] = container_of(at, struct session, of_user)->number;
    pthread_mutex_unlock(&g->lock);
    for (size_t i = 0; i < count; i++)
        pushed += post_session_action(g, numbers[i], what, code);
    mem_free(numbers);
    return pushed;
}
