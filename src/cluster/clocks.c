/* clocks.c - decides whether the clock of this node is wrong. */
#include "cluster/clocks.h"

static bool is_near(int64_t a, int64_t b)
{
    return a - b <= OFFSET_MS && b - a <= OFFSET_MS;
}

bool clocks_agree(int64_t offset_ms, const int64_t *others, size_t count)
{
    size_t same = 1, all = count + 2; /* includes the clocks of this node and of the database */

    if (is_near(offset_ms, 0))
        return true;
    for (size_t i = 0; i < count; i++)
        same += is_near(offset_ms, others[i]);
    return same * 2 > all;
}

bool clocks_jumped(const struct clock_watch *w, const struct clock_look *now)
{
    const struct clock_look *last = &w->last;
    int64_t passed = now->database_ms - last->database_ms;
    int64_t least = (now->before - last->after) / 1000000,
            most = (now->after - last->before) / 1000000;

    return last->after && (passed < least - JUMP_MS || passed > most + JUMP_MS);
}

void clocks_note(struct clock_watch *w, const struct clock_look *now, bool agrees)
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
    w->is_off |= is_first || now->after - w->off_since >= (int64_t)OFF_AFTER_MS * 1000000;
}
