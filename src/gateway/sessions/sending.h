/* sending.h - sends messages to a socket. */
#ifndef GATEWAY_SESSIONS_SENDING_H
#define GATEWAY_SESSIONS_SENDING_H

#include "gateway/wire/codec.h"

struct gateway_socket;

/* Sends a message other than a dispatch; d is JSON. */
void send_opcode_to_client(struct gateway_socket *p, enum gateway_opcode op, struct str d);
/* Sends a dispatch. `form` has bits of enum payload_form, without PAYLOAD_ETF, PAYLOAD_DEFLATED. */
void send_dispatch_to_client(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                             unsigned form);

/* Initializes an encoder for another thread, without compressor and arena. The encoder owns the
 * socket's zstd stream until message_encoder_return_from_thread. Messages that need the stream wait
 * meanwhile. */
void message_encoder_lend_to_thread(struct gateway_socket *p, struct message_encoder *ret);
void message_encoder_return_from_thread(struct gateway_socket *p, struct message_encoder *c);
void send_encoded_message_to_client(struct gateway_socket *p, struct buf *message, bool text);
void send_delayed_opcode_messages(struct gateway_socket *p);
void delayed_opcode_messages_free(struct gateway_socket *p);

#endif
