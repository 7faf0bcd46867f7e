/* membership.c - adds and removes thread members: with a route, by a mention or a message in the
 * thread, or because a member leaves the guild. */
#include "platform/threads/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/jobs/jobs.h"
#include "base/clock.h"

enum { DELETED_PER_STEP = 500, SHOWN_COUNT = 50 };

enum err check_channel_is_thread(const struct call *call)
{
    return channel_is_thread(call->target.channel->type) ? OK : ERR_CHANNEL_TYPE;
}

/* --- events --------------------------------------------------------------------------- */

enum err thread_member_read_guild_member(struct call *call, snowflake guild_id,
                                         struct thread_member *m)
{
    struct member *member = arena_alloc(call->arena, sizeof *member);
    enum err e = member_find(call->tx, guild_id, m->user_id.value, member);

    if (!e)
        e = member_read_user(call->tx, member);
    if (!e)
        m->member = member;
    return e;
}

/* Emits THREAD_MEMBERS_UPDATE to the viewers of the thread. Each added or removed user receives it
 * even without the GUILD_MEMBERS intent. */
static void emit_thread_members_update(struct call *call, const struct channel *thread,
                                       const struct thread_members_update *all)
{
    const struct thread_member *added = all->added_members.value.items;
    snowflake *removed = all->removed_member_ids.value.items;

    call_emit_event(call, EVENT_THREAD_MEMBERS_UPDATE, audience_of_channel(thread),
                    &thread_members_update_schema, all);
    for (size_t i = 0; i < all->affected_user_ids.count; i++) {
        struct thread_members_update own = *all;
        snowflake *id = (snowflake *)all->affected_user_ids.items + i;

        own.affected_user_ids = (struct list){ id, 1 };
        if (added)
            own.added_members.value = (struct list){ (void *)&added[i], 1 };
        if (removed)
            own.removed_member_ids.value = (struct list){ id, 1 };
        call_emit_guild_event_to_user(call, EVENT_THREAD_MEMBERS_UPDATE, *id, all->guild_id,
                                      &thread_members_update_schema, &own);
    }
}

static enum err count_members_up_to_limit(struct call *call, snowflake thread_id, int64_t *ret)
{
    enum err e = thread_count_members(call->tx, thread_id, ret);

    if (!e && *ret > SHOWN_COUNT)
        *ret = SHOWN_COUNT;
    return e;
}

static void emit_thread_create(struct call *call, const struct channel *thread,
                               const struct thread_member *m, int64_t count)
{
    struct thread_member own = *m;
    struct channel c = *thread;

    own.member = NULL;
    own.presence.given = ABSENT;
    c.member = &own;
    c.member_count = opt_int_present(count);
    call_emit_guild_event_to_user(call, EVENT_THREAD_CREATE, m->user_id.value,
                                  thread->guild_id.value, &channel_schema, &c);
}

/* --- adding and removing -------------------------------------------------------------- */

static enum err insert_thread_member(struct call *call, const struct channel *thread, snowflake id,
                                     int64_t flags, struct thread_members_update *all)
{
    bool added, found;
    enum err e = thread_member_insert(call->tx, thread, id, flags, clock_us(), &added);

    if (e || !added)
        return e;
    struct thread_member *m = list_append(call->arena, &all->added_members.value, sizeof *m);
    id_list_add(call->arena, &all->affected_user_ids, id);
    e = thread_member_find(call->tx, thread->id, id, m, &found);
    m->presence = (struct opt_str){ .given = GIVEN_NULL };
    return e ? e : thread_member_read_guild_member(call, thread->guild_id.value, m);
}

enum err thread_add_members(struct call *call, const struct channel *thread, const struct list *ids,
                            int64_t flags, bool delivered_to)
{
    struct thread_members_update all = { .id = thread->id,
                                         .guild_id = thread->guild_id.value,
                                         .added_members = { .given = GIVEN } };
    int64_t before;
    enum err e = thread_count_members(call->tx, thread->id, &before);

    for (size_t i = 0; !e && i < ids->count; i++)
        e = insert_thread_member(call, thread, ((snowflake *)ids->items)[i], flags, &all);
    if (e || !all.affected_user_ids.count)
        return e;
    if (before + (int64_t)all.affected_user_ids.count > MAX_THREAD_MEMBERS)
        return ERR_MAX_THREAD_MEMBERS;
    e = count_members_up_to_limit(call, thread->id, &all.member_count);
    if (e)
        return e;
    const struct thread_member *added = all.added_members.value.items;
    for (size_t i = 0; !delivered_to && i < all.affected_user_ids.count; i++)
        emit_thread_create(call, thread, &added[i], all.member_count);
    emit_thread_members_update(call, thread, &all);
    return OK;
}

