/* unit.h - what every unit test includes before anything else. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"

/* A str against the text it should be. */
#define assert_str(actual, expected)                                   \
    do {                                                               \
        struct str assert_str_ = (actual);                             \
        assert_int_equal(assert_str_.n, strlen(expected));             \
        assert_memory_equal(assert_str_.p, (expected), assert_str_.n); \
    } while (0)

#endif
