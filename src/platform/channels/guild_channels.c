/* guild_channels.c - lists, creates and reorders the channels of a guild. */
#include "model/fields/ids.h"
#include "platform/channels/internal.h"

enum err list_guild_channels(struct call *call)
{
    const struct guild_channels_query *query = call->query;
    struct list channels, threads;

    enum err e = guild_channels_list(call->tx, call->target.guild->id, &channels, &threads);
    if (e)
        return e;
    struct channel *all = channels.items;
    size_t seen = 0;
    for (size_t i = 0; i < channels.count; i++) {
        uint64_t perms;

        e = member_permissions_in_channel(call->tx, call->target.member_access, &all[i], &perms);
        if (e)
            return e;
        if (!(perms & PERMISSION(VIEW_CHANNEL)))
            continue;
        if (query->permissions)
            all[i].permissions = (struct opt_id){ GIVEN, perms };
        all[seen++] = all[i];
    }
    channels.count = seen;
    return call_reply_with_object(call, &channels);
}

/* --- POST /guilds/{guild.id}/channels ------------------------------------------------- */

/* Sets the overwrites of a new channel: those of the body or, if the body has none, those of the
 * category. */
static enum err choose_initial_overwrites(struct call *call, const struct channel_edit *in,
                                          struct channel *c)
{
    static const struct list none;
    uint64_t own = call->target.permissions;
    struct channel category;

    if (in->permission_overwrites.given != GIVEN) {
        if (c->parent_id.given != GIVEN)
            return OK;
        enum err e = channel_find(call->tx, c->parent_id.value, &category);

        if (!e)
            c->permission_overwrites = category.permission_overwrites;
        return e;
    }
    /* Only administrators may grant MANAGE_ROLES with an overwrite. */
    if (!(own & PERMISSION(ADMINISTRATOR)))
        own &= ~PERMISSION(MANAGE_ROLES);
    c->permission_overwrites = in->permission_overwrites;
    enum err e = channel_overwrites_infer_types(call, &c->permission_overwrites.value);
    return e ? e : check_overwrites_permission(call, &c->permission_overwrites.value, &none, own);
}

enum err create_guild_channel(struct call *call)
{
    const struct channel_edit *in = call->body;
    int64_t count, top;
    struct channel c = {
        .id = snowflake_new(),
        .guild_id = opt_id_or_null(call->target.guild->id),
        .type = in->type.given == GIVEN ? in->type.value : CHANNEL_TEXT,
    };

    enum err e = channel_edit_validate(call, NULL, in, &c);
    if (e)
        return e;
    channel_edit_apply(in, &c);
    e = choose_initial_overwrites(call, in, &c);
    if (!e)
        e = guild_count_channels(call->tx, call->target.guild->id, &count, &top);
    if (e)
        return e;
    if (count >= MAX_CHANNELS)
        return ERR_MAX_CHANNELS;
    if (c.position.given != GIVEN)
        c.position = opt_int_present(top + 1);

    e = channel_insert(call->tx, &c);
    if (!e)
        e = check_guild_overwrite_limit(call, c.guild_id.value, c.permission_overwrites.value.count,
                                        0);
    if (!e)
        e = audit_log_record_object_change(call, call->target.guild->id, AUDIT_CHANNEL_CREATE, c.id,
                                           audited_channel, NULL, &c);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    if (e)
        return e;
    call_emit_event(call, EVENT_CHANNEL_CREATE, audience_of_channel(&c), &channel_schema, &c);
    return call_reply_with_object(call, &c);
}

/* --- PATCH /guilds/{guild.id}/channels ------------------------------------------------ */

/* Progress of a request that moves channels. */
struct channel_moves {
    struct list moved, synchronized; /* snowflakes */
    size_t overwrites;               /* number of overwrites that were compared or written so far */
};

