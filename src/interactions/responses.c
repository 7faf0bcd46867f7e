/* responses.c - messages with which apps respond to interactions. A response is sent like a webhook
 * message with the app's id; the app needs no permission to send it. */
#include "interactions/responses.h"

#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

/* --- app, channel and permissions ----------------------------------------------------- */

/* Without allowed_mentions, a response of an app can mention users, but not roles or everyone. */
static struct str mention_users_only[] = { STR_INIT("users") };
static const struct allowed_mentions default_allowed_mentions = {
    .parse = { GIVEN, { mention_users_only, 1 } },
};

/* Reads the permissions of @everyone. They apply to an app whose bot is not a member of the
 * guild. */
static enum err read_everyone_permissions(struct call *call, const struct channel *c, uint64_t *ret)
{
    snowflake guild_id = c->guild_id.value;
    struct member_access everyone_access = { .guild_id = guild_id,
                                             .input = { .guild_id = guild_id } };
    struct role everyone;
    enum err e = role_find(call->tx, guild_id, guild_id, &everyone);

    if (e)
        return e;
    everyone_access.input.base = everyone.permissions;
    return member_permissions_in_channel(call->tx, &everyone_access, c, ret);
}

static enum err read_permissions_of_app_in_channel(struct call *call,
                                                   const struct interaction_response_context *r,
                                                   uint64_t *ret)
{
    const struct channel *c = &r->channel;
    struct member_access bot;
    enum err e = ERR_UNKNOWN_MEMBER;

    *ret = PERMISSION(MENTION_EVERYONE) | PERMISSION(USE_EXTERNAL_EMOJIS);
    if (channel_is_private(c->type))
        return OK;
    if (r->application.bot_id)
        e = member_access_find_of_other_user(call->tx, c->guild_id.value, r->application.bot_id,
                                             &bot);
    if (!e)
        return member_permissions_in_channel(call->tx, &bot, c, ret);
    return e == ERR_UNKNOWN_MEMBER ? read_everyone_permissions(call, c, ret) : e;
}

/* Returns whether the message has mentions or TTS, because only these depend on permissions. */
static bool message_needs_permissions(const struct message_body *in)
{
    return in && ((in->content.value.n && memchr(in->content.value.p, '@', in->content.value.n)) ||
                  in->tts.value || in->allowed_mentions.given == GIVEN);
}

enum err read_interaction_response_context(struct call *call, const struct interaction *it,
                                           const struct message_body *in,
                                           struct interaction_response_context *ret)
{
    uint64_t permission_bits = 0;

    *ret = (struct interaction_response_context){ .it = it };
    call->files_of = it->application_id;
    enum err e = application_find(call->tx, it->application_id, &ret->application);
    if (!e)
        e = channel_find(call->tx, it->channel_id, &ret->channel);
    if (!e)
        e = user_find(call->tx, it->user_id, &ret->user);
    if (!e && message_needs_permissions(in))
        e = read_permissions_of_app_in_channel(call, ret, &permission_bits);
    if (e)
        return e;
    ret->by_user_only = app_is_installed_only_on_user(it->owners);
    /* In a response an app may use all emoji that its bot could use. */
    ret->from = (struct message_sender){ .channel = &ret->channel,
                                         .perms = permission_bits | PERMISSION(USE_EXTERNAL_EMOJIS),
                                         .may_use_embeds = true,
                                         .allowed = &default_allowed_mentions,
                                         .user_id = ret->application.bot_id,
                                         .application_id = ret->application.id };
    return OK;
}

/* --- ephemeral responses -------------------------------------------------------------- */

enum ephemerality_reason {
    EPHEMERAL_SLOWMODE = 4,
    EPHEMERAL_NO_SENDING = 10,
    EPHEMERAL_NO_FILES = 11,
    EPHEMERAL_NO_EMBEDS = 12,
    EPHEMERAL_NO_EXTERNAL_APPS = 18,
};

static bool is_nonempty_json_array(struct str json)
{
    return json.p && !str_is(json, "[]");
}

/* Makes the response ephemeral if the user or the bot has blocked the other since the command was
 * invoked. */
static enum err force_ephemeral_if_blocked(struct call *call,
                                           struct interaction_response_context *r)
{
    bool barred;
    enum err e = direct_channel_write_is_refused(call->tx, &r->channel, r->user.id, &barred);

    if (!e && barred)
        r->forced = opt_int_present(EPHEMERAL_NO_SENDING);
    return e;
}

