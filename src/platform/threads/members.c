/* members.c - routes of thread members. */
#include "platform/threads/internal.h"

#include "base/clock.h"
#include "platform/members/members.h"

static const int64_t NOTIFICATIONS =
    THREAD_ALL_MESSAGES | THREAD_ONLY_MENTIONS | THREAD_NO_MESSAGES;

/* --- reading -------------------------------------------------------------------------- */

/* If the user of the thread member is still in the guild, reads the guild member into .member. */
static enum err thread_member_add_guild_member_if_any(struct call *call, struct thread_member *m)
{
    enum err e = thread_member_read_guild_member(call, call->target.channel->guild_id.value, m);

    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

enum { MEMBERS_INTENT = 1 << 14 | 1 << 15 };

/* Returns an error if the caller is a bot whose application lacks the flag for the GUILD_MEMBERS
 * intent. */
static enum err check_list_members_intent(struct call *call)
{
    int64_t flags;
    bool found;

    if (call->caller->kind != CALLER_BOT)
        return OK;
    enum err e = bot_read_application_flags(call->tx, call->caller->id, &flags, &found);
    if (e || !found)
        return e;
    if (flags & MEMBERS_INTENT)
        return OK;
    call_set_refusal_cause(
        call,
        "the application has not enabled the privileged intent GUILD_MEMBERS; enable it in the "
        "settings of the application");
    return ERR_MISSING_ACCESS;
}

/* GET /channels/{channel.id}/thread-members */
enum err list_thread_members(struct call *call)
{
    const struct thread_members_query *q = call->query;
    struct list members;
    enum err e = check_channel_is_thread(call);

    if (!e)
        e = check_list_members_intent(call);
    if (!e)
        e = thread_members_list(call->tx, call->target.channel->id,
                                q->with_member ? q->after.value : 0,
                                q->with_member ? q->limit : MAX_THREAD_MEMBERS, &members);
    struct thread_member *m = e ? NULL : members.items;
    for (size_t i = 0; !e && q->with_member && i < members.count; i++)
        e = thread_member_add_guild_member_if_any(call, &m[i]);
    return e ? e : call_reply_with_object(call, &members);
}

/* GET /channels/{channel.id}/thread-members/{thread.member.id} */
enum err get_thread_member(struct call *call)
{
    const struct thread_members_query *q = call->query;
    struct thread_member m;
    snowflake id = call_get_path_id(call, "thread.member.id");
    bool found = false;
    enum err e = check_channel_is_thread(call);

    if (!e)
        e = thread_member_find(call->tx, call->target.channel->id, id, &m, &found);
    if (!e && !found)
        e = ERR_UNKNOWN_MEMBER;
    if (!e && q->with_member)
        e = thread_member_add_guild_member_if_any(call, &m);
    return e ? e : call_reply_with_object(call, &m);
}

/* --- joining -------------------------------------------------------------------------- */

static enum err check_thread_not_archived(const struct call *call)
{
    enum err e = check_channel_is_thread(call);

    return e || !call->target.channel->thread_metadata->archived ? e : ERR_THREAD_ARCHIVED;
}

/* POST /channels/{channel.id}/thread-members/@me */
enum err join_thread(struct call *call)
{
    snowflake me = call->caller->id;
    enum err e = check_thread_not_archived(call);

    return e ? e
             : thread_add_members(call, call->target.channel, &(struct list){ &me, 1 },
                                  THREAD_HAS_INTERACTED, false);
}

static enum err check_add_member_permission(const struct call *call)
{
    const struct channel *c = call->target.channel;
    bool open = c->type != CHANNEL_PRIVATE_THREAD || c->thread_metadata->invitable.value ||
                c->owner_id.value == call->caller->id;

    if (!(call->target.permissions & PERMISSION(SEND_MESSAGES)))
        return call_get_missing_permissions_error(call, PERMISSION(SEND_MESSAGES));
    return open || call->target.permissions & PERMISSION(MANAGE_THREADS)
               ? OK
               : call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS));
}

