/* member_permissions.c - computes the permissions of a member from roles and overwrites. */
#include "model/permissions/member_permissions.h"

#include "base/clock.h"
#include "model/fields/ids.h"

/* Permissions of a member who is timed out, pending, or below the verification level. */
static const uint64_t PERMISSIONS_WHEN_RESTRICTED =
    PERMISSION(VIEW_CHANNEL) | PERMISSION(READ_MESSAGE_HISTORY);

/* Permissions that are lost without CONNECT in a voice channel. */
static const uint64_t PERMISSIONS_NEEDING_CONNECT =
    PERMISSION(PRIORITY_SPEAKER) | PERMISSION(STREAM) | PERMISSION(CONNECT) | PERMISSION(SPEAK) |
    PERMISSION(MUTE_MEMBERS) | PERMISSION(DEAFEN_MEMBERS) | PERMISSION(MOVE_MEMBERS) |
    PERMISSION(USE_VAD) | PERMISSION(REQUEST_TO_SPEAK) | PERMISSION(USE_EMBEDDED_ACTIVITIES) |
    PERMISSION(USE_SOUNDBOARD) | PERMISSION(USE_EXTERNAL_SOUNDS) |
    PERMISSION(SET_VOICE_CHANNEL_STATUS) | PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_ROLES);

/* Permissions that are lost without SEND_MESSAGES. */
static const uint64_t PERMISSIONS_NEEDING_SEND_MESSAGES =
    PERMISSION(MENTION_EVERYONE) | PERMISSION(SEND_TTS_MESSAGES) | PERMISSION(ATTACH_FILES) |
    PERMISSION(EMBED_LINKS);

/* Permissions of the guild as a whole, which are not lost without VIEW_CHANNEL. */
static const uint64_t PERMISSIONS_OF_GUILD =
    PERMISSION(KICK_MEMBERS) | PERMISSION(BAN_MEMBERS) | PERMISSION(ADMINISTRATOR) |
    PERMISSION(MANAGE_GUILD) | PERMISSION(VIEW_AUDIT_LOG) | PERMISSION(VIEW_GUILD_INSIGHTS) |
    PERMISSION(CHANGE_NICKNAME) | PERMISSION(MANAGE_NICKNAMES) | PERMISSION(MANAGE_EXPRESSIONS) |
    PERMISSION(CREATE_EXPRESSIONS) | PERMISSION(MODERATE_MEMBERS) |
    PERMISSION(VIEW_CREATOR_MONETIZATION_ANALYTICS);

static bool has_all_permissions(const struct permission_input *input)
{
    return input->owner || input->base & PERMISSION(ADMINISTRATOR);
}

static uint64_t restrict_permissions(const struct permission_input *input, uint64_t permissions)
{
    if (input->timed_out || input->pending || input->unverified)
        permissions &= PERMISSIONS_WHEN_RESTRICTED;
    if (input->quarantined)
        permissions &= PERMISSIONS_WHEN_RESTRICTED | PERMISSION(CHANGE_NICKNAME);
    return permissions;
}

bool member_is_restricted(const struct permission_input *input)
{
    return !has_all_permissions(input) &&
           (input->timed_out || input->pending || input->quarantined || input->unverified);
}

enum err check_member_may_write(const struct permission_input *input)
{
    if (!member_is_restricted(input))
        return OK;
    return input->timed_out || input->pending || input->quarantined ? ERR_MISSING_PERMISSIONS
                                                                    : input->unverified;
}

uint64_t permissions_in_guild(const struct permission_input *input)
{
    return has_all_permissions(input) ? PERMISSIONS_ALL : restrict_permissions(input, input->base);
}

static bool input_has_role(const struct permission_input *input, snowflake role)
{
    for (size_t i = 0; i < input->role_count; i++)
        if (input->roles[i] == role)
            return true;
    return false;
}

