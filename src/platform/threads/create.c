/* create.c - creates threads, in a channel or from a message. */
#include "platform/threads/internal.h"

#include "base/clock.h"

enum { USUAL_MINUTES = 4320 };

/* --- shared by all types -------------------------------------------------------------- */

static const char NEWEST_POST[] = "update channels set last_message_id = $2 where id = $1";

enum err thread_create_and_emit(struct call *call, const struct new_thread *plan,
                                struct channel *ret)
{
    const struct channel *parent = plan->parent;
    struct thread_metadata thread = {
        .archive_timestamp = clock_us(),
        .auto_archive_duration = plan->auto_archive_duration.given == GIVEN
                                     ? plan->auto_archive_duration.value
                                     : USUAL_MINUTES,
        .invitable = plan->invitable,
    };
    *ret = (struct channel){
        .id = plan->id ? plan->id : snowflake_new(),
        .guild_id = parent->guild_id,
        .parent_id = opt_id_or_null(parent->id),
        .type = plan->type,
        .name = opt_str_or_null(plan->name),
        .owner_id = opt_id_or_null(plan->owner_id),
        .rate_limit_per_user = plan->rate_limit_per_user.given == GIVEN
                                   ? plan->rate_limit_per_user
                                   : parent->default_thread_rate_limit_per_user,
        .applied_tags = { channel_is_forum_or_media(parent->type) ? GIVEN : ABSENT,
                          plan->applied_tags.value },
        .has_starter_message = plan->begun,
        .thread_metadata = &thread,
    };

    enum err e = check_active_thread_limit(call->tx, parent->guild_id.value);
    if (!e)
        e = channel_insert(call->tx, ret);
    if (!e && channel_is_forum_or_media(parent->type))
        e = tx_exec(call->tx, NEWEST_POST, BIND(v_id(parent->id), v_id(ret->id)), NULL);
    if (!e)
        e = channel_find(call->tx, ret->id, ret);
    if (!e)
        e = thread_schedule_archiving(call, ret);
    if (!e)
        e = audit_log_record_changes(call, parent->guild_id.value, AUDIT_THREAD_CREATE, ret->id,
                                     NULL, list_thread_changes_for_audit_log(call, NULL, ret));
    if (e)
        return e;
    /* The creator is not a thread member yet when the event is published, so starter_id adds the
     * creator to the audience. */
    struct audience to = audience_of_channel(ret);
    to.starter_id = plan->owner_id;
    ret->newly_created = opt_bool_present(true);
    call_emit_event(call, EVENT_THREAD_CREATE, to, &channel_schema, ret);
    ret->newly_created.given = ABSENT;
    return OK;
}

/* --- in a channel --------------------------------------------------------------------- */

static enum err check_thread_parent_type(const struct channel *parent)
{
    if (channel_is_private(parent->type))
        return ERR_DM_CHANNEL;
    return parent->type == CHANNEL_TEXT || parent->type == CHANNEL_ANNOUNCEMENT ? OK
                                                                                : ERR_CHANNEL_TYPE;
}

/* Checks the thread type for a parent channel: announcement channels may only have announcement
 * threads, other channels none. */
static enum err check_thread_type(struct call *call, const struct channel *parent, int64_t type)
{
    bool event_list = type == CHANNEL_ANNOUNCEMENT_THREAD;

    if (event_list == (parent->type == CHANNEL_ANNOUNCEMENT))
        return OK;
    return call_add_field_error(call, "type", FORM_CHOICES,
                                "This channel does not allow threads of this type.");
}

static enum err check_create_thread_permission(const struct call *call, int64_t type)
{
    uint64_t needs = type == CHANNEL_PRIVATE_THREAD ? PERMISSION(CREATE_PRIVATE_THREADS)
                                                    : PERMISSION(CREATE_PUBLIC_THREADS);

    return call_require_permissions(call, needs);
}

/* Adds the caller as a member of a thread that the caller has created. The caller has already
 * received THREAD_CREATE, so it is not emitted again. */
enum err add_thread_creator(struct call *call, struct channel *thread)
{
    snowflake me = call->caller->id;
    enum err e =
        thread_add_members(call, thread, &(struct list){ &me, 1 }, THREAD_HAS_INTERACTED, true);

    if (!e)
        e = channel_find(call->tx, thread->id, thread);
    return e ? e : thread_read_membership_of_user(call->tx, me, thread);
}

/* Creates the system message about a new public thread in the parent channel. The message refers to
 * the thread by id. */
static enum err create_thread_created_message(struct call *call, const struct channel *parent,
                                              const struct channel *thread)
{
    struct message_reference ref = { .guild_id = thread->guild_id, .channel_id = thread->id };
    struct new_message draft = {
        .id = thread->id,
        .channel = parent,
        .type = MESSAGE_THREAD_CREATED,
        .flags = MESSAGE_HAS_THREAD,
        .content = thread->name.value,
        .message_reference = &ref,
    };
    struct message m;
    struct user author;
    enum err e = user_find(call->tx, call->caller->id, &author);

    draft.author = &author;
    return e ? e : message_create(call, &draft, &m);
}

