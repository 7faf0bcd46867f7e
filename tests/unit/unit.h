/* unit.h - the first include of every unit test. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"

/* Asserts that a str has the expected text. */
#define assert_str(actual, expected)                                   \
    do {                                                               \
        struct str assert_str_ = (actual);                             \
        assert_int_equal(assert_str_.n, strlen(expected));             \
        assert_memory_equal(assert_str_.p, (expected), assert_str_.n); \
    } while (0)

#endif
