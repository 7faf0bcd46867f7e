/* clock_check.c - decides whether the clock of this node is wrong. */
#include "cluster/clock_check.h"

static bool clock_offsets_are_near(int64_t a, int64_t b)
{
    return a - b <= CLOCK_OFFSET_MAX_MS && b - a <= CLOCK_OFFSET_MAX_MS;
}

bool node_clock_is_correct(int64_t offset_ms, const int64_t *others, size_t count)
{
    /* Number of clocks. `same`: clocks that agree with this node's clock. `all`: all known clocks,
     * including the clocks of this node and of the database. */
    size_t same = 1, all = count + 2;

    if (clock_offsets_are_near(offset_ms, 0))
        return true;
    for (size_t i = 0; i < count; i++)
        same += clock_offsets_are_near(offset_ms, others[i]);
    return same * 2 > all;
}

bool database_clock_jumped(const struct node_clock_check *w,
                           const struct database_clock_sample *now)
{
    const struct database_clock_sample *last = &w->last;
    int64_t passed = now->database_ms - last->database_ms;
    int64_t least = (now->before - last->after) / 1000000,
            most = (now->after - last->before) / 1000000;

    return last->after && (passed < least - CLOCK_JUMP_MS || passed > most + CLOCK_JUMP_MS);
}

void node_clock_check_record_sample(struct node_clock_check *w,
                                    const struct database_clock_sample *now, bool agrees)
{
    bool is_first = !w->last.after;

    w->last = *now;
    if (agrees) {
        w->off_since = 0;
        w->is_off = false;
        return;
    }
    if (!w->off_since)
        w->off_since = now->after;
    w->is_off |= is_first || now->after - w->off_since >= (int64_t)CLOCK_WRONG_AFTER_MS * 1000000;
}
