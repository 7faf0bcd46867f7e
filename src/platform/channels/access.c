/* access.c - resolves guild, channel, role and member of a path, and the caller's permissions. */
#include "platform/channels/internal.h"

#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

#define TARGET(call, member) \
    ((call)->target.member = arena_alloc((call)->arena, sizeof *(call)->target.member))

/* Computes all permissions, including those withheld until the account has a second factor. */
static enum err all_rights_in(struct tx *tx, const struct standing *s, const struct channel *c,
                              uint64_t *ret)
{
    const struct list *overwrites = &c->permission_overwrites.value;
    struct channel parent;

    if (!channel_is_thread(c->type)) {
        *ret =
            rights_in_channel(&s->rights_of, c->type, overwrites->items, overwrites->count, false);
        return OK;
    }
    struct channel thread = *c;
    enum err e = channel_find(tx, c->parent_id.value, &parent);
    if (!e && c->type == CHANNEL_PRIVATE_THREAD)
        e = thread_load_own(tx, s->user_id, &thread);
    if (!e)
        *ret = rights_in_thread(&s->rights_of, &thread, &parent);
    return e;
}

enum err standing_rights_in(struct tx *tx, const struct standing *s, const struct channel *c,
                            uint64_t *ret)
{
    enum err e = all_rights_in(tx, s, c, ret);

    *ret &= ~s->withheld;
    return e;
}

enum err standing_lacks_in(struct tx *tx, const struct standing *s, const struct channel *c,
                           uint64_t any)
{
    uint64_t all;
    enum err e = all_rights_in(tx, s, c, &all);

    return e ? e : rights_refusal(all & s->withheld, any);
}

static void target_rights(struct target *t, uint64_t all)
{
    t->rights = all & ~t->standing->withheld;
    t->standing->withheld_here = all & t->standing->withheld;
}

/* Resolves {guild.id}: the guild exists and the caller is a member. */
static enum err resolve_guild(struct call *call)
{
    snowflake id = call_id(call, "guild.id");
    bool open = call->route->auth & AUTH_OPEN; /* without authentication: no permissions */

    if (!open)
        standing_prefetch(call->tx, id, call->caller->id);
    enum err e = guild_find(call->tx, id, TARGET(call, guild));
    if (!e && open)
        return OK;
    if (!e)
        e = standing_find(call->tx, id, call->caller->id, TARGET(call, standing));
    if (e == ERR_MISSING_ACCESS && call->route->visitors) {
        call->target.standing = NULL;
        return call->route->visitors(call);
    }
    if (!e)
        target_rights(&call->target, rights_in_guild(&call->target.standing->rights_of));
    return e;
}

static enum err enter_private(struct call *call, const struct channel *c)
{
    enum err e;

    if (channel_is_recipient(call->tx, c->id, call->caller->id, &e))
        call->target.rights = PERMISSIONS_ALL;
    else if (!e)
        e = ERR_MISSING_ACCESS;
    return e;
}

/* said: true if the route has already issued every prefetch that it could. */
static enum err enter_channel(struct call *call, snowflake id, bool said)
{
    struct channel *c = TARGET(call, channel);
    bool prefetched =
        tx_is_remote(call->tx) && (said ? channel_home_known(id) : channel_home_prefetch(call, id));
    uint64_t rights;
    enum err e = channel_find_bare(call->tx, id, c);

    if (e)
        return e;
    if (channel_is_private(c->type))
        return enter_private(call, c);
    if (!prefetched || !channel_home_agrees(c))
        channel_guild_prefetch(call, c);
    e = channel_load_overwrites(call->tx, c);
    if (!e)
        e = standing_find(call->tx, c->guild_id.value, call->caller->id, TARGET(call, standing));
    /* A channel of a guild that is being deleted: threads are not marked as deleted themselves. */
    if (e == ERR_UNKNOWN_GUILD)
        e = ERR_UNKNOWN_CHANNEL;
    if (!e)
        e = all_rights_in(call->tx, call->target.standing, c, &rights);
    if (!e)
        target_rights(&call->target, rights);
    if (!e && !(call->target.rights & PERMISSION(VIEW_CHANNEL)))
        e = ERR_MISSING_ACCESS;
    return e;
}

enum err channel_enter(struct call *call, snowflake id)
{
    return enter_channel(call, id, false);
}

/* Resolves {channel.id}: the channel exists and the caller may view it. */
static enum err resolve_channel(struct call *call)
{
    return enter_channel(call, call_id(call, "channel.id"), call_was_prefetched(call));
}

/* Resolves {role.id}: a role of the guild in the path. */
static enum err resolve_role(struct call *call)
{
    return role_find(call->tx, call->target.guild->id, call_id(call, "role.id"),
                     TARGET(call, role));
}

/* True for PUT …/members/{member.id}, where the user is not a member yet. */
static bool adds_member(const struct route *r)
{
    static const char end[] = "/members/{member.id}";
    size_t n = strlen(r->path);

    return r->method == PUT && n >= sizeof end - 1 &&
           strcmp(r->path + n - (sizeof end - 1), end) == 0;
}

/* Resolves {member.id}: a member of the guild in the path, with its account. */
static enum err resolve_member(struct call *call)
{
    if (adds_member(call->route))
        return user_find(call->tx, call_id(call, "member.id"), TARGET(call, user));
    struct member *m = TARGET(call, member);
    enum err e = member_find(call->tx, call->target.guild->id, call_id(call, "member.id"), m);

    return e ? e : member_load_user(call->tx, m);
}

/* Checks the permissions that a route needs, in the channel of the path or else in its guild. A
 * permission to act on a role also requires that the member is above that role. Restricted members
 * (rights_are_restrained) may not call routes that other members would notice. */
static enum err channel_permit(struct call *call, uint64_t needs)
{
    const struct target *t = &call->target;
    enum err e = OK;

    if (t->standing && route_speaks(call->route))
        e = rights_to_speak(&t->standing->rights_of);
    if (e || !needs)
        return e;
    if (!t->standing)
        return ERR_DM_CHANNEL; /* only guilds have permissions */
    if ((t->rights & needs) != needs)
        return call_lacks(call, needs);
    return !t->role || standing_above_role(t->standing, t->role) ? OK : ERR_MISSING_PERMISSIONS;
}

static const struct resolver resolvers[] = {
    {
        .name = "guild.id",
        .field = "guild_id",
        .major = true,
        .doc = "A guild that the caller is in.",
        .resolve = resolve_guild,
    },
    {
        .name = "channel.id",
        .field = "channel_id",
        .major = true,
        .doc = "A channel that the caller can view.",
        .resolve = resolve_channel,
    },
    {
        .name = "role.id",
        .field = "role_id",
        .doc = "A role of the guild.",
        .resolve = resolve_role,
    },
    {
        .name = "member.id",
        .field = "user_id",
        .me = true,
        .doc = "A member of the guild, by user id.",
        .resolve = resolve_member,
    },
    { 0 },
};

const struct domain access_domain = {
    .name = "Access",
    .doc = "Path parameters and permission checks.",
    .resolvers = resolvers,
    .permit = channel_permit,
};
