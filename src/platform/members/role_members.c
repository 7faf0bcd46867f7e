/* role_members.c - number and ids of the members with a role; adding several members to a role. */
#include "model/fields/ids.h"
#include "platform/members/internal.h"

enum { MOST_OF_ROLE = 100, MOST_NEW_MEMBERS = 30 };

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
    struct json_writer j = call_get_reply_json_writer(call);
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

/* Replies with the ids of the members who have the role. The list is empty for @everyone, which is
 * not stored in member_roles. */
enum err get_role_member_ids(struct call *call)
{
    struct list ids = { 0 };
    enum err e = tx_read_ids(call->tx, MEMBER_IDS,
                             BIND(v_id(call->target.role->id), v_int(MOST_OF_ROLE)), &ids);

    return e ? e : call_reply_with_object(call, &ids);
}

struct role_new_members {
    struct list member_ids; /* snowflake */
};

static const struct type type_new_member_ids = {
    .kind = KIND_ARRAY, .of = &type_id, .min = 1, .max = MOST_NEW_MEMBERS
};
static const struct field new_members_fields[] = {
    { FIELD(struct role_new_members, member_ids), .type = &type_new_member_ids },
    { 0 },
};
static const struct schema new_members_schema = {
    .name = "RoleMembers",
    .size = sizeof(struct role_new_members),
    .fields = new_members_fields,
    .doc = "Members that get a role.",
};
const struct type role_new_members_body = { .kind = KIND_OBJECT, .schema = &new_members_schema };
const struct type role_new_members_reply = { .kind = KIND_MAP,
                                             .of = &type_member,
                                             .doc = "The members by user id" };

/* PATCH /guilds/{guild.id}/roles/{role.id}/members: adds the role to all members in the body or, on
 * an error, to none. */
enum err add_role_members(struct call *call)
{
    const struct role_new_members *in = call->body;
    struct list ids = copy_ids_without_duplicates(call->arena, &in->member_ids);
    struct member *m = arena_array(call->arena, struct member, ids.count);
    const snowflake *id = ids.items;

    for (size_t i = 0; i < ids.count; i++) {
        enum err e = member_find(call->tx, call->target.guild->id, id[i], &m[i]);
        if (!e)
            e = member_read_user(call->tx, &m[i]);
        if (!e)
            e = member_set_role(call, &m[i], true);
        if (e)
            return e;
    }
    struct json_writer j = call_get_reply_json_writer(call);
    json_begin_object(&j);
    for (size_t i = 0; i < ids.count; i++) {
        json_write_key(&j, str_printf(call->arena, "%llu", (unsigned long long)m[i].user_id));
        schema_encode(&j, &type_member, &m[i]);
    }
    json_end_object(&j);
    return OK;
}
