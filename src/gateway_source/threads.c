/* threads.c - reads the open threads that a member can view, and the members of a thread. */
#include "gateway_source/gateway_source.h"

#include "gateway/gateway.h"
#include "model/fields/ids.h"
#include "model/permissions/rights.h"
#include "model/thread.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* Reads the guild, without its roles, and the viewer's member. */
static enum err find_viewer(struct tx *tx, snowflake guild_id, snowflake user_id,
                            struct guild *ret_guild, struct member *ret)
{
    enum err e = guild_find(tx, guild_id, ret_guild);

    return e ? e : member_find(tx, guild_id, user_id, ret);
}

static const struct channel *parent_of(const struct channel *thread, const struct list *channels)
{
    const struct channel *c = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (c[i].id == thread->parent_id.value)
            return &c[i];
    return NULL;
}

static bool sync_shows(const struct thread_list_sync *sync, const struct rights_of *who,
                       const struct channel *thread, const struct list *channels)
{
    const struct channel *parent = parent_of(thread, channels);

    if (sync->channel_ids.given && !ids_hold(&sync->channel_ids.value, thread->parent_id.value))
        return false;
    return parent && rights_in_thread(who, thread, parent) & PERMISSION(VIEW_CHANNEL);
}

/* THREAD_LIST_SYNC has the viewer's thread members in a separate list. */
static void sync_add(struct arena *arena, struct channel thread, struct thread_list_sync *sync)
{
    if (thread.member)
        *(struct thread_member *)list_add(arena, &sync->members, sizeof *thread.member) =
            *thread.member;
    thread.member = NULL;
    *(struct channel *)list_add(arena, &sync->threads, sizeof thread) = thread;
}

enum err gateway_threads(struct tx *tx, snowflake user_id, struct thread_list_sync *sync)
{
    struct arena *arena = tx_arena(tx);
    struct guild_parts parts;
    struct member viewer;
    struct list threads = { 0 };
    enum err e = member_find(tx, sync->guild_id, user_id, &viewer);

    if (!e)
        e = guild_parts(tx, sync->guild_id, &parts);
    if (e)
        return e;
    struct rights_of who = guild_rights_of(&parts.guild, &viewer);
    const struct channel *open = parts.threads.items;
    for (size_t i = 0; i < parts.threads.count; i++)
        *(struct channel *)list_add(arena, &threads, sizeof *open) = open[i];
    e = threads_load_own(tx, sync->guild_id, user_id, &threads);
    const struct channel *t = threads.items;
    for (size_t i = 0; !e && i < threads.count; i++)
        if (sync_shows(sync, &who, &t[i], &parts.channels))
            sync_add(arena, t[i], sync);
    return e;
}

static enum err may_view_thread(struct tx *tx, snowflake guild_id, snowflake thread_id,
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
        e = find_viewer(tx, guild_id, user_id, &guild, &viewer);
    if (!e)
        e = guild_load_roles(tx, &guild);
    if (!e)
        e = thread_load_own(tx, user_id, &thread);
    if (e)
        return e;
    struct rights_of who = guild_rights_of(&guild, &viewer);
    return rights_in_thread(&who, &thread, &parent) & PERMISSION(VIEW_CHANNEL) ? OK
                                                                               : ERR_MISSING_ACCESS;
}

static enum err show_person(struct tx *tx, struct gateway *g, snowflake guild_id,
                            struct thread_member *m)
{
    struct member *member = arena_alloc(tx_arena(tx), sizeof *member);
    struct buf out;
    struct json j = json_to(&out);
    enum err e = member_find(tx, guild_id, m->user_id.value, member);

    if (!e)
        e = member_load_user(tx, member);
    if (e)
        return e;
    m->member = member;
    buf_init(&out, 16 * 1024);
    gateway_presence(g, m->user_id.value, &j);
    m->presence = given_str(buf_take(&out, tx_arena(tx)));
    buf_clear(&out);
    return OK;
}

enum err gateway_thread_people(struct tx *tx, struct gateway *g, snowflake guild_id,
                               snowflake thread_id, snowflake viewer, struct list *ret)
{
    enum err e = may_view_thread(tx, guild_id, thread_id, viewer);

    if (!e)
        e = thread_members(tx, thread_id, 0, MAX_THREAD_MEMBERS, ret);
    if (e)
        return e;
    struct thread_member *m = ret->items;
    size_t kept = 0;
    for (size_t i = 0; !e && i < ret->count; i++) {
        e = show_person(tx, g, guild_id, &m[i]);
        if (!e)
            m[kept++] = m[i];
        /* A member who left the guild is removed from the thread soon. */
        else if (e == ERR_UNKNOWN_MEMBER)
            e = OK;
    }
    ret->count = kept;
    return e;
}
