/* clocks.h - whether this server's clock is wrong, or the database's.
 *
 * A server is not ready while its clock is off. Agreeing with the database is enough. One that does
 * not may still be right, as the database's clock may have been set, or a standby with another one
 * have taken over, and then no server would be ready: so it is right as well with most of all
 * clocks that are known, the database's among them. One look proves nothing, as what others said
 * was perhaps said before the clock was set. */
#ifndef CLUSTER_CLOCKS_H
#define CLUSTER_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OFFSET_MS = 250,     /* between two clocks: more than networks explain */
    OFF_AFTER_MS = 3000, /* for so long every look says so, before it counts */
    JUMP_MS = 1000,      /* of the database's clock between two looks at it */
};

/* A look at the database's clock, which was somewhere between the two times (clock_mono). */
struct clock_look {
    int64_t before, after, database_ms;
};

struct clock_watch {
    struct clock_look last; /* after == 0: there was none */
    int64_t off_since;      /* by clock_mono; 0: it was right */
    bool is_off;
};

/* offset_ms: by so much this clock is ahead of the database's; the others' are the same for each
 * other server that lives. */
bool clocks_agree(int64_t offset_ms, const int64_t *others, size_t count);
/* Whether the database's clock was set since the last look at it. */
bool clocks_jumped(const struct clock_watch *w, const struct clock_look *now);
/* Takes the look down. agrees: what clocks_agree said at it. What the first one says counts at
 * once. */
void clocks_note(struct clock_watch *w, const struct clock_look *now, bool agrees);

#endif
