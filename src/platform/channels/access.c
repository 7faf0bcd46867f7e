/* access.c - resolves guild, channel, role and member of a path, and the caller's permissions. */
#include "platform/channels/internal.h"

#include "api/hooks.h"
#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

#define TARGET(call, member) \
    ((call)->target.member = arena_alloc((call)->arena, sizeof *(call)->target.member))

/* Computes a member's permissions in a channel, including those that are withheld from a member
 * without a second factor. */
static enum err compute_permissions_including_withheld(struct tx *tx, const struct member_access *s,
                                                       const struct channel *c,
                                                       struct permission_trace *trace,
                                                       uint64_t *ret)
{
    const struct list *overwrites = &c->permission_overwrites.value;
    struct channel parent;

    if (!channel_is_thread(c->type)) {
        *ret = permissions_in_channel_traced(&s->input, c->type, overwrites->items,
                                             overwrites->count, false, trace);
        return OK;
    }
    struct channel thread = *c;
    enum err e = channel_find(tx, c->parent_id.value, &parent);
    if (!e && c->type == CHANNEL_PRIVATE_THREAD)
        e = thread_read_membership_of_user(tx, s->user_id, &thread);
    if (!e)
        *ret = permissions_in_thread_traced(&s->input, &thread, &parent, trace);
    return e;
}

enum err compute_member_permissions_with_trace(struct tx *tx, const struct member_access *s,
                                               const struct channel *c,
                                               struct permission_trace *trace, uint64_t *ret)
{
    enum err e = OK;
    uint64_t all = 0;

    if (c)
        e = compute_permissions_including_withheld(tx, s, c, trace, &all);
    else
        all = permissions_in_guild_traced(&s->input, trace);
    *ret = all & ~s->withheld;
    if (all & s->withheld)
        permission_trace_add(trace, &(struct permission_step){ .kind = STEP_NO_SECOND_FACTOR,
                                                               .deny = s->withheld,
                                                               .after = *ret });
    return e;
}

enum err member_permissions_in_channel(struct tx *tx, const struct member_access *s,
                                       const struct channel *c, uint64_t *ret)
{
    enum err e = compute_permissions_including_withheld(tx, s, c, NULL, ret);

    *ret &= ~s->withheld;
    return e;
}

enum err permission_error_in_channel(struct tx *tx, const struct member_access *s,
                                     const struct channel *c, uint64_t any)
{
    uint64_t all;
    enum err e = compute_permissions_including_withheld(tx, s, c, NULL, &all);

    return e ? e : get_error_for_missing_permissions(all & s->withheld, any);
}

static void set_permissions_of_path_objects(struct call_path_objects *t, uint64_t all)
{
    t->permissions = all & ~t->member_access->withheld;
    t->member_access->withheld_here = all & t->member_access->withheld;
}

/* Resolves {guild.id} to a guild of which the caller is a member. */
static enum err resolve_guild(struct call *call)
{
    snowflake id = call_get_path_id(call, "guild.id");
    bool open = call->route->auth & AUTH_OPEN; /* no caller, no permissions */

    enum err e = guild_find(call->tx, id, TARGET(call, guild));
    if (!e && open)
        return OK;
    if (!e)
        e = member_access_find(call->tx, id, call->caller->id, TARGET(call, member_access));
    if (e == ERR_MISSING_ACCESS && call->route->visitors) {
        call->target.member_access = NULL;
        return call->route->visitors(call);
    }
    if (!e)
        set_permissions_of_path_objects(&call->target,
                                        permissions_in_guild(&call->target.member_access->input));
    return e;
}

static enum err resolve_private_channel(struct call *call, const struct channel *c)
{
    enum err e;

    if (user_is_channel_recipient(call->tx, c->id, call->caller->id, &e))
        call->target.permissions = PERMISSIONS_ALL;
    else if (!e)
        e = ERR_MISSING_ACCESS;
    return e;
}

enum err resolve_channel_by_id(struct call *call, snowflake id)
{
    struct channel *c = TARGET(call, channel);
    uint64_t perms;
    enum err e = channel_find_without_overwrites(call->tx, id, c);

    if (e)
        return e;
    if (channel_is_private(c->type))
        return resolve_private_channel(call, c);
    e = channel_read_overwrites(call->tx, c);
    if (!e)
        e = member_access_find(call->tx, c->guild_id.value, call->caller->id,
                               TARGET(call, member_access));
    /* The channel is a thread of a guild that is being deleted. The deletion marks only the guild,
     * not its threads. */
    if (e == ERR_UNKNOWN_GUILD)
        e = ERR_UNKNOWN_CHANNEL;
    if (!e)
        e = compute_permissions_including_withheld(call->tx, call->target.member_access, c, NULL,
                                                   &perms);
    if (!e)
        set_permissions_of_path_objects(&call->target, perms);
    if (!e && !(call->target.permissions & PERMISSION(VIEW_CHANNEL)))
        e = ERR_MISSING_ACCESS;
    return e;
}

/* Resolves {channel.id} to a channel that the caller may view. */
static enum err resolve_channel(struct call *call)
{
    return resolve_channel_by_id(call, call_get_path_id(call, "channel.id"));
}

/* Resolves {role.id} to a role of the guild in the path. */
static enum err resolve_role(struct call *call)
{
    return role_find(call->tx, call->target.guild->id, call_get_path_id(call, "role.id"),
                     TARGET(call, role));
}

/* True for PUT …/members/{member.id}, where the user is not a member yet. */
static bool route_adds_member(const struct route *r)
{
    static const char end[] = "/members/{member.id}";
    size_t n = strlen(r->path);

    return r->method == PUT && n >= sizeof end - 1 &&
           strcmp(r->path + n - (sizeof end - 1), end) == 0;
}

/* Resolves {member.id} to a member of the guild in the path, and the member's account. */
static enum err resolve_member(struct call *call)
{
    if (route_adds_member(call->route))
        return user_find(call->tx, call_get_path_id(call, "member.id"), TARGET(call, user));
    struct member *m = TARGET(call, member);
    enum err e =
        member_find(call->tx, call->target.guild->id, call_get_path_id(call, "member.id"), m);

    return e ? e : member_read_user(call->tx, m);
}

enum err require_read_message_history(struct call *call)
{
    return call_require_permissions(call, PERMISSION(READ_MESSAGE_HISTORY));
}

/* Checks the permissions that a route needs: in the channel of the path or, if the path has none,
 * in its guild. If the path has a role, the caller must rank above it. Restricted members
 * (member_is_restricted) may not call routes whose effects other members see. */
static enum err check_route_permissions(struct call *call, uint64_t needs)
{
    const struct call_path_objects *t = &call->target;
    enum err e = OK;

    if (t->member_access && route_changes_are_visible_in_guild(call->route))
        e = check_member_may_write(&t->member_access->input);
    if (e || !needs)
        return e;
    if (!t->member_access)
        return ERR_DM_CHANNEL; /* only guilds have permissions */
    if ((t->permissions & needs) != needs)
        return call_get_missing_permissions_error(call, needs);
    return !t->role || member_outranks_role(t->member_access, t->role)
               ? OK
               : call_get_rank_too_low_error(call);
}

static const struct path_resolver resolvers[] = {
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
    .check_permissions = check_route_permissions,
    .hooks = &(const struct hook_listeners){ .call_refused = explain_access_refusal },
};
