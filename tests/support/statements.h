/* statements.h - measures the work of SQLite for statements of the server in this process. With
 * PostgreSQL all numbers are 0. */
#ifndef TESTS_SUPPORT_STATEMENTS_H
#define TESTS_SUPPORT_STATEMENTS_H

#include <pthread.h>

struct statement_seen {
    int runs;
    pthread_t thread; /* thread of the last run */
    int scanned;      /* rows of full table scans, … */
    int sorted;       /* … sorts, … */
    int indexed;      /* … and rows of automatic indexes, by all runs */
};

/* Measures connections that are opened later; call it from a test's configure function. */
void statements_watch(void);
/* Returns the measurements of the statement that contains this text. */
struct statement_seen statements_seen(const char *part);

#endif
