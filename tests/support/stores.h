/* stores.h - opens an empty store for each test, and runs tests on both engines. */
#ifndef TESTS_SUPPORT_STORES_H
#define TESTS_SUPPORT_STORES_H

#include "unit/unit.h"

#include "store/store.h"

struct fixture {
    char folder[64];
    char *postgres; /* NULL: SQLite */
    struct store_options options;
    struct store *store; /* NULL once a test has closed it */
};

/* cmocka's set-up and clean-up: *state is a fixture with an open store. */
int fixture_open(void **state);
int fixture_close(void **state);

/* Frees the resources that fixtures share; returns its argument. */
int fixture_end(int failed);

/* Runs the tests on SQLite and, if available, on PostgreSQL; returns the number of failures. */
#define run_on_both(name, tests) \
    (run_on_sqlite(name " on sqlite", tests) + run_on_postgres(name " on postgres", tests))
#define run_on_sqlite(name, tests) \
    (fixture_choose(false), fixture_end(cmocka_run_group_tests_name(name, tests, NULL, NULL)))
#define run_on_postgres(name, tests) \
    (fixture_choose(true) ? fixture_end(cmocka_run_group_tests_name(name, tests, NULL, NULL)) : 0)

/* Chooses the engine of later fixtures; returns false if it is not available. */
bool fixture_choose(bool postgres);

#define store_test(f) cmocka_unit_test_setup_teardown(f, fixture_open, fixture_close)

/* Executes SQL without parameters or rows in its own transaction; the SQL must be a string
 * literal, because its address identifies it. */
enum err store_do(struct store *s, const char *sql);
/* Returns the first column of the only row as a number. */
int64_t store_number(struct store *s, const char *sql);

#endif
