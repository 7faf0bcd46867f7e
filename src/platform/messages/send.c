/* send.c - POST /channels/{channel.id}/messages and /typing, and their permission checks. */
#include "platform/messages/internal.h"

#include <string.h>

#include "base/clock.h"
#include "model/poll.h"
#include "platform/accounts/users.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum { NONCE_LIFE_MS = 5 * 60 * 1000 };

/* Requires SEND_MESSAGES; recipients of private channels always have it. */
enum err may_send(struct call *call)
{
    return call->target.rights & PERMISSION(SEND_MESSAGES) ? OK : ERR_MISSING_PERMISSIONS;
}

/* --- channels that accept no messages --------------------------------------------------- */

static enum err check_place(struct call *call, const struct channel *c)
{
    const struct thread_metadata *thread = c->thread_metadata;

    if (!channel_takes_messages(c->type))
        return channel_holds_posts(c->type) ? ERR_FORUM_MESSAGE : ERR_NOT_TEXT_CHANNEL;
    if (c->type == CHANNEL_DM)
        return channel_check_writer(call->tx, c, call->caller);
    if (channel_is_thread(c->type) && thread && thread->locked &&
        !(call->target.rights & PERMISSION(MANAGE_THREADS)))
        return ERR_THREAD_LOCKED;
    return OK;
}

/* --- route ------------------------------------------------------------------------------ */

/* With enforce_nonce, a retried request gets the message that the first one created. */
static enum err find_sent(struct call *call, const struct message_draft *d, struct message *ret,
                          bool *ret_found)
{
    const struct message_body *in = call->body;
    snowflake id = 0;
    enum err e = OK;

    *ret_found = false;
    if (!in->enforce_nonce.value || d->nonce.given != GIVEN)
        return OK;
    e = message_by_nonce(call->tx, d->channel->id, call->caller->id, d->nonce.value,
                         snowflake_at(clock_ms() - NONCE_LIFE_MS), &id);
    if (e || !id)
        return e;
    *ret_found = true;
    e = message_find(call, d->channel->id, id, ret);
    ret->nonce = d->nonce;
    return e;
}

static enum err check_files(struct call *call)
{
    if (!(call->target.rights & PERMISSION(ATTACH_FILES)))
        return ERR_MISSING_PERMISSIONS;
    return check_uploads(call, &(struct list){ 0 });
}

/* A message with a reply, mention, file, sticker or poll needs more queries and runs alone, so that
 * other calls of the same batch do not wait for it. */
static bool is_plain(const struct message_body *in)
{
    bool names =
        in->content.given == GIVEN && memchr(in->content.value.p, '@', in->content.value.n);

    return !names && in->message_reference.given != GIVEN && in->attachments.given != GIVEN &&
           in->sticker_ids.given != GIVEN && in->poll.given != GIVEN;
}

enum err prepare_create_message(struct call *call)
{
    const struct message_body *in = call->body;

    call->alone = !is_plain(in) || !channel_home_known(call_id(call, "channel.id"));
    /* A second message with the same nonce must be checked after the first is committed. */
    call->decides = in->enforce_nonce.value;
    return prepare_sending(call, check_files);
}

enum err prefetch_create_message(struct call *call)
{
    channel_home_prefetch(call, call_id(call, "channel.id"));
    return OK;
}

/* --- auto moderation -------------------------------------------------------------------- */

enum err message_judge(struct call *call, struct text_judged *about)
{
    const uint64_t trusted = PERMISSION(ADMINISTRATOR) | PERMISSION(MANAGE_GUILD);
    const struct standing *s = call->target.standing;

    if (!s || !s->automod_version || call->caller->kind != CALLER_USER || s->rights & trusted)
        return OK;
    about->member = s->member;
    about->version = s->automod_version;
    return hook_text_judged(call, about);
}

enum err message_judged(struct call *call, struct text_judged *about, snowflake id)
{
    if (!about->found)
        return OK;
    about->message_id = id;
    return hook_text_written(call, about);
}

/* Returns the text that auto moderation checks: the content, and question and answers of a poll. */
static struct str draft_text(struct call *call, const struct message_draft *d)
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

static enum err reply_created(struct call *call, const struct message *m)
{
    bool quotes = m->referenced_message.given == GIVEN || m->message_snapshots.given == GIVEN;
    enum err e = OK;

