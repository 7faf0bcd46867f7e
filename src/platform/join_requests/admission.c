/* admission.c - admits pending members to a guild. */
#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/join_requests/internal.h"

/* Members admitted per step; each admission emits events to the guild. */
enum { ADMISSIONS_PER_STEP = 20 };

enum err admit_pending_member(struct call *call, struct member *m)
{
    m->pending = false;
    enum err e = member_update_and_emit(call, m);

    return e ? e : hook_member_admitted(call, m);
}

static const char SOME_PENDING[] =
    "select user_id from members where guild_id = $1 and pending = 1 order by user_id limit $2";

static enum err run_pending_admission_job(struct call *call, const struct job *job)
{
    struct member_form form;
    struct list pending;
    enum err e = member_form_find(call->tx, job->key, &form);

    if (e || form.enabled)
        return e == ERR_UNKNOWN_MEMBER_FORM ? OK : e;
    e = tx_read_ids(call->tx, SOME_PENDING, BIND(v_id(job->key), v_int(ADMISSIONS_PER_STEP)),
                    &pending);
    for (size_t i = 0; !e && i < pending.count; i++) {
        struct member m;

        e = member_find(call->tx, job->key, ((snowflake *)pending.items)[i], &m);
        if (!e)
            e = admit_pending_member(call, &m);
    }
    if (e || pending.count < ADMISSIONS_PER_STEP)
        return e;
    return job_schedule(call, &pending_admission_job, job->key, clock_us(), STR(""));
}

const struct job_kind pending_admission_job = {
    .name = "pending-admission",
    .doc = "Admits the pending members of a guild whose form was disabled.",
    .run = run_pending_admission_job,
};
