/* member_permissions.c - computes the permissions of a member from roles and overwrites. */
#include "model/permissions/member_permissions.h"

#include "base/clock.h"
#include "model/fields/ids.h"

/* Permissions that a member retains when timed out, pending, or below the verification level. */
static const uint64_t PERMISSIONS_WHEN_RESTRICTED =
    PERMISSION(VIEW_CHANNEL) | PERMISSION(READ_MESSAGE_HISTORY);

/* Permissions in a voice channel that have no effect without CONNECT. */
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

/* Permissions in the guild as a whole. They stay valid in a channel without VIEW_CHANNEL. */
static const uint64_t PERMISSIONS_OF_GUILD =
    PERMISSION(KICK_MEMBERS) | PERMISSION(BAN_MEMBERS) | PERMISSION(ADMINISTRATOR) |
    PERMISSION(MANAGE_GUILD) | PERMISSION(VIEW_AUDIT_LOG) | PERMISSION(VIEW_GUILD_INSIGHTS) |
    PERMISSION(CHANGE_NICKNAME) | PERMISSION(MANAGE_NICKNAMES) | PERMISSION(MANAGE_EXPRESSIONS) |
    PERMISSION(CREATE_EXPRESSIONS) | PERMISSION(MODERATE_MEMBERS) |
    PERMISSION(VIEW_CREATOR_MONETIZATION_ANALYTICS);

static bool has_all_permissions(const struct permission_computation_input *input)
{
    return input->owner || input->base & PERMISSION(ADMINISTRATOR);
}

/* Functions with a parameter `trace` are inlined into their callers. If a caller passes NULL, the
 * compiler removes the code that records the steps of the computation. */
#define TRACED static inline __attribute__((always_inline))

void permission_trace_add(struct permission_trace *trace, const struct permission_step *step)
{
    if (trace && trace->count < PERMISSION_TRACE_MAX)
        trace->steps[trace->count++] = *step;
}

/* If `applies` is true, removes all permissions outside `remaining` and records this step of the
 * computation. */
TRACED uint64_t limit_permissions(uint64_t permissions, bool applies, uint64_t remaining,
                                  enum permission_step_kind kind, struct permission_trace *trace)
{
    if (!applies)
        return permissions;
    if (trace)
        permission_trace_add(
            trace, &(struct permission_step){ kind, 0, 0, ~remaining, permissions & remaining });
    return permissions & remaining;
}

TRACED uint64_t restrict_permissions_by_status(const struct permission_computation_input *input,
                                               uint64_t permissions, struct permission_trace *trace)
{
    const uint64_t remaining = PERMISSIONS_WHEN_RESTRICTED;

    permissions =
        limit_permissions(permissions, input->timed_out, remaining, STEP_TIMED_OUT, trace);
    permissions = limit_permissions(permissions, input->pending, remaining, STEP_PENDING, trace);
    permissions =
        limit_permissions(permissions, input->unverified != OK, remaining, STEP_UNVERIFIED, trace);
    return limit_permissions(permissions, input->quarantined,
                             remaining | PERMISSION(CHANGE_NICKNAME), STEP_QUARANTINED, trace);
}

bool member_is_restricted(const struct permission_computation_input *input)
{
    return !has_all_permissions(input) &&
           (input->timed_out || input->pending || input->quarantined || input->unverified);
}

enum err check_member_may_write(const struct permission_computation_input *input)
{
    if (!member_is_restricted(input))
        return OK;
    return input->timed_out || input->pending || input->quarantined ? ERR_MISSING_PERMISSIONS
                                                                    : input->unverified;
}

TRACED uint64_t grant_all_permissions(const struct permission_computation_input *input,
                                      struct permission_trace *trace)
{
    if (trace)
        permission_trace_add(
            trace, &(struct permission_step){ input->owner ? STEP_OWNER : STEP_ADMINISTRATOR, 0,
                                              PERMISSIONS_ALL, 0, PERMISSIONS_ALL });
    return PERMISSIONS_ALL;
}