enum err thread_remove_member(struct call *call, const struct channel *thread, snowflake user_id,
                              bool *ret_found)
{
    struct thread_members_update all = { .id = thread->id,
                                         .guild_id = thread->guild_id.value,
                                         .removed_member_ids = { .given = GIVEN } };
    enum err e = thread_member_delete(call->tx, thread->id, user_id, ret_found);

    if (e || !*ret_found)
        return e;
    e = count_members_up_to_limit(call, thread->id, &all.member_count);
    if (e)
        return e;
    id_list_add(call->arena, &all.affected_user_ids, user_id);
    all.removed_member_ids.value = all.affected_user_ids;
    emit_thread_members_update(call, thread, &all);
    return OK;
}

enum err emit_thread_member_updates(struct call *call, const struct channel *thread)
{
    struct list members;
    enum err e = thread_members_list(call->tx, thread->id, 0, MAX_THREAD_MEMBERS, &members);
    struct thread_member *m = members.items;

    for (size_t i = 0; !e && i < members.count; i++) {
        m[i].guild_id = thread->guild_id;
        call_emit_guild_event_to_user(call, EVENT_THREAD_MEMBER_UPDATE, m[i].user_id.value,
                                      thread->guild_id.value, &thread_member_schema, &m[i]);
    }
    return e;
}

enum err read_whether_user_can_view_parent(struct call *call, const struct channel *thread,
                                           snowflake user_id, bool *ret)
{
    struct member_access s;
    struct channel parent;
    uint64_t perms;
    enum err e = member_access_find_of_other_user(call->tx, thread->guild_id.value, user_id, &s);

    *ret = false;
    if (e)
        return e;
    e = channel_find(call->tx, thread->parent_id.value, &parent);
    if (!e)
        e = member_permissions_in_channel(call->tx, &s, &parent, &perms);
    *ret = !e && perms & PERMISSION(VIEW_CHANNEL);
    return e;
}

/* --- adding by message ---------------------------------------------------------------- */

/* Adds a mentioned user to the list of users to add, unless the user is already a thread member or
 * cannot view the parent channel. */
