/* removal.c - removes emoji that may have many users. The emoji is detached from its message at
 * once, so that no query finds it. Its users are deleted in batches: the first in the same
 * transaction, the rest by a job. */
#include "platform/reactions/internal.h"

#include "api/deletion.h"
#include "base/clock.h"

static const char NEXT_GONE[] = "select id from reactions where message_id = 0 limit 1";
static const char DROP_USERS[] =
    "delete from reaction_users where (reaction_id, burst, user_id) in (select reaction_id, burst, "
    "user_id from reaction_users where reaction_id = $1 limit $2)";
static const char DROP_GONE[] = "delete from reactions where id = $1 and message_id = 0";

static enum err remove_some_users(struct call *call)
{
    int64_t room = DELETION_ROWS;
    bool found = true;
    enum err e = OK;

    while (!e && room > 0) {
        struct rows row;
        int64_t gone = 0;

        e = tx_one(call->tx, NEXT_GONE, NO_BIND, &row, &found);
        if (e || !found)
            return e;
        snowflake id = row_id(&row, 0);
        e = tx_exec(call->tx, DROP_USERS, BIND(v_id(id), v_int(room)), &gone);
        if (!e && gone < room)
            e = tx_exec(call->tx, DROP_GONE, BIND(v_id(id)), NULL);
        room -= gone + 1;
    }
    return e ? e : job_schedule(call, &reaction_leftovers, 0, clock_us(), STR(""));
}

static enum err run_leftovers(struct call *call, const struct job *job)
{
    (void)job;
    return remove_some_users(call);
}

const struct job_kind reaction_leftovers = {
    .name = "reaction-leftovers",
    .doc = "Deletes the users of reactions that were removed from a message.",
    .run = run_leftovers,
};

/* Condition for one emoji of a message, or for all ($2 = 0). */
#define THESE "message_id = $1 and (cast($2 as bigint) = 0 or id = $2)"
static const char MARK_GONE[] = "update reactions set message_id = 0 where " THESE;

static enum err users_remove(struct call *call, snowflake message_id, snowflake id)
{
    enum err e = tx_exec(call->tx, MARK_GONE, BIND(v_id(message_id), v_id(id)), NULL);

    return e ? e : remove_some_users(call);
}

enum err reactions_remove(struct call *call, const struct message *m, snowflake id)
{
    enum err e = reactions_take_off(call->tx, m, id);

    return e ? e : users_remove(call, m->id, id);
}

enum err reactions_go_with_message(struct call *call, const snowflake *message_id)
{
    enum err e = reaction_lanes_drop(call->tx, *message_id);

    return e ? e : users_remove(call, *message_id, 0);
}
