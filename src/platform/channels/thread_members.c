/* thread_members.c - SQL of thread members. */
#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "model/thread.h"
#include "platform/channels/internal.h"

#define MEMBER_COLUMNS "thread_id, user_id, joined_at, flags, muted, mute_until, mute_window"

static void thread_member_from_row(const struct rows *r, void *ret)
{
    *(struct thread_member *)ret = (struct thread_member){
        .id = opt_id_or_null(row_id(r, 0)),
        .user_id = opt_id_or_null(row_id(r, 1)),
        .join_timestamp = row_int(r, 2),
        .flags = row_int(r, 3),
    };
}

static const char FIND_MEMBER[] =
    "select " MEMBER_COLUMNS " from thread_members where thread_id = $1 and user_id = $2";

enum err thread_member_find(struct tx *tx, snowflake thread_id, snowflake user_id,
                            struct thread_member *ret, bool *ret_found)
{
    return tx_find_first(tx, FIND_MEMBER, BIND(v_id(thread_id), v_id(user_id)),
                         thread_member_from_row, ret, ret_found);
}

/* Reads the mute settings, which only the member can see. */
enum err thread_member_read_mute_settings(struct tx *tx, struct thread_member *m)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(tx, FIND_MEMBER, BIND(v_id(m->id.value), v_id(m->user_id.value)), &row, &found);

    if (e || !found)
        return e;
    m->muted = opt_bool_present(row_bool(&row, 4));
    if (row_column_is_null(&row, 6))
        return OK;
    struct mute_config *mute = arena_alloc(tx_arena(tx), sizeof *mute);
    *mute = (struct mute_config){ row_optional_int(&row, 5), row_int(&row, 6) };
    m->mute_config = mute;
    return OK;
}

static const char ALL_MEMBERS[] =
    "select " MEMBER_COLUMNS " from thread_members where thread_id = $1 and user_id > $2 "
    "order by user_id limit $3";

enum err thread_members_list(struct tx *tx, snowflake thread_id, snowflake after, int64_t limit,
                             struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, ALL_MEMBERS, BIND(v_id(thread_id), v_id(after), v_int(limit)),
                        sizeof(struct thread_member), thread_member_from_row, ret);
}

static const char MEMBER_IDS[] =
    "select user_id from thread_members where thread_id = $1 order by user_id";

enum err thread_member_ids_list(struct tx *tx, snowflake thread_id, struct list *ret)
{
    return tx_read_ids(tx, MEMBER_IDS, BIND(v_id(thread_id)), ret);
}

static const char COUNT_MEMBERS[] = "select count(*) from thread_members where thread_id = $1";

enum err thread_count_members(struct tx *tx, snowflake thread_id, int64_t *ret)
{
    return tx_read_int(tx, COUNT_MEMBERS, BIND(v_id(thread_id)), ret);
}

static const char ADD_MEMBER[] =
    "insert into thread_members (thread_id, user_id, guild_id, joined_at, flags) "
    "values ($1, $2, $3, $4, $5) on conflict (thread_id, user_id) do nothing";

enum err thread_member_insert(struct tx *tx, const struct channel *thread, snowflake user_id,
                              int64_t flags, int64_t joined_at, bool *ret_new)
{
    int64_t added;
    enum err e = tx_exec(tx, ADD_MEMBER,
                         BIND(v_id(thread->id), v_id(user_id), v_id(thread->guild_id.value),
                              v_int(joined_at), v_int(flags)),
                         &added);

    *ret_new = !e && added > 0;
    return e;
}

static const char DELETE_MEMBER[] =
    "delete from thread_members where thread_id = $1 and user_id = $2";

enum err thread_member_delete(struct tx *tx, snowflake thread_id, snowflake user_id,
                              bool *ret_found)
{
    int64_t gone;
    enum err e = tx_exec(tx, DELETE_MEMBER, BIND(v_id(thread_id), v_id(user_id)), &gone);

    *ret_found = !e && gone > 0;
    return e;
}

static const char SAVE_MEMBER[] =
    "update thread_members set flags = $3, muted = $4, mute_until = $5, mute_window = $6 "
    "where thread_id = $1 and user_id = $2";

enum err thread_member_update(struct tx *tx, const struct thread_member *m)
{
    const struct mute_config *mute = m->mute_config;

    return tx_exec(tx, SAVE_MEMBER,
                   BIND(v_id(m->id.value), v_id(m->user_id.value), v_int(m->flags),
                        v_int(m->muted.value),
                        mute ? sql_value_of_optional_int(mute->end_time) : v_null(),
                        mute ? v_int(mute->selected_time_window) : v_null()),
                   NULL);
}

static const char MARK_INTERACTED[] =
    "update thread_members set flags = $3 where thread_id = $1 and user_id = $2";

enum err thread_member_set_flags(struct tx *tx, const struct thread_member *m, int64_t flags)
{
    return tx_exec(tx, MARK_INTERACTED,
                   BIND(v_id(m->id.value), v_id(m->user_id.value), v_int(flags)), NULL);
}

static const char DELETE_SOME[] =
    "delete from thread_members where user_id = $1 and guild_id = $2 and thread_id in "
    "(select thread_id from thread_members where user_id = $1 and guild_id = $2 and "
    "joined_at <= $3 limit $4)";

enum err thread_members_delete_of_user(struct tx *tx, snowflake guild_id, snowflake user_id,
                                       int64_t until, int64_t limit, int64_t *ret_gone)
{
    return tx_exec(tx, DELETE_SOME, BIND(v_id(user_id), v_id(guild_id), v_int(until), v_int(limit)),
                   ret_gone);
}

static const char OWN_IN_GUILD[] =
    "select m.thread_id, m.user_id, m.joined_at, m.flags from channels c join thread_members m on "
    "m.thread_id = c.id and m.user_id = $2 where c.guild_id = $1 and c.thread_archived = 0 and "
    "c.type between 10 and 12 order by c.id";

/* Threads and rows of thread members are both ordered by thread id, so one pass merges them. */
enum err open_threads_read_membership_of_user(struct tx *tx, snowflake guild_id, snowflake user_id,
                                              struct list *threads)
{
    struct channel *c = threads->items, *end = c + threads->count;
    struct rows rows;

    if (!threads->count)
        return OK;
    enum err e = tx_query(tx, OWN_IN_GUILD, BIND(v_id(guild_id), v_id(user_id)), &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        while (c < end && c->id < row_id(&rows, 0))
            c++;
        if (c == end || c->id != row_id(&rows, 0))
            continue;
        struct thread_member *m = arena_alloc(tx_arena(tx), sizeof *m);
        thread_member_from_row(&rows, m);
        c->member = m;
    }
    return rows_end(&rows);
}

enum err thread_read_membership_of_user(struct tx *tx, snowflake user_id, struct channel *thread)
{
    struct thread_member *m = arena_alloc(tx_arena(tx), sizeof *m);
    bool found;
    enum err e = thread_member_find(tx, thread->id, user_id, m, &found);

    thread->member = !e && found ? m : NULL;
    return e;
}
