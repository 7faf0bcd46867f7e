/* visible_states.c - reads the voice states of a guild that a member can see. */
#include "base/map.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "voice/states.h"

/* Returns the voice channels that a member can view. Called once, before voice states are filtered.
 */
static struct map find_visible_voice_channels(const struct permission_computation_input *who,
                                              const struct list *channels)
{
    struct channel *c = channels->items;
    struct map seen;

    map_init(&seen);
    for (size_t i = 0; i < channels->count; i++) {
        const struct list *o = &c[i].permission_overwrites.value;

        if (channel_is_voice(c[i].type) &&
            permissions_in_channel(who, c[i].type, o->items, o->count, false) &
                PERMISSION(VIEW_CHANNEL))
            map_set_value(&seen, c[i].id, &c[i]);
    }
    return seen;
}

static void add_visible_states(struct tx *tx, const struct permission_computation_input *who,
                               const struct list *channels, const struct list *states,
                               struct gateway_guild *ret)
{
    const struct voice_state *s = states->items;
    struct map seen = find_visible_voice_channels(who, channels);

    for (size_t i = 0; i < states->count; i++) {
        if (s[i].user_id != who->user_id &&
            !map_find_value(&seen, voice_state_get_channel_id(&s[i])))
            continue;
        struct voice_state *visible =
            list_append(tx_arena(tx), &ret->voice_states, sizeof *visible);

        *visible = s[i];
        visible->guild_id.given = ABSENT;
    }
    map_clear(&seen);
}

/* Adds the members to whom the added voice states belong, for a guild that is sent without all its
 * members. The viewer's own member is already included. Voice states and members are both sorted by
 * user id. */
static enum err add_members_of_states(struct tx *tx, const struct permission_computation_input *who,
                                      struct gateway_guild *ret)
{
    const struct voice_state *s = ret->voice_states.items;
    struct list members;
    enum err e = members_list_in_voice(tx, ret->guild.id, &members);
    const struct member *m = members.items;

    for (size_t i = 0, at = 0; !e && i < members.count; i++) {
        while (at < ret->voice_states.count && s[at].user_id < m[i].user_id)
            at++;
        bool seen = at < ret->voice_states.count && s[at].user_id == m[i].user_id;
        if (seen && m[i].user_id != who->user_id)
            *(struct member *)list_append(tx_arena(tx), &ret->members, sizeof *m) = m[i];
    }
    return e;
}

enum err read_visible_voice_states(struct tx *tx, const struct permission_computation_input *who,
                                   const struct list *channels, bool all, struct gateway_guild *ret)
{
    struct list states;
    enum err e = list_voice_states_of_guild(tx, ret->guild.id, &states);

    if (e || !states.count)
        return e;
    add_visible_states(tx, who, channels, &states, ret);
    return all ? OK : add_members_of_states(tx, who, ret);
}
