/* gateway_conn.h - people who are connected to a world's gateway.
 *
 * A gate is one WebSocket, spoken by hand and read one message at a time. What it
 * reads is JSON whatever the encoding and compression were. Gates that a test
 * leaves open are closed with their world. */
#ifndef TESTS_GATEWAY_CONN_H
#define TESTS_GATEWAY_CONN_H

#include "world.h"

struct gateway_conn;

/* Connects: "v=10&encoding=json". Reads nothing yet. */
struct gateway_conn *conn_open(struct client *c, const char *query);
/* The same at another path than "/": "/voice?v=8". */
struct gateway_conn *conn_open_at(struct client *c, const char *target);
/* And by another name than "gate.test". */
struct gateway_conn *conn_open_as(struct client *c, const char *target, const char *host);
/* As conn_open, Hello read, identified and READY read; more is JSON for op 2's d, such as
 * "'intents': 1". */
struct gateway_conn *conn_session(struct client *c, const char *query, const char *more);

/* From now on expect_event and expect_silence of this client are about what it is told
 * over a session of its own. */
void client_connect(struct client *c);

/* JSON with single quotes. */
void conn_send(struct gateway_conn *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void conn_send_bytes(struct gateway_conn *g, int opcode, struct str bytes);
void conn_identify(struct gateway_conn *g, const char *more);
void conn_resume(struct gateway_conn *g, const char *session_id, uint64_t seq);

/* The next message, or NULL: nothing came in time, or it was closed. That others come
 * and go (PRESENCE_UPDATE, VOICE_CHANNEL_START_TIME_UPDATE) is passed over, unless the gate
 * watches. */
void conn_watch(struct gateway_conn *g, bool watch);
const struct dom *conn_read(struct gateway_conn *g, int wait_ms);
/* From now on it answers when the server asks whether anybody is there, and that is passed over,
 * too: for tests whose clock goes on by itself. */
void conn_beat(struct gateway_conn *g);
/* Whether something was received that is not read yet, in plain bytes. */
int conn_fd(struct gateway_conn *g);
int conn_close_code(const struct gateway_conn *g); /* 0: still open; 1006: cut */
uint64_t conn_seq(const struct gateway_conn *g);   /* of the last dispatch */
const char *conn_id(const struct gateway_conn *g); /* of the session, after READY */
/* A message that was read by hand counts; a new session on the same socket begins. */
void conn_count(struct gateway_conn *g, const struct dom *message);
void conn_restart(struct gateway_conn *g);
bool conn_was_binary(const struct gateway_conn *g);

/* Ends it: without a word, or with a close frame. */
void conn_kill(struct gateway_conn *g);
void conn_close(struct gateway_conn *g, int code);
/* The same as conn_kill, and the server has noticed: its session waits for another socket. */
void conn_lose(struct gateway_conn *g);
/* What the operator is shown of its session: "events", "guilds", "waiting", or "connected" as 0
 * or 1. -1: there is no such session, or it is on its way between two loops. */
long conn_census(const struct gateway_conn *g, const char *name);

#define expect_op(g, op)        expect_op_at(__FILE__, __LINE__, (g), (op))
#define expect_close(g, c)      expect_close_at(__FILE__, __LINE__, (g), (c))
#define expect_quiet(g)         expect_quiet_at(__FILE__, __LINE__, (g))
#define expect_dispatch(g, ...) expect_dispatch_at(__FILE__, __LINE__, (g), __VA_ARGS__)

/* The next message has this opcode. */
const struct dom *expect_op_at(const char *file, int line, struct gateway_conn *g, int op);
/* The next message is this dispatch, numbered one more than the last, and its d holds
 * this. Returns d. */
const struct dom *expect_dispatch_at(const char *file, int line, struct gateway_conn *g,
                                     const char *event, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
const struct dom *expect_dispatch_of(const char *file, int line, struct gateway_conn *g,
                                     const char *event, const struct dom *expected);
/* Nothing but being closed with this code comes. */
void expect_close_at(const char *file, int line, struct gateway_conn *g, int code);
/* A heartbeat's answer comes, and nothing before it. */
void expect_quiet_at(const char *file, int line, struct gateway_conn *g);

void conns_close(struct world *w);

#endif
