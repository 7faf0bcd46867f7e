/* targets.c - invites that only certain users can accept. Their ids are uploaded as a CSV file. */
#include <string.h>

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"
#include "net/http/multipart.h"
#include "platform/invites/internal.h"
#include "platform/members/members.h"

enum { MAX_TARGETS = 1000, JOB_DONE = 2 };

struct targets_file_body {
    struct opt_str unused; /* a schema needs a field; the CSV file is a separate multipart part */
};
struct invite_targets_job {
    int64_t status, total_users, processed_users;
    struct opt_int created_at, completed_at;
    struct opt_str error_message;
};

static const struct field body_fields[] = {
    { FIELD_AS(struct targets_file_body, unused, "payload_json"), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema body_schema = {
    .name = "InviteTargetsFile",
    .size = sizeof(struct targets_file_body),
    .fields = body_fields,
    .doc = "With the part target_users_file: a CSV of one column, user_id.",
};
const struct type invite_targets_body = { .kind = KIND_OBJECT, .schema = &body_schema };

static const struct field job_fields[] = {
    { FIELD(struct invite_targets_job, status), .type = &type_count,
      .doc = "0 unspecified, 1 processing, 2 completed, 3 failed" },
    { FIELD(struct invite_targets_job, total_users), .type = &type_count },
    { FIELD(struct invite_targets_job, processed_users), .type = &type_count },
    { FIELD(struct invite_targets_job, created_at), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct invite_targets_job, completed_at), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct invite_targets_job, error_message), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
static const struct schema job_schema = {
    .name = "InviteTargetsJob",
    .size = sizeof(struct invite_targets_job),
    .fields = job_fields,
    .doc = "The state of the target user upload; always complete.",
};
const struct type invite_targets_job_reply = { .kind = KIND_OBJECT, .schema = &job_schema };

static struct str parse_first_csv_cell(struct str line)
{
    line.n -= line.n > 0 && line.p[line.n - 1] == '\r';
    struct str cell = str_trim(line);

    if (cell.n >= 2 && cell.p[0] == '"' && cell.p[cell.n - 1] == '"')
        cell = str_slice(cell.p + 1, cell.n - 2);
    return cell;
}

static enum err refuse_targets_file(struct call *call, const char *why)
{
    return call_add_field_error(call, "target_users_file", "BASE_TYPE_BAD_FORMAT", why);
}

enum err invite_target_users_parse(struct call *call, struct list *ret, bool *ret_given)
{
    const struct multipart_part *part =
        call->parts ? multipart_find_part(call->parts, STR("target_users_file")) : NULL;
    struct str text = part ? buf_as_str(&part->data) : (struct str){ 0 };
    bool first = true;

    *ret = (struct list){ 0 };
    *ret_given = part != NULL;
    while (text.n) {
        struct str cell = parse_first_csv_cell(str_cut(&text, '\n'));
        bool header = first && str_is(cell, "user_id");
        snowflake id;

        first = false;
        if (!cell.n || header)
            continue;
        if (!snowflake_parse(cell, &id))
            return refuse_targets_file(call, "Each line must be a user id.");
        if (!id_list_contains(ret, id))
            id_list_add(call->arena, ret, id);
        if (ret->count > MAX_TARGETS)
            return refuse_targets_file(call, "Must be at most 1000 accounts.");
    }
    return *ret_given && !ret->count ? refuse_targets_file(call, "The file contains no user id.")
                                     : OK;
}

enum err invite_target_users_write(struct tx *tx, struct str code, const struct list *ids)
{
    return tx_exec(tx, "update invites set targets = $2, targets_at = $3 where code = $1",
                   BIND(v_text(code), v_text(json_column_encode(tx_arena(tx), &type_ids, ids)),
                        v_int(clock_us())),
                   NULL);
}

static enum err read_invite_targets(struct tx *tx, struct str code, struct list *ret)
{
    struct rows r;
    bool found;
    enum err e =
        tx_one(tx, "select targets from invites where code = $1", BIND(v_text(code)), &r, &found);

    *ret = !e && found && !row_column_is_null(&r, 0)
               ? json_column_decode_list(tx_arena(tx), &type_ids, row_text(&r, 0))
               : (struct list){ 0 };
    return e;
}

enum err require_user_is_invite_target(struct tx *tx, const struct invite *i, snowflake user_id)
{
    struct list ids;

    if (i->targets_at.given != GIVEN)
        return OK;
    enum err e = read_invite_targets(tx, i->code, &ids);
    return e || id_list_contains(&ids, user_id) ? e : ERR_UNKNOWN_INVITE;
}

static enum err check_invite_targets_permission(struct call *call, uint64_t any)
{
    const struct invite *i = call->target.invite;
    struct member_access s;

    if (i->type != INVITE_GUILD)
        return ERR_UNKNOWN_INVITE;
    enum err e = member_access_find(call->tx, i->guild_id.value, call->caller->id, &s);
    if (!e && route_changes_are_visible_in_guild(call->route))
        e = check_member_may_write(&s.input);
    if (e || i->inviter_id == call->caller->id || s.permissions & any)
        return e;
    return get_error_for_permissions_missing_in_guild(&s, any);
}

enum err check_invite_targets_read_permission(struct call *call)
{
    return check_invite_targets_permission(call,
                                           PERMISSION(MANAGE_GUILD) | PERMISSION(VIEW_AUDIT_LOG));
}

enum err check_invite_targets_write_permission(struct call *call)
{
    return check_invite_targets_permission(call, PERMISSION(MANAGE_GUILD));
}

enum err get_invite_target_users(struct call *call)
{
    struct list ids;
    struct buf out;
    enum err e = read_invite_targets(call->tx, call->target.invite->code, &ids);
    const snowflake *id = ids.items;

    if (e || !ids.count)
        return e ? e : ERR_UNKNOWN_TARGETS;
    buf_init(&out, 64 * 1024);
    buf_add_lit(&out, "user_id\n");
    for (size_t i = 0; i < ids.count; i++)
        buf_printf(&out, "%llu\n", (unsigned long long)id[i]);
    return call_reply_with_buf(call, STR("text/csv"), &out);
}

enum err put_invite_target_users(struct call *call)
{
    struct list ids;
    bool given;
    enum err e = invite_target_users_parse(call, &ids, &given);

    if (!e && !given)
        return call_add_field_error(call, "target_users_file", FORM_REQUIRED);
    return e ? e : invite_target_users_write(call->tx, call->target.invite->code, &ids);
}

enum err get_invite_target_users_job(struct call *call)
{
    const struct invite *i = call->target.invite;
    struct list ids;
    enum err e = read_invite_targets(call->tx, i->code, &ids);

    if (e || !ids.count)
        return e ? e : ERR_UNKNOWN_TARGETS_JOB;
    struct invite_targets_job job = {
        .status = JOB_DONE,
        .total_users = (int64_t)ids.count,
        .processed_users = (int64_t)ids.count,
        .created_at = i->targets_at,
        .completed_at = i->targets_at,
        .error_message.given = GIVEN_NULL,
    };
    return call_reply_with_object(call, &job);
}
