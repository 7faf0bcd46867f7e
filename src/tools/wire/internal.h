/* internal.h - declarations shared by api_client.c, connection.c and gateway.c. */
#ifndef TOOLS_WIRE_INTERNAL_H
#define TOOLS_WIRE_INTERNAL_H

#include "base/buf.h"
#include "json/schema.h"
#include "tools/wire/api_client.h"

enum { WIRE_MAX_BYTES = 256 * 1024 * 1024 };

struct api_client {
    struct arena *arena;
    bool quiet, secure;
    struct str authority; /* value of the Host header */
    const char *host, *port, *token;
    bool public_only;        /* connect only to public addresses */
    bool address_is_private; /* the last connection was not opened because of .public_only */
    /* Expected fingerprint of the server's certificate; NULL: the CAs of the system decide. */
    const char *fingerprint;

    /* The fields below belong to the gateway connection. */
    struct client_connection *line; /* NULL if not connected */
    struct buf in;
    size_t used;     /* number of bytes of `in` that were parsed */
    int64_t beat_ns; /* heartbeat interval */
    int64_t next_beat;
    int64_t seq;
    int64_t unanswered_beats; /* heartbeats since the last acknowledged one */
    int close_code;           /* close code of the WebSocket; 0 if the server did not close it */
    struct str session;
};

enum {
    GATEWAY_DISPATCH = 0,
    GATEWAY_HEARTBEAT = 1,
    GATEWAY_IDENTIFY = 2,
    GATEWAY_RESUME = 6,
    GATEWAY_RECONNECT = 7,
    GATEWAY_INVALID_SESSION = 9,
    GATEWAY_HELLO = 10,
    GATEWAY_HEARTBEAT_ACK = 11
};

/* A message of the gateway. */
struct received_gateway_message {
    int64_t op;
    struct opt_int s;
    struct opt_str t, d; /* d: JSON; null in op 7 */
};
extern const struct type type_wire_envelope;

bool api_client_send_websocket_frame(struct api_client *w, int opcode, struct str payload);
/* Requests the upgrade to a WebSocket and waits for the response. */
bool api_client_send_websocket_handshake(struct api_client *w, const char *target);

/* Connects to the server. If the server cannot be reached or is not trusted, prints an error and
 * returns NULL. */
struct client_connection *api_connection_open(struct api_client *w);
void api_connection_free(struct client_connection *l);
bool api_connection_send_all(struct client_connection *l, struct str bytes);
/* Receives bytes. Returns 1 if bytes were received, 0 after wait_ms, -1 if the connection is
 * closed. */
int api_connection_receive(struct client_connection *l, struct buf *in, int64_t wait_ms);

#endif
