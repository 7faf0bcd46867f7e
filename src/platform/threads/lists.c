/* lists.c - lists the threads of a guild or channel that the caller can view. */
#include "platform/threads/internal.h"

#include "base/clock.h"

/* Replies with at most `limit` threads. `threads` has more entries if there is a further page. */
static enum err reply_with_threads(struct call *call, struct list *threads, int64_t limit)
{
    struct thread_list_reply out = { .threads = *threads };
    struct channel *c = threads->items;

    out.has_more = limit && (int64_t)threads->count > limit;
    if (out.has_more)
        out.threads.count = (size_t)limit;
    for (size_t i = 0; i < out.threads.count; i++) {
        if (c[i].member)
            *(struct thread_member *)list_append(call->arena, &out.members,
                                                 sizeof(struct thread_member)) = *c[i].member;
        c[i].member = NULL;
    }
    return call_reply_with_object(call, &out);
}

/* --- active threads ------------------------------------------------------------------- */

static bool can_view_thread(const struct member_access *s, const struct channel *thread,
                            const struct list *channels)
{
    const struct channel *parent = channels->items;

    for (size_t i = 0; i < channels->count; i++)
        if (parent[i].id == thread->parent_id.value)
            return permissions_in_thread(&s->input, thread, &parent[i]) & PERMISSION(VIEW_CHANNEL);
    return false;
}

static void remove_invisible_threads(const struct member_access *s, const struct list *channels,
                                     struct list *threads)
{
    struct channel *c = threads->items;
    size_t visible = 0;

    for (size_t i = 0; i < threads->count; i++)
        if (can_view_thread(s, &c[i], channels))
            c[visible++] = c[i];
    threads->count = visible;
}

/* GET /guilds/{guild.id}/threads/active */
enum err list_active_threads(struct call *call)
{
    struct thread_list_query page = { .list = THREADS_OPEN_IN_GUILD,
                                      .of = call->target.guild->id,
                                      .viewer = call->caller->id };
    struct list channels, unused, threads;
    enum err e = threads_list(call->tx, &page, &threads);

    if (!e && threads.count)
        e = guild_channels_list(call->tx, call->target.guild->id, &channels, &unused);
    if (e)
        return e;
    if (threads.count)
        remove_invisible_threads(call->target.member_access, &channels, &threads);
    return reply_with_threads(call, &threads, 0);
}

enum err check_channel_can_have_threads(const struct channel *c)
{
    if (channel_is_private(c->type))
        return ERR_DM_CHANNEL;
    return c->type == CHANNEL_TEXT || c->type == CHANNEL_ANNOUNCEMENT ||
                   channel_is_forum_or_media(c->type)
               ? OK
               : ERR_CHANNEL_TYPE;
}

/* GET /channels/{channel.id}/threads/active */
enum err list_channel_threads(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct thread_list_query page = { .list = THREADS_OPEN,
                                      .of = c->id,
                                      .viewer = call->caller->id };
    struct list threads;
    enum err e = check_channel_can_have_threads(c);

    if (!e)
        e = threads_list(call->tx, &page, &threads);
    if (e)
        return e;
    remove_invisible_threads(call->target.member_access, &(struct list){ (void *)c, 1 }, &threads);
    return reply_with_threads(call, &threads, 0);
}

/* --- archived threads ----------------------------------------------------------------- */

/* Replies with a page of archived threads. page->limit is the page size plus one: the additional
 * thread shows whether there is a further page (has_more). */
static enum err reply_with_archived_thread_page(struct call *call,
                                                const struct thread_list_query *page)
{
    struct list threads;
    enum err e = check_channel_can_have_threads(call->target.channel);

    if (!e)
        e = call_require_permissions(call, PERMISSION(READ_MESSAGE_HISTORY));
    if (!e)
        e = threads_list(call->tx, page, &threads);
    return e ? e : reply_with_threads(call, &threads, page->limit - 1);
}

static enum err list_archived_threads(struct call *call, int64_t type)
{
    const struct archived_threads_query *q = call->query;
    const struct channel *c = call->target.channel;
    struct thread_list_query page = {
        .list = THREADS_ARCHIVED,
        .of = c->id,
        .viewer = call->caller->id,
        .type = type,
        .before = q->before.given == GIVEN ? q->before.value : INT64_MAX,
        .limit = q->limit + 1,
    };

    return reply_with_archived_thread_page(call, &page);
}

/* GET /channels/{channel.id}/threads/archived/public */
enum err list_public_archived_threads(struct call *call)
{
    return list_archived_threads(call, call->target.channel->type == CHANNEL_ANNOUNCEMENT
                                           ? CHANNEL_ANNOUNCEMENT_THREAD
                                           : CHANNEL_THREAD);
}

/* GET /channels/{channel.id}/threads/archived/private */
enum err list_private_archived_threads(struct call *call)
{
    enum err e = check_channel_can_have_threads(call->target.channel);

    if (!e)
        e = call_require_permissions(call, PERMISSION(MANAGE_THREADS));
    return e ? e : list_archived_threads(call, CHANNEL_PRIVATE_THREAD);
}

/* GET /channels/{channel.id}/users/@me/threads/archived/private */
enum err list_joined_archived_threads(struct call *call)
{
    const struct joined_threads_query *q = call->query;
    const struct channel *c = call->target.channel;
    struct thread_list_query page = {
        .list = THREADS_JOINED,
        .of = c->id,
        .viewer = call->caller->id,
        .guild_id = c->guild_id.value,
        .type = CHANNEL_PRIVATE_THREAD,
        .before = q->before.given == GIVEN && q->before.value <= INT64_MAX
                      ? (int64_t)q->before.value
                      : INT64_MAX,
        .limit = q->limit + 1,
    };

    return reply_with_archived_thread_page(call, &page);
}

/* --- audit log ------------------------------------------------------------------------ */

enum err audit_log_reply_add_threads(struct call *call, struct audit_log_objects *log)
{
    struct list ids = audit_log_list_target_ids_of_actions(call->arena, log, AUDIT_THREAD_CREATE,
                                                           AUDIT_THREAD_DELETE);
    const snowflake *id = ids.items;
    enum err e = OK;

    for (size_t i = 0; !e && i < ids.count; i++) {
        struct channel thread, parent;

        e = channel_find(call->tx, id[i], &thread);
        if (!e) /* skips threads of a parent that is being deleted, because they are not marked */
            e = channel_find(call->tx, thread.parent_id.value, &parent);
        if (!e)
            audit_log_append_object(call->arena, &log->threads, &type_channel, &thread);
        else if (e == ERR_UNKNOWN_CHANNEL)
            e = OK;
    }
    return e;
}
