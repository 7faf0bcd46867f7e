/* sync.h - state and steps of a sync, which copies an integration's subscribers from the provider
 * and updates the roles of members. Each step is one transaction. */
#ifndef INTEGRATIONS_SYNC_H
#define INTEGRATIONS_SYNC_H

#include "integrations/internal.h"

enum {
    SYNC_LEASE_MS = 30 * 1000, /* lease of the job; longer than any step with its retries */
    LONGEST_CURSOR = 512,
    /* Limits of one step of a sync, which takes a few milliseconds. */
    MOST_IDS = 100,
    MOST_CHANGES = 25, /* number of members */
    CLEANUP_ROWS_PER_STEP = 500,
};

enum integration_sync_stage { SYNC_BEGIN, SYNC_PAGES, SYNC_MEMBERS, SYNC_CLEANUP, SYNC_END };

/* Progress of a sync. Has no pointers, because each transaction gets a copy, and the job's row
 * stores it as text. */
struct sync_progress {
    struct job job; /* without data; key: integration id */
    enum integration_sync_stage stage;
    int64_t round, pages;
    snowflake member; /* the member that was processed last */
    char cursor[LONGEST_CURSOR + 1];
    enum platform platform;
    char account_id[4 * LONGEST_ACCOUNT_ID + 1];
    char secret[4 * LONGEST_SECRET + 1];
    int64_t subscribers; /* number of subscribers, counted in the last step of the sync */
    bool gone;           /* whether the integration was deleted, or a newer sync has started */
    bool failed;         /* the provider did not answer */
    bool refused;
};

/* Parses the progress from the text in the job's row. */
void parse_integration_sync_progress(struct str text, struct sync_progress *ret);

/* The ids in a page of subscribers that are not stored yet: how many, and the byte offset of the
 * first one. */
struct unstored_subscriber_ids {
    size_t count, at;
};

/* A page of subscribers. Their ids follow the struct in memory, each NUL-terminated. Several steps
 * store the ids of a page; after that, the next page is requested. */
struct subscriber_page {
    struct sync_progress sync;
    size_t bytes;
    /* Ids that are not stored yet, before and after this step. */
    struct unstored_subscriber_ids before, after;
};

/* A range of members that was scanned, and the members whose role must change. The write step reads
 * only these members, because a scan would delay other writes in a large guild. */
struct scanned_member_range {
    struct sync_progress sync;
    snowflake last;
    snowflake changes[MOST_CHANGES];
    size_t count;
    bool ended;
};

struct sync_cleanup {
    struct sync_progress sync;
    int64_t swept;
};

/* Steps of a sync, each of which is one transaction. Their data is a struct sync_progress, or a
 * struct that begins with it. If a step sets sync_progress.gone, the sync must end. */
enum err integration_sync_step_begin(struct call *call);
enum err integration_sync_step_store_subscriber_page(struct call *call);
enum err integration_sync_step_scan_members(
    struct call *call); /* scans a range of members, in a read transaction */
enum err integration_sync_step_change_members(struct call *call);
enum err integration_sync_step_cleanup(struct call *call);
enum err integration_sync_step_count_subscribers(
    struct call *call); /* counts subscribers, in a read transaction */
enum err integration_sync_step_end_sync(struct call *call);

#endif
