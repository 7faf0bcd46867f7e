/* gateway.c - a guild with all that is in it, as one of its members sees it. */
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/voice.h"

/* Everybody is listed in guilds up to this size; in larger ones only the viewer. */
enum { SMALL = 250 };

static const struct channel *find_channel(const struct list *channels, snowflake id)
{
    const struct channel *all = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (all[i].id == id)
            return &all[i];
    return NULL;
}

static bool can_view(const struct standing *s, const struct channel *c, const struct list *all)
{
    const struct list *o = &c->permission_overwrites.value;
    const struct channel *parent;
    uint64_t rights = 0;

    if (!channel_is_thread(c->type))
        rights = rights_in_channel(&s->rights_of, c->type, o->items, o->count, false);
    else if ((parent = find_channel(all, c->parent_id.value)))
        rights = rights_in_thread(&s->rights_of, c, parent);
    return rights & PERMISSION(VIEW_CHANNEL);
}

/* Bots are shown every channel, people those that they can view. */
static void show_channels(struct arena *arena, const struct standing *s, bool bot,
                          const struct list *all, struct gateway_guild *ret)
{
    const struct channel *c = all->items;

    for (size_t i = 0; i < all->count; i++)
        if (bot || can_view(s, &c[i], all))
            *(struct channel *)list_add(arena, &ret->channels, sizeof *c) = c[i];
}

static void show_threads(struct arena *arena, const struct standing *s, const struct list *channels,
                         const struct list *threads, struct gateway_guild *ret)
{
    const struct channel *t = threads->items;

    for (size_t i = 0; i < threads->count; i++)
        if (can_view(s, &t[i], channels))
            *(struct channel *)list_add(arena, &ret->threads, sizeof *t) = t[i];
}

static enum err show_members(struct tx *tx, const struct standing *s, struct gateway_guild *ret)
{
    if (!ret->large)
        return members_after(tx, s->guild_id, 0, SMALL, &ret->members);
    struct member *own = list_add(tx_arena(tx), &ret->members, sizeof *own);
    *own = *s->member;
    return member_load_user(tx, own);
}

enum err guild_for_gateway(struct tx *tx, snowflake guild_id, snowflake viewer,
                           struct gateway_guild *ret)
{
    struct list channels, threads;
    struct standing s;
    struct user user;

    *ret = (struct gateway_guild){ 0 };
    enum err e = guild_find(tx, guild_id, &ret->guild);
    if (!e)
        e = guild_load_roles(tx, &ret->guild);
    if (!e)
        e = standing_find(tx, guild_id, viewer, &s);
    if (!e)
        e = user_find(tx, viewer, &user);
    if (!e)
        e = guild_channels(tx, guild_id, &channels, &threads);
    if (e)
        return e;
    ret->joined_at = s.member->joined_at;
    ret->large = ret->guild.member_count > SMALL;
    show_channels(tx_arena(tx), &s, user.bot.value, &channels, ret);
    show_threads(tx_arena(tx), &s, &channels, &threads, ret);
    e = show_members(tx, &s, ret);
    return e ? e : voice_show(tx, &s.rights_of, &channels, ret);
}