/* PUT /channels/{channel.id}/thread-members/{thread.member.id} */
enum err add_thread_member(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct thread_member there;
    snowflake id = call_get_path_id(call, "thread.member.id");
    bool found, views;

    if (id == call->caller->id)
        return join_thread(call);
    enum err e = check_channel_is_thread(call);
    if (!e)
        e = check_add_member_permission(call);
    if (!e)
        e = check_thread_not_archived(call);
    if (!e)
        e = read_whether_user_can_view_parent(call, c, id, &views);
    if (!e && !views)
        e = ERR_MISSING_PERMISSIONS;
    if (!e)
        e = thread_member_find(call->tx, c->id, id, &there, &found);
    if (e || found)
        return e;
    e = thread_add_members(call, c, &(struct list){ &id, 1 }, 0, false);
    return e ? e
             : message_create_system_message(call, c, MESSAGE_RECIPIENT_ADD, call->caller->id, id,
                                             STR(""));
}

/* --- leaving -------------------------------------------------------------------------- */

static enum err leave_own_thread(struct call *call)
{
    bool found;
    enum err e = check_thread_not_archived(call);

    return e ? e : thread_remove_member(call, call->target.channel, call->caller->id, &found);
}

/* DELETE /channels/{channel.id}/thread-members/{thread.member.id} */
enum err remove_thread_member(struct call *call)
{
    const struct channel *c = call->target.channel;
    bool own = c->type == CHANNEL_PRIVATE_THREAD && c->owner_id.value == call->caller->id &&
               !member_is_restricted(&call->target.member_access->input);
    snowflake id = call_get_path_id(call, "thread.member.id");
    bool found;

    if (id == call->caller->id)
        return leave_own_thread(call);
    enum err e = check_channel_is_thread(call);
    if (!e && !own && !(call->target.permissions & PERMISSION(MANAGE_THREADS)))
        e = call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS));
    if (!e)
        e = check_thread_not_archived(call);
    if (!e)
        e = thread_remove_member(call, c, id, &found);
    if (!e && !found)
        e = ERR_UNKNOWN_MEMBER;
    return e ? e
             : message_create_system_message(call, c, MESSAGE_RECIPIENT_REMOVE, call->caller->id,
                                             id, STR(""));
}

/* --- settings ------------------------------------------------------------------------- */

static enum err apply_notification_flags(const struct thread_settings *in, struct thread_member *m,
                                         bool *changed)
{
    int64_t wanted = in->flags.value & NOTIFICATIONS;

    if (in->flags.given != GIVEN)
        return OK;
    if (in->flags.value & ~(NOTIFICATIONS | THREAD_HAS_INTERACTED) || wanted & (wanted - 1))
        return ERR_THREAD_NOTIFICATIONS;
    *changed = *changed || wanted != (m->flags & NOTIFICATIONS);
    m->flags = (m->flags & ~NOTIFICATIONS) | wanted;
    return OK;
}

static void apply_thread_mute(const struct thread_settings *in, struct thread_member *m,
                              bool *changed)
{
    if (in->muted.given == GIVEN && in->muted.value != m->muted.value) {
        m->muted = in->muted;
        *changed = true;
    }
    if (in->mute_config.given == ABSENT)
        return;
    *changed = *changed || m->mute_config || in->mute_config.value;
    m->mute_config = in->mute_config.value;
}

/* PATCH /channels/{channel.id}/thread-members/@me/settings */
enum err modify_thread_settings(struct call *call)
{
    const struct thread_settings *in = call->body;
    const struct channel *c = call->target.channel;
    struct thread_member m;
    bool found = false, changed = false;
    enum err e = check_channel_is_thread(call);

    if (!e)
        e = thread_member_find(call->tx, c->id, call->caller->id, &m, &found);
    if (!e && !found)
        e = ERR_UNKNOWN_MEMBER;
    if (!e)
        e = thread_member_read_mute_settings(call->tx, &m);
    if (!e)
        e = apply_notification_flags(in, &m, &changed);
    if (e)
        return e;
    apply_thread_mute(in, &m, &changed);
    if (!changed) {
        call_set_status(call, 204);
        return OK;
    }
    e = thread_member_update(call->tx, &m);
    if (e)
        return e;
    m.guild_id = c->guild_id;
    call_emit_guild_event_to_user(call, EVENT_THREAD_MEMBER_UPDATE, call->caller->id,
                                  c->guild_id.value, &thread_member_schema, &m);
    m.guild_id.given = ABSENT;
    return call_reply_with_object(call, &m);
}
