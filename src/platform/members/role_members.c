/* role_members.c - number and ids of the members with a role. */
#include "model/fields/ids.h"
#include "platform/members/internal.h"

enum { MOST_OF_ROLE = 100 };

static const char COUNTS[] =
    "select r.id, (select count(*) from member_roles x where x.role_id = r.id) from roles r "
    "where r.guild_id = $1 and r.id <> $1 order by r.id";

const struct type role_counts_reply = { .kind = KIND_MAP,
                                        .of = &type_count,
                                        .doc = "Members by role" };

enum err get_role_member_counts(struct call *call)
{
    struct rows rows;
    enum err e = tx_query(call->tx, COUNTS, BIND(v_id(call->target.guild->id)), &rows);

    if (e)
        return e;
    struct json_writer j = call_reply_json_writer(call);
    json_begin_object(&j);
    while (rows_next(&rows)) {
        json_write_key(&j, str_printf(call->arena, "%llu", (unsigned long long)row_id(&rows, 0)));
        json_write_int(&j, row_int(&rows, 1));
    }
    json_end_object(&j);
    return rows_end(&rows);
}

static const char MEMBER_IDS[] =
    "select user_id from member_roles where role_id = $1 order by user_id limit $2";

static const struct type type_member_id = { .kind = KIND_ID };
const struct type role_members_reply = { .kind = KIND_ARRAY, .of = &type_member_id };

/* The list is empty for @everyone, which is not stored in member_roles. */
enum err get_role_member_ids(struct call *call)
{
    struct list ids = { 0 };
    enum err e = tx_read_ids(call->tx, MEMBER_IDS,
                             BIND(v_id(call->target.role->id), v_int(MOST_OF_ROLE)), &ids);

    return e ? e : call_reply_object(call, &ids);
}
