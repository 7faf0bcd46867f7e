/* postgres_kept.h - connections that serve one world of a test after the other.
 *
 * A new connection is a process that has to learn of all the tables first; five for each
 * world were two fifths of all that the tests took of the processors. */
#ifndef TESTS_SUPPORT_POSTGRES_KEPT_H
#define TESTS_SUPPORT_POSTGRES_KEPT_H

/* From now on connections are kept when they are closed, as new as PostgreSQL can make them,
 * and given to whoever asks for one in the same words. libpq has been loaded. */
void postgres_keep_connections(void);

/* Closes those that nobody has. */
void postgres_end_kept(void);

#endif