static enum err create_channel_thread(struct call *call)
{
    const struct thread_create_body *in = call->body;
    const struct channel *parent = call->target.channel;
    struct new_thread plan = {
        .parent = parent,
        .type = in->type.given == GIVEN                ? in->type.value
                : parent->type == CHANNEL_ANNOUNCEMENT ? CHANNEL_ANNOUNCEMENT_THREAD
                                                       : CHANNEL_PRIVATE_THREAD,
        .name = in->name,
        .auto_archive_duration = in->auto_archive_duration,
        .rate_limit_per_user = in->rate_limit_per_user,
        .invitable = in->invitable,
        .owner_id = call->caller->id,
    };
    struct channel c;

    enum err e = check_thread_parent_type(parent);
    if (!e)
        e = check_thread_type(call, parent, plan.type);
    if (!e)
        e = check_create_thread_permission(call, plan.type);
    if (!e)
        e = slow_mode_record_message(call, parent, SLOW_THREAD);
    if (!e)
        e = thread_create_and_emit(call, &plan, &c);
    if (!e)
        e = add_thread_creator(call, &c);
    if (!e && plan.type != CHANNEL_PRIVATE_THREAD)
        e = create_thread_created_message(call, parent, &c);
    return e ? e : call_reply_with_object(call, &c);
}

/* A message in the body is allowed for forum posts only. Whether the channel is a forum is checked
 * later, in the transaction. */
enum err validate_thread_create_request(struct call *call)
{
    const struct thread_create_body *in = call->body;

    return in->message.value ? schedule_storing_forum_post_uploads(call, in) : OK;
}

/* POST /channels/{channel.id}/threads */
enum err create_thread(struct call *call)
{
    return channel_is_forum_or_media(call->target.channel->type) ? create_post_in_forum(call)
                                                                 : create_channel_thread(call);
}

/* --- from a message ------------------------------------------------------------------- */

static bool message_can_have_thread(const struct message *m)
{
    return !message_is_system(m->type) || m->type == MESSAGE_USER_JOIN ||
           m->webhook_id.given == GIVEN;
}

static enum err check_message_can_have_thread(struct call *call, const struct message *m)
{
    struct channel there;

    if (!message_can_have_thread(m))
        return ERR_SYSTEM_MESSAGE;
    /* A thread that was started from a message has the message's id. Such a thread may exist even
     * if the message was deleted. */
    enum err e = channel_find(call->tx, m->id, &there);
    return e == ERR_UNKNOWN_CHANNEL ? OK : e ? e : ERR_THREAD_EXISTS;
}

static enum err create_starter_message(struct call *call, const struct channel *thread)
{
    struct message_reference ref = { .message_id = opt_id_or_null(thread->id),
                                     .guild_id = thread->guild_id,
                                     .channel_id = thread->parent_id.value };
    struct new_message draft = {
        .channel = thread,
        .type = MESSAGE_THREAD_STARTER,
        .message_reference = &ref,
    };
    struct message m;
    struct user author;
    enum err e = user_find(call->tx, call->caller->id, &author);

    draft.author = &author;
    return e ? e : message_create(call, &draft, &m);
}

/* POST /channels/{channel.id}/messages/{message.id}/threads */
enum err create_message_thread(struct call *call)
{
    const struct thread_create_body *in = call->body;
    const struct channel *parent = call->target.channel;
    struct message *m = call->target.message;
    struct new_thread plan = {
        .id = m->id,
        .parent = parent,
        .type = parent->type == CHANNEL_ANNOUNCEMENT ? CHANNEL_ANNOUNCEMENT_THREAD : CHANNEL_THREAD,
        .name = in->name,
        .auto_archive_duration = in->auto_archive_duration,
        .rate_limit_per_user = in->rate_limit_per_user,
        .begun = true,
        .owner_id = call->caller->id,
    };
    struct channel c;

    enum err e = check_thread_parent_type(parent);
    if (!e)
        e = check_create_thread_permission(call, plan.type);
    if (!e)
        e = call_require_permissions(call, PERMISSION(READ_MESSAGE_HISTORY));
    if (!e)
        e = check_message_can_have_thread(call, m);
    if (!e)
        e = slow_mode_record_message(call, parent, SLOW_THREAD);
    if (!e)
        e = thread_create_and_emit(call, &plan, &c);
    if (!e)
        e = message_set_thread_flag(call, parent, m, true);
    if (!e)
        e = add_thread_creator(call, &c);
    if (!e)
        e = create_starter_message(call, &c);
    return e ? e : call_reply_with_object(call, &c);
}
