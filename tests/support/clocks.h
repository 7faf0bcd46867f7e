/* clocks.h - a clock that stands still, for tests of a moment that is about to come.
 *
 * A test that goes to a second before the end of something and looks again would come too late
 * on a busy machine, whose own seconds are added to those that the test adds. */
#ifndef TESTS_CLOCKS_H
#define TESTS_CLOCKS_H

#include "base/clock.h"
#include "guildhall.h"

/* For TEST_WITH. */
static inline void stop_clock(struct config *config)
{
    (void)config;
    clock_stop();
}

#endif
