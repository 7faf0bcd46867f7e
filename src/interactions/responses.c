/* responses.c - messages that answer interactions.
 *
 * A response is sent like a webhook's with the app's id; the app needs no permission to send it. */
#include "interactions/answers.h"

#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* --- app, channel and permissions ----------------------------------------------------- */

/* Without allowed_mentions a response mentions users only. */
static struct str users_word[] = { STR_INIT("users") };
static const struct allowed_mentions only_users = {
    .parse = { GIVEN, { users_word, 1 } },
};

/* Reads @everyone's permissions, for an app whose bot is not a member. */
static enum err everyone_rights(struct call *call, const struct channel *c, uint64_t *ret)
{
    snowflake guild_id = c->guild_id.value;
    struct standing nobody = { .guild_id = guild_id, .rights_of = { .guild_id = guild_id } };
    struct role everyone;
    enum err e = role_find(call->tx, guild_id, guild_id, &everyone);

    if (e)
        return e;
    nobody.rights_of.base = everyone.permissions;
    return standing_rights_in(call->tx, &nobody, c, ret);
}

static enum err app_rights(struct call *call, const struct response *r, uint64_t *ret)
{
    const struct channel *c = &r->channel;
    struct standing bot;
    enum err e = ERR_UNKNOWN_MEMBER;

    *ret = PERMISSION(MENTION_EVERYONE) | PERMISSION(USE_EXTERNAL_EMOJIS);
    if (channel_is_private(c->type))
        return OK;
    if (r->application.bot_id)
        e = standing_of_member(call->tx, c->guild_id.value, r->application.bot_id, &bot);
    if (!e)
        return standing_rights_in(call->tx, &bot, c, ret);
    return e == ERR_UNKNOWN_MEMBER ? everyone_rights(call, c, ret) : e;
}

/* Returns true if the message has mentions or TTS: only these need permissions. */
static bool rights_count(const struct message_body *in)
{
    return in && ((in->content.value.n && memchr(in->content.value.p, '@', in->content.value.n)) ||
                  in->tts.value || in->allowed_mentions.given == GIVEN);
}

enum err response_load(struct call *call, const struct interaction *it,
                       const struct message_body *in, struct response *ret)
{
    uint64_t rights = 0;

    *ret = (struct response){ .it = it };
    call->files_of = it->application_id;
    enum err e = application_find(call->tx, it->application_id, &ret->application);
    if (!e)
        e = channel_find(call->tx, it->channel_id, &ret->channel);
    if (!e)
        e = user_find(call->tx, it->user_id, &ret->user);
    if (!e && rights_count(in))
        e = app_rights(call, ret, &rights);
    if (e)
        return e;
    ret->by_user_only = owners_only_user(it->owners);
    /* An app may use any emoji of its bot in a response. */
    ret->from = (struct sender){ .channel = &ret->channel,
                                 .rights = rights | PERMISSION(USE_EXTERNAL_EMOJIS),
                                 .rich = true,
                                 .allowed = &only_users,
                                 .user_id = ret->application.bot_id,
                                 .application_id = ret->application.id };
    return OK;
}

/* --- ephemeral responses -------------------------------------------------------------- */

enum ephemerality {
    EPHEMERAL_SLOWMODE = 4,
    EPHEMERAL_NO_SENDING = 10,
    EPHEMERAL_NO_FILES = 11,
    EPHEMERAL_NO_EMBEDS = 12,
    EPHEMERAL_NO_EXTERNAL_APPS = 18,
};

static bool holds_something(struct str json)
{
    return json.p && !str_is(json, "[]");
}

/* Makes the response ephemeral if one side has blocked the other since the command. */
static enum err force_past_block(struct call *call, struct response *r)
{
    bool barred;
    enum err e = channel_is_barred(call->tx, &r->channel, r->user.id, &barred);

    if (!e && barred)
        r->forced = given_int(EPHEMERAL_NO_SENDING);
    return e;
}

/* Decides whether the response must be ephemeral. An app that is installed only on the user's
 * account has no more permissions than the user. */
static enum err force_ephemeral(struct call *call, struct response *r,
                                const struct message_draft *draft)
{
    struct standing s;
    uint64_t rights = 0;
    int64_t wait = 0;

    r->forced.given = ABSENT;
    if (!r->it->guild_id)
        return force_past_block(call, r);
    if (!r->by_user_only)
        return OK;
    enum err e = standing_find(call->tx, r->it->guild_id, r->user.id, &s);
    if (!e)
        e = standing_rights_in(call->tx, &s, &r->channel, &rights);
    if (e == ERR_MISSING_ACCESS)
        e = OK; /* the user is not a member and has no permissions */
    if (!e)
        e = slow_mode_left(call->tx, &(struct slow_writer){ &r->channel, r->user.id, rights },
                           SLOW_MESSAGE, &wait);
    if (e)
        return e;
    if (!(rights & PERMISSION(USE_EXTERNAL_APPS)))
        r->forced = given_int(EPHEMERAL_NO_EXTERNAL_APPS);
    else if (!(rights & PERMISSION(SEND_MESSAGES)))
        r->forced = given_int(EPHEMERAL_NO_SENDING);
    else if (draft->attachments.count && !(rights & PERMISSION(ATTACH_FILES)))
        r->forced = given_int(EPHEMERAL_NO_FILES);
    else if (holds_something(draft->embeds) && !(rights & PERMISSION(EMBED_LINKS)))
        r->forced = given_int(EPHEMERAL_NO_EMBEDS);
    else if (wait)
        r->forced = given_int(EPHEMERAL_SLOWMODE);
    return OK;
}

/* --- message type, author, references ------------------------------------------------- */

