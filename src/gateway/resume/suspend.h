/* suspend.h - sessions when the server stops and starts, and rows that stopped nodes left. */
#ifndef GATEWAY_RESUME_SUSPEND_H
#define GATEWAY_RESUME_SUSPEND_H

#include "store/store.h"

struct gateway;

/* Suspends the sessions of the first `loops` loops, on which nothing runs any more. */
void suspend_sessions(struct gateway *g, unsigned loops);
/* prune.c: removes rows of dead nodes, and those that this node left when it last ran. */
enum err prune_own_rows(const struct gateway *g, struct tx *tx);

#endif
