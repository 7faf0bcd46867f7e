/* hold.c - measures how long event loops and the SQLite writer are blocked, and by what. */
#include "base/hold.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"

enum {
    MS = 1000 * 1000,
    WORTH_NOTING = MS,
    RECORDS = 512, /* more than the number of routes, opcodes and other parts */
};

static struct {
    pthread_mutex_t lock;
    struct hold_record list[RECORDS];
    size_t count;
    int64_t recent_turn_ns; /* longest part of a loop iteration since the last hold_recent(true) */
} records = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int64_t limit_ns = (int64_t)HOLD_LIMIT_MS * MS;
static void (*report_over)(const struct hold_record *r);

static int64_t hold_now(void)
{
    return report_over ? clock_thread() : clock_mono();
}

/* --- records -------------------------------------------------------------------------- */

static struct hold_record *record_find(const char *kind, const char *part)
{
    for (size_t i = 0; i < records.count; i++) {
        struct hold_record *r = &records.list[i];

        if (strcmp(r->part, part) == 0 && strcmp(r->kind, kind) == 0)
            return r;
    }
    if (records.count == RECORDS)
        return NULL;
    records.list[records.count] = (struct hold_record){ .kind = kind, .part = part };
    return &records.list[records.count++];
}

static void record_note(const char *kind, const char *part, int64_t ns, bool over)
{
    pthread_mutex_lock(&records.lock);
    struct hold_record *r = record_find(kind, part);

    if (r && ns > r->longest_ns)
        r->longest_ns = ns;
    if (r)
        r->over += over;
    if (ns > records.recent_turn_ns && strcmp(kind, "turn") == 0)
        records.recent_turn_ns = ns;
    pthread_mutex_unlock(&records.lock);
}

void hold_each(void (*tell)(const struct hold_record *r, void *arg), void *arg)
{
    pthread_mutex_lock(&records.lock);
    for (size_t i = 0; i < records.count; i++)
        tell(&records.list[i], arg);
    pthread_mutex_unlock(&records.lock);
}

int64_t hold_recent(bool forget)
{
    pthread_mutex_lock(&records.lock);
    int64_t ns = records.recent_turn_ns;

    if (forget)
        records.recent_turn_ns = 0;
    pthread_mutex_unlock(&records.lock);
    return ns;
}

/* --- meters --------------------------------------------------------------------------- */

static const char *name_of(const char *part)
{
    return part ? part : "nameless";
}

static void part_ended(struct hold_meter *m, int64_t ns)
{
    m->held += ns;
    if (ns < WORTH_NOTING)
        return;
    record_note(m->kind, name_of(m->part), ns, false);
    if (ns > m->longest) {
        m->longest = ns;
        m->of = name_of(m->part);
    }
}

void hold_part(struct hold_meter *m, const char *part)
{
    int64_t now = hold_now();

    /* Without a part, a thread waits; if CPU time is measured, that time still counts as work. */
    if (m->part_at && (m->part || report_over))
        part_ended(m, now - m->part_at);
    m->part = part;
    m->part_at = now;
}

static void turn_was_long(struct hold_meter *m)
{
    struct hold_record r = { .kind = m->kind, .part = name_of(m->of), .longest_ns = m->held };
    int64_t now_s = clock_mono() / 1000 / MS;

    record_note(r.kind, r.part, 0, true);
    if (report_over) {
        report_over(&r);
        return;
    }
    /* Log at most one line per second. */
    if (m->told_at_s == now_s)
        return;
    m->told_at_s = now_s;
    log_warn("hold: a %s took %lld ms, most of it in %s (%lld ms)", m->kind,
             (long long)(m->held / MS), r.part, (long long)(m->longest / MS));
}

void hold_end(struct hold_meter *m)
{
    hold_part(m, NULL);
    if (m->held > limit_ns)
        turn_was_long(m);
    m->held = m->longest = 0;
    m->of = NULL;
}

void hold_rest(struct hold_meter *m)
{
    hold_end(m);
    m->part_at = 0;
}

void hold_watch(unsigned times, void (*over)(const struct hold_record *r))
{
    limit_ns = (int64_t)HOLD_LIMIT_MS * MS * (over ? times : 1);
    report_over = over;
}

void hold_forget(void)
{
    pthread_mutex_lock(&records.lock);
    records.count = 0;
    records.recent_turn_ns = 0;
    pthread_mutex_unlock(&records.lock);
}
