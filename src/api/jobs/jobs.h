/* jobs.h - jobs: work that is scheduled for a time.
 *
 * A job is a row with a kind, a key and a due time. So a job survives a restart, and only one of
 * several nodes runs it. Each domain (feature folder) lists its kinds of jobs. */
#ifndef API_JOBS_H
#define API_JOBS_H

#include "api/call.h"

struct job {
    const struct job_kind *kind;
    snowflake key;
    int64_t due;     /* microseconds */
    struct str data; /* data that was passed to job_schedule */
    int64_t taken;   /* identifies this claim of the job, for job_renew_lease and job_finish */
};

struct job_kind {
    const char *name, *doc;
    /* Whether each node has its own job of this kind; the key of the job is the node number. Other
     * nodes run the job only if it is late. So nodes do not wait for the lock of one row. The job's
     * transaction is a STORE_APPEND. */
    bool per_node;
    /* Runs the job in a write transaction. The job is then deleted, unless run has scheduled it
     * again. After an error the transaction is rolled back and the job is retried a few seconds
     * later. */
    enum err (*run)(struct call *call, const struct job *job);
    /* Called instead of `run`, for jobs that are slow or send requests to other servers. Called on
     * a loop, without a transaction, and at most once within lease_ms. The work must end with an
     * internal call that calls job_finish or job_renew_lease; if the process dies, the job is
     * started again when the lease expires. job->data is valid only during the call of start. */
    void (*start)(struct api *api, struct loop *loop, const struct job *job);
    int64_t lease_ms;
};

/* Schedules a job for due_us. Replaces a scheduled job of the same kind and key. */
enum err job_schedule(struct call *call, const struct job_kind *kind, snowflake key, int64_t due_us,
                      struct str data);
/* Schedules a job without data. If the job is already scheduled for that time, writes nothing. */
enum err job_schedule_if_changed(struct call *call, const struct job_kind *kind, snowflake key,
                                 int64_t due_us);
/* Inserts a job outside of a call, for imports of data. If the job exists, changes nothing. */
enum err insert_job_row(struct tx *tx, const char *kind, snowflake key, int64_t due_us,
                        struct str data);
/* Deletes the scheduled job of this kind and key, if there is one. */
enum err job_cancel(struct call *call, const struct job_kind *kind, snowflake key);

/* job_renew_lease renews the lease of a running job that has a `start` function; job_finish deletes
 * the job. If the job was scheduled again meanwhile, both functions change nothing, so that it
 * starts again. job_renew_lease then sets *ret_held to false, and the running work should end. */
enum err job_renew_lease(struct call *call, const struct job *job, int64_t due_us, struct str data,
                         bool *ret_held);
enum err job_finish(struct call *call, const struct job *job);

#endif
