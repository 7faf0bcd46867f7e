/* removal_job.c - removes emoji that may have many users. The emoji is removed from the message at
 * once, so that no query finds it. Rows of its users are deleted in steps: the first in the same
 * transaction, the rest by a job. */
#include "platform/reactions/internal.h"

#include "api/deletion.h"
#include "base/clock.h"

static const char NEXT_DETACHED[] = "select id from reactions where message_id = 0 limit 1";
static const char DELETE_USERS[] =
    "delete from reaction_users where (reaction_id, burst, user_id) in (select reaction_id, burst, "
    "user_id from reaction_users where reaction_id = $1 limit $2)";
static const char DELETE_DETACHED[] = "delete from reactions where id = $1 and message_id = 0";

static enum err delete_reaction_user_batch(struct call *call)
{
    int64_t room = DELETION_ROWS;
    bool found = true;
    enum err e = OK;

    while (!e && room > 0) {
        struct rows row;
        int64_t gone = 0;

        e = tx_one(call->tx, NEXT_DETACHED, NO_BIND, &row, &found);
        if (e || !found)
            return e;
        snowflake id = row_id(&row, 0);
        e = tx_exec(call->tx, DELETE_USERS, BIND(v_id(id), v_int(room)), &gone);
        if (!e && gone < room)
            e = tx_exec(call->tx, DELETE_DETACHED, BIND(v_id(id)), NULL);
        room -= gone + 1;
    }
    return e ? e : job_schedule(call, &reaction_users_delete_job, 0, clock_us(), STR(""));
}

static enum err run_reaction_users_delete_job(struct call *call, const struct job *job)
{
    (void)job;
    return delete_reaction_user_batch(call);
}

const struct job_kind reaction_users_delete_job = {
    .name = "reaction-leftovers",
    .doc = "Deletes the users of reactions that were removed from a message.",
    .run = run_reaction_users_delete_job,
};

/* SQL condition that selects the emoji $2 of the message $1, or all emoji if $2 is 0. */
#define THESE "message_id = $1 and (cast($2 as bigint) = 0 or id = $2)"
static const char DETACH_REACTIONS[] = "update reactions set message_id = 0 where " THESE;

static enum err detach_and_delete_reaction_users(struct call *call, snowflake message_id,
                                                 snowflake id)
{
    enum err e = tx_exec(call->tx, DETACH_REACTIONS, BIND(v_id(message_id), v_id(id)), NULL);

    return e ? e : delete_reaction_user_batch(call);
}

enum err reactions_remove_from_message(struct call *call, const struct message *m, snowflake id)
{
    enum err e = reactions_remove_counts(call->tx, m, id);

    return e ? e : detach_and_delete_reaction_users(call, m->id, id);
}

enum err reactions_delete_of_message(struct call *call, const snowflake *message_id)
{
    enum err e = reaction_count_shards_delete(call->tx, *message_id);

    return e ? e : detach_and_delete_reaction_users(call, *message_id, 0);
}
