/* threads.c - reads the open Discord threads that a member can view, and members of threads. */
#include "gateway_source/gateway_source.h"

#include "gateway/gateway.h"
#include "model/fields/ids.h"
#include "model/permissions/member_permissions.h"
#include "model/thread.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* Reads the guild, without its roles, and the viewer's member. */
static enum err read_guild_and_member(struct tx *tx, snowflake guild_id, snowflake user_id,
                                      struct guild *ret_guild, struct member *ret)
{
    enum err e = guild_find(tx, guild_id, ret_guild);

    return e ? e : member_find(tx, guild_id, user_id, ret);
}

static const struct channel *find_parent_channel(const struct channel *thread,
                                                 const struct list *channels)
{
    const struct channel *c = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (c[i].id == thread->parent_id.value)
            return &c[i];
    return NULL;
}

static bool thread_belongs_in_list_sync(const struct thread_list_sync *sync,
                                        const struct permission_computation_input *who,
                                        const struct channel *thread, const struct list *channels)
{
    const struct channel *parent = find_parent_channel(thread, channels);

    if (sync->channel_ids.given &&
        !id_list_contains(&sync->channel_ids.value, thread->parent_id.value))
        return false;
    return parent && permissions_in_thread(who, thread, parent) & PERMISSION(VIEW_CHANNEL);
}

/* Adds a Discord thread to THREAD_LIST_SYNC, which lists the viewer's thread members separately. */
static void append_thread_to_sync(struct arena *arena, struct channel thread,
                                  struct thread_list_sync *sync)
{
    if (thread.member)
        *(struct thread_member *)list_append(arena, &sync->members, sizeof *thread.member) =
            *thread.member;
    thread.member = NULL;
    *(struct channel *)list_append(arena, &sync->threads, sizeof thread) = thread;
}

enum err read_visible_threads(struct tx *tx, snowflake user_id, struct thread_list_sync *sync)
{
    struct arena *arena = tx_arena(tx);
    struct guild_with_channels parts;
    struct member viewer;
    struct list threads = { 0 };
    enum err e = member_find(tx, sync->guild_id, user_id, &viewer);

    if (!e)
        e = read_guild_with_channels(tx, sync->guild_id, &parts);
    if (e)
        return e;
    struct permission_computation_input who =
        permission_computation_input_of_member(&parts.guild, &viewer);
    const struct channel *open = parts.threads.items;
    for (size_t i = 0; i < parts.threads.count; i++)
        *(struct channel *)list_append(arena, &threads, sizeof *open) = open[i];
    e = open_threads_read_membership_of_user(tx, sync->guild_id, user_id, &threads);
    const struct channel *t = threads.items;
    for (size_t i = 0; !e && i < threads.count; i++)
        if (thread_belongs_in_list_sync(sync, &who, &t[i], &parts.channels))
            append_thread_to_sync(arena, t[i], sync);
    return e;
}

static enum err check_thread_is_visible(struct tx *tx, snowflake guild_id, snowflake thread_id,
                                        snowflake user_id)
{
    struct channel thread, parent;
    struct guild guild;
    struct member viewer;
    enum err e = channel_find(tx, thread_id, &thread);

    if (!e && (!channel_is_thread(thread.type) || thread.guild_id.value != guild_id))
        e = ERR_UNKNOWN_CHANNEL;
    if (!e)
        e = channel_find(tx, thread.parent_id.value, &parent);
    if (!e)
        e = read_guild_and_member(tx, guild_id, user_id, &guild, &viewer);
    if (!e)
        e = guild_read_roles(tx, &guild);
    if (!e)
        e = thread_read_membership_of_user(tx, user_id, &thread);
    if (e)
        return e;
    struct permission_computation_input who =
        permission_computation_input_of_member(&guild, &viewer);
    return permissions_in_thread(&who, &thread, &parent) & PERMISSION(VIEW_CHANNEL)
               ? OK
               : ERR_MISSING_ACCESS;
}

static enum err read_thread_member_details(struct tx *tx, struct gateway *g, snowflake guild_id,
                                           struct thread_member *m)
{
    struct member *member = arena_alloc(tx_arena(tx), sizeof *member);
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e = member_find(tx, guild_id, m->user_id.value, member);

    if (!e)
        e = member_read_user(tx, member);
    if (e)
        return e;
    m->member = member;
    buf_init(&out, 16 * 1024);
    gateway_write_presence_json(g, m->user_id.value, &j);
    m->presence = opt_str_or_null(buf_move_to_arena(&out, tx_arena(tx)));
    buf_clear(&out);
    return OK;
}

enum err read_visible_thread_members(struct tx *tx, struct gateway *g, snowflake guild_id,
                                     snowflake thread_id, snowflake viewer, struct list *ret)
{
    enum err e = check_thread_is_visible(tx, guild_id, thread_id, viewer);

    if (!e)
        e = thread_members_list(tx, thread_id, 0, MAX_THREAD_MEMBERS, ret);
    if (e)
        return e;
    struct thread_member *m = ret->items;
    size_t retained = 0;
    for (size_t i = 0; !e && i < ret->count; i++) {
        e = read_thread_member_details(tx, g, guild_id, &m[i]);
        if (!e)
            m[retained++] = m[i];
        /* skip a member who has left the guild and will soon be removed from the Discord thread */
        else if (e == ERR_UNKNOWN_MEMBER)
            e = OK;
    }
    ret->count = retained;
    return e;
}
