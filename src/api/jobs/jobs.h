/* jobs.h - what happens by itself, at its time.
 *
 * A job is a row: a kind, a key, when it is due. So it survives the process, and of
 * several processes on one database only one runs it. Domains list their kinds. */
#ifndef API_JOBS_H
#define API_JOBS_H

#include "api/call.h"

struct job {
    const struct job_kind *kind;
    snowflake key;
    int64_t due;     /* microseconds */
    struct str data; /* what job_schedule was given */
    int64_t taken;   /* the number of this taking, for job_renew and job_finish */
};

struct job_kind {
    const char *name, *doc;
    /* In a write transaction. The job is gone afterwards unless run schedules it anew;
     * after an error nothing has happened and it is tried again a little later. */
    enum err (*run)(struct call *call, const struct job *job);
    /* Or, for what takes long or asks other servers: on a loop, outside of transactions,
     * at most once within lease_ms. It ends with an errand that finishes the job or
     * renews it for later; a job whose process died is started again after the lease. The
     * job's data is valid during the call only. */
    void (*start)(struct api *api, struct loop *loop, const struct job *job);
    int64_t lease_ms;
};

/* At `due`, or soon after. Replaces the job of that kind with the same key. */
enum err job_schedule(struct call *call, const struct job_kind *kind, snowflake key, int64_t due_us,
                      struct str data);
/* The same for one without data that many ask for: at this time it may be there already. */
enum err job_see_to(struct call *call, const struct job_kind *kind, snowflake key, int64_t due_us);
/* Fine when there is none. */
enum err job_cancel(struct call *call, const struct job_kind *kind, snowflake key);

/* For what start began. Somebody may schedule the job anew meanwhile, because the world is
 * another than the one that was looked at: then these leave it alone, so that it is started
 * again; job_renew says that it is not held any more, and what was begun should end. */
enum err job_renew(struct call *call, const struct job *job, int64_t due_us, struct str data,
                   bool *ret_held);
enum err job_finish(struct call *call, const struct job *job);

#endif
