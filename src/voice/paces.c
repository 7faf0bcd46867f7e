/* paces.c - rate limit of voice joins per account. */
#include "voice/paces.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

enum { MAX_JOINS = 10, WINDOW_MS = 10 * 1000 };

struct pace {
    snowflake user_id;
    int64_t since_ms;
    unsigned joins;
};

struct paces {
    bool limited;
    struct map accounts; /* struct pace by account */
};

static int64_t now_ms(void)
{
    return clock_mono() / 1000000;
}

struct paces *paces_new(bool limited)
{
    struct paces *p = mem_new(sizeof *p);

    p->limited = limited;
    map_init(&p->accounts);
    return p;
}

static struct pace *pace_of(struct paces *p, snowflake user_id)
{
    struct pace *pace = map_get(&p->accounts, user_id);

    if (!pace) {
        pace = mem_new(sizeof *pace);
        *pace = (struct pace){ .user_id = user_id, .since_ms = now_ms() };
        map_put(&p->accounts, user_id, pace);
    }
    return pace;
}

bool paces_admit(struct paces *p, snowflake user_id)
{
    if (!p->limited)
        return true;
    struct pace *pace = pace_of(p, user_id);
    if (now_ms() - pace->since_ms >= WINDOW_MS) {
        pace->since_ms = now_ms();
        pace->joins = 0;
    }
    if (pace->joins == MAX_JOINS)
        return false;
    pace->joins++;
    return true;
}

static void forget_before(struct paces *p, int64_t ms)
{
    struct pace **old = mem_new((p->accounts.count + 1) * sizeof *old);
    size_t at = 0, count = 0;

    for (struct pace *pace; (pace = map_next(&p->accounts, &at));)
        if (pace->since_ms <= ms)
            old[count++] = pace;
    for (size_t i = 0; i < count; i++) {
        map_remove(&p->accounts, old[i]->user_id);
        mem_free(old[i]);
    }
    mem_free(old);
}

void paces_forget(struct paces *p)
{
    forget_before(p, now_ms() - WINDOW_MS);
}

void paces_free(struct paces *p)
{
    forget_before(p, INT64_MAX);
    map_clear(&p->accounts);
    mem_free(p);
}
