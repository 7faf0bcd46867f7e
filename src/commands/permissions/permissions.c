/* permissions.c - routes that read and replace a guild's command permissions. */
#include "commands/internal.h"

#include "commands/form_errors.h"
#include "commands/index/index_invalidation.h"
#include "commands/permissions/permission_deletion.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"

enum { MOST_NEW_ROWS = 10 };

static snowflake target_command_id(const struct call *call)
{
    return call_get_path_id(call, "command.id");
}

/* Checks who may read command permissions: bots, and members with MANAGE_GUILD. An app with a
 * bearer token may read what its user may read. */
enum err check_caller_may_read_command_permissions(struct call *call)
{
    bool may =
        call->caller->kind == CALLER_BOT || call->target.permissions & PERMISSION(MANAGE_GUILD);

    return may ? OK : call_get_missing_permissions_error(call, PERMISSION(MANAGE_GUILD));
}

/* Checks who may change a command's permissions: only members who may use the command. */
enum err check_caller_may_modify_command_permissions(struct call *call)
{
    const struct command *k = call->target.command;
    const struct member_access *s = call->target.member_access;
    struct command_permission_input q = { .guild_id = s->guild_id,
                                          .user_id = s->user_id,
                                          .roles = s->input.roles,
                                          .role_count = s->input.role_count,
                                          .administrator =
                                              s->permissions & PERMISSION(ADMINISTRATOR),
                                          .user_permissions = s->permissions };

    if (!k)
        return OK;
    q.default_member_permissions = k->default_member_permissions;
    enum err e = read_command_permissions(call->tx, q.guild_id, k->id, &q.of_command);
    if (!e)
        e = read_command_permissions(call->tx, q.guild_id, k->application_id, &q.of_application);
    if (e)
        return e;
    return evaluate_command_user_permission(&q) == COMMAND_ALLOWED ? OK : ERR_MISSING_PERMISSIONS;
}

static const char PERMISSIONS_OF_APPLICATION[] =
    "select p.target_id, p.entity_id, p.type, p.permission from command_permissions p "
    "where p.guild_id = $1 and p.application_id = $2 and " PERMISSION_NOT_DELETED
    " order by p.target_id, p.position";

/* GET …/commands/permissions */
enum err list_command_permissions(struct call *call)
{
    snowflake application_id = call->target.application->id, guild_id = call->target.guild->id;
    struct command_permissions *one = NULL;
    struct list all = { 0 };
    struct rows rows;

    enum err e = tx_query(call->tx, PERMISSIONS_OF_APPLICATION,
                          BIND(v_id(guild_id), v_id(application_id)), &rows);
    if (e)
        return e;
    while (rows_next(&rows)) {
        if (!one || one->id != row_id(&rows, 0)) {
            one = list_append(call->arena, &all, sizeof *one);
            *one =
                (struct command_permissions){ row_id(&rows, 0), application_id, guild_id, { 0 } };
        }
        *(struct command_permission *)list_append(call->arena, &one->permissions,
                                                  sizeof(struct command_permission)) =
            (struct command_permission){ row_id(&rows, 1), row_int(&rows, 2), row_bool(&rows, 3) };
    }
    e = rows_end(&rows);
    return e ? e : call_reply_with_object(call, &all);
}

static struct command_permissions command_permissions_of_call(const struct call *call,
                                                              struct list rows)
{
    return (struct command_permissions){ target_command_id(call), call->target.application->id,
                                         call->target.guild->id, rows };
}

/* GET …/commands/{command.id}/permissions */
enum err get_command_permissions(struct call *call)
{
    struct list rows;
    enum err e =
        read_command_permissions(call->tx, call->target.guild->id, target_command_id(call), &rows);

    if (e)
        return e;
    struct command_permissions p = command_permissions_of_call(call, rows);
    return rows.count ? call_reply_with_object(call, &p) : ERR_UNKNOWN_COMMAND_PERMISSIONS;
}

/* --- permission to change a row ------------------------------------------------------- */

static const struct command_permission *find_permission_row_of_entity(
    const struct list *rows, const struct command_permission *p)
{
    const struct command_permission *all = rows->items;

    for (size_t i = 0; i < rows->count; i++)
        if (all[i].id == p->id && all[i].type == p->type)
            return &all[i];
    return NULL;
}

