/* moves.h - sessions that go from one server of a cluster to another.
 *
 * The server that a client comes to (request.c) asks the one that has its session (release.c)
 * through the log. So the question has a position: the giver has told the session all that was
 * before it, and the taker notes what comes after. The session travels as a row of the store,
 * written together with the change of its home, so that it is never at two servers. */
#ifndef GATEWAY_RESUME_MOVES_H
#define GATEWAY_RESUME_MOVES_H

#include "cluster/frames.h"
#include "net/loop.h"

struct gateway;
struct hub;
struct resumption;

/* From any thread, in the order of the log. */
void give_asked(struct gateway *g, const struct session_move *m);
void fetch_heard(struct gateway *g, const struct session_move *m);

/* Sessions that other servers have asked for: those go that can go now. */
void gives_continue(struct hub *h);
/* A client wants a session that is not here. */
void fetch_begin(struct resumption *r);
void fetch_again(struct deadline *d);
/* At the end of a hub: what still waits. */
void gives_drop(struct hub *h);
void fetches_drop(struct hub *h);

#endif
