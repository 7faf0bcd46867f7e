/* stall_meter.c - measures how long event loops and the SQLite writer are blocked, and by what. */
#include "base/stall_meter.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"

enum {
    MS = 1000 * 1000,
    MIN_RECORDED_NS = MS,
    MAX_RECORDS = 512, /* maximum number of different parts of the work (routes, gateway opcodes and
                        * others) */
};

static struct {
    pthread_mutex_t lock;
    struct stall_record list[MAX_RECORDS];
    size_t count;
    int64_t recent_turn_ns; /* duration in ns of the longest part of a loop iteration since the last
                             * call of stall_longest_part_ns(true) */
} records = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t limit_ns = (int64_t)STALL_LIMIT_MS * MS;
static void (*report_over)(const struct stall_record *r);

static int64_t stall_clock_ns(void)
{
    return report_over ? clock_thread_cpu_ns() : clock_monotonic_ns();
}

static struct stall_record *stall_record_find_or_add(const char *kind, const char *part)
{
    for (size_t i = 0; i < records.count; i++) {
        struct stall_record *r = &records.list[i];

        if (strcmp(r->part, part) == 0 && strcmp(r->kind, kind) == 0)
            return r;
    }
    if (records.count == MAX_RECORDS)
        return NULL;
    records.list[records.count] = (struct stall_record){ .kind = kind, .part = part };
    return &records.list[records.count++];
}

static void stall_record_update(const char *kind, const char *part, int64_t ns, bool over)
{
    pthread_mutex_lock(&records.lock);
    struct stall_record *r = stall_record_find_or_add(kind, part);

    if (r && ns > r->longest_ns)
        r->longest_ns = ns;
    if (r)
        r->over += over;
    if (ns > records.recent_turn_ns && strcmp(kind, "turn") == 0)
        records.recent_turn_ns = ns;
    pthread_mutex_unlock(&records.lock);
}

void stall_records_visit(void (*each)(const struct stall_record *r, void *arg), void *arg)
{
    pthread_mutex_lock(&records.lock);
    for (size_t i = 0; i < records.count; i++)
        each(&records.list[i], arg);
    pthread_mutex_unlock(&records.lock);
}

int64_t stall_longest_part_ns(bool reset)
{
    pthread_mutex_lock(&records.lock);
    int64_t ns = records.recent_turn_ns;

    if (reset)
        records.recent_turn_ns = 0;
    pthread_mutex_unlock(&records.lock);
    return ns;
}

static const char *activity_name_or_default(const char *part)
{
    return part ? part : "nameless";
}

static void add_activity_duration(struct stall_meter *m, int64_t ns)
{
    m->total += ns;
    if (ns < MIN_RECORDED_NS)
        return;
    stall_record_update(m->kind, activity_name_or_default(m->part), ns, false);
    if (ns > m->longest) {
        m->longest = ns;
        m->longest_part = activity_name_or_default(m->part);
    }
}

void stall_meter_begin_measuring_activity(struct stall_meter *m, const char *part)
{
    int64_t now = stall_clock_ns();

    /* Time without the name of a part is time in which the thread waited. In test mode
     * (report_over) it is also measured, because meters then measure CPU time, which does not pass
     * while waiting. */
    if (m->part_at && (m->part || report_over))
        add_activity_duration(m, now - m->part_at);
    m->part = part;
    m->part_at = now;
}

static void report_long_iteration(struct stall_meter *m)
{
    struct stall_record r = { .kind = m->kind,
                              .part = activity_name_or_default(m->longest_part),
                              .longest_ns = m->total };
    int64_t now_s = clock_monotonic_ns() / 1000 / MS;

    stall_record_update(r.kind, r.part, 0, true);
    if (report_over) {
        report_over(&r);
        return;
    }
    /* Log at most one slow iteration per second. */
    if (m->logged_at_s == now_s)
        return;
    m->logged_at_s = now_s;
    log_warn("stall: a %s blocked its thread for %lld ms; its longest part was %s (%lld ms)",
             m->kind, (long long)(m->total / MS), r.part, (long long)(m->longest / MS));
}

void stall_meter_end_iteration(struct stall_meter *m)
{
    stall_meter_begin_measuring_activity(m, NULL);
    if (m->total > limit_ns)
        report_long_iteration(m);
    m->total = m->longest = 0;
    m->longest_part = NULL;
}

void stall_meter_pause(struct stall_meter *m)
{
    stall_meter_end_iteration(m);
    m->part_at = 0;
}

void stall_meter_set_test_mode(unsigned times, void (*over)(const struct stall_record *r))
{
    limit_ns = (int64_t)STALL_LIMIT_MS * MS * (over ? times : 1);
    report_over = over;
}

void stall_records_clear(void)
{
    pthread_mutex_lock(&records.lock);
    records.count = 0;
    records.recent_turn_ns = 0;
    pthread_mutex_unlock(&records.lock);
}
