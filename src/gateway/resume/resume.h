/* resume.h - RESUME: a client continues its session after a lost connection.
 *
 * A client that lost its connection sends RESUME with the id of its session and the seq of the last
 * event that it has read. It may reach the same loop, another loop of the process, another node of
 * the cluster, or a server that was restarted or crashed since. In each case it is sent exactly the
 * events that it missed, or op 9 if that is not possible.
 *
 * The session is in one of these states (enum session_state; session_set_state checks the arrows):
 *
 *   IDENTIFYING ──── READY sent ────► LIVE ◄────── RESUME on its loop ───────┐
 *        │                             │ ▲                                  │
 *        │                             └─│─── connection lost ──────► DISCONNECTED
 *        │                               │                              │ │ ▲  │
 *        │ read from a row               │                              │ │ │  │ another node
 *        ├───────────────► ARRIVING ◄────│── RESUME on another loop ────┘ │ │  │ requests it
 *        │                     │         │                                │ │  ▼
 *        │ read from a journal │         │                                │ │ MOVING
 *        └──────────────► RECOVERED      │                                │ │
 *                              │         │                                │ │
 *          both: ──────────────┼─────────┘ RESUME while missed events     │ │
 *                              │           are still being sent           │ │
 *                              └─ all sent, and no connection ────────────│─┘
 *                                                                         │
 *   SUSPENDED ◄──────── this server stops (LIVE or DISCONNECTED) ─────────┘
 *
 * A session can end in every state; it is freed then. MOVING and SUSPENDED end when the session's
 * row is written, and another process continues the session.
 *
 * Where to read: resume.c finds the session. session_transfer.c moves it to the loop of its client
 * and sends the missed events. session_request.c requests it from another node, whose
 * session_release.c releases it. session_restore.c restores a session that was suspended
 * (suspend.c) when the server was restarted. crash_recovery.c rebuilds a session whose node crashed
 * from the node's journal (journal/) and the event log (missed_events.c). docs/ARCHITECTURE.md
 * describes a resume on another node step by step.
 *
 * Invariants: a session has one owner node, changed by compare-and-set of a row (owner_rows.h).
 * Events have the same numbers on all nodes, so the number of the last event that a session was
 * sent determines the events that it missed. */
#ifndef GATEWAY_RESUME_RESUME_H
#define GATEWAY_RESUME_RESUME_H

#include "cluster/log_entry.h"
#include "net/loop.h"

struct gateway;
struct gateway_loop;
struct gateway_socket;

void handle_resume_opcode(struct gateway_socket *p, int op, struct str raw, const void *d);

/* Moves the sessions of this loop that other loops or nodes requested, if they can leave now. */
void release_requested_sessions(struct gateway_loop *h);

/* Handle messages of other nodes, in the order of the event log, on any thread.
 * handle_session_release_request handles the request of a node for a session that this node may
 * own. handle_session_request_reply handles the reply to a request of this node; without_copy is a
 * node that replied that it has no replica of the session, or 0. */
void handle_session_release_request(struct gateway *g, const struct session_move_message *m);
void handle_session_request_reply(struct gateway *g, const struct session_move_message *m,
                                  uint32_t without_copy);
/* Repeats the store read of a pending session request; called by the deadline of struct
 * session_request. */
void retry_session_request(struct deadline *d);
/* Free all pending releases and session requests of a loop that stops. */
void pending_session_releases_free(struct gateway_loop *h);
void pending_session_requests_abort(struct gateway_loop *h);

#endif