static enum err collect_mentioned_user(struct call *call, const struct channel *thread,
                                       snowflake id, struct list *ids)
{
    struct thread_member m;
    bool found, views;
    enum err e = thread_member_find(call->tx, thread->id, id, &m, &found);

    if (e || found || id_list_contains(ids, id))
        return e;
    e = read_whether_user_can_view_parent(call, thread, id, &views);
    if (!e && views)
        id_list_add(call->arena, ids, id);
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

static const char NEW_OF_ROLE[] =
    "select r.user_id from member_roles r where r.role_id = $1 and not exists (select 1 from "
    "thread_members m where m.thread_id = $2 and m.user_id = r.user_id) limit $3";

/* Adds members of a mentioned role to the list of users to add. Reads at most as many members as
 * may be added. */
static enum err collect_role_members(struct call *call,
                                     const struct thread_message_insertion *coming,
                                     snowflake role_id, size_t *room, struct list *ids)
{
    struct list found;
    enum err e = tx_read_ids(
        call->tx, NEW_OF_ROLE,
        BIND(v_id(role_id), v_id(coming->thread->id), v_int((int64_t)*room + 1)), &found);

    if (e)
        return e;
    if (found.count > *room) {
        coming->message->flags |= MESSAGE_ROLES_NOT_ADDED;
        found.count = *room;
    }
    *room -= found.count;
    for (size_t i = 0; !e && i < found.count; i++)
        e = collect_mentioned_user(call, coming->thread, ((snowflake *)found.items)[i], ids);
    return e;
}

static enum err collect_mentioned_users(struct call *call,
                                        const struct thread_message_insertion *coming,
                                        struct list *ids)
{
    const struct mentioned_user *mention = coming->message->mentions.items;
    const snowflake *roles = coming->message->mention_roles.items;
    size_t room = MAX_ADDED_BY_ROLE;
    enum err e = OK;

    for (size_t i = 0; !e && i < coming->message->mentions.count; i++)
        e = collect_mentioned_user(call, coming->thread, mention[i].user.id, ids);
    for (size_t i = 0; !e && i < coming->message->mention_roles.count; i++)
        e = collect_role_members(call, coming, roles[i], &room, ids);
    return e;
}

/* Returns true for messages that users and bots have written, including interaction responses;
 * false for system and webhook messages. */
static bool is_message_of_user_or_bot(const struct message *m)
{
    bool webhook = m->webhook_id.given == GIVEN && m->interaction_metadata.given != GIVEN;

    return !webhook && !message_is_system(m->type);
}

/* Returns whether users whom the caller mentions are added to the thread. In a private thread that
 * is not invitable, this needs MANAGE_THREADS. */
static bool can_add_by_mention(const struct call *call, const struct channel *thread)
{
    if (thread->type != CHANNEL_PRIVATE_THREAD || thread->thread_metadata->invitable.value)
        return true;
    return call->target.permissions & PERMISSION(MANAGE_THREADS);
}

static enum err limit_ids_to_free_member_slots(struct call *call, const struct channel *thread,
                                               struct list *ids)
{
    int64_t count;
    enum err e = thread_count_members(call->tx, thread->id, &count);

    if (!e && (int64_t)ids->count > MAX_THREAD_MEMBERS - count)
        ids->count = count < MAX_THREAD_MEMBERS ? (size_t)(MAX_THREAD_MEMBERS - count) : 0;
    return e;
}

static enum err add_message_author_to_thread(struct call *call,
                                             const struct thread_message_insertion *coming)
{
    snowflake id = coming->message->author_id;
    struct list author = { &id, 1 };
    struct thread_member m;
    struct member member;
    bool found;
    enum err e = thread_member_find(call->tx, coming->thread->id, id, &m, &found);

    if (e)
        return e;
    if (found)
        return m.flags & THREAD_HAS_INTERACTED
                   ? OK
                   : thread_member_set_flags(call->tx, &m, m.flags | THREAD_HAS_INTERACTED);
    e = member_find(call->tx, coming->thread->guild_id.value, id, &member);
    if (!e)
        e = limit_ids_to_free_member_slots(call, coming->thread, &author);
    if (!e && author.count)
        e = thread_add_members(call, coming->thread, &author, THREAD_HAS_INTERACTED, false);
    /* The message is created even if its author is not a guild member or the thread is full. */
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

enum err thread_add_author_and_mentioned_users(struct call *call,
                                               const struct thread_message_insertion *coming)
{
    struct list ids = { 0 };

    if (!is_message_of_user_or_bot(coming->message))
        return OK;
    /* For the first message of a forum post, create_post_in_forum adds the author to the thread. */
    bool first = coming->message->id == coming->thread->id;
    enum err e = first ? OK : add_message_author_to_thread(call, coming);
    if (e || !can_add_by_mention(call, coming->thread))
        return e;
    if (!coming->message->mentions.count && !coming->message->mention_roles.count)
        return OK;
    e = collect_mentioned_users(call, coming, &ids);
    if (!e && ids.count)
        e = limit_ids_to_free_member_slots(call, coming->thread, &ids);
    return e || !ids.count ? e : thread_add_members(call, coming->thread, &ids, 0, false);
}

/* --- leaving the guild ---------------------------------------------------------------- */

/* Deletes thread members of a user who left the guild. Emits no thread events, because clients
 * receive GUILD_MEMBER_REMOVE. */
static enum err delete_thread_membership_batch(struct call *call, snowflake guild_id,
                                               snowflake user_id, int64_t until, snowflake key)
{
    int64_t gone = 0;
    enum err e =
        thread_members_delete_of_user(call->tx, guild_id, user_id, until, DELETED_PER_STEP, &gone);

    if (e || gone < DELETED_PER_STEP)
        return e;
    return job_schedule(
        call, &thread_leave_job, key, clock_us(),
        str_printf(call->arena, "%" PRIu64 " %" PRIu64 " %" PRId64, guild_id, user_id, until));
}

static enum err run_thread_leave_job(struct call *call, const struct job *job)
{
    uint64_t guild_id, user_id;
    int64_t until;
    char text[80];

    snprintf(text, sizeof text, "%.*s", STR_ARGS(job->data));
    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNd64, &guild_id, &user_id, &until) != 3)
        return OK;
    return delete_thread_membership_batch(call, guild_id, user_id, until, job->key);
}

const struct job_kind thread_leave_job = {
    .name = "leave-threads",
    .doc = "Removes a user who left a guild from its threads.",
    .run = run_thread_leave_job,
};

enum err leave_threads_of_guild(struct call *call, const struct member_leaving_guild *leave)
{
    return delete_thread_membership_batch(call, leave->guild_id, leave->user->id, clock_us(),
                                          snowflake_new());
}
