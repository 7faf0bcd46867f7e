/* silence.h - a wire to PostgreSQL that can fall silent: nothing comes through any more,
 * and nobody is told. It may also be a long one. */
#ifndef TESTS_SUPPORT_SILENCE_H
#define TESTS_SUPPORT_SILENCE_H

struct silence;

/* Stands between a store and the server that `where` names by its folder. */
struct silence *silence_new(const char *where);
/* The same, which a store reaches by TLS: what the server says comes in the longest records that
 * there are. */
struct silence *silence_new_tls(const char *where);
/* Where to connect instead. */
const char *silence_where(const struct silence *s);
/* Connections that are there fall silent for good; new ones are not accepted … */
void silence_begin(struct silence *s);
/* … until now. */
void silence_end(struct silence *s);
/* From now on each thing that is said takes so long to the server. */
void silence_stretch(struct silence *s, int ms);
/* When all connections are closed. */
void silence_free(struct silence *s);

#endif
