/* errands.h - work of a session that would take too long at once. */
#ifndef GATEWAY_SESSIONS_ERRANDS_H
#define GATEWAY_SESSIONS_ERRANDS_H

#include "gateway/sessions/hub.h"

struct session;

/* A step at a time, as fast as the session's socket takes what it brings; goes with
 * the session. */
struct session_errand {
    struct load load; /* of the step that runs */
    struct link of_session;
    struct session *session; /* NULL: the session went while a step was running */
    bool stepping;           /* a load is running */
    bool needs_socket;       /* does nothing while the session is away */
    /* Fills load.run, or returns false: nothing left. */
    bool (*step)(struct session_errand *e);
    void (*stepped)(struct session_errand *e, enum err error); /* with a session that is there */
    void (*free)(struct session_errand *e);
};

/* Frees it instead when the session has too many. */
void errand_begin(struct session *s, struct session_errand *e);
void errands_drop(struct session *s);
/* They move with their session, between two steps. */
bool errands_stepping(const struct session *s);
void errands_detach(struct session *s);
void errands_attach(struct session *s);
/* Something that its errands wait for may have happened: its socket took all, or is gone. */
void errands_wake(struct session *s);
void errands_run(struct post *post);

#endif
