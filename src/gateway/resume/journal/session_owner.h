/* session_owner.h - records which node of a cluster owns a session. */
#ifndef GATEWAY_RESUME_JOURNAL_SESSION_OWNER_H
#define GATEWAY_RESUME_JOURNAL_SESSION_OWNER_H

#include <stdint.h>

struct gateway_loop;
struct session;

/* Change the owner row of a session, in the background: session_owner_insert records that this node
 * owns the session, session_owner_delete deletes the row. */
void session_owner_insert(struct session *s);
void session_owner_delete(struct session *s);
/* Deletes the owner row of a session that this node took over but cannot continue. */
void session_owner_delete_by_number(struct gateway_loop *h, uint64_t number);

#endif