/* Decides whether the response must be ephemeral. An app that is installed only on the user's
 * account does not have more permissions than the user. */
static enum err decide_if_response_is_ephemeral(struct call *call,
                                                struct interaction_response_context *r,
                                                const struct new_message *draft)
{
    struct member_access s;
    uint64_t permission_bits = 0;
    int64_t wait = 0;

    r->forced.given = ABSENT;
    if (!r->it->guild_id)
        return force_ephemeral_if_blocked(call, r);
    if (!r->by_user_only)
        return OK;
    enum err e = member_access_find(call->tx, r->it->guild_id, r->user.id, &s);
    if (!e)
        e = member_permissions_in_channel(call->tx, &s, &r->channel, &permission_bits);
    if (e == ERR_MISSING_ACCESS)
        e = OK; /* if the user is not a member, he has no permissions */
    if (!e)
        e = slow_mode_remaining_ms(
            call->tx, &(struct slow_mode_author){ &r->channel, r->user.id, permission_bits },
            SLOW_MESSAGE, &wait);
    if (e)
        return e;
    if (!(permission_bits & PERMISSION(USE_EXTERNAL_APPS)))
        r->forced = opt_int_present(EPHEMERAL_NO_EXTERNAL_APPS);
    else if (!(permission_bits & PERMISSION(SEND_MESSAGES)))
        r->forced = opt_int_present(EPHEMERAL_NO_SENDING);
    else if (draft->attachments.count && !(permission_bits & PERMISSION(ATTACH_FILES)))
        r->forced = opt_int_present(EPHEMERAL_NO_FILES);
    else if (is_nonempty_json_array(draft->embeds) && !(permission_bits & PERMISSION(EMBED_LINKS)))
        r->forced = opt_int_present(EPHEMERAL_NO_EMBEDS);
    else if (wait)
        r->forced = opt_int_present(EPHEMERAL_SLOWMODE);
    return OK;
}

/* --- message type, author, references ------------------------------------------------- */

static void set_message_reference(struct call *call, const struct interaction_response_context *r,
                                  struct new_message *d, snowflake message_id)
{
    struct message_reference *ref = arena_alloc(call->arena, sizeof *ref);

    *ref = (struct message_reference){
        .message_id = opt_id_or_null(message_id),
        .channel_id = r->channel.id,
    };
    if (r->it->guild_id)
        ref->guild_id = opt_id_or_null(r->it->guild_id);
    d->message_reference = ref;
}

/* Sets the message type. The first response to a command has the command's type; follow-ups and
 * responses to components are replies. A response to a modal has the type that a response to the
 * opening interaction would have. */
static void set_message_type(struct call *call, const struct interaction_response_context *r,
                             struct new_message *d)
{
    const struct interaction *it = r->it;

    if (r->follow_up_to || !it->command_type) {
        snowflake to = r->follow_up_to ? r->follow_up_to : it->message_id;

        d->type = to ? MESSAGE_REPLY : MESSAGE_DEFAULT;
        if (to)
            set_message_reference(call, r, d, to);
        return;
    }
    d->type = it->command_type == COMMAND_USER || it->command_type == COMMAND_MESSAGE
                  ? MESSAGE_CONTEXT_MENU_COMMAND
                  : MESSAGE_CHAT_INPUT_COMMAND;
    if (it->command_type == COMMAND_MESSAGE && it->target_id)
        set_message_reference(call, r, d, it->target_id);
}

static void set_message_author(struct call *call, const struct interaction_response_context *r,
                               struct new_message *d)
{
    const struct application *a = &r->application;
    struct user *author_user = arena_alloc(call->arena, sizeof *author_user);

    d->webhook_id = d->application_id = a->id;
    d->author = a->bot;
    if (a->bot)
        return;
    author_user->id = a->id;
    d->author = author_user;
    d->webhook_name = opt_str_or_null(a->name);
    d->webhook_avatar = a->icon;
}

enum err build_interaction_response_message(struct call *call,
                                            const struct interaction_response_context *r,
                                            struct new_message *ret)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    struct message_sender from = r->from;

    /* A response is not refused for missing permissions. Files and polls are always allowed;
     * complete_interaction_response_message removes tts. */
    from.perms |= PERMISSION(ATTACH_FILES) | PERMISSION(SEND_TTS_MESSAGES) | PERMISSION(SEND_POLLS);
    enum err e = new_message_from_body(call, &from, ret);
    if (!e && in->flags.given == GIVEN)
        ret->flags |= in->flags.value & MESSAGE_EPHEMERAL;
    return e;
}