TRACED uint64_t compute_in_guild(const struct permission_computation_input *input,
                                 struct permission_trace *trace)
{
    return has_all_permissions(input) ? grant_all_permissions(input, trace)
                                      : restrict_permissions_by_status(input, input->base, trace);
}

uint64_t permissions_in_guild(const struct permission_computation_input *input)
{
    return compute_in_guild(input, NULL);
}

uint64_t permissions_in_guild_traced(const struct permission_computation_input *input,
                                     struct permission_trace *trace)
{
    return compute_in_guild(input, trace);
}

static bool permission_input_has_role(const struct permission_computation_input *input,
                                      snowflake role)
{
    for (size_t i = 0; i < input->role_count; i++)
        if (input->roles[i] == role)
            return true;
    return false;
}

static bool is_overwrite_of_role(const struct permission_computation_input *input,
                                 const struct overwrite *o)
{
    return o->type == OVERWRITE_ROLE && o->id != input->guild_id &&
           permission_input_has_role(input, o->id);
}

TRACED uint64_t apply_overwrite(uint64_t permissions, const struct overwrite *o,
                                enum permission_step_kind kind, struct permission_trace *trace)
{
    uint64_t after = (permissions & ~o->deny) | o->allow;

    if (trace && (o->allow || o->deny))
        permission_trace_add(trace,
                             &(struct permission_step){ kind, o->id, o->allow, o->deny, after });
    return after;
}

/* Records the overwrite of each role of the member as a step. `roles` is the union of these
 * overwrites. */
static void permission_trace_add_role_overwrites(const struct permission_computation_input *input,
                                                 const struct overwrite *overwrites, size_t count,
                                                 uint64_t permissions,
                                                 const struct overwrite *roles,
                                                 struct permission_trace *trace)
{
    uint64_t after = (permissions & ~roles->deny) | roles->allow;

    for (size_t i = 0; i < count; i++) {
        const struct overwrite *o = &overwrites[i];

        if (is_overwrite_of_role(input, o))
            permission_trace_add(trace, &(struct permission_step){ STEP_OVERWRITE_ROLE, o->id,
                                                                   o->allow, o->deny, after });
    }
}

/* Applies the overwrites in the same order as Discord: @everyone, then all roles together, then the
 * member. */
TRACED uint64_t apply_overwrites(const struct permission_computation_input *input,
                                 const struct overwrite *overwrites, size_t count,
                                 struct permission_trace *trace)
{
    struct overwrite everyone = { 0 }, roles = { 0 }, member = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct overwrite *o = &overwrites[i];

        if (o->type == OVERWRITE_ROLE && o->id == input->guild_id) {
            everyone = *o;
        } else if (is_overwrite_of_role(input, o)) {
            roles.allow |= o->allow;
            roles.deny |= o->deny;
        } else if (o->type == OVERWRITE_MEMBER && o->id == input->user_id) {
            member = *o;
        }
    }
    uint64_t permissions = apply_overwrite(input->base, &everyone, STEP_OVERWRITE_EVERYONE, trace);
    if (trace)
        permission_trace_add_role_overwrites(input, overwrites, count, permissions, &roles, trace);
    permissions = apply_overwrite(permissions, &roles, STEP_OVERWRITE_ROLE, NULL);
    return apply_overwrite(permissions, &member, STEP_OVERWRITE_MEMBER, trace);
}

/* Removes permissions that have no effect without VIEW_CHANNEL, CONNECT or SEND_MESSAGES. */
TRACED uint64_t remove_dependent_permissions(uint64_t permissions, int64_t type,
                                             struct permission_trace *trace)
{
    if (!(permissions & PERMISSION(VIEW_CHANNEL)))
        return limit_permissions(permissions, true, PERMISSIONS_OF_GUILD, STEP_NEEDS_VIEW, trace);
    if (channel_is_voice(type))
        return limit_permissions(permissions, !(permissions & PERMISSION(CONNECT)),
                                 ~PERMISSIONS_NEEDING_CONNECT, STEP_NEEDS_CONNECT, trace);
    return limit_permissions(permissions, !(permissions & PERMISSION(SEND_MESSAGES)),
                             ~PERMISSIONS_NEEDING_SEND_MESSAGES, STEP_NEEDS_SEND, trace);
}

