/* index_places.c - finds the channels of a guild in which a member may use commands.
 *
 * An index asks for every command whether any channel allows it. Most channels are equal in this
 * respect, so one representative of each class is enough. */
#include "commands/index/index.h"

#include <stdlib.h>

#include "platform/channels/channels.h"

/* The columns of a channel or thread that matter for command permissions. */
struct open_channel {
    snowflake id, parent_id;
    int64_t type;
    bool nsfw, member;      /* member: the user is a member of this private thread */
    struct list overwrites; /* struct overwrite: only those that apply to the member */
};

static const char OPEN_CHANNELS[] =
    "select id, type, coalesce(parent_id, 0), nsfw, case when type = 12 and "
    "exists (select 1 from thread_members m where m.thread_id = channels.id and m.user_id = $2) "
    "then 1 else 0 end from channels where guild_id = $1 and thread_archived = 0 order by id";

static enum err load_channels(struct tx *tx, snowflake guild_id, snowflake user_id,
                              struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, OPEN_CHANNELS, BIND(v_id(guild_id), v_id(user_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(struct open_channel *)list_add(tx_arena(tx), ret, sizeof(struct open_channel)) =
            (struct open_channel){
                .id = row_id(&rows, 0),
                .type = row_int(&rows, 1),
                .parent_id = row_id(&rows, 2),
                .nsfw = row_bool(&rows, 3),
                .member = row_bool(&rows, 4),
            };
    return rows_end(&rows);
}

/* Selects only overwrites of the member, its roles and @everyone: a channel may have a thousand. */
static const char OVERWRITES_ABOUT[] =
    "select o.target_id, o.type, o.allow, o.deny, o.channel_id from overwrites o "
    "cross join channels c where c.id = o.channel_id and c.guild_id = $1 and (o.target_id = $1 or "
    "o.target_id = $2 or o.target_id in (select role_id from member_roles where guild_id = $1 and "
    "user_id = $2)) order by o.channel_id";

/* Reads the member's overwrites into the channels; rows and channels are both sorted by channel
 * id. */
static enum err load_overwrites(struct tx *tx, const struct standing *s, struct list *channels)
{
    struct open_channel *c = channels->items, *end = c + channels->count;
    struct rows rows;
    enum err e = tx_query(tx, OVERWRITES_ABOUT, BIND(v_id(s->guild_id), v_id(s->user_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        while (c < end && c->id < row_id(&rows, 4))
            c++;
        if (c == end || c->id != row_id(&rows, 4))
            continue;
        struct overwrite *o = list_add(tx_arena(tx), &c->overwrites, sizeof *o);
        *o = (struct overwrite){ row_id(&rows, 0), row_int(&rows, 1), (uint64_t)row_int(&rows, 2),
                                 (uint64_t)row_int(&rows, 3) };
    }
    return rows_end(&rows);
}

static int compare_channel(const void *id, const void *channel)
{
    snowflake one = *(const snowflake *)id, two = ((const struct open_channel *)channel)->id;

    return one < two ? -1 : one > two;
}

static uint64_t rights_here(const struct standing *s, const struct open_channel *c, bool thread)
{
    return rights_in_channel(&s->rights_of, c->type, c->overwrites.items, c->overwrites.count,
                             thread) &
           ~s->withheld;
}

/* Computes the class of a channel. Returns false if no command can be used in the channel. */
static bool place_of(const struct standing *s, const struct list *channels,
                     const struct open_channel *c, struct index_place *ret)
{
    const uint64_t needs = PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_APPLICATION_COMMANDS);
    const struct open_channel *of = c;
    bool thread = channel_is_thread(c->type);

    if (thread)
        of = bsearch(&c->parent_id, channels->items, channels->count, sizeof *c, compare_channel);
    if (!of || !channel_takes_messages(c->type))
        return false;
    uint64_t rights = rights_here(s, of, thread);
    if (thread)
        rights = rights_past_door(c->type, c->member, rights);
    *ret = (struct index_place){ rights, of->id, of->nsfw, thread };
    return (rights & needs) == needs;
}

static bool is_known(const struct list *places, const struct index_place *p)
{
    const struct index_place *known = places->items;

    for (size_t i = 0; i < places->count; i++)
        if (known[i].rights == p->rights && known[i].channel_id == p->channel_id &&
            known[i].nsfw == p->nsfw && known[i].thread == p->thread)
            return true;
    return false;
}

void index_places_prefetch(struct tx *tx, snowflake guild_id, snowflake user_id)
{
    tx_prefetch(tx, OPEN_CHANNELS, BIND(v_id(guild_id), v_id(user_id)));
    tx_prefetch(tx, OVERWRITES_ABOUT, BIND(v_id(guild_id), v_id(user_id)));
}

enum err index_places(struct tx *tx, const struct standing *s, bool by_channel, struct list *ret)
{
    struct list channels;
    struct index_place p;
    enum err e = load_channels(tx, s->guild_id, s->user_id, &channels);

    *ret = (struct list){ 0 };
    if (!e)
        e = load_overwrites(tx, s, &channels);
    for (size_t i = 0; !e && i < channels.count; i++) {
        if (!place_of(s, &channels, (const struct open_channel *)channels.items + i, &p))
            continue;
        if (!by_channel)
            p.channel_id = 0;
        if (!is_known(ret, &p))
            *(struct index_place *)list_add(tx_arena(tx), ret, sizeof p) = p;
    }
    return e;
}