static bool permission_is_changed(const struct list *others, const struct command_permission *p)
{
    const struct command_permission *other = find_permission_row_of_entity(others, p);

    return !other || other->permission != p->permission;
}

static enum err check_can_change_permission_of_role(struct call *call, snowflake id, bool *ret)
{
    struct role role;
    enum err e = role_find(call->tx, call->target.guild->id, id, &role);

    if (!e)
        *ret = member_outranks_role(call->target.member_access, &role);
    return e;
}

static enum err check_can_change_permission_of_user(struct call *call, snowflake id, bool *ret)
{
    struct member_access other;
    enum err e = member_access_find_of_other_user(call->tx, call->target.guild->id, id, &other);

    if (!e)
        *ret = id == call->caller->id || member_outranks_member(call->target.member_access, &other);
    return e;
}

static enum err check_can_change_permission_of_channel(struct call *call, snowflake id, bool *ret)
{
    struct channel c;
    uint64_t channel_permissions = 0;
    enum err e = channel_find(call->tx, id, &c);

    if (!e && (c.guild_id.value != call->target.guild->id || channel_is_thread(c.type)))
        e = ERR_UNKNOWN_CHANNEL;
    if (!e)
        e = member_permissions_in_channel(call->tx, call->target.member_access, &c,
                                          &channel_permissions);
    *ret = channel_permissions & PERMISSION(MANAGE_CHANNELS);
    return e;
}

/* Sets *ret to whether the caller may change the permission row of a role, member or channel.
 * Returns ERR_UNKNOWN_… if there is no such role, member or channel. */
static enum err check_can_change_permission_row(struct call *call,
                                                const struct command_permission *p, bool *ret)
{
    snowflake guild_id = call->target.guild->id;

    *ret = true;
    switch ((enum command_permission_type)p->type) {
    case COMMAND_PERMISSION_ROLE:
        return p->id == guild_id ? OK : check_can_change_permission_of_role(call, p->id, ret);
    case COMMAND_PERMISSION_USER:
        return check_can_change_permission_of_user(call, p->id, ret);
    default:
        if (p->id != guild_id - 1)
            return check_can_change_permission_of_channel(call, p->id, ret);
        *ret = call->target.permissions & PERMISSION(MANAGE_CHANNELS);
        return OK;
    }
}

static bool is_unknown_entity_error(enum err e)
{
    return e == ERR_UNKNOWN_ROLE || e == ERR_UNKNOWN_MEMBER || e == ERR_UNKNOWN_CHANNEL;
}

/* --- replacing ------------------------------------------------------------------------ */

struct permission_replacement {
    struct call *call;
    struct list before, after; /* struct command_permission */
    struct list changes;       /* struct audit_log_change */
    size_t added;
    bool forbidden;
};

static struct opt_str encode_permission(struct arena *arena, const struct command_permission *p)
{
    if (!p)
        return (struct opt_str){ .given = ABSENT };
    return opt_str_or_null(json_column_encode(arena, &type_command_permission, p));
}

static void add_audit_change(struct permission_replacement *x, const struct command_permission *p)
{
    struct arena *arena = x->call->arena;
    struct audit_log_change *c = list_append(arena, &x->changes, sizeof *c);

    c->key = str_printf(arena, "%llu", (unsigned long long)p->id);
    c->old_value = encode_permission(arena, find_permission_row_of_entity(&x->before, p));
    c->new_value = encode_permission(arena, find_permission_row_of_entity(&x->after, p));
}

static enum err check_new_command_permission_row(struct permission_replacement *x,
                                                 const struct command_permission *p,
                                                 const struct json_path *at)
{
    bool may;

    x->added += !find_permission_row_of_entity(&x->before, p);
    enum err e = check_can_change_permission_row(x->call, p, &may);
    if (is_unknown_entity_error(e)) {
        form_add_error(&x->call->form, at, FORM_ROW_TARGET);
        return OK;
    }
    x->forbidden |= !e && !may;
    add_audit_change(x, p);
    return e;
}

