/* gate.h - people who are connected to a world's gateway.
 *
 * A gate is one WebSocket, spoken by hand and read one message at a time. What it
 * reads is JSON whatever the encoding and compression were. Gates that a test
 * leaves open are closed with their world. */
#ifndef TESTS_GATE_H
#define TESTS_GATE_H

#include "world.h"

struct gate;

/* Connects: "v=10&encoding=json". Reads nothing yet. */
struct gate *gate_open(struct client *c, const char *query);
/* The same at another path than "/": "/voice?v=8". */
struct gate *gate_open_at(struct client *c, const char *target);
/* And by another name than "gate.test". */
struct gate *gate_open_as(struct client *c, const char *target, const char *host);
/* As gate_open, Hello read, identified and READY read; more is JSON for op 2's d, such as
 * "'intents': 1". */
struct gate *gate_session(struct client *c, const char *query, const char *more);

/* From now on expect_event and expect_silence of this client are about what it is told
 * over a session of its own. */
void client_connect(struct client *c);

/* JSON with single quotes. */
void gate_send(struct gate *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gate_send_bytes(struct gate *g, int opcode, struct str bytes);
void gate_identify(struct gate *g, const char *more);
void gate_resume(struct gate *g, const char *session_id, uint64_t seq);

/* The next message, or NULL: nothing came in time, or it was closed. That others come
 * and go (PRESENCE_UPDATE, VOICE_CHANNEL_START_TIME_UPDATE) is passed over, unless the gate
 * watches. */
void gate_watch(struct gate *g, bool watch);
const struct dom *gate_read(struct gate *g, int wait_ms);
/* From now on it answers when the server asks whether anybody is there, and that is passed over,
 * too: for tests whose clock goes on by itself. */
void gate_beat(struct gate *g);
/* Whether something was received that is not read yet, in plain bytes. */
int gate_fd(struct gate *g);
int gate_close_code(const struct gate *g); /* 0: still open; 1006: cut */
uint64_t gate_seq(const struct gate *g);   /* of the last dispatch */
const char *gate_id(const struct gate *g); /* of the session, after READY */
/* A message that was read by hand counts; a new session on the same socket begins. */
void gate_count(struct gate *g, const struct dom *message);
void gate_restart(struct gate *g);
bool gate_was_binary(const struct gate *g);

/* Ends it: without a word, or with a close frame. */
void gate_kill(struct gate *g);
void gate_close(struct gate *g, int code);
/* The same as gate_kill, and the server has noticed: its session waits for another socket. */
void gate_lose(struct gate *g);
/* What the operator is shown of its session: "events", "guilds", "waiting", or "connected" as 0
 * or 1. -1: there is no such session, or it is on its way between two loops. */
long gate_census(const struct gate *g, const char *name);

#define expect_op(g, op)        expect_op_at(__FILE__, __LINE__, (g), (op))
#define expect_close(g, c)      expect_close_at(__FILE__, __LINE__, (g), (c))
#define expect_quiet(g)         expect_quiet_at(__FILE__, __LINE__, (g))
#define expect_dispatch(g, ...) expect_dispatch_at(__FILE__, __LINE__, (g), __VA_ARGS__)

/* The next message has this opcode. */
const struct dom *expect_op_at(const char *file, int line, struct gate *g, int op);
/* The next message is this dispatch, numbered one more than the last, and its d holds
 * this. Returns d. */
const struct dom *expect_dispatch_at(const char *file, int line, struct gate *g, const char *event,
                                     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
const struct dom *expect_dispatch_of(const char *file, int line, struct gate *g, const char *event,
                                     const struct dom *expected);
/* Nothing but being closed with this code comes. */
void expect_close_at(const char *file, int line, struct gate *g, int code);
/* A heartbeat's answer comes, and nothing before it. */
void expect_quiet_at(const char *file, int line, struct gate *g);

void gates_close(struct world *w);

#endif
