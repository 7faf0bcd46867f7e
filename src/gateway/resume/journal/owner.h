/* owner.h - records which node of a cluster owns a session. */
#ifndef GATEWAY_RESUME_JOURNAL_OWNER_H
#define GATEWAY_RESUME_JOURNAL_OWNER_H

#include <stdint.h>

struct hub;
struct session;

/* This node owns the session (add), or no longer (remove). Rows are written in the background. */
void session_owner_add(struct session *s);
void session_owner_remove(struct session *s);
/* The same for a session that was taken over from another node and cannot continue. */
void session_owner_remove_number(struct hub *h, uint64_t number);

#endif