static enum err check_removed_command_permission_row(struct permission_replacement *x,
                                                     const struct command_permission *p)
{
    bool may;
    enum err e = check_can_change_permission_row(x->call, p, &may);

    x->forbidden |= !e && !may;
    add_audit_change(x, p);
    return is_unknown_entity_error(e) ? OK : e;
}

static enum err compare_permission_rows(struct permission_replacement *x)
{
    const struct command_permission *after = x->after.items, *before = x->before.items;
    struct json_path all = json_path_key(NULL, STR("permissions"));
    enum err e = OK;

    for (size_t i = 0; i < x->after.count && !e; i++) {
        struct json_path at = json_path_index(&all, i);

        if (find_permission_row_of_entity(&x->after, &after[i]) != &after[i])
            form_add_error(&x->call->form, &at, FORM_ROW_TWICE);
        else if (permission_is_changed(&x->before, &after[i]))
            e = check_new_command_permission_row(x, &after[i], &at);
    }
    for (size_t i = 0; i < x->before.count && !e; i++)
        if (!find_permission_row_of_entity(&x->after, &before[i]))
            e = check_removed_command_permission_row(x, &before[i]);
    if (x->added > MOST_NEW_ROWS)
        form_add_error(&x->call->form, &all, FORM_ROW_LIMIT);
    if (!e && x->forbidden)
        e = ERR_MISSING_PERMISSIONS;
    return !e && form_has_errors(&x->call->form) ? ERR_INVALID_FORM_BODY : e;
}

static const char DELETE_ROWS[] =
    "delete from command_permissions where guild_id = $1 and target_id = $2";
/* Inserts a permission row. While a deletion of earlier rows is pending, the new row gets the round
 * number of the deletion, so that it is not deleted. */
static const char ADD_ROW[] =
    "insert into command_permissions (guild_id, target_id, entity_id, type, application_id, "
    "permission, position, round) values ($1, $2, $3, $4, $5, $6, $7, "
    "coalesce((select d.round from permission_drops d where d.target_id = $2), 0))";

static enum err replace_permission_rows(struct call *call, const struct command_permissions *p)
{
    const struct command_permission *rows = p->permissions.items;
    enum err e = tx_exec(call->tx, DELETE_ROWS, BIND(v_id(p->guild_id), v_id(p->id)), NULL);

    for (size_t i = 0; i < p->permissions.count && !e; i++)
        e = tx_exec(call->tx, ADD_ROW,
                    BIND(v_id(p->guild_id), v_id(p->id), v_id(rows[i].id), v_int(rows[i].type),
                         v_id(p->application_id), v_int(rows[i].permission), v_int((int64_t)i)),
                    NULL);
    return e;
}

void emit_command_permissions(struct call *call, const struct command_permissions *p)
{
    call_emit_event(call, EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE,
                    audience_of_members_with_permission(p->guild_id, 0, PERMISSION(MANAGE_GUILD)),
                    &command_permissions_schema, p);
}

static enum err emit_permission_changes(struct call *call, const struct command_permissions *p,
                                        struct list changes)
{
    struct audit_log_options options = { .application_id = opt_id_or_null(p->application_id) };
    struct guild_integrations_event guild = { p->guild_id };

    emit_command_permissions(call, p);
    call_emit_event(call, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE,
                    audience_of_guild(p->guild_id), &guild_integrations_event_schema, &guild);
    enum err e = invalidate_command_index(call->tx, p->guild_id);
    return e ? e
             : audit_log_record_changes(call, p->guild_id, AUDIT_COMMAND_PERMISSIONS, p->id,
                                        &options, changes);
}

/* PUT …/commands/{command.id}/permissions */
enum err modify_command_permissions(struct call *call)
{
    const struct command_permissions_body *in = call->body;
    struct permission_replacement x = { .call = call, .after = in->permissions };

    enum err e = read_command_permissions(call->tx, call->target.guild->id, target_command_id(call),
                                          &x.before);
    if (!e)
        e = compare_permission_rows(&x);
    if (e)
        return e;
    struct command_permissions p = command_permissions_of_call(call, in->permissions);
    e = replace_permission_rows(call, &p);
    if (!e && x.changes.count)
        e = emit_permission_changes(call, &p, x.changes);
    return e ? e : call_reply_with_object(call, &p);
}