static void refer_to(struct call *call, const struct response *r, struct message_draft *d,
                     snowflake message_id)
{
    struct message_reference *ref = arena_alloc(call->arena, sizeof *ref);

    *ref = (struct message_reference){
        .message_id = given_id(message_id),
        .channel_id = r->channel.id,
    };
    if (r->it->guild_id)
        ref->guild_id = given_id(r->it->guild_id);
    d->message_reference = ref;
}

/* Sets the message type. The first response to a command has the command's type; follow-ups and
 * responses to components are replies. A modal is answered like the interaction that opened it. */
static void fill_kind(struct call *call, const struct response *r, struct message_draft *d)
{
    const struct interaction *it = r->it;

    if (r->follow_up_to || !it->command_type) {
        snowflake to = r->follow_up_to ? r->follow_up_to : it->message_id;

        d->type = to ? MESSAGE_REPLY : MESSAGE_DEFAULT;
        if (to)
            refer_to(call, r, d, to);
        return;
    }
    d->type = it->command_type == COMMAND_USER || it->command_type == COMMAND_MESSAGE
                  ? MESSAGE_CONTEXT_MENU_COMMAND
                  : MESSAGE_CHAT_INPUT_COMMAND;
    if (it->command_type == COMMAND_MESSAGE && it->target_id)
        refer_to(call, r, d, it->target_id);
}

static void fill_author(struct call *call, const struct response *r, struct message_draft *d)
{
    const struct application *a = &r->application;
    struct user *shown = arena_alloc(call->arena, sizeof *shown);

    d->webhook_id = d->application_id = a->id;
    d->author = a->bot;
    if (a->bot)
        return;
    shown->id = a->id;
    d->author = shown;
    d->webhook_name = given_str(a->name);
    d->webhook_avatar = a->icon;
}

enum err response_draft(struct call *call, const struct response *r, struct message_draft *ret)
{
    const struct message_body *in = message_sending_of(call)->in;
    struct sender from = r->from;

    /* Missing permissions do not refuse a response: files and polls are always allowed, and
     * response_fill drops tts. */
    from.rights |=
        PERMISSION(ATTACH_FILES) | PERMISSION(SEND_TTS_MESSAGES) | PERMISSION(SEND_POLLS);
    enum err e = draft_from_body(call, &from, ret);
    if (!e && in->flags.given == GIVEN)
        ret->flags |= in->flags.value & MESSAGE_EPHEMERAL;
    return e;
}

enum err response_fill(struct call *call, struct response *r, struct message_draft *draft)
{
    bool command = r->it->type == INTERACTION_COMMAND && !r->follow_up_to;
    struct str words;
    enum err e = force_ephemeral(call, r, draft);

    r->user_text = column_encode(call->arena, &type_partial_user, &r->user);
    if (!e && command)
        e = response_interaction(call, r, &words);
    if (e)
        return e;
    if (command)
        draft->interaction = given_str(words);
    e = response_metadata(call, r, &words);
    if (e)
        return e;
    draft->interaction_metadata = given_str(words);
    draft->id = snowflake_new();
    draft->channel = &r->channel;
    fill_author(call, r, draft);
    fill_kind(call, r, draft);
    if (!r->follow_up_to && r->it->nonce.given == GIVEN)
        draft->nonce = r->it->nonce;
    if (r->forced.given == GIVEN)
        draft->flags |= MESSAGE_EPHEMERAL;
    if (draft->flags & MESSAGE_EPHEMERAL)
        draft->ephemeral_for = r->it->user_id;
    if (!(r->from.rights & PERMISSION(SEND_TTS_MESSAGES)))
        draft->tts = false;
    return OK;
}

enum err response_send(struct call *call, const struct message_draft *draft, struct message *ret)
{
    enum err e = message_create(call, draft, ret);

    return !e && ret->ephemeral_for ? ephemeral_touch(call, ret) : e;
}

static bool names_upload(const struct list *attachments)
{
    const struct attachment_in *a = attachments->items;

    for (size_t i = 0; i < attachments->count; i++)
        if (a[i].uploaded_filename.given == GIVEN)
            return true;
    return false;
}

/* Checks that an edit adds only what the user may post: a deferred message is already public when
 * its content arrives, and cannot become ephemeral. */
static enum err check_edit_rights(struct call *call, const struct response *r,
                                  const struct message *m)
{
    const struct message_sending *s = message_sending_of(call);
    uint64_t needs = 0, rights = 0;
    struct standing who;

    if (!s || !r->by_user_only || !r->it->guild_id || m->ephemeral_for)
        return OK;
    if (s->uploads.count || names_upload(&s->in->attachments.value))
        needs |= PERMISSION(ATTACH_FILES);
    if (body_embeds(s->in).value.count)
        needs |= PERMISSION(EMBED_LINKS);
    if (!needs)
        return OK;
    enum err e = standing_find(call->tx, r->it->guild_id, r->user.id, &who);
    if (!e)
        e = standing_rights_in(call->tx, &who, &r->channel, &rights);
    return e || (rights & needs) == needs ? e : ERR_MISSING_PERMISSIONS;
}

enum err response_edit(struct call *call, const struct response *r, struct message *m)
{
    struct sender from = r->from;
    bool barred = false;
    enum err e = OK;

    /* After one side has blocked the other, a deferred message is not filled in. */
    if (!r->it->guild_id && !m->ephemeral_for && m->flags & MESSAGE_LOADING)
        e = channel_is_barred(call->tx, &r->channel, r->user.id, &barred);
    if (e || barred)
        return e ? e : ERR_CANNOT_MESSAGE;
    from.rights |= PERMISSION(SEND_POLLS);
    e = check_edit_rights(call, r, m);
    if (!e)
        e = message_edit(call, &from, m);

    return !e && m->ephemeral_for ? ephemeral_touch(call, m) : e;
}
