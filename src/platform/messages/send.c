/* send.c - POST /channels/{channel.id}/messages and /typing, and their permission checks. */
#include "platform/messages/internal.h"

#include <string.h>

#include "base/clock.h"
#include "model/poll.h"
#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum { NONCE_LIFE_MS = 5 * 60 * 1000 };

/* Requires SEND_MESSAGES, which recipients of private channels always have. */
enum err check_send_permission(struct call *call)
{
    return call_require_permissions(call, PERMISSION(SEND_MESSAGES));
}

static enum err check_channel_accepts_message(struct call *call, const struct channel *c)
{
    const struct thread_metadata *thread = c->thread_metadata;

    if (!channel_accepts_messages(c->type))
        return channel_is_forum_or_media(c->type) ? ERR_FORUM_MESSAGE : ERR_NOT_TEXT_CHANNEL;
    if (c->type == CHANNEL_DM)
        return check_caller_may_write_in_direct_channel(call->tx, c, call->caller);
    if (channel_is_thread(c->type) && thread && thread->locked &&
        !(call->target.permissions & PERMISSION(MANAGE_THREADS)))
        return ERR_THREAD_LOCKED;
    return OK;
}

/* If the request has enforce_nonce, finds the message that an earlier request with the same nonce
 * created, so that a retried request does not create a second message. */
static enum err find_message_with_same_nonce(struct call *call, const struct new_message *d,
                                             struct message *ret, bool *ret_found)
{
    const struct message_body *in = call->body;
    snowflake id = 0;
    enum err e = OK;

    *ret_found = false;
    if (!in->enforce_nonce.value || d->nonce.given != GIVEN)
        return OK;
    e = message_find_by_nonce(call->tx, d->channel->id, call->caller->id, d->nonce.value,
                              snowflake_from_ms(clock_ms() - NONCE_LIFE_MS), &id);
    if (e || !id)
        return e;
    *ret_found = true;
    e = message_find(call, d->channel->id, id, ret);
    ret->nonce = d->nonce;
    return e;
}

static enum err check_attach_permission(struct call *call)
{
    if (!(call->target.permissions & PERMISSION(ATTACH_FILES)))
        return call_get_missing_permissions_error(call, PERMISSION(ATTACH_FILES));
    return check_uploads_of_new_message(call);
}

/* Returns false if creating the message needs many queries: it has a reply, mention, file, sticker
 * or poll. Such a call is not batched with other calls, which would have to wait for it. */
static bool body_needs_few_queries(const struct message_body *in)
{
    bool names =
        in->content.given == GIVEN && memchr(in->content.value.p, '@', in->content.value.n);

    return !names && in->message_reference.given != GIVEN && in->attachments.given != GIVEN &&
           in->sticker_ids.given != GIVEN && in->poll.given != GIVEN;
}

enum err validate_message_create_request(struct call *call)
{
    const struct message_body *in = call->body;

    call->may_share = body_needs_few_queries(in);
    /* A request with enforce_nonce must see the committed message of an earlier request with the
     * same nonce. So its transaction must be a STORE_WRITE (call->decides is true), not a
     * STORE_APPEND. */
    call->decides = in->enforce_nonce.value;
    return schedule_storing_message_uploads(call, check_attach_permission);
}

/* --- auto moderation -------------------------------------------------------------------- */

enum err message_check_text_with_automod(struct call *call, struct automod_checked_text *about)
{
    const uint64_t trusted = PERMISSION(ADMINISTRATOR) | PERMISSION(MANAGE_GUILD);
    const struct member_access *s = call->target.member_access;

    if (!s || !s->automod_version || call->caller->kind != CALLER_USER || s->permissions & trusted)
        return OK;
    about->member = s->member;
    about->version = s->automod_version;
    return hook_message_text_check(call, about);
}

enum err message_run_automod_actions(struct call *call, struct automod_checked_text *about,
                                     snowflake id)
{
    if (!about->found)
        return OK;
    about->message_id = id;
    return hook_flagged_message_written(call, about);
}

/* Returns the text that AutoMod checks: the content, and the question and answers of a poll. */
static struct str automod_text_of_draft(struct call *call, const struct new_message *d)
{
    struct str text = d->content;

    if (!d->poll)
        return text;
    const struct poll_answer *a = d->poll->answers.items;
    text = STR_CONCAT(call->arena, text, STR("\n"), d->poll->question->text.value);
    for (size_t i = 0; i < d->poll->answers.count; i++)
        text = STR_CONCAT(call->arena, text, STR("\n"), a[i].poll_media->text.value);
    return text;
}

static enum err reply_with_created_message(struct call *call, const struct message *m)
{
    bool quotes = m->referenced_message.given == GIVEN || m->message_snapshots.given == GIVEN;
    enum err e = OK;

