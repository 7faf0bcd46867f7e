/* last_messages.h - gateway opcode 34: the newest messages of requested channels. */
#ifndef PLATFORM_MESSAGES_LAST_MESSAGES_H
#define PLATFORM_MESSAGES_LAST_MESSAGES_H

#include "gateway/gateway.h"

struct api;

/* Handles opcode 34 on an event loop and replies with LAST_MESSAGES. Returns false if the payload
 * is malformed. */
bool handle_last_messages_opcode(struct api *api, const struct gateway_hook_session *who,
                                 struct str d);

#endif
