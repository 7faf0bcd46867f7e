/* joining.c - adds and removes thread members: by request, mention or message, on leaving a guild.
 */
#include "platform/threads/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/jobs/jobs.h"
#include "base/clock.h"

enum { FORGOTTEN_AT_ONCE = 500, SHOWN_COUNT = 50 };

enum err check_thread(const struct call *call)
{
    return channel_is_thread(call->target.channel->type) ? OK : ERR_CHANNEL_TYPE;
}

/* --- events --------------------------------------------------------------------------- */

enum err thread_member_show(struct call *call, snowflake guild_id, struct thread_member *m)
{
    struct member *member = arena_alloc(call->arena, sizeof *member);
    enum err e = member_find(call->tx, guild_id, m->user_id.value, member);

    if (!e)
        e = member_load_user(call->tx, member);
    if (!e)
        m->member = member;
    return e;
}

/* Emits THREAD_MEMBERS_UPDATE to viewers, and to each affected user without needing the intent. */
static void tell_change(struct call *call, const struct channel *thread,
                        const struct thread_members_update *all)
{
    const struct thread_member *added = all->added_members.value.items;
    snowflake *removed = all->removed_member_ids.value.items;

    call_emit(call, EVENT_THREAD_MEMBERS_UPDATE, to_channel_viewers(thread),
              &thread_members_update_schema, all);
    for (size_t i = 0; i < all->concerned.count; i++) {
        struct thread_members_update own = *all;
        snowflake *id = (snowflake *)all->concerned.items + i;

        own.concerned = (struct list){ id, 1 };
        if (added)
            own.added_members.value = (struct list){ (void *)&added[i], 1 };
        if (removed)
            own.removed_member_ids.value = (struct list){ id, 1 };
        call_emit_in(call, EVENT_THREAD_MEMBERS_UPDATE, *id, all->guild_id,
                     &thread_members_update_schema, &own);
    }
}

static enum err count_shown(struct call *call, snowflake thread_id, int64_t *ret)
{
    enum err e = thread_count_members(call->tx, thread_id, ret);

    if (!e && *ret > SHOWN_COUNT)
        *ret = SHOWN_COUNT;
    return e;
}

static void tell_thread(struct call *call, const struct channel *thread,
                        const struct thread_member *m, int64_t count)
{
    struct thread_member own = *m;
    struct channel c = *thread;

    own.member = NULL;
    own.presence.given = ABSENT;
    c.member = &own;
    c.member_count = given_int(count);
    call_emit_in(call, EVENT_THREAD_CREATE, m->user_id.value, thread->guild_id.value,
                 &channel_schema, &c);
}

/* --- adding and removing -------------------------------------------------------------- */

static enum err add_person(struct call *call, const struct channel *thread, snowflake id,
                           int64_t flags, struct thread_members_update *all)
{
    bool added, found;
    enum err e = thread_member_insert(call->tx, thread, id, flags, &added);

    if (e || !added)
        return e;
    struct thread_member *m = list_add(call->arena, &all->added_members.value, sizeof *m);
    ids_add(call->arena, &all->concerned, id);
    e = thread_member_find(call->tx, thread->id, id, m, &found);
    m->presence = (struct opt_str){ .given = GIVEN_NULL };
    return e ? e : thread_member_show(call, thread->guild_id.value, m);
}

enum err thread_add_people(struct call *call, const struct channel *thread, const struct list *ids,
                           int64_t flags, bool told)
{
    struct thread_members_update all = { .id = thread->id,
                                         .guild_id = thread->guild_id.value,
                                         .added_members = { .given = GIVEN } };
    int64_t before;
    enum err e = thread_count_members(call->tx, thread->id, &before);

    for (size_t i = 0; !e && i < ids->count; i++)
        e = add_person(call, thread, ((snowflake *)ids->items)[i], flags, &all);
    if (e || !all.concerned.count)
        return e;
    if (before + (int64_t)all.concerned.count > MAX_THREAD_MEMBERS)
        return ERR_MAX_THREAD_MEMBERS;
    e = count_shown(call, thread->id, &all.member_count);
    if (e)
        return e;
    const struct thread_member *added = all.added_members.value.items;
    for (size_t i = 0; !told && i < all.concerned.count; i++)
        tell_thread(call, thread, &added[i], all.member_count);
    tell_change(call, thread, &all);
    return OK;
}

