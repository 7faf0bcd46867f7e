/* sqlite.h - an empty SQLite database for a test.
 *
 * Making all tables takes longer than most tests: it is done once, and then copied. */
#ifndef TESTS_SUPPORT_SQLITE_H
#define TESTS_SUPPORT_SQLITE_H

#include <stdbool.h>

/* Puts a database with every table and no row into a folder that has none. */
bool test_sqlite_put(const char *folder);
void test_sqlite_end(void);

#endif
