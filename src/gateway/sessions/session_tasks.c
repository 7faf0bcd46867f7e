/* session_tasks.c - long tasks of a session, run in steps: sending guilds, answering requests.
 *
 * A step is a store read, followed by the events that are created from its result. The next step
 * starts when the socket has accepted these events. So the tasks of one session use up neither the
 * loop's time nor memory. */
#include "gateway/sessions/session_tasks.h"

#include "base/mem.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

enum { STEPS_PER_POST = 8, SESSION_TASKS_MAX = 256, ACCOUNT_TASKS_MAX = 1024 };

/* Changes the number of tasks of the session and of its account. The number of the account needs
 * the gateway's lock, because its sessions may be on several loops. */
static void change_session_task_counts(struct session *s, unsigned more, unsigned less)
{
    struct gateway *g = s->gateway_loop->gateway;

    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = map_find_value(&g->accounts, s->caller.id);
    if (a)
        a->task_count += more - less;
    pthread_mutex_unlock(&g->lock);
    s->tasks->count += more - less;
    journal_record_session_tasks(s);
}

/* Returns whether the session or its account has too many tasks. The first task of a session is
 * always accepted, because that task sends the session's guilds. */
static bool has_too_many_tasks(const struct session *s)
{
    struct gateway *g = s->gateway_loop->gateway;

    unsigned count = session_count_tasks(s);

    if (count == 0 || count == SESSION_TASKS_MAX)
        return count;
    pthread_mutex_lock(&g->lock);
    const struct gateway_account *a = map_find_value(&g->accounts, s->caller.id);
    bool many = a && a->task_count >= ACCOUNT_TASKS_MAX;
    pthread_mutex_unlock(&g->lock);
    return many;
}

static struct session_task *first_session_task(const struct session *s)
{
    const struct session_tasks *line = s->tasks;

    return !line || linked_list_is_empty(&line->tasks)
               ? NULL
               : container_of(line->tasks.next, struct session_task, of_session);
}

static struct session_tasks *session_tasks_get_or_create(struct session *s)
{
    if (!s->tasks) {
        s->tasks = mem_new(sizeof *s->tasks);
        s->tasks->session = s;
        linked_list_init(&s->tasks->tasks);
    }
    return s->tasks;
}

static void session_tasks_free(struct session *s)
{
    linked_list_remove(&s->tasks->runnable);
    mem_free(s->tasks);
    s->tasks = NULL;
}

/* Returns whether the session's first task can run its next step. The task that sends guilds also
 * runs while the session is disconnected, and puts its events into the replay buffer. A task that
 * answers a request waits for the next connection, because its response would exceed the replay
 * buffer. */
static bool session_task_can_continue(const struct session *s)
{
    const struct session_task *e = first_session_task(s);

    return e && !e->stepping && (s->socket || !e->needs_socket);
}

static void post_session_tasks(struct gateway_loop *h)
{
    if (h->session_tasks.posted || linked_list_is_empty(&h->session_tasks.runnable))
        return;
    h->session_tasks.posted = true;
    loop_post_message(h->loop, &h->session_tasks.post);
}

void session_tasks_continue(struct session *s)
{
    if (!s->tasks || s->tasks->runnable.next || !session_task_can_continue(s))
        return;
    if (session_has_unsent_data(s)) {
        if (!s->socket->closing)
            websocket_notify_when_all_is_sent(s->socket->ws);
        return;
    }
    linked_list_append(&s->gateway_loop->session_tasks.runnable, &s->tasks->runnable);
    post_session_tasks(s->gateway_loop);
}

static void session_task_end(struct session_task *e)
{
    struct session *s = e->session;

    linked_list_remove(&e->of_session);
    change_session_task_counts(s, 0, 1);
    e->free(e);
    if (linked_list_is_empty(&s->tasks->tasks))
        session_tasks_free(s);
    session_tasks_continue(s);
}

static void on_session_task_read_done(struct session_store_read *l, enum err error)
{
    struct session_task *e = container_of(l, struct session_task, store_read);

    e->stepping = false;
    if (!e->session) {
        e->free(e);
        return;
    }
    e->stepped(e, error);
    session_tasks_continue(e->session);
}

static void session_task_begin_step(struct gateway_loop *h, struct session_task *e)
{
    if (!e->step(e)) {
        session_task_end(e);
        return;
    }
    e->stepping = true;
    e->store_read.owner = e->session->caller.id;
    e->store_read.done = on_session_task_read_done;
    begin_ordered_session_store_read(h, &e->store_read);
}

/* Runs the next task step of each session that can continue. A session whose socket has a backlog
 * waits until the socket has sent the backlog. */
void run_session_tasks_of_loop(struct loop_message *post)
{
    struct gateway_loop *h = container_of(post, struct gateway_loop, session_tasks.post);

    h->session_tasks.posted = false;
    for (int i = 0; i < STEPS_PER_POST && !linked_list_is_empty(&h->session_tasks.runnable); i++) {
        struct session_tasks *line =
            container_of(h->session_tasks.runnable.next, struct session_tasks, runnable);
        struct session *s = line->session;

        linked_list_remove(&line->runnable);
        if (session_task_can_continue(s) && !session_has_unsent_data(s))
            session_task_begin_step(h, first_session_task(s));
        else
            session_tasks_continue(s);
    }
    post_session_tasks(h);
}

void session_task_begin(struct session *s, struct session_task *e)
{
    if (has_too_many_tasks(s)) {
        e->free(e);
        return;
    }
    struct session_tasks *line = session_tasks_get_or_create(s);
    change_session_task_counts(s, 1, 0);
    e->session = s;
    linked_list_append(&line->tasks, &e->of_session);
    session_tasks_continue(s);
}

bool session_task_is_running(const struct session *s)
{
    const struct list_link *all = s->tasks ? &s->tasks->tasks : NULL;

    for (const struct list_link *at = all ? all->next : NULL; at != all; at = at->next)
        if (container_of(at, const struct session_task, of_session)->stepping)
            return true;
    return false;
}

void session_tasks_detach_from_loop(struct session *s)
{
    if (s->tasks)
        linked_list_remove(&s->tasks->runnable);
}

void session_tasks_attach_to_loop(struct session *s)
{
    session_tasks_continue(s);
}

void session_tasks_abort(struct session *s)
{
    if (!s->tasks)
        return;
    for (struct session_task *e; (e = first_session_task(s));) {
        linked_list_remove(&e->of_session);
        e->session = NULL;
        if (!e->stepping)
            e->free(e);
    }
    change_session_task_counts(s, 0, s->tasks->count);
    session_tasks_free(s);
}
