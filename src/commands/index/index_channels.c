/* index_channels.c - finds the channels of a guild in which a member may use commands. An index
 * lists a command if at least one channel allows the command. Most channels have the same command
 * permissions, so only one channel of each class is checked. */
#include "commands/index/index.h"

#include "model/fields/ids.h"
#include "platform/channels/channels.h"

/* Columns of a channel or Discord thread that affect command permissions. */
struct command_channel {
    snowflake id, parent_id;
    int64_t type;
    /* nsfw: age-restricted channel. member: the user is a member of this private Discord thread. */
    bool nsfw, member;
    struct list overwrites; /* overwrites (struct overwrite) that apply to the member */
};

static const char OPEN_CHANNELS[] =
    "select id, type, coalesce(parent_id, 0), nsfw, case when type = 12 and "
    "exists (select 1 from thread_members m where m.thread_id = channels.id and m.user_id = $2) "
    "then 1 else 0 end from channels where guild_id = $1 and thread_archived = 0 order by id";

static enum err read_unarchived_channels(struct tx *tx, snowflake guild_id, snowflake user_id,
                                         struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, OPEN_CHANNELS, BIND(v_id(guild_id), v_id(user_id)), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(struct command_channel *)list_append(tx_arena(tx), ret, sizeof(struct command_channel)) =
            (struct command_channel){
                .id = row_id(&rows, 0),
                .type = row_int(&rows, 1),
                .parent_id = row_id(&rows, 2),
                .nsfw = row_bool(&rows, 3),
                .member = row_bool(&rows, 4),
            };
    return rows_end(&rows);
}

/* Selects the overwrites of the member, of his roles and of @everyone, but no others, because a
 * channel may have a thousand overwrites. */
static const char OVERWRITES_ABOUT[] =
    "select o.target_id, o.type, o.allow, o.deny, o.channel_id from overwrites o "
    "cross join channels c where c.id = o.channel_id and c.guild_id = $1 and (o.target_id = $1 or "
    "o.target_id = $2 or o.target_id in (select role_id from member_roles where guild_id = $1 and "
    "user_id = $2)) order by o.channel_id";

/* Adds to each channel the overwrites that apply to the member. Both rows and channels are sorted
 * by channel id. */
static enum err read_member_overwrites(struct tx *tx, const struct member_access *s,
                                       struct list *channels)
{
    struct command_channel *c = channels->items, *end = c + channels->count;
    struct rows rows;
    enum err e = tx_query(tx, OVERWRITES_ABOUT, BIND(v_id(s->guild_id), v_id(s->user_id)), &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        while (c < end && c->id < row_id(&rows, 4))
            c++;
        if (c == end || c->id != row_id(&rows, 4))
            continue;
        struct overwrite *o = list_append(tx_arena(tx), &c->overwrites, sizeof *o);
        *o = (struct overwrite){ row_id(&rows, 0), row_int(&rows, 1), (uint64_t)row_int(&rows, 2),
                                 (uint64_t)row_int(&rows, 3) };
    }
    return rows_end(&rows);
}

static uint64_t command_permissions_in_channel(const struct member_access *s,
                                               const struct command_channel *c, bool thread)
{
    return permissions_in_channel(&s->input, c->type, c->overwrites.items, c->overwrites.count,
                                  thread) &
           ~s->withheld;
}

/* Computes the class of a channel. Returns false if no command can be used in the channel. */
static bool compute_channel_permission_class(const struct member_access *s,
                                             const struct list *channels,
                                             const struct command_channel *c,
                                             struct channel_permission_class *ret)
{
    const uint64_t needs = PERMISSION(VIEW_CHANNEL) | PERMISSION(USE_APPLICATION_COMMANDS);
    const struct command_channel *of = c;
    bool thread = channel_is_thread(c->type);

    if (thread)
        of = id_sorted_list_find(channels, sizeof *c, c->parent_id);
    if (!of || !channel_accepts_messages(c->type))
        return false;
    uint64_t permissions = command_permissions_in_channel(s, of, thread);
    if (thread)
        permissions = limit_permissions_to_thread(c->type, c->member, permissions);
    *ret = (struct channel_permission_class){ permissions, of->id, of->nsfw, thread };
    return (permissions & needs) == needs;
}

static bool channel_permission_class_is_in_list(const struct list *classes,
                                                const struct channel_permission_class *p)
{
    const struct channel_permission_class *known = classes->items;

    for (size_t i = 0; i < classes->count; i++)
        if (known[i].permissions == p->permissions && known[i].channel_id == p->channel_id &&
            known[i].nsfw == p->nsfw && known[i].thread == p->thread)
            return true;
    return false;
}

enum err read_channel_permission_classes(struct tx *tx, const struct member_access *s,
                                         bool by_channel, struct list *ret)
{
    struct list channels;
    struct channel_permission_class p;
    enum err e = read_unarchived_channels(tx, s->guild_id, s->user_id, &channels);

    *ret = (struct list){ 0 };
    if (!e)
        e = read_member_overwrites(tx, s, &channels);
    for (size_t i = 0; !e && i < channels.count; i++) {
        if (!compute_channel_permission_class(
                s, &channels, (const struct command_channel *)channels.items + i, &p))
            continue;
        if (!by_channel)
            p.channel_id = 0;
        if (!channel_permission_class_is_in_list(ret, &p))
            *(struct channel_permission_class *)list_append(tx_arena(tx), ret, sizeof p) = p;
    }
    return e;
}