enum err complete_interaction_response_message(struct call *call,
                                               struct interaction_response_context *r,
                                               struct new_message *draft)
{
    bool command = r->it->type == INTERACTION_COMMAND && !r->follow_up_to;
    struct str encoded;
    enum err e = decide_if_response_is_ephemeral(call, r, draft);

    r->user_text = json_column_encode(call->arena, &type_partial_user, &r->user);
    if (!e && command)
        e = encode_message_interaction(call, r, &encoded);
    if (e)
        return e;
    if (command)
        draft->interaction = opt_str_or_null(encoded);
    e = encode_interaction_metadata(call, r, &encoded);
    if (e)
        return e;
    draft->interaction_metadata = opt_str_or_null(encoded);
    draft->id = snowflake_new();
    draft->channel = &r->channel;
    set_message_author(call, r, draft);
    set_message_type(call, r, draft);
    if (!r->follow_up_to && r->it->nonce.given == GIVEN)
        draft->nonce = r->it->nonce;
    if (r->forced.given == GIVEN)
        draft->flags |= MESSAGE_EPHEMERAL;
    if (draft->flags & MESSAGE_EPHEMERAL)
        draft->ephemeral_for = r->it->user_id;
    if (!(r->from.perms & PERMISSION(SEND_TTS_MESSAGES)))
        draft->tts = false;
    return OK;
}

enum err create_interaction_response_message(struct call *call, const struct new_message *draft,
                                             struct message *ret)
{
    enum err e = message_create(call, draft, ret);

    return !e && ret->ephemeral_for ? schedule_ephemeral_message_deletion(call, ret) : e;
}

static bool attachments_use_earlier_upload(const struct list *attachments)
{
    const struct attachment_in_body *a = attachments->items;

    for (size_t i = 0; i < attachments->count; i++)
        if (a[i].uploaded_filename.given == GIVEN)
            return true;
    return false;
}

/* Checks that an edit adds only content that the user may post. A deferred message is already
 * public when its content arrives, so it cannot become ephemeral any more. */
static enum err check_edit_permissions(struct call *call,
                                       const struct interaction_response_context *r,
                                       const struct message *m)
{
    const struct message_send_state *s = call_get_message_send_state(call);
    uint64_t needs = 0, permission_bits = 0;
    struct member_access member_access;

    if (!s || !r->by_user_only || !r->it->guild_id || m->ephemeral_for)
        return OK;
    if (s->uploads.count || attachments_use_earlier_upload(&s->in->attachments.value))
        needs |= PERMISSION(ATTACH_FILES);
    if (message_body_get_embeds(s->in).value.count)
        needs |= PERMISSION(EMBED_LINKS);
    if (!needs)
        return OK;
    enum err e = member_access_find(call->tx, r->it->guild_id, r->user.id, &member_access);
    if (!e)
        e = member_permissions_in_channel(call->tx, &member_access, &r->channel, &permission_bits);
    if (e || (permission_bits & needs) == needs)
        return e;
    call_set_refusal_cause(
        call,
        "the app is installed by the user only, so its public responses need the user's "
        "permissions, and %.*s lacks %s here; leave this part out, or answer "
        "ephemerally",
        STR_ARGS(r->user.username),
        needs & ~permission_bits & PERMISSION(ATTACH_FILES) ? "ATTACH_FILES" : "EMBED_LINKS");
    return ERR_MISSING_PERMISSIONS;
}

enum err update_interaction_response_message(struct call *call,
                                             const struct interaction_response_context *r,
                                             struct message *m)
{
    struct message_sender from = r->from;
    bool barred = false;
    enum err e = OK;

    /* If the user or the bot has blocked the other, the deferred message gets no content. */
    if (!r->it->guild_id && !m->ephemeral_for && m->flags & MESSAGE_LOADING)
        e = direct_channel_write_is_refused(call->tx, &r->channel, r->user.id, &barred);
    if (e || barred)
        return e ? e : ERR_CANNOT_MESSAGE;
    from.perms |= PERMISSION(SEND_POLLS);
    e = check_edit_permissions(call, r, m);
    if (!e)
        e = message_edit(call, &from, m);

    return !e && m->ephemeral_for ? schedule_ephemeral_message_deletion(call, m) : e;
}
