/* postgres.h - an empty PostgreSQL schema for a test, if a server is available.
 * scripts/with-postgres starts the server; a schema is as good as a separate database and is
 * created in a millisecond. */
#ifndef TESTS_SUPPORT_POSTGRES_H
#define TESTS_SUPPORT_POSTGRES_H

#include <stdbool.h>

/* Returns whether GUILDHALL_TEST_POSTGRES names a server; prints SKIP if not. */
bool test_postgres_there(void);

/* Returns a connection string for an empty schema. Ends the test on failure. */
char *test_postgres_new(void);
/* Drops the schema and frees the string. Accepts NULL. */
void test_postgres_free(char *where);

/* Returns a connection string for a schema with tables that tests reuse: only rows are deleted.
 * test_postgres_end drops it. */
char *test_postgres_take(void);
void test_postgres_give(char *where);
void test_postgres_end(void);

/* Returns a connection string for a separate database with tables: a copy of a template, which
 * takes a tenth of the time. */
char *test_postgres_copy(void);
/* Drops the database and frees the string. Accepts NULL. */
void test_postgres_drop(char *where);
void test_postgres_drop_model(void);

/* Executes SQL on a separate connection; returns the first column of the first row as a number,
 * or 0 without rows. */
long test_postgres_do(const char *where, const char *sql);

#endif