enum err thread_take_out(struct call *call, const struct channel *thread, snowflake user_id,
                         bool *ret_found)
{
    struct thread_members_update all = { .id = thread->id,
                                         .guild_id = thread->guild_id.value,
                                         .removed_member_ids = { .given = GIVEN } };
    enum err e = thread_member_delete(call->tx, thread->id, user_id, ret_found);

    if (e || !*ret_found)
        return e;
    e = count_shown(call, thread->id, &all.member_count);
    if (e)
        return e;
    ids_add(call->arena, &all.concerned, user_id);
    all.removed_member_ids.value = all.concerned;
    tell_change(call, thread, &all);
    return OK;
}

enum err tell_members(struct call *call, const struct channel *thread)
{
    struct list members;
    enum err e = thread_members(call->tx, thread->id, 0, MAX_THREAD_MEMBERS, &members);
    struct thread_member *m = members.items;

    for (size_t i = 0; !e && i < members.count; i++) {
        m[i].guild_id = thread->guild_id;
        call_emit_in(call, EVENT_THREAD_MEMBER_UPDATE, m[i].user_id.value, thread->guild_id.value,
                     &thread_member_schema, &m[i]);
    }
    return e;
}

enum err may_view_parent(struct call *call, const struct channel *thread, snowflake user_id,
                         bool *ret)
{
    struct standing s;
    struct channel parent;
    uint64_t rights;
    enum err e = standing_of_member(call->tx, thread->guild_id.value, user_id, &s);

    *ret = false;
    if (e)
        return e;
    e = channel_find(call->tx, thread->parent_id.value, &parent);
    if (!e)
        e = standing_rights_in(call->tx, &s, &parent, &rights);
    *ret = !e && rights & PERMISSION(VIEW_CHANNEL);
    return e;
}

/* --- adding by message ---------------------------------------------------------------- */

/* Collects a mentioned user, unless a thread member or unable to view the parent channel. */
static enum err add_mentioned(struct call *call, const struct channel *thread, snowflake id,
                              struct list *ids)
{
    struct thread_member m;
    bool found, views;
    enum err e = thread_member_find(call->tx, thread->id, id, &m, &found);

    if (e || found || ids_hold(ids, id))
        return e;
    e = may_view_parent(call, thread, id, &views);
    if (!e && views)
        ids_add(call->arena, ids, id);
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

static const char NEW_OF_ROLE[] =
    "select r.user_id from member_roles r where r.role_id = $1 and not exists (select 1 from "
    "thread_members m where m.thread_id = $2 and m.user_id = r.user_id) limit $3";

/* Collects members of a mentioned role; reads at most as many as may be added. */
static enum err add_role(struct call *call, const struct message_coming *coming, snowflake role_id,
                         size_t *room, struct list *ids)
{
    struct list found;
    enum err e =
        tx_ids(call->tx, NEW_OF_ROLE,
               BIND(v_id(role_id), v_id(coming->thread->id), v_int((int64_t)*room + 1)), &found);

    if (e)
        return e;
    if (found.count > *room) {
        coming->message->flags |= MESSAGE_ROLES_NOT_ADDED;
        found.count = *room;
    }
    *room -= found.count;
    for (size_t i = 0; !e && i < found.count; i++)
        e = add_mentioned(call, coming->thread, ((snowflake *)found.items)[i], ids);
    return e;
}

static enum err add_called(struct call *call, const struct message_coming *coming, struct list *ids)
{
    const struct mention *mention = coming->message->mentions.items;
    const snowflake *roles = coming->message->mention_roles.items;
    size_t room = MAX_ADDED_BY_ROLE;
    enum err e = OK;

