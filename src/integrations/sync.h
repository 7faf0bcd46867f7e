/* sync.h - the steps of a sync: what each does in its transaction. */
#ifndef INTEGRATIONS_SYNC_H
#define INTEGRATIONS_SYNC_H

#include "integrations/internal.h"

enum {
    SYNC_LEASE_MS = 30 * 1000, /* longer than any step, with all its tries */
    LONGEST_CURSOR = 512,
    SWEEP = 500
};

enum sync_stage { SYNC_BEGIN, SYNC_PAGES, SYNC_MEMBERS, SYNC_SWEEP, SYNC_END };

/* Where a sync is. Flat: it travels through errands, and as text through the job. */
struct sync {
    snowflake id;
    enum sync_stage stage;
    int64_t round, pages;
    snowflake member; /* the last one that was looked at */
    char cursor[LONGEST_CURSOR + 1];
    enum platform platform;
    char account_id[4 * LONGEST_ACCOUNT_ID + 1];
    char secret[1024];
    bool gone;   /* nothing to go on with */
    bool failed; /* the provider did not answer */
    bool refused;
};

/* From the text that the job's row has. */
void sync_read(struct str text, struct sync *ret);

/* The ids follow the sync, each with its NUL. */
struct page {
    struct sync sync;
    size_t count, bytes;
};

/* A range of members: up to the last that was looked at, or the last that fits a step. */
struct range {
    struct sync sync;
    snowflake last;
    bool changes, ended;
};

struct sweep {
    struct sync sync;
    int64_t swept;
};

/* Each runs as an errand whose data is the struct in its name; run_begin and run_end have a
 * struct sync. Where .gone is set afterwards there is nothing to go on with. */
enum err run_begin(struct call *call);
enum err run_page(struct call *call);
enum err run_scan(struct call *call); /* of a range; in a reading transaction */
enum err run_members(struct call *call);
enum err run_sweep(struct call *call);
enum err run_end(struct call *call);

#endif
