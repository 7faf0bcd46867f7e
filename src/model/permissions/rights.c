/* rights.c - computes the permissions of a member from roles and overwrites. */
#include "model/permissions/rights.h"

#include "base/clock.h"
#include "model/fields/ids.h"

/* Permissions of a member who is timed out, pending, or below the verification level. */
static const uint64_t TIMED_OUT = PERMISSION(VIEW_CHANNEL) | PERMISSION(READ_MESSAGE_HISTORY);

/* Permissions that are lost without CONNECT in a voice channel. */
static const uint64_t VOICE =
    PERMISSION(PRIORITY_SPEAKER) | PERMISSION(STREAM) | PERMISSION(CONNECT) | PERMISSION(SPEAK) |
    PERMISSION(MUTE_MEMBERS) | PERMISSION(DEAFEN_MEMBERS) | PERMISSION(MOVE_MEMBERS) |
    PERMISSION(USE_VAD) | PERMISSION(REQUEST_TO_SPEAK) | PERMISSION(USE_EMBEDDED_ACTIVITIES) |
    PERMISSION(USE_SOUNDBOARD) | PERMISSION(USE_EXTERNAL_SOUNDS) |
    PERMISSION(SET_VOICE_CHANNEL_STATUS) | PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_ROLES);

/* Permissions that are lost without SEND_MESSAGES. */
static const uint64_t SENDING = PERMISSION(MENTION_EVERYONE) | PERMISSION(SEND_TTS_MESSAGES) |
                                PERMISSION(ATTACH_FILES) | PERMISSION(EMBED_LINKS);

/* Permissions of the guild as a whole, which are not lost without VIEW_CHANNEL. */
static const uint64_t GUILD_ONLY =
    PERMISSION(KICK_MEMBERS) | PERMISSION(BAN_MEMBERS) | PERMISSION(ADMINISTRATOR) |
    PERMISSION(MANAGE_GUILD) | PERMISSION(VIEW_AUDIT_LOG) | PERMISSION(VIEW_GUILD_INSIGHTS) |
    PERMISSION(CHANGE_NICKNAME) | PERMISSION(MANAGE_NICKNAMES) | PERMISSION(MANAGE_EXPRESSIONS) |
    PERMISSION(CREATE_EXPRESSIONS) | PERMISSION(MODERATE_MEMBERS) |
    PERMISSION(VIEW_CREATOR_MONETIZATION_ANALYTICS);

static bool has_all(const struct rights_of *who)
{
    return who->owner || who->base & PERMISSION(ADMINISTRATOR);
}

static uint64_t rights_restrained(const struct rights_of *who, uint64_t rights)
{
    if (who->timed_out || who->pending || who->unverified)
        rights &= TIMED_OUT;
    if (who->quarantined)
        rights &= TIMED_OUT | PERMISSION(CHANGE_NICKNAME);
    return rights;
}

bool rights_are_restrained(const struct rights_of *who)
{
    return !has_all(who) && (who->timed_out || who->pending || who->quarantined || who->unverified);
}

enum err rights_to_speak(const struct rights_of *who)
{
    if (!rights_are_restrained(who))
        return OK;
    return who->timed_out || who->pending || who->quarantined ? ERR_MISSING_PERMISSIONS
                                                              : who->unverified;
}

uint64_t rights_in_guild(const struct rights_of *who)
{
    return has_all(who) ? PERMISSIONS_ALL : rights_restrained(who, who->base);
}

static bool holds_role(const struct rights_of *who, snowflake role)
{
    for (size_t i = 0; i < who->role_count; i++)
        if (who->roles[i] == role)
            return true;
    return false;
}

/* Applies overwrites in the order of Discord: @everyone, all roles together, the member. */
static uint64_t rights_overwritten(const struct rights_of *who, const struct overwrite *overwrites,
                                   size_t count)
{
    struct overwrite everyone = { 0 }, roles = { 0 }, member = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct overwrite *o = &overwrites[i];

        if (o->type == OVERWRITE_ROLE && o->id == who->guild_id) {
            everyone = *o;
        } else if (o->type == OVERWRITE_ROLE && holds_role(who, o->id)) {
            roles.allow |= o->allow;
            roles.deny |= o->deny;
        } else if (o->type == OVERWRITE_MEMBER && o->id == who->user_id) {
            member = *o;
        }
    }
    uint64_t rights = (who->base & ~everyone.deny) | everyone.allow;
    rights = (rights & ~roles.deny) | roles.allow;
    return (rights & ~member.deny) | member.allow;
}

/* Removes permissions that have no effect without VIEW_CHANNEL, CONNECT or SEND_MESSAGES. */
static uint64_t without_implied(uint64_t rights, int64_t type)
{
    if (!(rights & PERMISSION(VIEW_CHANNEL)))
        return rights & GUILD_ONLY;
    if (channel_is_voice(type)) {
        if (!(rights & PERMISSION(CONNECT)))
            rights &= ~VOICE;
    } else if (!(rights & PERMISSION(SEND_MESSAGES))) {
        rights &= ~SENDING;
    }
    return rights;
}

uint64_t rights_in_channel(const struct rights_of *who, int64_t channel_type,
                           const struct overwrite *overwrites, size_t count, bool thread)
{
    if (has_all(who))
        return PERMISSIONS_ALL;

    /* ADMINISTRATOR in an overwrite has no effect. */
    uint64_t rights = rights_overwritten(who, overwrites, count) & ~PERMISSION(ADMINISTRATOR);
    rights = rights_restrained(who, rights);
    if (thread) {
        rights &= ~PERMISSION(SEND_MESSAGES);
        if (rights & PERMISSION(SEND_MESSAGES_IN_THREADS))
            rights |= PERMISSION(SEND_MESSAGES);
    }
    return without_implied(rights, channel_type);
}

uint64_t rights_past_door(int64_t type, bool member, uint64_t rights)
{
    bool open = type != CHANNEL_PRIVATE_THREAD || member || rights & PERMISSION(MANAGE_THREADS);

    return open ? rights : 0;
}

uint64_t rights_in_thread(const struct rights_of *who, const struct channel *thread,
                          const struct channel *parent)
{
    const struct list *overwrites = &parent->permission_overwrites.value;
    uint64_t rights =
        rights_in_channel(who, parent->type, overwrites->items, overwrites->count, true);

    return rights_past_door(thread->type, thread->member, rights);
}

/* --- access of a member in a guild ----------------------------------------------------- */

struct rights_of guild_rights_of(const struct guild *g, const struct member *m)
{
    const struct opt_int *until = &m->communication_disabled_until;
    const struct role *r = g->roles.items;
    struct rights_of who = {
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
        if (r[i].id == g->id || ids_hold(&m->roles, r[i].id))
            who.base |= r[i].permissions;
    return who;
}

enum err rights_refusal(uint64_t withheld, uint64_t any)
{
    return withheld & any ? ERR_GUILD_MFA_REQUIRED : ERR_MISSING_PERMISSIONS;
}

enum err standing_lacks(const struct standing *s, uint64_t any)
{
    return rights_refusal(rights_in_guild(&s->rights_of) & s->withheld, any);
}

bool standing_above_role(const struct standing *s, const struct role *role)
{
    return s->rights_of.owner ||
           role_is_above(s->top_position, s->top_role, role->position, role->id);
}

bool standing_above(const struct standing *s, const struct standing *other)
{
    if (other->rights_of.owner)
        return false;
    return s->rights_of.owner ||
           role_is_above(s->top_position, s->top_role, other->top_position, other->top_role);
}
