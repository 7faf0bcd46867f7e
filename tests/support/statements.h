/* statements.h - what SQLite did for a statement of the server that runs in this process.
 *
 * On PostgreSQL nothing is ever seen. */
#ifndef TESTS_SUPPORT_STATEMENTS_H
#define TESTS_SUPPORT_STATEMENTS_H

#include <pthread.h>

struct statement_seen {
    int runs;
    pthread_t thread; /* of the last run */
    int scanned;      /* rows of tables that were looked through from end to end, … */
    int sorted;       /* … sorts, … */
    int indexed;      /* … and rows of indexes that were made for it, by all runs */
};

/* From now on, for connections that are opened later: from a test's configure. */
void statements_watch(void);
/* A statement that has this in its text, since then. */
struct statement_seen statements_seen(const char *part);

#endif
