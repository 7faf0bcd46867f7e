/* message_orphans.c - one-time cleanup of rows whose message or reaction no longer exists. Earlier
 * program versions did not delete polls, votes and reactions together with their message. A
 * database migration schedules this job once. The job works in small steps: it reads the ids of
 * messages and reactions to which rows refer, and deletes the rows if the message or reaction does
 * not exist. */
#include "api/deletion.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "platform/guilds/internal.h"

/* SQL for one table whose rows refer to an owner (a message or a reaction): selects the next owner
 * id, checks whether the owner exists, and deletes a limited number of rows of an owner. */
struct orphan_table {
    struct sql next, owner, remove;
};

#define OWNED_BY(owner_, table, of, key)                                                         \
    {                                                                                            \
        &"select min(" of ") from " table " where " of " > $1",                                  \
            &"select 1 from " owner_ " where id = $1",                                           \
            &"delete from " table " where (" key ") in (select " key " from " table " where " of \
             " = $1 limit $2)"                                                                   \
    }

/* The table reactions precedes reaction_users, whose rows refer to reactions. Rows with message id
 * 0 are skipped here; the job in reactions/removal_job.c deletes them. */
static const struct orphan_table tables[] = {
    OWNED_BY("messages", "poll_votes", "message_id", "message_id, answer_id, user_id"),
    OWNED_BY("messages", "poll_voters", "message_id", "message_id, user_id"),
    OWNED_BY("messages", "poll_counts", "message_id", "message_id, answer_id, lane"),
    OWNED_BY("messages", "polls", "message_id", "message_id"),
    OWNED_BY("messages", "reactions", "message_id", "id"),
    OWNED_BY("messages", "reaction_lanes", "message_id", "message_id, lane"),
    OWNED_BY("reactions", "reaction_users", "reaction_id", "reaction_id, burst, user_id"),
};

/* Progress of the cleanup: done are all tables before `table`, and all owner ids up to `after`
 * in that table. */
struct orphans_cursor {
    size_t table;
    snowflake after;
    int64_t room; /* number of rows that this step may still read or delete */
};

/* *ret is the next message or reaction id to which rows refer; 0 if there is none. */
static enum err find_next_message_id_of_rows(struct tx *tx, const struct orphans_cursor *at,
                                             snowflake *ret)
{
    return tx_read_id(tx, tables[at->table].next, BIND(v_id(at->after)), ret);
}

/* Deletes rows that refer to a message or reaction that does not exist. If the step's limit is too
 * low for all rows, the next step continues with the same id. */
static enum err delete_rows_of_missing_message(struct tx *tx, struct orphans_cursor *at,
                                               snowflake id)
{
    bool found;
    int64_t gone = 0, most = at->room;
    enum err e = tx_exists(tx, tables[at->table].owner, BIND(v_id(id)), &found);

    if (!e && !found)
        e = tx_exec(tx, tables[at->table].remove, BIND(v_id(id), v_int(most)), &gone);
    if (gone < most)
        at->after = id;
    at->room -= gone + 1;
    return e;
}

static enum err delete_orphaned_row_batch(struct tx *tx, struct orphans_cursor *at)
{
    snowflake id;
    enum err e = OK;

    while (!e && at->table < COUNT_OF(tables) && at->room > 0) {
        e = find_next_message_id_of_rows(tx, at, &id);
        if (!e && id)
            e = delete_rows_of_missing_message(tx, at, id);
        else if (!e)
            *at = (struct orphans_cursor){ at->table + 1, 0, at->room - 1 };
    }
    return e;
}

/* Parses the job's data, which are two numbers: table index and owner id. */
static struct orphans_cursor parse_orphans_cursor(struct call *call, struct str data)
{
    struct list ids = json_column_decode_list(call->arena, &type_ids, data);
    const snowflake *id = ids.items;
    struct orphans_cursor at = { .room = DELETION_ROWS };

    if (ids.count == 2) {
        at.table = (size_t)id[0];
        at.after = id[1];
    }
    return at;
}

static enum err run_orphaned_message_rows_job(struct call *call, const struct job *job)
{
    struct orphans_cursor at = parse_orphans_cursor(call, job->data);
    enum err e = delete_orphaned_row_batch(call->tx, &at);
    snowflake ids[] = { at.table, at.after };
    struct list data = { .items = ids, .count = COUNT_OF(ids) };

    if (e || at.table >= COUNT_OF(tables))
        return e;
    return job_schedule(call, &message_orphans_job, job->key, clock_us(),
                        json_column_encode(call->arena, &type_ids, &data));
}

const struct job_kind message_orphans_job = {
    .name = "message-orphans",
    .doc = "Deletes polls, votes and reactions of messages that an earlier version deleted.",
    .run = run_orphaned_message_rows_job,
};
