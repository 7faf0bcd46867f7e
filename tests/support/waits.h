/* waits.h - waiting for what a server does by itself.
 *
 * How long something takes depends on how busy the machine is, so tests wait for a condition
 * and never for a time. The end of such a wait is only for servers that do not do it at all. */
#ifndef TESTS_WAITS_H
#define TESTS_WAITS_H

#include "world.h"

/* Waits until it holds; fails the test when it does not for a long time. */
#define expect_soon(condition)                           \
    for (int look_count = 0; !(condition); look_count++) \
    wait_on(__FILE__, __LINE__, #condition, look_count)

void wait_on(const char *file, int line, const char *condition, int look);

/* Waits until the server is at rest: the jobs that are due are done, no call runs, and all
 * that they announced is told. What then has not happened does not happen by itself before
 * the clock moves. Steps that wait for another server are not seen. */
void world_settle(struct world *w);

/* Waits until every loop has told its sessions all that was announced so far. */
void world_told(struct world *w);

/* Seconds that this process has computed for, the server in it too. */
double processor_time(void);

#endif
