/* session_tasks.h - long tasks of a session, which run in steps. */
#ifndef GATEWAY_SESSIONS_SESSION_TASKS_H
#define GATEWAY_SESSIONS_SESSION_TASKS_H

#include "gateway/sessions/gateway_loop.h"

struct session;

/* A task of a session. Its steps run one after the other, as fast as the session's socket accepts
 * the resulting events. If the session ends, the task is freed. */
struct session_task {
    struct session_store_read store_read; /* store read of the current step */
    struct list_link of_session;
    struct session *session; /* session of the task; NULL if it ended during a step of the task */
    bool stepping;           /* a store read of the task is running */
    bool needs_socket;       /* the task is suspended while the session is disconnected */
    /* Sets store_read.run for the next step. Returns false if the task is finished. */
    bool (*step)(struct session_task *e);
    /* Called after the store read of a step, if the session still exists. */
    void (*stepped)(struct session_task *e, enum err error);
    void (*free)(struct session_task *e);
};

/* Starts a task. If the session or its account has too many tasks, frees the task instead. */
void session_task_begin(struct session *s, struct session_task *e);
void session_tasks_abort(struct session *s);
/* Returns whether a task of the session is in a step. A session can move to another loop, with its
 * tasks, only while no task is in a step. */
bool session_task_is_running(const struct session *s);
void session_tasks_detach_from_loop(struct session *s);
void session_tasks_attach_to_loop(struct session *s);
/* Continues the session's tasks. Called when the socket has sent everything, or is closed. */
void session_tasks_continue(struct session *s);
void run_session_tasks_of_loop(struct loop_message *post);

#endif