/* Applies overwrites in the order of Discord: @everyone, all roles together, the member. */
static uint64_t apply_overwrites(const struct permission_input *input,
                                 const struct overwrite *overwrites, size_t count)
{
    struct overwrite everyone = { 0 }, roles = { 0 }, member = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct overwrite *o = &overwrites[i];

        if (o->type == OVERWRITE_ROLE && o->id == input->guild_id) {
            everyone = *o;
        } else if (o->type == OVERWRITE_ROLE && input_has_role(input, o->id)) {
            roles.allow |= o->allow;
            roles.deny |= o->deny;
        } else if (o->type == OVERWRITE_MEMBER && o->id == input->user_id) {
            member = *o;
        }
    }
    uint64_t permissions = (input->base & ~everyone.deny) | everyone.allow;
    permissions = (permissions & ~roles.deny) | roles.allow;
    return (permissions & ~member.deny) | member.allow;
}

/* Removes permissions that have no effect without VIEW_CHANNEL, CONNECT or SEND_MESSAGES. */
static uint64_t remove_dependent_permissions(uint64_t permissions, int64_t type)
{
    if (!(permissions & PERMISSION(VIEW_CHANNEL)))
        return permissions & PERMISSIONS_OF_GUILD;
    if (channel_is_voice(type)) {
        if (!(permissions & PERMISSION(CONNECT)))
            permissions &= ~PERMISSIONS_NEEDING_CONNECT;
    } else if (!(permissions & PERMISSION(SEND_MESSAGES))) {
        permissions &= ~PERMISSIONS_NEEDING_SEND_MESSAGES;
    }
    return permissions;
}

uint64_t permissions_in_channel(const struct permission_input *input, int64_t channel_type,
                                const struct overwrite *overwrites, size_t count, bool thread)
{
    if (has_all_permissions(input))
        return PERMISSIONS_ALL;

    /* ADMINISTRATOR in an overwrite has no effect. */
    uint64_t permissions = apply_overwrites(input, overwrites, count) & ~PERMISSION(ADMINISTRATOR);
    permissions = restrict_permissions(input, permissions);
    if (thread) {
        permissions &= ~PERMISSION(SEND_MESSAGES);
        if (permissions & PERMISSION(SEND_MESSAGES_IN_THREADS))
            permissions |= PERMISSION(SEND_MESSAGES);
    }
    return remove_dependent_permissions(permissions, channel_type);
}

uint64_t limit_permissions_to_thread(int64_t type, bool member, uint64_t permissions)
{
    bool open =
        type != CHANNEL_PRIVATE_THREAD || member || permissions & PERMISSION(MANAGE_THREADS);

    return open ? permissions : 0;
}

uint64_t permissions_in_thread(const struct permission_input *input, const struct channel *thread,
                               const struct channel *parent)
{
    const struct list *overwrites = &parent->permission_overwrites.value;
    uint64_t permissions =
        permissions_in_channel(input, parent->type, overwrites->items, overwrites->count, true);

    return limit_permissions_to_thread(thread->type, thread->member, permissions);
}

struct permission_input permission_input_of_member(const struct guild *g, const struct member *m)
{
    const struct opt_int *until = &m->communication_disabled_until;
    const struct role *r = g->roles.items;
    struct permission_input input = {
        .guild_id = g->id,
        .user_id = m->user_id,
        .owner = g->owner_id == m->user_id,
        .timed_out = until->given == GIVEN && until->value > clock_us(),
        .quarantined = m->flags & MEMBER_QUARANTINED,
        .pending = m->pending,
        .roles = m->roles.items,
        .role_count = m->roles.count,
    };

    for (size_t i = 0; i < g->roles.count; i++)
        if (r[i].id == g->id || id_list_contains(&m->roles, r[i].id))
            input.base |= r[i].permissions;
    return input;
}

enum err missing_permission_error(uint64_t withheld, uint64_t any)
{
    return withheld & any ? ERR_GUILD_MFA_REQUIRED : ERR_MISSING_PERMISSIONS;
}

enum err member_missing_permission_error(const struct member_access *s, uint64_t any)
{
    return missing_permission_error(permissions_in_guild(&s->input) & s->withheld, any);
}

bool member_outranks_role(const struct member_access *s, const struct role *role)
{
    return s->input.owner || role_is_above(s->top_position, s->top_role, role->position, role->id);
}

bool member_outranks(const struct member_access *s, const struct member_access *other)
{
    if (other->input.owner)
        return false;
    return s->input.owner ||
           role_is_above(s->top_position, s->top_role, other->top_position, other->top_role);
}
