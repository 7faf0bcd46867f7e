/* modify.c - PATCH …/members/{member.id}: each field needs its own permission. */
#include "platform/members/internal.h"

#include "base/clock.h"
#include "model/fields/ids.h"

#define LONGEST_TIMEOUT (INT64_C(28) * 24 * 3600 * 1000000)

static bool caller_has_permissions_in_guild(const struct call *call, uint64_t perms)
{
    return (call->target.permissions & perms) == perms;
}

static bool target_member_is_caller(const struct call *call)
{
    return call->target.member->user_id == call->caller->id;
}

/* Changing one's own nickname needs CHANGE_NICKNAME or MANAGE_NICKNAMES. Changing that of another
 * member needs MANAGE_NICKNAMES and a higher rank. */
static enum err check_nick_permission(struct call *call)
{
    if (target_member_is_caller(call))
        return call->target.permissions &
                       (PERMISSION(CHANGE_NICKNAME) | PERMISSION(MANAGE_NICKNAMES))
                   ? OK
                   : call_get_missing_any_permission_error(call, PERMISSION(CHANGE_NICKNAME) |
                                                                     PERMISSION(MANAGE_NICKNAMES));
    if (!caller_has_permissions_in_guild(call, PERMISSION(MANAGE_NICKNAMES)))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_NICKNAMES));
    return require_rank_above_member(call, call->target.member);
}

static enum err check_roles_permission(struct call *call, const struct list *roles)
{
    if (!caller_has_permissions_in_guild(call, PERMISSION(MANAGE_ROLES)))
        return call_get_missing_permissions_error(call, PERMISSION(MANAGE_ROLES));
    enum err e =
        target_member_is_caller(call) ? OK : require_rank_above_member(call, call->target.member);
    return e ? e : check_caller_may_assign_changed_roles(call, &call->target.member->roles, roles);
}

static enum err check_timeout_permission(struct call *call)
{
    struct member_access other;

    if (!caller_has_permissions_in_guild(call, PERMISSION(MODERATE_MEMBERS)))
        return call_get_missing_permissions_error(call, PERMISSION(MODERATE_MEMBERS));
    enum err e = member_access_find_of_other_user(call->tx, call->target.guild->id,
                                                  call->target.member->user_id, &other);
    if (e)
        return e;
    if (!member_outranks_member(call->target.member_access, &other) ||
        other.input.base & PERMISSION(ADMINISTRATOR))
        return call_get_rank_too_low_error(call);
    return OK;
}

enum err check_member_flags_permission(const struct call *call)
{
    const uint64_t moderator =
        PERMISSION(MODERATE_MEMBERS) | PERMISSION(KICK_MEMBERS) | PERMISSION(BAN_MEMBERS);

    if (caller_has_permissions_in_guild(call, PERMISSION(MANAGE_GUILD)) ||
        caller_has_permissions_in_guild(call, PERMISSION(MANAGE_ROLES)) ||
        caller_has_permissions_in_guild(call, moderator))
        return OK;
    enum err e = call_get_missing_any_permission_error(call, PERMISSION(MANAGE_GUILD) |
                                                                 PERMISSION(MANAGE_ROLES));
    return e == ERR_MISSING_PERMISSIONS ? call_get_missing_permissions_error(call, moderator) : e;
}

static enum err check_member_patch_permissions(struct call *call, const struct member_patch *in,
                                               const struct list *roles)
{
    enum err e = OK;

    if (in->nick.given)
        e = check_nick_permission(call);
    if (!e && in->roles.given)
        e = check_roles_permission(call, roles);
    if (!e && in->communication_disabled_until.given)
        e = check_timeout_permission(call);
    return !e && in->flags.given ? check_member_flags_permission(call) : e;
}

static enum err check_timeout_length(struct call *call, const struct member_patch *in)
{
    const struct opt_int *until = &in->communication_disabled_until;

    if (until->given == GIVEN && until->value > clock_us() + LONGEST_TIMEOUT)
        return call_add_field_error(call, "communication_disabled_until", "NUMBER_TYPE_MAX",
                                    "Must be at most 28 days from now.");
    return OK;
}

static bool optional_texts_are_equal(struct opt_str a, struct opt_str b)
{
    bool given = a.given == GIVEN && a.value.n, other = b.given == GIVEN && b.value.n;

    return given == other && (!given || str_eq(a.value, b.value));
}

