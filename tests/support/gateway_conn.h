/* gateway_conn.h - gateway connections of test clients. A connection is one WebSocket that is
 * read one message at a time. Messages are JSON whatever the encoding and compression were. Open
 * connections are closed with their world. */
#ifndef TESTS_GATEWAY_CONN_H
#define TESTS_GATEWAY_CONN_H

#include "world.h"

struct gateway_conn;

/* Connects with a query such as "v=10&encoding=json". Reads nothing yet. */
struct gateway_conn *conn_open(struct client *c, const char *query);
/* Connects to another path than "/": "/voice?v=8". */
struct gateway_conn *conn_open_at(struct client *c, const char *target);
/* Connects with another Host header than "gate.test". */
struct gateway_conn *conn_open_as(struct client *c, const char *target, const char *host);
/* Connects, reads Hello, identifies and reads READY; more is JSON for the data of opcode 2, such
 * as "'intents': 1". */
struct gateway_conn *conn_session(struct client *c, const char *query, const char *more);

/* From now on expect_event and expect_silence of this client check the events that its own
 * session receives. */
void client_connect(struct client *c);

/* Sends JSON with single quotes. */
void conn_send(struct gateway_conn *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void conn_send_bytes(struct gateway_conn *g, int opcode, struct str bytes);
void conn_identify(struct gateway_conn *g, const char *more);
void conn_resume(struct gateway_conn *g, const char *session_id, uint64_t seq);

/* Returns the next message, or NULL on timeout or close. PRESENCE_UPDATE and
 * VOICE_CHANNEL_START_TIME_UPDATE are skipped unless conn_watch was called. */
void conn_watch(struct gateway_conn *g, bool watch);
const struct dom *conn_read(struct gateway_conn *g, int wait_ms);
/* From now on the connection answers heartbeat requests itself, for tests with a running clock. */
void conn_beat(struct gateway_conn *g);
/* Returns whether unread bytes were received. */
int conn_fd(struct gateway_conn *g);
int conn_close_code(const struct gateway_conn *g); /* 0: open; 1006: cut */
uint64_t conn_seq(const struct gateway_conn *g);   /* of the last dispatch */
const char *conn_id(const struct gateway_conn *g); /* of the session, after READY */
/* Counts a message that the test read itself, when a new session starts on the same socket. */
void conn_count(struct gateway_conn *g, const struct dom *message);
void conn_restart(struct gateway_conn *g);
bool conn_was_binary(const struct gateway_conn *g);

/* Ends the connection, without or with a close frame. */
void conn_kill(struct gateway_conn *g);
void conn_close(struct gateway_conn *g, int code);
/* Ends the connection and waits until the server has noticed: the session waits for another
 * socket. */
void conn_lose(struct gateway_conn *g);
/* Returns a figure of the session as the operator sees it: "events", "guilds", "waiting", or
 * "connected" as 0 or 1. -1: no such session, or it moves between two loops. */
long conn_census(const struct gateway_conn *g, const char *name);

#define expect_op(g, op)        expect_op_at(__FILE__, __LINE__, (g), (op))
#define expect_close(g, c)      expect_close_at(__FILE__, __LINE__, (g), (c))
#define expect_quiet(g)         expect_quiet_at(__FILE__, __LINE__, (g))
#define expect_dispatch(g, ...) expect_dispatch_at(__FILE__, __LINE__, (g), __VA_ARGS__)

/* Expects that the next message has this opcode. */
const struct dom *expect_op_at(const char *file, int line, struct gateway_conn *g, int op);
/* Expects that the next message is this dispatch with the next sequence number and this data.
 * Returns d. */
const struct dom *expect_dispatch_at(const char *file, int line, struct gateway_conn *g,
                                     const char *event, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
const struct dom *expect_dispatch_of(const char *file, int line, struct gateway_conn *g,
                                     const char *event, const struct dom *expected);
/* Expects that the connection is closed with this code, without messages before. */
void expect_close_at(const char *file, int line, struct gateway_conn *g, int code);
/* Expects a heartbeat acknowledgement and nothing before it. */
void expect_quiet_at(const char *file, int line, struct gateway_conn *g);

void conns_close(struct world *w);

#endif
