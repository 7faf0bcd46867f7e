/* leftovers.c - what hangs on a guild, a channel or a role, removed in steps. */
#include "platform/guilds/leftovers.h"

#include "api/hooks.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/ids.h"
#include "platform/guilds/leftovers_rows.h"

/* --- one step ------------------------------------------------------------------------- */

enum {
    ROWS_OF_STATEMENT = 20,
    ROWS_OF_NOTHING = 24,      /* what a channel without any rows is counted for */
    STEP_NS = 4 * 1000 * 1000, /* a step ends here, however few rows it has removed */
};

/* What a step may still do. No room left: there may be more to remove. */
struct leftovers_step {
    int64_t room;  /* rows */
    int64_t until; /* clock_thread: on PostgreSQL nobody waits, and it hardly moves */
};

static struct leftovers_step step_begin(void)
{
    return (struct leftovers_step){ LEFTOVERS_AT_ONCE, clock_thread() + STEP_NS };
}

/* Rows differ a hundredfold in what they cost, so the time counts as well as their number. */
static void step_count(struct leftovers_step *step, int64_t rows)
{
    step->room -= rows;
    if (clock_thread() > step->until)
        step->room = 0;
}

static int64_t step_portion(const struct leftovers_step *step)
{
    return step->room < ROWS_OF_STATEMENT ? step->room : ROWS_OF_STATEMENT;
}

static enum err remove_some(struct call *call, const struct leftovers *l, snowflake id,
                            int64_t portion, int64_t *ret_gone)
{
    const struct value values[] = { v_id(id), v_int(portion) };
    int64_t marked = 0;
    enum err e = OK;

    *ret_gone = 0;
    if (l->mark.text)
        e = tx_exec(call->tx, l->mark, values, 2, &marked);
    if (marked)
        call_dropped_blobs(call);
    return e || !l->remove.text ? e : tx_exec(call->tx, l->remove, values, 2, ret_gone);
}

static enum err remove_rows(struct call *call, const struct leftovers *l, snowflake id,
                            struct leftovers_step *step)
{
    enum err e = OK;

    while (!e && step->room > 0 && (l->mark.text || l->remove.text)) {
        int64_t portion = step_portion(step), gone;

        e = remove_some(call, l, id, portion, &gone);
        step_count(step, gone);
        if (gone < portion)
            l++;
    }
    return e;
}

static enum err next_of(struct tx *tx, struct sql sql, snowflake id, snowflake *ret,
                        bool *ret_found)
{
    struct rows row;
    enum err e = tx_one(tx, sql, BIND(v_id(id)), &row, ret_found);

    if (!e && *ret_found)
        *ret = row_id(&row, 0);
    return e;
}

/* A few at a time, and before them what hangs on them. Its rows were looked for with at least as
 * large a portion, so that none of them is left without its message. */
static enum err remove_messages(struct call *call, snowflake id, struct leftovers_step *step)
{
    int64_t portion = 0, gone = 0;
    enum err e = OK;

    while (!e && step->room > 0 && gone == portion) {
        e = remove_rows(call, leftovers_of_messages, id, step);
        if (e || step->room <= 0)
            return e;
        portion = step_portion(step);
        e = remove_some(call, &leftovers_messages, id, portion, &gone);
        step_count(step, gone);
    }
    return e;
}

static enum err remove_channel_rows(struct call *call, snowflake id, struct leftovers_step *step)
{
    enum err e = remove_rows(call, leftovers_before_messages, id, step);

    if (!e)
        e = remove_messages(call, id, step);
    return e ? e : remove_rows(call, leftovers_after_messages, id, step);
}

static enum err remove_channels(struct call *call, struct sql next, snowflake id,
                                struct leftovers_step *step)
{
    snowflake channel_id;
    bool found = true;
    enum err e = OK;

    while (!e && found && step->room > 0) {
        e = next_of(call->tx, next, id, &channel_id, &found);
        if (!e && found)
            e = remove_channel_rows(call, channel_id, step);
        /* Looking for rows where there are none takes time as well. */
        step_count(step, ROWS_OF_NOTHING);
    }
    return e;
}

static const char THREAD_OF_CHANNEL[] = "select id from channels where parent_id = $1 limit 1";

static enum err step_channel(struct call *call, snowflake id)
{
    struct leftovers_step step = step_begin();
    enum err e = remove_channels(call, SQL(THREAD_OF_CHANNEL), id, &step);

    if (!e)
        e = remove_channel_rows(call, id, &step);
    return e || step.room > 0 ? e : job_schedule(call, &channel_leftovers, id, clock_us(), STR(""));
}

static const char MEMBERS_NEXT[] =
    "select user_id from members where guild_id = $1 order by user_id limit $2";

static enum err tell_members_go(struct call *call, snowflake guild_id, int64_t count)
{
    struct list users = { 0 };
    struct rows rows;
    enum err e = tx_query(call->tx, MEMBERS_NEXT, BIND(v_id(guild_id), v_int(count)), &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        ids_add(call->arena, &users, row_id(&rows, 0));
    e = rows_end(&rows);
    for (size_t i = 0; !e && i < users.count; i++)
        e = hook_membership_moves(
            call,
            &(struct member){ .guild_id = guild_id, .user_id = ((snowflake *)users.items)[i] });
    return e;
}

static const char CHANNEL_OF_GUILD[] = "select id from channels where guild_id = $1 limit 1";

/* Those who are told are those whose rows go. */
static enum err remove_members(struct call *call, snowflake id, struct leftovers_step *step)
{
    int64_t portion = 0, gone = 0;
    enum err e = OK;

