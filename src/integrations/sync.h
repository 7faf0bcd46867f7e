/* sync.h - the steps of a sync: what each does in its transaction. */
#ifndef INTEGRATIONS_SYNC_H
#define INTEGRATIONS_SYNC_H

#include "integrations/internal.h"

enum {
    SYNC_LEASE_MS = 30 * 1000, /* longer than any step, with all its tries */
    LONGEST_CURSOR = 512,
    /* What one step writes at most: each is a few milliseconds. */
    MOST_IDS = 100,
    MOST_CHANGES = 25, /* members */
    SWEEP = 500,
};

enum sync_stage { SYNC_BEGIN, SYNC_PAGES, SYNC_MEMBERS, SYNC_SWEEP, SYNC_END };

/* Where a sync is. Flat: it travels through errands, and as text through the job. */
struct sync {
    struct job job; /* without data; its key is the integration */
    enum sync_stage stage;
    int64_t round, pages;
    snowflake member; /* the last one that was looked at */
    char cursor[LONGEST_CURSOR + 1];
    enum platform platform;
    char account_id[4 * LONGEST_ACCOUNT_ID + 1];
    char secret[4 * LONGEST_SECRET + 1];
    int64_t subscribers; /* as they were counted at the end */
    bool gone;           /* nothing to go on with, or somebody else begins anew */
    bool failed;         /* the provider did not answer */
    bool refused;
};

/* From the text that the job's row has. */
void sync_read(struct str text, struct sync *ret);

/* Some of the ids that are still to be kept, the first at an offset. */
struct rest {
    size_t count, at;
};

/* The ids follow it, each with its NUL. A page is kept in several steps; the sync goes
 * on to the next one when nothing is left. */
struct sync_page {
    struct sync sync;
    size_t bytes;
    struct rest before, after; /* the step */
};

/* Members up to the last that was looked at, and those of them to change: asking for the
 * whole range again would hold up other writes in a large guild. */
struct member_range {
    struct sync sync;
    snowflake last;
    snowflake changes[MOST_CHANGES];
    size_t count;
    bool ended;
};

struct sweep {
    struct sync sync;
    int64_t swept;
};

/* Each runs as an errand whose data is the struct in its name; run_begin, run_count and run_end
 * have a struct sync. Where .gone is set afterwards there is nothing to go on with. */
enum err run_begin(struct call *call);
enum err run_page(struct call *call);
enum err run_scan(struct call *call); /* of a range; in a reading transaction */
enum err run_members(struct call *call);
enum err run_sweep(struct call *call);
enum err run_count(struct call *call); /* in a reading transaction: there may be very many */
enum err run_end(struct call *call);

#endif
