/* show.c - voice states of a guild as one of its members may see them. */
#include "base/map.h"
#include "platform/channels/channels.h"
#include "platform/members/members.h"
#include "voice/states.h"

/* Returns the voice channels that a member may view; computed once per channel, not per state. */
static struct map voice_visible(const struct rights_of *who, const struct list *channels)
{
    struct channel *c = channels->items;
    struct map seen;

    map_init(&seen);
    for (size_t i = 0; i < channels->count; i++) {
        const struct list *o = &c[i].permission_overwrites.value;

        if (channel_is_voice(c[i].type) &&
            rights_in_channel(who, c[i].type, o->items, o->count, false) & PERMISSION(VIEW_CHANNEL))
            map_put(&seen, c[i].id, &c[i]);
    }
    return seen;
}

static void show_states(struct tx *tx, const struct rights_of *who, const struct list *channels,
                        const struct list *states, struct gateway_guild *ret)
{
    const struct voice_state *s = states->items;
    struct map seen = voice_visible(who, channels);

    for (size_t i = 0; i < states->count; i++) {
        if (s[i].user_id != who->user_id && !map_get(&seen, voice_channel(&s[i])))
            continue;
        struct voice_state *shown = list_add(tx_arena(tx), &ret->voice_states, sizeof *shown);

        *shown = s[i];
        shown->guild_id.given = ABSENT;
    }
    map_clear(&seen);
}

/* Adds the members of the added states, for guilds that are sent without all members; the viewer is
 * already included. Both lists are ordered by user id. */
static enum err show_members(struct tx *tx, const struct rights_of *who, struct gateway_guild *ret)
{
    const struct voice_state *s = ret->voice_states.items;
    struct list members;
    enum err e = members_in_voice(tx, ret->guild.id, &members);
    const struct member *m = members.items;

    for (size_t i = 0, at = 0; !e && i < members.count; i++) {
        while (at < ret->voice_states.count && s[at].user_id < m[i].user_id)
            at++;
        bool seen = at < ret->voice_states.count && s[at].user_id == m[i].user_id;
        if (seen && m[i].user_id != who->user_id)
            *(struct member *)list_add(tx_arena(tx), &ret->members, sizeof *m) = m[i];
    }
    return e;
}

enum err voice_show(struct tx *tx, const struct rights_of *who, const struct list *channels,
                    bool all, struct gateway_guild *ret)
{
    struct list states;
    enum err e = voice_in_guild(tx, ret->guild.id, &states);

    if (e || !states.count)
        return e;
    show_states(tx, who, channels, &states, ret);
    return all ? OK : show_members(tx, who, ret);
}
