/* postgres.h - an empty PostgreSQL for a test, when there is one to test with.
 *
 * scripts/with-postgres starts the server; a schema in it is as good as a
 * database of one's own and takes a millisecond to make. */
#ifndef TESTS_SUPPORT_POSTGRES_H
#define TESTS_SUPPORT_POSTGRES_H

#include <stdbool.h>

/* Whether GUILDHALL_TEST_POSTGRES names a server; prints SKIP when it does not. */
bool test_postgres_there(void);

/* A connection string for an empty schema. Ends the test when it cannot. */
char *test_postgres_new(void);
/* Drops the schema and frees the string. Accepts NULL. */
void test_postgres_free(char *where);

/* The same for tests that only use the tables: rows are deleted, tables stay for the
 * next that takes it. test_postgres_end lets go of them. */
char *test_postgres_take(void);
void test_postgres_give(char *where);
void test_postgres_end(void);

/* A connection string for a database of one's own, with its tables: a copy of one that was
 * made once, which takes a tenth of making them. */
char *test_postgres_copy(void);
/* Drops the database and frees the string. Accepts NULL. */
void test_postgres_drop(char *where);
void test_postgres_drop_model(void);

/* SQL on a connection that is not the store's; the first column of the first
 * row as a number, 0 when there is none. */
long test_postgres_do(const char *where, const char *sql);

#endif
