/* admission.c - admits pending members to a guild. */
#include "base/clock.h"
#include "model/fields/ids.h"
#include "platform/join_requests/internal.h"

enum { ADMITTED_AT_ONCE = 20 }; /* members per step; each admission emits events to the guild */

enum err member_admit(struct call *call, struct member *m)
{
    m->pending = false;
    enum err e = member_save(call, m);

    return e ? e : hook_member_admitted(call, m);
}

static const char SOME_PENDING[] =
    "select user_id from members where guild_id = $1 and pending = 1 order by user_id limit $2";

static enum err admit_some(struct call *call, const struct job *job)
{
    struct member_form form;
    struct list pending;
    enum err e = member_form_find(call->tx, job->key, &form);

    if (e || form.enabled)
        return e == ERR_UNKNOWN_MEMBER_FORM ? OK : e;
    e = tx_ids(call->tx, SOME_PENDING, BIND(v_id(job->key), v_int(ADMITTED_AT_ONCE)), &pending);
    for (size_t i = 0; !e && i < pending.count; i++) {
        struct member m;

        e = member_find(call->tx, job->key, ((snowflake *)pending.items)[i], &m);
        if (!e)
            e = member_admit(call, &m);
    }
    if (e || pending.count < ADMITTED_AT_ONCE)
        return e;
    return job_schedule(call, &pending_admission, job->key, clock_us(), STR(""));
}

const struct job_kind pending_admission = {
    .name = "pending-admission",
    .doc = "Admits the pending members of a guild whose form was disabled.",
    .run = admit_some,
};
