/* silence.h - a proxy to PostgreSQL that can stop forwarding without closing connections, or
 * delay bytes. */
#ifndef TESTS_SUPPORT_SILENCE_H
#define TESTS_SUPPORT_SILENCE_H

struct silence;

/* Starts a proxy to the server that `where` names by its folder. */
struct silence *silence_new(const char *where);
/* Starts a proxy that clients reach by TLS; it sends records of maximum length. */
struct silence *silence_new_tls(const char *where);
/* Returns the connection string of the proxy. */
const char *silence_where(const struct silence *s);
/* Stops forwarding on existing connections for good, and accepts no new ones … */
void silence_begin(struct silence *s);
/* … until this call. */
void silence_end(struct silence *s);
/* Delays every message to the server by `ms`. */
void silence_stretch(struct silence *s, int ms);
/* Must be called after all connections are closed. */
void silence_free(struct silence *s);

#endif
