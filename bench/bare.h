/* bare.h - reports the cost of the bare insert programs. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/clock.h"

struct bare_time {
    int64_t cpu, began;
};

static inline int64_t bare_cpu_ns(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * INT64_C(1000000000) +
           (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * INT64_C(1000);
}

static inline struct bare_time bare_begin(void)
{
    return (struct bare_time){ bare_cpu_ns(), clock_monotonic_ns() };
}

/* Prints the result as one line of JSON. */
static inline void bare_report(const struct bare_time *since, int64_t messages)
{
    printf("{\"messages\":%" PRId64 ",\"cpu_ns\":%" PRId64 ",\"per_second\":%.1f}\n", messages,
           bare_cpu_ns() - since->cpu,
           (double)messages * 1e9 / (double)(clock_monotonic_ns() - since->began));
}

#endif
