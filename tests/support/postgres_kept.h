/* postgres_kept.h - reuses PostgreSQL connections for the next test worlds. A new connection is
 * a process that must read the catalogue first; five per world took two fifths of the processor
 * time of all tests. */
#ifndef TESTS_SUPPORT_POSTGRES_STORED_H
#define TESTS_SUPPORT_POSTGRES_STORED_H

/* From now on, closed connections are reset and reused for the same connection string. libpq
 * must be loaded. */
void postgres_keep_connections(void);

/* Closes the unused connections. */
void postgres_end_stored(void);

#endif
