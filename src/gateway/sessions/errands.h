/* errands.h - long tasks of a session, run in steps. */
#ifndef GATEWAY_SESSIONS_ERRANDS_H
#define GATEWAY_SESSIONS_ERRANDS_H

#include "gateway/sessions/hub.h"

struct session;

/* A task runs one step at a time, as fast as the session's socket accepts the events. It is
 * freed with the session. */
struct session_errand {
    struct load load; /* store read of the current step */
    struct link of_session;
    struct session *session; /* NULL: the session ended during a step */
    bool stepping;           /* a store read of the task is running */
    bool needs_socket;       /* the task pauses while the session is disconnected */
    /* Sets load.run for the next step. Returns false if the task is finished. */
    bool (*step)(struct session_errand *e);
    /* Called after the read, if the session still exists. */
    void (*stepped)(struct session_errand *e, enum err error);
    void (*free)(struct session_errand *e);
};

/* Starts a task. Frees it instead if the session or its account has too many tasks. */
void errand_begin(struct session *s, struct session_errand *e);
void errands_drop(struct session *s);
/* Tasks move with their session to another loop, between two steps. */
bool errands_stepping(const struct session *s);
void errands_detach(struct session *s);
void errands_attach(struct session *s);
/* Continues the session's tasks. Called when the socket has sent everything, or is lost. */
void errands_wake(struct session *s);
void errands_run(struct post *post);

#endif
