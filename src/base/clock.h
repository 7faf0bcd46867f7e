/* clock.h - wall clock, steady clock and CPU time. Tests can move the wall clock and the steady
 * clock.
 *
 * Wall clock (clock_us, clock_ms, clock_s): for times that are stored or shown, such as snowflakes
 * and Date headers. The operator, NTP or a machine without a battery may step it in both
 * directions. Steady clock (clock_steady_ms): for rate-limit windows and deadlines inside the
 * process; only clock_advance_wall_and_monotonic can step it. Measure durations with
 * clock_monotonic_ns.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Return the wall clock in microseconds, milliseconds and seconds since 1970-01-01 UTC. */
int64_t clock_us(void);
int64_t clock_ms(void);
int64_t clock_s(void);

/* Returns the milliseconds of a clock that is never stepped and continues during system suspend.
 * The value has no meaning outside this process; it is never near 0. */
int64_t clock_steady_ms(void);

/* Returns a monotonic clock in nanoseconds, which tests cannot move. */
int64_t clock_monotonic_ns(void);
int64_t clock_thread_cpu_ns(void);

/* Adds `us` microseconds to the wall clock and the steady clock of the process;
 * clock_restore_real_time restores the real time. */
void clock_advance_wall_and_monotonic(int64_t us);
/* Adds `us` microseconds to the wall clock only, as if the operator or NTP had stepped it. */
void clock_step_wall_clock(int64_t us);
/* Stops both clocks at the start of the next second. From then on only
 * clock_advance_wall_and_monotonic moves them, and each read adds 1 µs, so that later events have
 * later times. */
void clock_stop_wall_and_monotonic(void);
/* Lets the clocks run again, from the time at which they were stopped. */
void clock_restart_wall_and_monotonic(void);
void clock_restore_real_time(void);
int64_t clock_wall_offset_us(void);

#endif
