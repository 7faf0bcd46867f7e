/* guild_channels.c - lists, creates and reorders the channels of a guild. */
#include "model/fields/ids.h"
#include "platform/channels/internal.h"

enum err list_guild_channels(struct call *call)
{
    const struct channels_query *query = call->query;
    struct list channels, threads;

    enum err e = guild_channels(call->tx, call->target.guild->id, &channels, &threads);
    if (e)
        return e;
    struct channel *all = channels.items;
    size_t seen = 0;
    for (size_t i = 0; i < channels.count; i++) {
        uint64_t rights;

        e = standing_rights_in(call->tx, call->target.standing, &all[i], &rights);
        if (e)
            return e;
        if (!(rights & PERMISSION(VIEW_CHANNEL)))
            continue;
        if (query->permissions)
            all[i].permissions = (struct opt_id){ GIVEN, rights };
        all[seen++] = all[i];
    }
    channels.count = seen;
    return call_reply(call, &channels);
}

/* --- POST /guilds/{guild.id}/channels ------------------------------------------------- */

/* Uses the overwrites of the body, or a copy of those of the category. */
static enum err choose_overwrites(struct call *call, const struct channel_edit *in,
                                  struct channel *c)
{
    static const struct list none;
    uint64_t own = call->target.rights;
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
    enum err e = overwrites_infer(call, &c->permission_overwrites.value);
    return e ? e : overwrites_permit(call, &c->permission_overwrites.value, &none, own);
}

enum err create_guild_channel(struct call *call)
{
    const struct channel_edit *in = call->body;
    int64_t count, top;
    struct channel c = {
        .id = snowflake_new(),
        .guild_id = given_id(call->target.guild->id),
        .type = in->type.given == GIVEN ? in->type.value : CHANNEL_TEXT,
    };

    enum err e = edit_check(call, NULL, in, &c);
    if (e)
        return e;
    edit_apply(in, &c);
    e = choose_overwrites(call, in, &c);
    if (!e)
        e = guild_count_channels(call->tx, call->target.guild->id, &count, &top);
    if (e)
        return e;
    if (count >= MAX_CHANNELS)
        return ERR_MAX_CHANNELS;
    if (c.position.given != GIVEN)
        c.position = given_int(top + 1);

    e = channel_insert(call->tx, &c);
    if (!e)
        e = overwrites_fit(call, c.guild_id.value, c.permission_overwrites.value.count, 0);
    if (!e)
        e = audit_object(call, call->target.guild->id, AUDIT_CHANNEL_CREATE, c.id, audited_channel,
                         NULL, &c);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    if (e)
        return e;
    call_emit(call, EVENT_CHANNEL_CREATE, to_channel_viewers(&c), &channel_schema, &c);
    return call_reply(call, &c);
}

/* --- PATCH /guilds/{guild.id}/channels ------------------------------------------------ */

/* Results of the moves of a request so far. */
struct moving {
    struct list moved, locked; /* snowflakes */
    size_t overwrites;         /* overwrites compared or written for lock_permissions */
};

/* Copies the category's overwrites to a channel that has already been moved into the category. */
static enum err lock_permissions(struct call *call, snowflake id, const struct place *here,
                                 struct moving *all, bool *ret_changed)
{
    struct place at = place_key(here, STR("lock_permissions"));
    const struct list *before, *wanted;
    struct channel c, category;
    uint64_t own;
    enum err e = channel_find(call->tx, id, &c);

    if (e || c.parent_id.given != GIVEN)
        return e;
    e = channel_find(call->tx, c.parent_id.value, &category);
    if (!e)
        e = standing_rights_in(call->tx, call->target.standing, &c, &own);
    before = &c.permission_overwrites.value;
    wanted = &category.permission_overwrites.value;
    if (e)
        return e;
    all->overwrites += before->count + wanted->count;
    if (all->overwrites > MAX_LOCKED) {
        form_fail(
            &call->form, &at, FORM_CHOICES,
            "Too many overwrites for one request. Lock the permissions of fewer channels at once.");
        return ERR_INVALID_FORM_BODY;
    }
    if (overwrites_equal(before, wanted))
        return OK;
    if (!(own & PERMISSION(MANAGE_ROLES)))
        return ERR_MISSING_PERMISSIONS;
    e = overwrites_permit(call, wanted, before, own);
    *ret_changed = !e;
    if (!e)
        e = overwrites_replace(call->tx, c.id, wanted);
    return e ? e : overwrites_fit(call, c.guild_id.value, wanted->count, 0);
}

static enum err move_channel(struct call *call, const struct place *here,
                             const struct channel_move *m, struct moving *all)
{
    const struct channel_edit edit = { .position = m->position, .parent_id = m->parent_id };
    bool locked = false;
    struct channel c;

    enum err e = channel_find_bare(call->tx, m->id, &c);
    if (!e && (c.guild_id.value != call->target.guild->id || channel_is_thread(c.type)))
        e = ERR_UNKNOWN_CHANNEL;
    if (!e)
        e = edit_check(call, here, &edit, &c);
    if (e)
        return e;
    struct channel before = c;
    edit_apply(&edit, &c);
    bool moved =
        c.position.value != before.position.value || c.parent_id.value != before.parent_id.value;
    if (moved)
        e = channel_save(call->tx, &c);
    if (!e && m->lock_permissions.given == GIVEN && m->lock_permissions.value)
        e = lock_permissions(call, c.id, here, all, &locked);
    struct list *told = locked ? &all->locked : &all->moved;
    if ((moved || locked) && !ids_hold(told, c.id))
        ids_add(call->arena, told, c.id);
    return e;
}

/* Channels with new overwrites are emitted at once, because their visibility changes; channels that
 * only moved can be emitted in steps. */
static enum err announce_moves(struct call *call, const struct moving *all)
{
    const snowflake *locked = all->locked.items, *moved = all->moved.items;
    struct list rest = { 0 };
    enum err e = OK;

    for (size_t i = 0; !e && i < all->locked.count; i++)
        e = channel_announce(call, locked[i]);
    for (size_t i = 0; i < all->moved.count; i++)
        if (!ids_hold(&all->locked, moved[i]))
            ids_add(call->arena, &rest, moved[i]);
    return e ? e : channels_announce(call, &rest);
}

enum err move_guild_channels(struct call *call)
{
    const struct list *moves = call->body;
    struct moving all = { 0 };

    /* Report every invalid entry, not only the first. */
    for (size_t i = 0; i < moves->count; i++) {
        struct place here = place_index(NULL, i);
        enum err e = move_channel(call, &here, (struct channel_move *)moves->items + i, &all);

        if (e && e != ERR_INVALID_FORM_BODY)
            return e;
    }
    return form_failed(&call->form) ? ERR_INVALID_FORM_BODY : announce_moves(call, &all);
}

enum err channels_found(struct call *call, const struct guild_made *made)
{
    enum err e = OK;

    for (size_t i = 0; !e && i < made->channel_count; i++)
        e = channel_insert(call->tx, &made->channels[i]);
    return e;
}