    if (m->shared_json.p) {
        buf_add_str(&call->reply, m->shared_json);
        buf_add_lit(&call->reply, "}");
    } else {
        e = call_reply_with_object(call, m);
    }
    return e || !quotes ? e : messages_hide_content_in_reply_to_bot(call);
}

enum err create_message(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct message_sender from = { .channel = c,
                                   .perms = call->target.permissions,
                                   .may_use_embeds = call->caller->kind == CALLER_BOT,
                                   .may_use_stickers = true,
                                   .user_id = call->caller->id,
                                   .application_id = call->caller->application_id };
    struct new_message draft;
    struct user author;
    struct message m;
    bool sent;

    enum err e = check_channel_accepts_message(call, c);
    if (!e)
        e = new_message_from_body(call, &from, &draft);
    if (!e)
        e = find_message_with_same_nonce(call, &draft, &m, &sent);
    if (e)
        return e;
    if (sent)
        return reply_with_created_message(call, &m);

    struct automod_checked_text judged = { .channel = c,
                                           .text = automod_text_of_draft(call, &draft) };
    e = message_check_text_with_automod(call, &judged);
    if (e || judged.refused)
        return e;
    e = slow_mode_record_message(call, c, SLOW_MESSAGE);
    if (!e)
        e = user_find_partial(call->tx, call->caller->id, &author);
    draft.author = &author;
    if (call->target.member_access)
        draft.member = call->target.member_access->member;
    if (!e)
        e = message_create(call, &draft, &m);
    if (!e)
        e = message_run_automod_actions(call, &judged, m.id);
    return e ? e : reply_with_created_message(call, &m);
}

/* --- POST /channels/{channel.id}/typing ---------------------------------------------- */

struct typing_event {
    snowflake channel_id, user_id;
    struct opt_id guild_id;
    int64_t timestamp;
    const struct member *member;
};

static const struct field typing_fields[] = {
    { FIELD(struct typing_event, channel_id), .type = &type_id },
    { FIELD(struct typing_event, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct typing_event, user_id), .type = &type_id },
    { FIELD(struct typing_event, timestamp), .type = &type_int, .doc = "Seconds" },
    { FIELD(struct typing_event, member), .type = &type_member, .flags = OPTIONAL },
    { 0 },
};
static const struct schema typing_schema = {
    .name = "Typing",
    .size = sizeof(struct typing_event),
    .fields = typing_fields,
    .doc = "A user is typing.",
};

struct slow_mode_cooldown {
    struct opt_int message_send_cooldown_ms, thread_create_cooldown_ms;
};
static const struct field cooldown_fields[] = {
    { FIELD(struct slow_mode_cooldown, message_send_cooldown_ms), .type = &type_count,
      .flags = OPTIONAL },
    { FIELD(struct slow_mode_cooldown, thread_create_cooldown_ms), .type = &type_count,
      .flags = OPTIONAL },
    { 0 },
};
static const struct schema cooldown_schema = {
    .name = "TypingCooldown",
    .size = sizeof(struct slow_mode_cooldown),
    .fields = cooldown_fields,
    .doc = "Remaining wait of slow mode, in milliseconds.",
};
static const struct type type_cooldown = { .kind = KIND_OBJECT, .schema = &cooldown_schema };

/* Replies with the remaining slow mode time for the next message and the next thread, if any. */
static enum err reply_with_slow_mode_cooldown(struct call *call, const struct channel *c)
{
    struct slow_mode_cooldown left = { 0 };
    int64_t message, thread = 0;
    enum err e = slow_mode_remaining_for_caller(call, c, SLOW_MESSAGE, &message);

    if (!e)
        e = slow_mode_remaining_for_caller(call, c, SLOW_THREAD, &thread);
    if (e || (!message && !thread))
        return e;
    if (message)
        left.message_send_cooldown_ms = opt_int_present(message);
    if (thread)
        left.thread_create_cooldown_ms = opt_int_present(thread);
    call_set_status(call, 200);
    return call_reply_with_object_of_type(call, &type_cooldown, &left);
}

enum err trigger_typing(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct typing_event t = { .channel_id = c->id,
                              .user_id = call->caller->id,
                              .timestamp = clock_s() };
    struct member member;
    struct user user;
    enum err e = check_channel_accepts_message(call, c);

    if (!e && call->target.member_access) {
        e = user_find(call->tx, call->caller->id, &user);
        member = *call->target.member_access->member;
        member.user = &user;
        t.member = &member;
        t.guild_id = opt_id_or_null(c->guild_id.value);
    }
    if (!e)
        call_emit_event(call, EVENT_TYPING_START, audience_of_channel(c), &typing_schema, &t);
    return e ? e : reply_with_slow_mode_cooldown(call, c);
}
