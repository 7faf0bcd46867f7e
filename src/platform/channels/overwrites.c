/* overwrites.c - rights that a channel gives or takes, one at a time. */
#include "platform/channels/internal.h"

/* Threads have their parent's. */
static enum err check_kind(const struct channel *c)
{
    return channel_is_thread(c->type) ? ERR_CHANNEL_TYPE : OK;
}

/* The channel has so many now. */
static enum err overwrite_announce(struct call *call, size_t now)
{
    const struct channel *c = call->target.channel;
    enum err e = channel_announce(call, c->id);

    return e ? e : overwrites_settle(call, c, now);
}

static enum err overwrite_note(struct call *call, enum audit_action action, snowflake id,
                               int64_t type)
{
    const struct channel *c = call->target.channel;
    struct audit_options options = { .id = given_id(id),
                                     .type = given_str(type == 0 ? STR("0") : STR("1")) };
    struct role role;
    enum err e = type == 0 ? role_find(call->tx, c->guild_id.value, id, &role) : OK;

    if (type == 0 && !e)
        options.role_name = given_str(role.name);
    if (e && e != ERR_UNKNOWN_ROLE)
        return e;
    return audit_with(call, c->guild_id.value, action, c->id, &options, (struct list){ 0 });
}

/* PUT /channels/{channel.id}/permissions/{overwrite.id} */
enum err put_overwrite(struct call *call)
{
    const struct overwrite_edit *in = call->body;
    const struct channel *c = call->target.channel;
    const struct list *now = &c->permission_overwrites.value;
    struct overwrite o = {
        .id = call_id(call, "overwrite.id"),
        .type = in->type,
        .allow = in->allow.value & PERMISSIONS_ALL,
        .deny = in->deny.value & PERMISSIONS_ALL,
    };
    const struct overwrite *before = overwrite_of(now, o.id);
    static const struct list none;

    enum err e = check_kind(c);
    if (!e)
        e = overwrites_permit(call, &(struct list){ &o, 1 }, &none, call->target.rights);
    if (!e && !before && now->count >= MAX_OVERWRITES)
        e = ERR_MAX_OVERWRITES;
    if (!e)
        e = overwrite_put(call->tx, c->id, &o);
    if (!e)
        e = overwrite_note(call, before ? AUDIT_OVERWRITE_UPDATE : AUDIT_OVERWRITE_CREATE, o.id,
                           o.type);
    return e ? e : overwrite_announce(call, now->count + !before);
}

static const char DELETE_OVERWRITE[] =
    "delete from overwrites where channel_id = $1 and target_id = $2";

/* DELETE /channels/{channel.id}/permissions/{overwrite.id} */
enum err delete_overwrite(struct call *call)
{
    const struct channel *c = call->target.channel;
    snowflake id = call_id(call, "overwrite.id");
    const struct overwrite *before = overwrite_of(&c->permission_overwrites.value, id);

    enum err e = check_kind(c);
    if (e)
        return e;
    if (!before)
        return ERR_UNKNOWN_OVERWRITE;
    e = tx_exec(call->tx, DELETE_OVERWRITE, BIND(v_id(c->id), v_id(id)), NULL);
    if (!e)
        e = overwrite_note(call, AUDIT_OVERWRITE_DELETE, id, before->type);
    return e ? e : overwrite_announce(call, c->permission_overwrites.value.count - 1);
}