/* Applies a patch to m. Returns true if a field changed. An empty nick removes the nickname. */
static bool apply_member_patch(const struct member_patch *in, struct member *m)
{
    const struct opt_int *until = &in->communication_disabled_until;
    bool changed = false;

    if (in->nick.given && !optional_texts_are_equal(in->nick, m->nick)) {
        m->nick = opt_str_or_null(in->nick.value.n ? in->nick.value : (struct str){ 0 });
        changed = true;
    }
    if (until->given && (until->given != m->communication_disabled_until.given ||
                         until->value != m->communication_disabled_until.value)) {
        m->communication_disabled_until = *until;
        changed = true;
    }
    if (in->mute.given == GIVEN && in->mute.value != m->mute) {
        m->mute = in->mute.value;
        changed = true;
    }
    if (in->deaf.given == GIVEN && in->deaf.value != m->deaf) {
        m->deaf = in->deaf.value;
        changed = true;
    }
    int64_t flags = (m->flags & ~MEMBER_BYPASSES_VERIFICATION) |
                    (in->flags.value & MEMBER_BYPASSES_VERIFICATION);
    if (in->flags.given && flags != m->flags) {
        m->flags = flags;
        changed = true;
    }
    return changed;
}

static bool id_sets_are_equal(const struct list *a, const struct list *b)
{
    const snowflake *ids = a->items;

    for (size_t i = 0; i < a->count; i++)
        if (!id_list_contains(b, ids[i]))
            return false;
    return a->count == b->count;
}

enum err member_check_nick_with_automod(struct call *call, struct member *m, bool *ret_refused)
{
    const uint64_t trusted = PERMISSION(ADMINISTRATOR) | PERMISSION(MANAGE_GUILD);
    struct automod_checked_nickname about = {
        .member = m,
        .version = call->target.member_access->automod_version,
        .trusted = call->target.permissions & trusted || (m->user && m->user->bot.value)
    };
    enum err e = about.version ? hook_nickname_check(call, &about) : OK;

    *ret_refused = about.refused;
    return e;
}

/* Fields of a member that the audit log records. Role changes are recorded in separate entries. */
static const struct field audited_member[] = {
    { FIELD(struct member, nick), .type = &type_text },
    { FIELD(struct member, mute), .type = &type_bool },
    { FIELD(struct member, deaf), .type = &type_bool },
    { FIELD(struct member, communication_disabled_until), .type = &type_time },
    { FIELD(struct member, flags), .type = &type_int },
    { 0 },
};

enum err modify_member(struct call *call)
{
    const struct member_patch *in = call->body;
    struct member *m = call->target.member;
    struct list roles = copy_ids_without_duplicates(call->arena, &in->roles.value);
    struct voice_moderation_change order = { m, in->mute, in->deaf, in->channel_id, false };
    bool of_voice = in->mute.given || in->deaf.given || in->channel_id.given;

    enum err e = check_member_patch_permissions(call, in, &roles);
    if (!e && of_voice)
        e = hook_voice_moderation_check(call, &order);
    if (!e)
        e = check_timeout_length(call, in);
    if (e)
        return e;

    const struct member before = *m;
    bool changed = apply_member_patch(in, m);
    bool new_roles = in->roles.given && !id_sets_are_equal(&roles, &m->roles);
    if (new_roles)
        m->roles = roles;
    bool refused = false;
    if (changed && in->nick.given)
        e = member_check_nick_with_automod(call, m, &refused);
    if (e || refused)
        return e;
    if (changed || new_roles)
        e = member_update_and_emit(call, m);
    if (!e && changed)
        e = audit_log_record_object_change(call, m->guild_id, AUDIT_MEMBER_UPDATE, m->user_id,
                                           audited_member, &before, m);
    if (!e && new_roles)
        e = audit_log_record_member_roles(call, m->guild_id, m->user_id, &before.roles, &m->roles);
    order.silenced = before.mute != m->mute || before.deaf != m->deaf;
    if (!e && of_voice)
        e = hook_voice_moderation_apply(call, &order);
    return e ? e : call_reply_with_object(call, m);
}

enum err member_set_role(struct call *call, struct member *m, bool give)
{
    const struct role *role = call->target.role;
    const snowflake *ids = m->roles.items;
    struct list roles = { 0 };

    enum err e = m->user_id == call->caller->id ? OK : require_rank_above_member(call, m);
    if (!e)
        e = check_caller_may_assign_role(call, role);
    if (e || id_list_contains(&m->roles, role->id) == give)
        return e;
    for (size_t i = 0; i < m->roles.count; i++)
        if (ids[i] != role->id)
            id_list_add(call->arena, &roles, ids[i]);
    if (give)
        id_list_add(call->arena, &roles, role->id);
    const struct list before = m->roles;

    m->roles = roles;
    e = member_update_and_emit(call, m);
    return e ? e : audit_log_record_member_roles(call, m->guild_id, m->user_id, &before, &roles);
}

enum err add_member_role(struct call *call)
{
    return member_set_role(call, call->target.member, true);
}

enum err remove_member_role(struct call *call)
{
    return member_set_role(call, call->target.member, false);
}
