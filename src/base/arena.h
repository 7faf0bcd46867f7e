/* arena.h - memory that is given back all at once.
 *
 * Whatever is made while answering a call lives in that call's arena and goes
 * with it, so handlers free nothing. Allocation succeeds or ends the process:
 * sizes are limited where bytes enter the server. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);

/* Forgets everything made in it but keeps its first block for the next user. */
void arena_reset(struct arena *a);

/* Zeroed, aligned for any type, valid until arena_free or arena_reset. */
void *arena_alloc(struct arena *a, size_t size);

/* The same without zeroing, for bytes that are written at once. */
void *arena_raw(struct arena *a, size_t size);

/* `count` of a type, zeroed. */
#define arena_array(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (count)))

/* Notes that something made in it is missing or cut, since a buffer was full. Whoever makes
 * something last of all that is in the arena asks before it lets go of it: a transaction
 * that cannot be whole is not committed, and a call that cannot be is refused. */
void arena_spoil(struct arena *a);
bool arena_spoiled(const struct arena *a);

/* Bytes handed out since the last reset. */
size_t arena_used(const struct arena *a);

#endif