    while (!e && step->room > 0 && gone == portion) {
        portion = step_portion(step);
        e = tell_members_go(call, id, portion);
        for (const struct leftovers *l = leftovers_of_members; !e && l->mark.text; l++)
            e = remove_some(call, l, id, portion, &gone);
        step_count(step, gone);
    }
    return e;
}

static enum err step_guild(struct call *call, snowflake id)
{
    struct leftovers_step step = step_begin();
    enum err e = remove_rows(call, leftovers_roles_of_members, id, &step);

    if (!e)
        e = remove_members(call, id, &step);
    if (!e)
        e = remove_channels(call, SQL(CHANNEL_OF_GUILD), id, &step);
    if (!e)
        e = remove_rows(call, leftovers_of_guild, id, &step);
    return e || step.room > 0 ? e : job_schedule(call, &guild_leftovers, id, clock_us(), STR(""));
}

static enum err step_role(struct call *call, snowflake id)
{
    struct leftovers_step step = step_begin();
    enum err e = remove_rows(call, leftovers_of_role, id, &step);

    return e || step.room > 0 ? e : job_schedule(call, &role_leftovers, id, clock_us(), STR(""));
}

/* --- marks ---------------------------------------------------------------------------- */

static const char MARK_CHANNEL[] =
    "update channels set type = -1, guild_id = null, parent_id = null where id = $1";

/* Archived threads are found through their channel only. The open ones of a guild are few,
 * the archived ones of a channel may be many. */
static const char MARK_THREADS[] =
    "update channels set type = -1, guild_id = null where guild_id = "
    "(select guild_id from channels where id = $1) and thread_archived = 0 and +parent_id = $1";

enum err channel_remove(struct call *call, snowflake id)
{
    enum err e = tx_exec(call->tx, MARK_THREADS, BIND(v_id(id)), NULL);

    if (!e)
        e = tx_exec(call->tx, MARK_CHANNEL, BIND(v_id(id)), NULL);
    if (!e)
        e = hook_channel_gone(call, id);
    return e ? e : step_channel(call, id);
}

/* A marked role gives no right, and no bot or integration finds it as its own. */
static const char MARK_ROLE[] =
    "update roles set position = -1, permissions = 0, hoist = 0, managed = 0, bot_id = null, "
    "integration_id = null where id = $1";

enum err role_remove(struct call *call, snowflake id)
{
    enum err e = tx_exec(call->tx, MARK_ROLE, BIND(v_id(id)), NULL);

    return e ? e : step_role(call, id);
}

static const char MARK_GUILD[] = "update guilds set removed = 1, vanity_code = null where id = $1";
/* Threads are found through their channels. */
static const char MARK_CHANNELS[] = "update channels set type = -1 where guild_id = $1 and "
                                    "thread_archived = 0 and not type between 10 and 12";
/* Those of apps tell the indexes of the members' own channels what changes in them. */
static const char MARK_INTEGRATIONS[] =
    "update integrations set type = 'removed', account_id = null, enabled = 0 "
    "where guild_id = $1 and type <> 'service'";

enum err guild_remove(struct call *call, snowflake id)
{
    enum err e = tx_exec(call->tx, MARK_GUILD, BIND(v_id(id)), NULL);

    if (!e)
        e = tx_exec(call->tx, MARK_CHANNELS, BIND(v_id(id)), NULL);
    if (!e)
        e = tx_exec(call->tx, MARK_INTEGRATIONS, BIND(v_id(id)), NULL);
    return e ? e : step_guild(call, id);
}

/* --- jobs ----------------------------------------------------------------------------- */

static const char IS_CHANNEL[] = "select id from channels where id = $1 and type = -1";
static const char IS_GUILD[] = "select id from guilds where id = $1 and removed = 1";

static enum err run_channel(struct call *call, const struct job *job)
{
    snowflake id;
    bool found;
    enum err e = next_of(call->tx, SQL(IS_CHANNEL), job->key, &id, &found);

    return e || !found ? e : step_channel(call, id);
}

static const char IS_ROLE[] = "select id from roles where id = $1 and position < 0";

static enum err run_role(struct call *call, const struct job *job)
{
    snowflake id;
    bool found;
    enum err e = next_of(call->tx, SQL(IS_ROLE), job->key, &id, &found);

    return e || !found ? e : step_role(call, id);
}

static enum err run_guild(struct call *call, const struct job *job)
{
    snowflake id;
    bool found;
    enum err e = next_of(call->tx, SQL(IS_GUILD), job->key, &id, &found);

    return e || !found ? e : step_guild(call, id);
}

const struct job_kind channel_leftovers = {
    .name = "channel-leftovers",
    .doc = "Removes what a deleted channel leaves behind.",
    .run = run_channel,
};

const struct job_kind role_leftovers = {
    .name = "role-leftovers",
    .doc = "Takes a deleted role from those who had it.",
    .run = run_role,
};

const struct job_kind guild_leftovers = {
    .name = "guild-leftovers",
    .doc = "Removes what a deleted guild leaves behind.",
    .run = run_guild,
};
