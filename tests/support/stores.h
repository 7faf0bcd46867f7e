/* stores.h - an empty store for each test, and the same tests for both engines. */
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

/* Lets go of what all fixtures share; returns what it was given. */
int fixture_end(int failed);

/* Runs the tests on SQLite and, when there is one, on PostgreSQL; returns how
 * many failed. */
#define run_on_both(name, tests) \
    (run_on_sqlite(name " on sqlite", tests) + run_on_postgres(name " on postgres", tests))
#define run_on_sqlite(name, tests) \
    (fixture_choose(false), fixture_end(cmocka_run_group_tests_name(name, tests, NULL, NULL)))
#define run_on_postgres(name, tests) \
    (fixture_choose(true) ? fixture_end(cmocka_run_group_tests_name(name, tests, NULL, NULL)) : 0)

/* The engine of the fixtures that follow; false when it is not there. */
bool fixture_choose(bool postgres);

#define store_test(f) cmocka_unit_test_setup_teardown(f, fixture_open, fixture_close)

/* SQL without parameters or rows, in a transaction of its own: a string literal, as its address
 * names it. */
enum err store_do(struct store *s, const char *sql);
/* The first column of the only row, as a number. */
int64_t store_number(struct store *s, const char *sql);

#endif