    if (m->told.p) {
        buf_add_str(&call->reply, m->told);
        buf_add_lit(&call->reply, "}");
    } else {
        e = call_reply(call, m);
    }
    return e || !quotes ? e : messages_hide_content(call);
}

/* POST /channels/{channel.id}/messages: creates a message. */
enum err create_message(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct sender from = { .channel = c,
                           .rights = call->target.rights,
                           .rich = call->caller->kind == CALLER_BOT,
                           .sticks = true,
                           .user_id = call->caller->id,
                           .application_id = call->caller->application_id };
    struct message_draft draft;
    struct user author;
    struct message m;
    bool sent;

    enum err e = check_place(call, c);
    if (!e)
        e = draft_from_body(call, &from, &draft);
    if (!e)
        e = find_sent(call, &draft, &m, &sent);
    if (e)
        return e;
    if (sent)
        return reply_created(call, &m);

    struct text_judged judged = { .channel = c, .text = draft_text(call, &draft) };
    e = message_judge(call, &judged);
    if (e || judged.refused)
        return e;
    e = slow_mode_pass(call, c, SLOW_MESSAGE);
    if (!e)
        e = user_find_partial(call->tx, call->caller->id, &author);
    draft.author = &author;
    if (call->target.standing)
        draft.member = call->target.standing->member;
    if (!e)
        e = message_create(call, &draft, &m);
    if (!e)
        e = message_judged(call, &judged, m.id);
    return e ? e : reply_created(call, &m);
}

/* --- typing --------------------------------------------------------------------------- */

struct typing {
    snowflake channel_id, user_id;
    struct opt_id guild_id;
    int64_t timestamp;
    const struct member *member;
};

static const struct field typing_fields[] = {
    { FIELD(struct typing, channel_id), .type = &type_id },
    { FIELD(struct typing, guild_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct typing, user_id), .type = &type_id },
    { FIELD(struct typing, timestamp), .type = &type_int, .doc = "Seconds" },
    { FIELD(struct typing, member), .type = &type_member, .flags = OPTIONAL },
    { 0 },
};
static const struct schema typing_schema = {
    .name = "Typing",
    .size = sizeof(struct typing),
    .fields = typing_fields,
    .doc = "A user is typing.",
};

struct cooldown {
    struct opt_int message_send_cooldown_ms, thread_create_cooldown_ms;
};
static const struct field cooldown_fields[] = {
    { FIELD(struct cooldown, message_send_cooldown_ms), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct cooldown, thread_create_cooldown_ms), .type = &type_count, .flags = OPTIONAL },
    { 0 },
};
static const struct schema cooldown_schema = {
    .name = "TypingCooldown",
    .size = sizeof(struct cooldown),
    .fields = cooldown_fields,
    .doc = "Remaining wait of slow mode, in milliseconds.",
};
static const struct type type_cooldown = { .kind = KIND_OBJECT, .schema = &cooldown_schema };

/* Replies with the remaining slow mode time for the next message and the next thread, if any. */
static enum err reply_cooldown(struct call *call, const struct channel *c)
{
    struct cooldown left = { 0 };
    int64_t message, thread = 0;
    enum err e = slow_mode_wait(call, c, SLOW_MESSAGE, &message);

    if (!e)
        e = slow_mode_wait(call, c, SLOW_THREAD, &thread);
    if (e || (!message && !thread))
        return e;
    if (message)
        left.message_send_cooldown_ms = given_int(message);
    if (thread)
        left.thread_create_cooldown_ms = given_int(thread);
    call_set_status(call, 200);
    return call_reply_as(call, &type_cooldown, &left);
}

/* POST /channels/{channel.id}/typing: emits TYPING_START. */
enum err trigger_typing(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct typing t = { .channel_id = c->id, .user_id = call->caller->id, .timestamp = clock_s() };
    struct member member;
    struct user user;
    enum err e = check_place(call, c);

    if (!e && call->target.standing) {
        e = user_find(call->tx, call->caller->id, &user);
        member = *call->target.standing->member;
        member.user = &user;
        t.member = &member;
        t.guild_id = given_id(c->guild_id.value);
    }
    if (!e)
        call_emit(call, EVENT_TYPING_START, to_channel_viewers(c), &typing_schema, &t);
    return e ? e : reply_cooldown(call, c);
}
