/* last_messages.h - the newest message of some channels, for a session that asks (op 34). */
#ifndef PLATFORM_MESSAGES_LAST_MESSAGES_H
#define PLATFORM_MESSAGES_LAST_MESSAGES_H

#include "gateway/gateway.h"

struct api;

/* On a loop. Answers with LAST_MESSAGES; false: the opcode does not take such data. */
bool last_messages_asked(struct api *api, const struct gateway_caller *who, struct str d);

#endif
