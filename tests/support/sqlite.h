/* sqlite.h - creates an empty SQLite database for a test. Creating all tables takes longer than
 * most tests, so it is done once and then copied. */
#ifndef TESTS_SUPPORT_SQLITE_H
#define TESTS_SUPPORT_SQLITE_H

#include <stdbool.h>

/* Copies a database with all tables and no rows into a folder. */
bool test_sqlite_put(const char *folder);
void test_sqlite_end(void);

#endif
