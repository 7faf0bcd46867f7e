/* opcodes.h - the table of opcodes that clients may send, their schemas and handlers.
 *
 * Handlers that change the session are in identify/, resume/, presence/ and member_lists/. Handlers
 * that read guilds are in this folder. */
#ifndef GATEWAY_OPCODES_OPCODES_H
#define GATEWAY_OPCODES_OPCODES_H

#include "gateway/sessions/gateway_socket.h"

const struct gateway_opcode_declaration *opcode_find(
    int64_t op); /* NULL if the opcode is unknown */
/* The table of opcodes, exported for tests; it ends with a row without a name. */
extern const struct gateway_opcode_declaration opcode_rows[];

void handle_request_members_opcode(struct gateway_socket *p, int op, struct str raw, const void *d);
void handle_search_recent_members_opcode(struct gateway_socket *p, int op, struct str raw,
                                         const void *d);
void handle_request_sounds_opcode(struct gateway_socket *p, int op, struct str raw, const void *d);
void handle_channel_info_opcode(struct gateway_socket *p, int op, struct str raw, const void *d);

#endif