/* In Discord threads SEND_MESSAGES_IN_THREADS replaces SEND_MESSAGES. */
TRACED uint64_t replace_send_permission(uint64_t permissions, struct permission_trace *trace)
{
    permissions &= ~PERMISSION(SEND_MESSAGES);
    if (permissions & PERMISSION(SEND_MESSAGES_IN_THREADS))
        permissions |= PERMISSION(SEND_MESSAGES);
    if (trace)
        permission_trace_add(
            trace, &(struct permission_step){ .kind = STEP_THREAD, .after = permissions });
    return permissions;
}

TRACED uint64_t compute_in_channel(const struct permission_computation_input *input,
                                   int64_t channel_type, const struct overwrite *overwrites,
                                   size_t count, bool thread, struct permission_trace *trace)
{
    if (has_all_permissions(input))
        return grant_all_permissions(input, trace);

    /* An overwrite cannot grant ADMINISTRATOR, so the bit is removed. */
    uint64_t permissions =
        apply_overwrites(input, overwrites, count, trace) & ~PERMISSION(ADMINISTRATOR);
    permissions = restrict_permissions_by_status(input, permissions, trace);
    if (thread)
        permissions = replace_send_permission(permissions, trace);
    return remove_dependent_permissions(permissions, channel_type, trace);
}

uint64_t permissions_in_channel(const struct permission_computation_input *input,
                                int64_t channel_type, const struct overwrite *overwrites,
                                size_t count, bool thread)
{
    return compute_in_channel(input, channel_type, overwrites, count, thread, NULL);
}

uint64_t permissions_in_channel_traced(const struct permission_computation_input *input,
                                       int64_t channel_type, const struct overwrite *overwrites,
                                       size_t count, bool thread, struct permission_trace *trace)
{
    return compute_in_channel(input, channel_type, overwrites, count, thread, trace);
}

uint64_t limit_permissions_to_thread(int64_t type, bool member, uint64_t permissions)
{
    bool open =
        type != CHANNEL_PRIVATE_THREAD || member || permissions & PERMISSION(MANAGE_THREADS);

    return open ? permissions : 0;
}

uint64_t permissions_in_thread(const struct permission_computation_input *input,
                               const struct channel *thread, const struct channel *parent)
{
    return permissions_in_thread_traced(input, thread, parent, NULL);
}

uint64_t permissions_in_thread_traced(const struct permission_computation_input *input,
                                      const struct channel *thread, const struct channel *parent,
                                      struct permission_trace *trace)
{
    const struct list *overwrites = &parent->permission_overwrites.value;
    uint64_t permissions = permissions_in_channel_traced(input, parent->type, overwrites->items,
                                                         overwrites->count, true, trace);
    uint64_t limited = limit_permissions_to_thread(thread->type, thread->member, permissions);

    if (limited != permissions)
        permission_trace_add(trace, &(struct permission_step){ .kind = STEP_PRIVATE_THREAD,
                                                               .deny = permissions,
                                                               .after = limited });
    return limited;
}

struct permission_computation_input permission_computation_input_of_member(const struct guild *g,
                                                                           const struct member *m)
{
    const struct opt_int *until = &m->communication_disabled_until;
    const struct role *r = g->roles.items;
    struct permission_computation_input input = {
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

enum err get_error_for_missing_permissions(uint64_t withheld, uint64_t any)
{
    return withheld & any ? ERR_GUILD_MFA_REQUIRED : ERR_MISSING_PERMISSIONS;
}

enum err get_error_for_permissions_missing_in_guild(const struct member_access *s, uint64_t any)
{
    return get_error_for_missing_permissions(permissions_in_guild(&s->input) & s->withheld, any);
}

bool member_outranks_role(const struct member_access *s, const struct role *role)
{
    return s->input.owner || role_is_above(s->top_position, s->top_role, role->position, role->id);
}

bool member_outranks_member(const struct member_access *s, const struct member_access *other)
{
    if (other->input.owner)
        return false;
    return s->input.owner ||
           role_is_above(s->top_position, s->top_role, other->top_position, other->top_role);
}
