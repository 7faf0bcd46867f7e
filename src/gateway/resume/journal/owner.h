/* owner.h - the other servers of a cluster know who has a session. */
#ifndef GATEWAY_RESUME_JOURNAL_OWNER_H
#define GATEWAY_RESUME_JOURNAL_OWNER_H

#include <stdint.h>

struct hub;
struct session;

/* This server has it; has it no more. Written beside what goes on. */
void home_note(struct session *s);
void home_forget(struct session *s);
/* The same of a session that was taken from elsewhere and cannot go on. */
void home_forget_number(struct hub *h, uint64_t number);

#endif
