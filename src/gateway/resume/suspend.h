/* suspend.h - suspends sessions when the server stops; deletes session rows of stopped nodes. */
#ifndef GATEWAY_RESUME_SUSPEND_H
#define GATEWAY_RESUME_SUSPEND_H

#include "store/store.h"

struct gateway;

/* Suspends the sessions of the first `loops` event loops, which must be idle. */
void suspend_all_sessions(struct gateway *g, unsigned loops);
/* In prune_sessions.c: deletes the session rows of dead nodes and of this node. At the start, rows
 * of this node come from its previous run. */
enum err delete_session_rows_of_dead_and_own_node(const struct gateway *g, struct tx *tx);

#endif
