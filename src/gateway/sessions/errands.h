/* errands.h - long tasks of a session, run in steps. */
#ifndef GATEWAY_SESSIONS_ERRANDS_H
#define GATEWAY_SESSIONS_ERRANDS_H

#include "gateway/sessions/hub.h"

struct session;

/* Runs one step at a time, as fast as the session's socket accepts the events; freed with the
 * session. */
struct session_errand {
    struct load load; /* read of the current step */
    struct link of_session;
    struct session *session; /* NULL: the session ended during a step */
    bool stepping;           /* a read is running */
    bool needs_socket;       /* pauses while the session is disconnected */
    /* Sets load.run for the next step; false: the task is finished. */
    bool (*step)(struct session_errand *e);
    void (*stepped)(struct session_errand *e, enum err error); /* the session still exists */
    void (*free)(struct session_errand *e);
};

/* Frees the task instead if the session or its account has too many. */
void errand_begin(struct session *s, struct session_errand *e);
void errands_drop(struct session *s);
/* Tasks move with their session, between two steps. */
bool errands_stepping(const struct session *s);
void errands_detach(struct session *s);
void errands_attach(struct session *s);
/* Continues the session's tasks; call it when its socket has sent everything, or is lost. */
void errands_wake(struct session *s);
void errands_run(struct post *post);

#endif