/* Copies the category's overwrites to a channel that the request moved into the category. */
static enum err copy_category_overwrites(struct call *call, snowflake id,
                                         const struct json_path *here, struct channel_moves *all,
                                         bool *ret_changed)
{
    struct json_path at = json_path_key(here, STR("lock_permissions"));
    const struct list *before, *wanted;
    struct channel c, category;
    uint64_t own;
    enum err e = channel_find(call->tx, id, &c);

    if (e || c.parent_id.given != GIVEN)
        return e;
    e = channel_find(call->tx, c.parent_id.value, &category);
    if (!e)
        e = member_permissions_in_channel(call->tx, call->target.member_access, &c, &own);
    before = &c.permission_overwrites.value;
    wanted = &category.permission_overwrites.value;
    if (e)
        return e;
    all->overwrites += before->count + wanted->count;
    if (all->overwrites > MAX_LOCKED) {
        form_add_error(
            &call->form, &at, FORM_CHOICES,
            "Too many overwrites for one request. Lock the permissions of fewer channels at once.");
        return ERR_INVALID_FORM_BODY;
    }
    if (overwrite_lists_are_equal(before, wanted))
        return OK;
    if (!(own & PERMISSION(MANAGE_ROLES)))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_ROLES));
    e = check_overwrites_permission(call, wanted, before, own);
    *ret_changed = !e;
    if (!e)
        e = channel_overwrites_replace(call->tx, c.id, wanted);
    return e ? e : check_guild_overwrite_limit(call, c.guild_id.value, wanted->count, 0);
}

static enum err move_guild_channel(struct call *call, const struct json_path *here,
                                   const struct channel_position_change *m,
                                   struct channel_moves *all)
{
    const struct channel_edit edit = { .position = m->position, .parent_id = m->parent_id };
    bool locked = false;
    struct channel c;

    enum err e = channel_find_without_overwrites(call->tx, m->id, &c);
    if (!e && (c.guild_id.value != call->target.guild->id || channel_is_thread(c.type)))
        e = ERR_UNKNOWN_CHANNEL;
    if (!e)
        e = channel_edit_validate(call, here, &edit, &c);
    if (e)
        return e;
    struct channel before = c;
    channel_edit_apply(&edit, &c);
    bool moved =
        c.position.value != before.position.value || c.parent_id.value != before.parent_id.value;
    if (moved)
        e = channel_update(call->tx, &c);
    if (!e && m->lock_permissions.given == GIVEN && m->lock_permissions.value)
        e = copy_category_overwrites(call, c.id, here, all, &locked);
    struct list *changed = locked ? &all->synchronized : &all->moved;
    if ((moved || locked) && !id_list_contains(changed, c.id))
        id_list_add(call->arena, changed, c.id);
    return e;
}

/* Emits CHANNEL_UPDATE for all changed channels. A channel whose overwrites changed is emitted in
 * this transaction, because the change affects who can view it. Channels that only moved may be
 * emitted later by a job. */
static enum err emit_channel_moves(struct call *call, const struct channel_moves *all)
{
    const snowflake *locked = all->synchronized.items, *moved = all->moved.items;
    struct list rest = { 0 };
    enum err e = OK;

    for (size_t i = 0; !e && i < all->synchronized.count; i++)
        e = channel_emit_update(call, locked[i]);
    for (size_t i = 0; i < all->moved.count; i++)
        if (!id_list_contains(&all->synchronized, moved[i]))
            id_list_add(call->arena, &rest, moved[i]);
    return e ? e : channels_emit_updates(call, &rest);
}

enum err move_guild_channels(struct call *call)
{
    const struct list *moves = call->body;
    struct channel_moves all = { 0 };

    /* Checks all entries, so that the reply reports every invalid one. */
    for (size_t i = 0; i < moves->count; i++) {
        struct json_path here = json_path_index(NULL, i);
        enum err e = move_guild_channel(call, &here,
                                        (struct channel_position_change *)moves->items + i, &all);

        if (e && e != ERR_INVALID_FORM_BODY)
            return e;
    }
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : emit_channel_moves(call, &all);
}

enum err guild_insert_initial_channels(struct call *call, const struct created_guild *made)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < made->channel_count; i++)
        e = channel_insert(call->tx, &made->channels[i]);
    return e;
}
