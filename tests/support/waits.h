/* waits.h - waits for background work of a server. Durations depend on the load of the machine,
 * so tests wait for a condition and never for a time; the time limit is only for servers that
 * fail. */
#ifndef TESTS_WAITS_H
#define TESTS_WAITS_H

#include "world.h"

/* Waits until the condition is true; fails the test after a long time. */
#define expect_soon(condition)                           \
    for (int read_count = 0; !(condition); read_count++) \
    wait_on(__FILE__, __LINE__, #condition, read_count)

void wait_on(const char *file, int line, const char *condition, int read_step);

/* Waits until the server is idle: all due jobs are done, no call runs, and all events were
 * emitted. Later changes need a change of the clock. Steps that wait for another server are not
 * seen. */
void world_settle(struct world *w);

/* Waits until every loop has delivered all emitted events to its sessions. */
void world_received(struct world *w);

/* Returns the processor time of this process, including the server, in seconds. */
double processor_time(void);

#endif
