/* overwrites.c - routes for a single permission overwrite; audit log of overwrites. */
#include "platform/channels/internal.h"

/* Returns an error for a thread, because threads have no overwrites of their own. */
static enum err require_channel_is_not_thread(const struct channel *c)
{
    return channel_is_thread(c->type) ? ERR_CHANNEL_TYPE : OK;
}

/* Emits CHANNEL_UPDATE for the channel whose overwrites changed. If it is a category, also updates
 * the channels that are synchronised with it. `now` is the channel's number of overwrites after the
 * change. */
static enum err emit_and_propagate_overwrites(struct call *call, size_t now)
{
    const struct channel *c = call->target.channel;
    enum err e = channel_emit_update(call, c->id);

    return e ? e : category_copy_overwrites_to_channels(call, c, now);
}

/* Up to this sum of the numbers of overwrites before and after a change, each changed overwrite
 * gets its own audit log entry. Each entry is a row and an event, and one request may change
 * hundreds of overwrites. */
enum { MAX_AUDITED_SINGLY = 32 };

static const struct field audited_overwrite[] = {
    { FIELD(struct overwrite, id), .type = &type_id },
    { FIELD(struct overwrite, type), .type = &type_int },
    { FIELD(struct overwrite, allow), .type = &type_permissions },
    { FIELD(struct overwrite, deny), .type = &type_permissions },
    { 0 },
};

/* Writes the audit log entry of an overwrite. before is NULL if it is new; now is NULL if it was
 * deleted. */
static enum err record_overwrite_in_audit_log(struct call *call, const struct overwrite *before,
                                              const struct overwrite *now)
{
    const struct channel *c = call->target.channel;
    const struct overwrite *any = now ? now : before;
    enum audit_log_action action = !before ? AUDIT_OVERWRITE_CREATE
                                   : now   ? AUDIT_OVERWRITE_UPDATE
                                           : AUDIT_OVERWRITE_DELETE;
    struct audit_log_options options = {
        .id = opt_id_or_null(any->id), .type = opt_str_or_null(any->type == 0 ? STR("0") : STR("1"))
    };
    struct list changes = { 0 };
    struct role role;
    enum err e = any->type == 0 ? role_find(call->tx, c->guild_id.value, any->id, &role) : OK;

    if (any->type == 0 && !e)
        options.role_name = opt_str_or_null(role.name);
    if (e && e != ERR_UNKNOWN_ROLE)
        return e;
    audit_log_add_changed_fields_to_list(call, &changes, audited_overwrite, before, now);
    return audit_log_record_changes(call, c->guild_id.value, action, c->id, &options, changes);
}

bool overwrites_need_separate_audit_entries(const struct list *before, const struct list *now)
{
    return before->count + now->count <= MAX_AUDITED_SINGLY;
}

enum err audit_log_record_overwrite_changes(struct call *call, const struct list *before,
                                            const struct list *now)
{
    const struct overwrite *old = before->items, *new = now->items;
    enum err e = OK;

    for (size_t i = 0; !e && i < now->count; i++) {
        const struct overwrite *was = overwrite_list_find(before, new[i].id);

        if (!was || was->allow != new[i].allow || was->deny != new[i].deny)
            e = record_overwrite_in_audit_log(call, was, &new[i]);
    }
    for (size_t i = 0; !e && i < before->count; i++)
        if (!overwrite_list_find(now, old[i].id))
            e = record_overwrite_in_audit_log(call, &old[i], NULL);
    return e;
}

enum err put_overwrite(struct call *call)
{
    const struct overwrite_edit *in = call->body;
    const struct channel *c = call->target.channel;
    const struct list *now = &c->permission_overwrites.value;
    struct overwrite o = {
        .id = call_get_path_id(call, "overwrite.id"),
        .type = in->type,
        .allow = in->allow.value & PERMISSIONS_ALL,
        .deny = in->deny.value & PERMISSIONS_ALL,
    };
    const struct overwrite *before = overwrite_list_find(now, o.id);
    static const struct list none;

    enum err e = require_channel_is_not_thread(c);
    if (!e)
        e = check_overwrites_permission(call, &(struct list){ &o, 1 }, &none,
                                        call->target.permissions);
    if (!e && !before && now->count >= MAX_OVERWRITES)
        e = ERR_MAX_OVERWRITES;
    if (!e)
        e = channel_overwrite_write(call->tx, c->id, &o);
    if (!e)
        e = record_overwrite_in_audit_log(call, before, &o);
    return e ? e : emit_and_propagate_overwrites(call, now->count + !before);
}

static const char DELETE_OVERWRITE[] =
    "delete from overwrites where channel_id = $1 and target_id = $2";

enum err delete_overwrite(struct call *call)
{
    const struct channel *c = call->target.channel;
    snowflake id = call_get_path_id(call, "overwrite.id");
    const struct overwrite *before = overwrite_list_find(&c->permission_overwrites.value, id);

    enum err e = require_channel_is_not_thread(c);
    if (e)
        return e;
    if (!before)
        return ERR_UNKNOWN_OVERWRITE;
    e = tx_exec(call->tx, DELETE_OVERWRITE, BIND(v_id(c->id), v_id(id)), NULL);
    if (!e)
        e = record_overwrite_in_audit_log(call, before, NULL);
    return e ? e : emit_and_propagate_overwrites(call, c->permission_overwrites.value.count - 1);
}
