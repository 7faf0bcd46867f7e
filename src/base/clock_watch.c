/* clock_watch.c - detects a wall clock that is wrong. */
#include "base/clock_watch.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"

enum { STEP_MS = 5000, LOG_EVERY_MS = 60 * 1000, READ_WITHIN_MS = 1000 };

static _Atomic int64_t newest_ms; /* time in ms of the id that was the newest in the database when
                                   * the server started */
static _Atomic uint64_t steps;
/* Wall clock minus steady clock at the last check. Atomic, because a test runs several servers in
 * one process. */
static _Atomic int64_t ahead_ms;
static _Atomic int64_t log_again_ms; /* time on the steady clock, in ms, at which the next warning
                                      * may be logged */

static int64_t clock_lag_behind_newest_id_ms(void)
{
    int64_t newest = atomic_load(&newest_ms), made = snowflake_newest_ms();

    return (newest > made ? newest : made) - clock_ms();
}

/* Computes wall clock minus steady clock; returns false if reading both took so long that the
 * difference is inexact. */
static bool read_wall_minus_steady_clock(int64_t *ret)
{
    int64_t before = clock_steady_ms(), wall = clock_ms(), after = clock_steady_ms();

    *ret = wall - after;
    return after - before < READ_WITHIN_MS;
}

static bool clock_warning_is_due(void)
{
    int64_t now = clock_steady_ms();

    if (now < log_again_ms)
        return false;
    log_again_ms = now + LOG_EVERY_MS;
    return true;
}

static void warn_clock_is_behind(int64_t ms)
{
    log_warn("clock: the clock is %lld s behind the newest message or account, so new messages are "
             "listed before older ones; set the clock of this machine (timedatectl) and restart",
             (long long)ms / 1000);
}

void clock_watch_start(snowflake newest)
{
    int64_t behind = newest ? snowflake_to_ms(newest) - clock_ms() : 0;

    atomic_store(&newest_ms, newest ? snowflake_to_ms(newest) : 0);
    atomic_store(&steps, 0);
    log_again_ms = 0;
    int64_t apart;

    read_wall_minus_steady_clock(&apart);
    ahead_ms = apart;
    if (behind > CLOCK_BEHIND_MS)
        warn_clock_is_behind(behind);
    else if (behind >= 0 && newest)
        snowflake_set_minimum(newest);
}

void clock_watch_check(void)
{
    int64_t now, moved;

    if (!read_wall_minus_steady_clock(&now))
        return;
    moved = now - ahead_ms;
    ahead_ms = now;
    if (llabs(moved) <= STEP_MS)
        return;
    atomic_fetch_add(&steps, 1);
    if (!clock_warning_is_due())
        return;
    log_warn("clock: the clock of this machine was stepped %s by %lld s; let one NTP service "
             "(chrony, systemd-timesyncd) set it, which corrects it slowly",
             moved < 0 ? "back" : "forward", llabs(moved) / 1000);
    if (clock_lag_behind_newest_id_ms() > CLOCK_BEHIND_MS)
        warn_clock_is_behind(clock_lag_behind_newest_id_ms());
}

struct clock_health clock_watch_get_health(void)
{
    int64_t behind = clock_lag_behind_newest_id_ms();

    return (struct clock_health){ .behind_ms = behind > 0 ? behind : 0,
                                  .steps = atomic_load(&steps) };
}

const char *clock_watch_get_warning(void)
{
    return clock_lag_behind_newest_id_ms() > CLOCK_BEHIND_MS
               ? "The clock of the server is behind its newest message or account: new messages "
                 "are listed before older ones. Set the clock and restart."
               : NULL;
}
