/* suspend.h - sessions are put away when a server stops, for the next one. */
#ifndef GATEWAY_RESUME_SUSPEND_H
#define GATEWAY_RESUME_SUSPEND_H

struct gateway;

/* Puts away what can go on later. Nothing happens any more, on so many loops. */
void parking_fill(struct gateway *g, unsigned loops);

#endif
