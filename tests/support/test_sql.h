/* test_sql.h - statements whose text a test makes at run time.
 *
 * The store caches prepared statements by the address of their text. A test may use text that it
 * made itself if that stays where it is, unchanged, until the store is closed. */
#ifndef TESTS_SUPPORT_TEST_SQL_H
#define TESTS_SUPPORT_TEST_SQL_H

#include "store/store.h"

static inline struct sql test_sql(const char *text)
{
    return (struct sql){ (const void *)text };
}

#endif