    for (size_t i = 0; !e && i < coming->message->mentions.count; i++)
        e = add_mentioned(call, coming->thread, mention[i].user.id, ids);
    for (size_t i = 0; !e && i < coming->message->mention_roles.count; i++)
        e = add_role(call, coming, roles[i], &room, ids);
    return e;
}

/* Returns false for system messages and webhooks, but true for interaction responses. */
static bool is_spoken(const struct message *m)
{
    bool webhook = m->webhook_id.given == GIVEN && m->interaction_metadata.given != GIVEN;

    return !webhook && !message_is_system(m->type);
}

/* In a private thread that is not invitable, only MANAGE_THREADS can add mentioned users. */
static bool may_call_in(const struct call *call, const struct channel *thread)
{
    if (thread->type != CHANNEL_PRIVATE_THREAD || thread->thread_metadata->invitable.value)
        return true;
    return call->target.rights & PERMISSION(MANAGE_THREADS);
}

/* Limits the list to the number of members that the thread can still have. */
static enum err keep_room(struct call *call, const struct channel *thread, struct list *ids)
{
    int64_t count;
    enum err e = thread_count_members(call->tx, thread->id, &count);

    if (!e && (int64_t)ids->count > MAX_THREAD_MEMBERS - count)
        ids->count = count < MAX_THREAD_MEMBERS ? (size_t)(MAX_THREAD_MEMBERS - count) : 0;
    return e;
}

static enum err join_author(struct call *call, const struct message_coming *coming)
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
        e = keep_room(call, coming->thread, &author);
    if (!e && author.count)
        e = thread_add_people(call, coming->thread, &author, THREAD_HAS_INTERACTED, false);
    /* A message is accepted even if its author is not a guild member or the thread is full. */
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

enum err join_by_message(struct call *call, const struct message_coming *coming)
{
    struct list ids = { 0 };

    if (!is_spoken(coming->message))
        return OK;
    /* create_post adds the author of a post's first message. */
    bool first = coming->message->id == coming->thread->id;
    enum err e = first ? OK : join_author(call, coming);
    if (e || !may_call_in(call, coming->thread))
        return e;
    if (!coming->message->mentions.count && !coming->message->mention_roles.count)
        return OK;
    e = add_called(call, coming, &ids);
    if (!e && ids.count)
        e = keep_room(call, coming->thread, &ids);
    return e || !ids.count ? e : thread_add_people(call, coming->thread, &ids, 0, false);
}

/* --- leaving the guild ---------------------------------------------------------------- */

/* Deletes memberships without thread events, because clients receive GUILD_MEMBER_REMOVE. */
static enum err forget_step(struct call *call, snowflake guild_id, snowflake user_id, int64_t until,
                            snowflake key)
{
    int64_t gone = 0;
    enum err e =
        thread_members_forget(call->tx, guild_id, user_id, until, FORGOTTEN_AT_ONCE, &gone);

    if (e || gone < FORGOTTEN_AT_ONCE)
        return e;
    return job_schedule(
        call, &thread_leaving, key, clock_us(),
        str_printf(call->arena, "%" PRIu64 " %" PRIu64 " %" PRId64, guild_id, user_id, until));
}

static enum err run_leaving(struct call *call, const struct job *job)
{
    uint64_t guild_id, user_id;
    int64_t until;
    char text[80];

    snprintf(text, sizeof text, "%.*s", STR_FMT(job->data));
    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNd64, &guild_id, &user_id, &until) != 3)
        return OK;
    return forget_step(call, guild_id, user_id, until, job->key);
}

const struct job_kind thread_leaving = {
    .name = "leave-threads",
    .doc = "Removes a user who left a guild from its threads.",
    .run = run_leaving,
};

enum err leave_with_guild(struct call *call, const struct member_leave *leave)
{
    return forget_step(call, leave->guild_id, leave->user->id, clock_us(), snowflake_new());
}
