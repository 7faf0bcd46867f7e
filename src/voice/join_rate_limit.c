/* join_rate_limit.c - rate limit of voice joins per account. */
#include "voice/join_rate_limit.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

enum { MAX_JOINS = 10, WINDOW_MS = 10 * 1000 };

struct account_joins {
    snowflake user_id;
    int64_t since_ms;
    unsigned joins;
};

struct join_rate_limit {
    bool limited;
    struct map accounts; /* struct account_joins by account */
};

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

struct join_rate_limit *voice_join_rate_limit_new(bool limited)
{
    struct join_rate_limit *p = mem_new(sizeof *p);

    p->limited = limited;
    map_init(&p->accounts);
    return p;
}

static struct account_joins *account_joins_get_or_create(struct join_rate_limit *p,
                                                         snowflake user_id)
{
    struct account_joins *pace = map_find_value(&p->accounts, user_id);

    if (!pace) {
        pace = mem_new(sizeof *pace);
        *pace = (struct account_joins){ .user_id = user_id, .since_ms = now_ms() };
        map_set_value(&p->accounts, user_id, pace);
    }
    return pace;
}

bool voice_join_rate_limit_allows(struct join_rate_limit *p, snowflake user_id)
{
    if (!p->limited)
        return true;
    struct account_joins *pace = account_joins_get_or_create(p, user_id);
    if (now_ms() - pace->since_ms >= WINDOW_MS) {
        pace->since_ms = now_ms();
        pace->joins = 0;
    }
    if (pace->joins == MAX_JOINS)
        return false;
    pace->joins++;
    return true;
}

static void remove_account_joins_before(struct join_rate_limit *p, int64_t ms)
{
    struct account_joins **old = mem_new((p->accounts.count + 1) * sizeof *old);
    size_t at = 0, count = 0;

    for (struct account_joins *pace; (pace = map_next_value(&p->accounts, &at));)
        if (pace->since_ms <= ms)
            old[count++] = pace;
    for (size_t i = 0; i < count; i++) {
        map_remove_value(&p->accounts, old[i]->user_id);
        mem_free(old[i]);
    }
    mem_free(old);
}

void voice_join_rate_limit_remove_expired(struct join_rate_limit *p)
{
    remove_account_joins_before(p, now_ms() - WINDOW_MS);
}

void voice_join_rate_limit_free(struct join_rate_limit *p)
{
    remove_account_joins_before(p, INT64_MAX);
    map_clear(&p->accounts);
    mem_free(p);
}
