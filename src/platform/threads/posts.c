/* posts.c - forum posts: threads of forum and media channels, with a first message and tags. */
#include "platform/threads/internal.h"

/* --- tags ----------------------------------------------------------------------------- */

static const struct forum_tag *find_forum_tag(const struct channel *forum, snowflake id)
{
    const struct forum_tag *t = forum->available_tags.value.items;

    for (size_t i = 0; i < forum->available_tags.value.count; i++)
        if (t[i].id == id)
            return &t[i];
    return NULL;
}

enum err check_tag_change_permission(struct call *call, const struct channel *forum,
                                     const struct list *tags, const struct list *before,
                                     uint64_t perms)
{
    const snowflake *ids = tags->items;

    for (size_t i = 0; i < tags->count; i++) {
        const struct forum_tag *tag = find_forum_tag(forum, ids[i]);

        if (!tag)
            return ERR_UNKNOWN_TAG_GIVEN;
        if (tag->moderated && !id_list_contains(before, tag->id) &&
            !(perms & PERMISSION(MANAGE_THREADS)))
            return call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS));
        for (size_t k = 0; k < i; k++)
            if (ids[k] == ids[i])
                return call_add_field_error(call, "applied_tags", "SET_TYPE_ALREADY_CONTAINS_VALUE",
                                            "The Set already contains this value");
    }
    /* Moderated tags that the post had before may be removed only by moderators. */
    ids = before->items;
    for (size_t i = 0; i < before->count; i++) {
        const struct forum_tag *tag = find_forum_tag(forum, ids[i]);

        if (tag && tag->moderated && !id_list_contains(tags, tag->id) &&
            !(perms & PERMISSION(MANAGE_THREADS)))
            return call_get_missing_permissions_error(call, PERMISSION(MANAGE_THREADS));
    }
    return OK;
}

static bool has_unmoderated_tag(const struct channel *forum)
{
    const struct forum_tag *t = forum->available_tags.value.items;

    for (size_t i = 0; i < forum->available_tags.value.count; i++)
        if (!t[i].moderated)
            return true;
    return false;
}

enum err check_post_has_required_tag(const struct channel *forum, const struct list *tags,
                                     uint64_t perms)
{
    if (tags->count || !(forum->flags & CHANNEL_REQUIRE_TAG) || !forum->available_tags.value.count)
        return OK;
    return has_unmoderated_tag(forum) || perms & PERMISSION(MANAGE_THREADS) ? ERR_TAG_REQUIRED
                                                                            : ERR_NO_FREE_TAGS;
}

enum err forum_post_check_tags(struct call *call, const struct channel *forum,
                               const struct opt_list *tags, uint64_t perms)
{
    static const struct list none;
    enum err e = check_tag_change_permission(call, forum, &tags->value, &none, perms);

    return e ? e : check_post_has_required_tag(forum, &tags->value, perms);
}

/* --- creating ------------------------------------------------------------------------- */

enum err forum_post_create_and_emit(struct call *call, struct new_thread *plan,
                                    struct new_message *draft, struct channel *ret,
                                    struct message *ret_message)
{
    /* A forum post and its first message have the same id. */
    plan->id = snowflake_new();
    plan->begun = true;
    plan->type = CHANNEL_THREAD;
    enum err e = thread_create_and_emit(call, plan, ret);

    draft->channel = ret;
    draft->id = plan->id;
    return e ? e : message_create(call, draft, ret_message);
}

static enum err check_uploads_of_forum_post(struct call *call)
{
    if (!channel_is_forum_or_media(call->target.channel->type))
        return ERR_CHANNEL_TYPE;
    if (!(call->target.permissions & PERMISSION(ATTACH_FILES)))
        return call_get_missing_permissions_error(call, PERMISSION(ATTACH_FILES));
    return check_uploads_of_new_message(call);
}

enum err schedule_storing_forum_post_uploads(struct call *call, const struct thread_create_body *in)
{
    struct json_path *here = arena_alloc(call->arena, sizeof *here);

    *here = json_path_key(NULL, STR("message"));
    return schedule_storing_nested_message_uploads(call, in->message.value, here,
                                                   check_uploads_of_forum_post);
}

/* POST /channels/{channel.id}/threads, if the channel is a forum */
enum err create_post_in_forum(struct call *call)
{
    const struct thread_create_body *in = call->body;
    const struct channel *forum = call->target.channel;
    struct message_sender from = { .channel = forum,
                                   .perms = call->target.permissions,
                                   .may_use_embeds = call->caller->kind == CALLER_BOT,
                                   .may_use_stickers = true,
                                   .user_id = call->caller->id,
                                   .application_id = call->caller->application_id };
    struct new_thread plan = {
        .parent = forum,
        .name = in->name,
        .auto_archive_duration = in->auto_archive_duration,
        .rate_limit_per_user = in->rate_limit_per_user,
        .applied_tags = in->applied_tags,
        .owner_id = call->caller->id,
    };
    struct new_message draft;
    struct message m;
    struct channel c;
    struct user author;

    if (!(call->target.permissions & PERMISSION(SEND_MESSAGES)))
        return call_get_missing_permissions_error(call, PERMISSION(SEND_MESSAGES));
    if (!in->message.value)
        return call_add_field_error(call, "message", FORM_REQUIRED);
    enum err e = forum_post_check_tags(call, forum, &in->applied_tags, call->target.permissions);
    if (!e)
        e = new_message_from_body(call, &from, &draft);
    if (e)
        return e;
    struct automod_checked_text judged = { .channel = forum,
                                           .title = in->name,
                                           .text = draft.content };
    e = message_check_text_with_automod(call, &judged);
    if (e || judged.refused)
        return e;
    e = slow_mode_record_message(call, forum, SLOW_THREAD);
    if (!e)
        e = user_find(call->tx, call->caller->id, &author);
    draft.author = &author;
    draft.member = call->target.member_access->member;
    if (!e)
        e = forum_post_create_and_emit(call, &plan, &draft, &c, &m);
    judged.channel = &c;
    if (!e)
        e = message_run_automod_actions(call, &judged, m.id);
    if (!e)
        e = add_thread_creator(call, &c);
    c.message = &m;
    return e ? e : call_reply_with_object(call, &c);
}
