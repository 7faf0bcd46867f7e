/* overwrites.c - rights that a channel gives or takes, one at a time. */
#include "platform/channels/internal.h"

/* Threads have their parent's. */
static enum err check_kind(const struct channel *c)
{
    return channel_is_thread(c->type) ? ERR_CHANNEL_TYPE : OK;
}

static enum err announce(struct call *call)
{
    const struct channel *c = call->target.channel;
    enum err e = channel_announce(call, c->id);

    if (!e && c->type == CHANNEL_CATEGORY)
        e = category_follow(call, c->id, &c->permission_overwrites.value);
    return e;
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
        e = audit(call, c->guild_id.value, before ? AUDIT_OVERWRITE_UPDATE : AUDIT_OVERWRITE_CREATE,
                  c->id);
    return e ? e : announce(call);
}

static const char DELETE_OVERWRITE[] =
    "delete from overwrites where channel_id = $1 and target_id = $2";

/* DELETE /channels/{channel.id}/permissions/{overwrite.id} */
enum err delete_overwrite(struct call *call)
{
    const struct channel *c = call->target.channel;
    snowflake id = call_id(call, "overwrite.id");

    enum err e = check_kind(c);
    if (e)
        return e;
    if (!overwrite_of(&c->permission_overwrites.value, id))
        return ERR_UNKNOWN_OVERWRITE;
    e = tx_exec(call->tx, DELETE_OVERWRITE, BIND(v_id(c->id), v_id(id)), NULL);
    if (!e)
        e = audit(call, c->guild_id.value, AUDIT_OVERWRITE_DELETE, c->id);
    return e ? e : announce(call);
}
