/* protocol.h - opcodes, close codes and message size limits of the gateway protocol.
 *
 * Folder wire/ encodes and decodes gateway messages; it knows no sockets and no sessions. Start
 * with gateway_event.h (an event), codec.h (encodings) and frames.h (WebSocket frames). */
#ifndef GATEWAY_WIRE_PROTOCOL_H
#define GATEWAY_WIRE_PROTOCOL_H

/* Value of "_trace" in READY. Clients parse each element of this list as JSON. */
#define GATEWAY_TRACE "[\"[\\\"guildhall\\\",{\\\"micros\\\":0.0}]\"]"

enum {
    MAX_FROM_USER = 15 * 1024,
    MAX_FROM_BOT = 4096,
    MAX_MESSAGE = 16 * 1024, /* maximum size of a message from a client, in bytes */
    MAX_PAYLOAD = 64 * 1024 * 1024,
    /* Maximum size of a message to a client in bytes: the payload as ETF, and its envelope. */
    MAX_ENCODED_MESSAGE = 4 * MAX_PAYLOAD + 4096,
};

enum gateway_close_code {
    CLOSE_GOING_AWAY = 1001,
    CLOSE_UNKNOWN = 4000,
    CLOSE_BAD_OPCODE = 4001,
    CLOSE_BAD_PAYLOAD = 4002,
    CLOSE_NOT_IDENTIFIED = 4003,
    CLOSE_BAD_TOKEN = 4004,
    CLOSE_IDENTIFIED = 4005,
    CLOSE_BAD_SEQUENCE = 4007,
    CLOSE_TOO_MANY = 4008,
    CLOSE_BAD_SHARD = 4010,
    CLOSE_NEEDS_SHARDS = 4011,
    CLOSE_BAD_VERSION = 4012,
    CLOSE_BAD_INTENTS = 4013,
    CLOSE_FORBIDDEN_INTENTS = 4014,
    CLOSE_TOO_MANY_SESSIONS = 4015,
};

enum gateway_opcode {
    OP_DISPATCH = 0,
    OP_HEARTBEAT = 1,
    OP_IDENTIFY = 2,
    OP_PRESENCE = 3,
    OP_VOICE_STATE = 4,
    OP_VOICE_PING = 5,
    OP_RESUME = 6,
    OP_RECONNECT = 7,
    OP_REQUEST_MEMBERS = 8,
    OP_INVALID_SESSION = 9,
    OP_HELLO = 10,
    OP_HEARTBEAT_ACK = 11,
    OP_CALL_CONNECT = 13,
    OP_SUBSCRIBE = 14,
    OP_REQUEST_SOUNDS = 31,
    OP_LAST_MESSAGES = 34,
    OP_SEARCH_RECENT = 35,
    OP_CHANNEL_STATUSES = 36,
    OP_SUBSCRIBE_BULK = 37,
    OP_QOS_HEARTBEAT = 40,
    OP_TIME_SPENT = 41,
    OP_CHANNEL_INFO = 43,
    OP_MAX = 63,
};

#endif
