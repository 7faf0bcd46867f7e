/* clock.h - what time it is, for everything the interface can see.
 *
 * Wall clock (clock_us, clock_ms, clock_s): what is stored or shown, such as snowflakes and Date
 * headers. The operator, NTP or a board without a battery may step it in either direction.
 * Steady clock (clock_steady_ms): windows of rate limits and deadlines that never leave the
 * process; nothing steps it. Tests move both. How long something took is measured with
 * clock_mono. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Microseconds, milliseconds and seconds since 1970-01-01 UTC. */
int64_t clock_us(void);
int64_t clock_ms(void);
int64_t clock_s(void);

/* Milliseconds of a clock that is never stepped and counts while the machine sleeps. It means
 * nothing outside this process, and is never near 0. */
int64_t clock_steady_ms(void);

/* Nanoseconds of a clock that nobody moves. */
int64_t clock_mono(void);
/* Processor time of the calling thread, in nanoseconds: what others do does not count. */
int64_t clock_thread(void);

/* Moves both clocks of the whole process; clock_reset brings the real time back. */
void clock_advance(int64_t us);
/* Moves the wall clock alone, as somebody does who sets it. */
void clock_step(int64_t us);
/* At the beginning of the next second. From now on only clock_advance moves it, but for a
 * microsecond a look: what happens later is later. */
void clock_stop(void);
/* On from where it was stopped. */
void clock_go(void);
void clock_reset(void);
/* How far it was moved, in microseconds. */
int64_t clock_moved(void);

#endif
