/* clocks.h - a clock that goes, for tests of what happens by itself.
 *
 * In other worlds it stands still, and only world_wait() moves it. */
#ifndef TESTS_CLOCKS_H
#define TESTS_CLOCKS_H

#include "base/clock.h"
#include "guildhall.h"

/* For TEST_WITH. */
static inline void let_clock_go(struct config *config)
{
    (void)config;
    clock_go();
}

#endif
