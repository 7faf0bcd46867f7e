/* test_sql.h - SQL text that a test generates at run time. The store caches prepared statements
 * by the address of their text, so generated text must stay at its address, unchanged, until the
 * store is closed. */
#ifndef TESTS_SUPPORT_TEST_SQL_H
#define TESTS_SUPPORT_TEST_SQL_H

#include "store/store.h"

static inline struct sql test_sql(const char *text)
{
    return (struct sql){ (const void *)text };
}

#endif
