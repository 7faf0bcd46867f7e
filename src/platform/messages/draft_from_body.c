/* draft_from_body.c - builds a new message from a request body, for users, bots and webhooks. */
#include "platform/messages/internal.h"

#include "base/clock.h"
#include "model/permissions/permissions.h"
#include "platform/message_parts/column_json.h"

/* Message flags that a sender may set. */
static const int64_t SENDER_FLAGS = MESSAGE_SUPPRESS_EMBEDS | MESSAGE_SUPPRESS_NOTIFICATIONS |
                                    MESSAGE_IS_VOICE_MESSAGE | MESSAGE_IS_COMPONENTS_V2;

/* --- storing files before the transaction -------------------------------------------- */

static enum err store_uploaded_files_of_message(struct call *call)
{
    struct message_send_state *sending = call_get_message_send_state(call);

    return uploaded_files_store(call, &sending->in->attachments.value, &sending->uploads);
}

enum err schedule_storing_nested_message_uploads(struct call *call, const struct message_body *in,
                                                 const struct json_path *here,
                                                 enum err (*check)(struct call *call))
{
    struct message_send_state *sending =
        call_store_stage_data(call, "message_send_state", sizeof *sending);

    *sending = (struct message_send_state){ .in = in, .here = here };
    if (count_uploaded_files(call)) {
        call->read = check;
        call->compute = store_uploaded_files_of_message;
    }
    return OK;
}

enum err schedule_storing_message_uploads(struct call *call, enum err (*check)(struct call *call))
{
    return schedule_storing_nested_message_uploads(call, call->body, NULL, check);
}

enum err message_refuse_with_field_error(struct call *call, const char *field, const char *code,
                                         const char *message)
{
    const struct message_send_state *sending = call_get_message_send_state(call);
    struct json_path at = json_path_key(sending->here, str_of(field));

    form_add_error(&call->form, &at, code, "%s", message);
    return ERR_INVALID_FORM_BODY;
}

enum err check_number_and_size_of_uploads(struct call *call, const struct list *present)
{
    const struct message_send_state *sending = call_get_message_send_state(call);

    if (count_uploaded_files(call) > MESSAGE_MAX_FILES)
        return message_refuse_with_field_error(call, "files", "BASE_TYPE_MAX_LENGTH",
                                               "Must be 10 or fewer in length.");
    return uploaded_files_validate(call, sending->here, &sending->in->attachments.value, present);
}

enum err check_uploads_of_new_message(struct call *call)
{
    return check_number_and_size_of_uploads(call, &(struct list){ 0 });
}

enum err check_uploads_of_edit(struct call *call)
{
    return check_number_and_size_of_uploads(call, &call->target.message->attachments);
}

static const struct allowed_mentions *effective_allowed_mentions(const struct message_sender *from,
                                                                 const struct message_body *in)
{
    return in->allowed_mentions.value ? in->allowed_mentions.value : from->allowed;
}

/* Resolves the message to which the new message replies. The message must be in this channel and
 * not be a system message. */
static enum err resolve_replied_message(struct call *call, const struct message_sender *from,
                                        const struct message_reference_in_body *in,
                                        struct new_message *draft, snowflake *ret_author)
{
    struct message_reference *ref = arena_alloc(call->arena, sizeof *ref);
    const struct channel *c = from->channel;
    struct message m;
    bool found = false;

    if (!(from->perms & PERMISSION(READ_MESSAGE_HISTORY)))
        return ERR_REPLY_WITHOUT_HISTORY;
    enum err e = message_row_read(call->tx, c->id, in->message_id, &m, &found);
    if (e)
        return e;
    bool elsewhere = in->channel_id.given == GIVEN && in->channel_id.value != c->id;
    if (!found || m.ephemeral_for || elsewhere) {
        if (!in->fail_if_not_exists)
            return OK;
        return message_refuse_with_field_error(call, "message_reference", "REPLIES_UNKNOWN_MESSAGE",
                                               "Unknown message");
    }
    /* Replies to join messages are allowed, because clients have a button with which members greet
     * a new member. */
    if (message_is_system(m.type) && m.type != MESSAGE_USER_JOIN)
        return message_refuse_with_field_error(call, "message_reference",
                                               "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE",
                                               "Cannot reply to a system message");
    *ref = (struct message_reference){
        .message_id = opt_id_or_null(m.id),
        .channel_id = c->id,
    };
    if (!channel_is_private(c->type))
        ref->guild_id = opt_id_or_null(c->guild_id.value);
    draft->message_reference = ref;
    draft->type = MESSAGE_REPLY;
    *ret_author = m.webhook_id.given == GIVEN ? 0 : m.author_id;
    return OK;
}

static bool message_draft_is_empty(const struct new_message *d)
{
    return d->content.n == 0 && d->attachments.count == 0 &&
           (d->embeds.p == NULL || str_is(d->embeds, "[]")) &&
           (d->components.p == NULL || str_is(d->components, "[]")) && !d->poll &&
           d->sticker_items.given != GIVEN && d->snapshot.given != GIVEN;
}

/* Copies the fields of the request body to the new message. A field that the body does not have
 * leaves the new message unchanged. */
static void copy_body_fields_to_draft(struct call *call, const struct message_sender *from,
                                      struct new_message *d)
{
    const struct message_send_state *sending = call_get_message_send_state(call);
    const struct message_body *in = sending->in;

    d->content = in->content.given == GIVEN ? in->content.value : STR("");
    d->tts = in->tts.given == GIVEN && in->tts.value;
    d->flags = in->flags.given == GIVEN ? in->flags.value & SENDER_FLAGS : 0;
    if (in->nonce.given == GIVEN)
        d->nonce = in->nonce;
    if (!from->may_use_embeds || from->without_components)
        d->flags &= ~MESSAGE_IS_COMPONENTS_V2;
    if (!from->may_use_embeds)
        return;
    struct opt_list embeds = message_body_get_embeds(in);
    d->embeds = embeds_encode_json(call->arena, &embeds.value);
    if (!from->without_components)
        d->components = components_encode_json(call->arena, (struct list *)&in->components.value);
}

static enum err parse_poll_of_body(struct call *call, const struct message_sender *from,
                                   const struct poll **ret)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    const struct channel *c = from->channel;
    struct emoji_use_context who = emoji_use_context_of_sender(from);
    struct poll *poll = NULL;

    *ret = NULL;
    if (in->poll.given != GIVEN)
        return OK;
    if (!channel_is_private(c->type) && !(from->perms & PERMISSION(SEND_POLLS)))
        return call_get_missing_permissions_error(call, PERMISSION(SEND_POLLS));
    enum err e = poll_from_request_body(call, in->poll.value, &who, &poll);
    *ret = poll;
    return e;
}

/* Stores names and formats of the stickers in the new message, so that a reader of the message need
 * not read the stickers. */
static enum err encode_stickers_of_body(struct call *call, const struct message_sender *from,
                                        struct opt_str *ret)
{
    const struct list *ids = &call_get_message_send_state(call)->in->sticker_ids.value;
    const snowflake *id = ids->items;
    struct emoji_use_context who = emoji_use_context_of_sender(from);
    struct list items = { 0 };

    if (!ids->count)
        return OK;
    if (!from->may_use_stickers)
        return message_refuse_with_field_error(
            call, "sticker_ids", "STICKERS_NOT_ALLOWED",
            "Stickers are allowed only in new messages of users and bots.");
    for (size_t i = 0; i < ids->count; i++) {
        struct sticker s;

        for (size_t k = 0; k < i; k++)
            if (id[k] == id[i])
                return message_refuse_with_field_error(call, "sticker_ids",
                                                       "SET_TYPE_ALREADY_CONTAINS_VALUE",
                                                       "The Set already contains this value");
        enum err e = sticker_find_usable(call->tx, &who, id[i], &s);
        if (e)
            return e;
        *(struct sticker_item *)list_append(call->arena, &items, sizeof(struct sticker_item)) =
            (struct sticker_item){ s.id, s.name, s.format_type };
    }
    *ret =
        opt_str_or_null(encode_json_for_database_column(call->arena, &type_sticker_items, &items));
    return OK;
}

static bool body_is_forward(const struct message_body *in)
{
    const struct message_reference_in_body *ref = in->message_reference.value;

    return in->message_reference.given == GIVEN && ref->type.given == GIVEN &&
           ref->type.value == REFERENCE_FORWARD;
}

/* A forward may have neither a poll nor stickers. */
static enum err add_forward_to_draft(struct call *call, const struct message_sender *from,
                                     struct new_message *draft)
{
    const struct message_body *in = call_get_message_send_state(call)->in;

    if (draft->poll)
        return message_refuse_with_field_error(call, "poll", "FORWARD_NOT_POSSIBLE",
                                               "A forward cannot have a poll.");
    if (draft->sticker_items.given == GIVEN)
        return message_refuse_with_field_error(call, "sticker_ids", "FORWARD_NOT_POSSIBLE",
                                               "A forward cannot have stickers.");
    return new_message_add_forwarded_snapshot(call, from, in->message_reference.value, draft);
}

enum err new_message_from_body(struct call *call, const struct message_sender *from,
                               struct new_message *ret)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    snowflake replied = 0;
    struct resolved_mentions mentions;
    enum err e = check_uploads_of_new_message(call);

    *ret = (struct new_message){ .channel = from->channel };
    if (!e)
        e = components_resolve_emojis(call, from, call_get_message_send_state(call)->here,
                                      &in->components.value);
    if (e)
        return e;
    copy_body_fields_to_draft(call, from, ret);
    e = consume_uploads_named_in_body(call, from->user_id, &ret->attachments);
    if (!e)
        e = parse_poll_of_body(call, from, &ret->poll);
    if (!e)
        e = encode_stickers_of_body(call, from, &ret->sticker_items);
    if (e)
        return e;
    if (ret->tts && !(from->perms & PERMISSION(SEND_TTS_MESSAGES)))
        return call_get_missing_permissions_error(call, PERMISSION(SEND_TTS_MESSAGES));
    if (ret->attachments.count && !(from->perms & PERMISSION(ATTACH_FILES)))
        return call_get_missing_permissions_error(call, PERMISSION(ATTACH_FILES));
    bool forwards = body_is_forward(in);
    if (forwards)
        e = add_forward_to_draft(call, from, ret);
    if (!e)
        e = check_content_of_voice_message(from, ret);
    if (e)
        return e;
    if (message_draft_is_empty(ret))
        return ERR_EMPTY_MESSAGE;
    if (in->message_reference.given == GIVEN && !forwards)
        e = resolve_replied_message(call, from, in->message_reference.value, ret, &replied);
    if (!e)
        e = resolve_mentions_of_message(call, from->channel, from->perms, ret->content,
                                        effective_allowed_mentions(from, in), replied, &mentions);
    if (e)
        return e;

    ret->mentions = mentions.users;
    ret->mention_roles = mentions.roles;
    ret->mention_everyone = mentions.everyone;
    return OK;
}

/* Determines the attachments after an edit: the stored ones that the body lists, and the uploaded
 * files. If the body has no list, all stored attachments remain; if the list is null, all are
 * removed. */
static enum err merge_edited_attachments(struct call *call, const struct message_sender *from,
                                         struct message *m)
{
    const struct message_send_state *sending = call_get_message_send_state(call);
    const struct message_body *in = sending->in;
    const struct attachment_in_body *drafts = in->attachments.value.items;
    struct attachment *old = m->attachments.items;
    struct list retained = { 0 }, files;
    enum err e = consume_uploads_named_in_body(call, from->user_id, &files);

    if (e)
        return e;
    for (size_t i = 0; i < m->attachments.count; i++) {
        bool stays = in->attachments.given == ABSENT;

        for (size_t j = 0; j < in->attachments.value.count; j++) {
            if (drafts[j].id != old[i].id)
                continue;
            stays = true;
            if (drafts[j].description.given == GIVEN)
                old[i].description = drafts[j].description;
            else if (drafts[j].description.given == GIVEN_NULL)
                old[i].description.given = ABSENT;
        }
        if (stays)
            *(struct attachment *)list_append(call->arena, &retained, sizeof *old) = old[i];
    }
    for (size_t i = 0; i < files.count; i++)
        *(struct attachment *)list_append(call->arena, &retained, sizeof *old) =
            ((struct attachment *)files.items)[i];
    if (retained.count > MESSAGE_MAX_FILES)
        return message_refuse_with_field_error(call, "attachments", "BASE_TYPE_MAX_LENGTH",
                                               "Must be 10 or fewer in length.");
    m->attachments = retained;
    return OK;
}

static enum err update_message_mentions(struct call *call, const struct message_sender *from,
                                        struct message *m)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    const struct message *referenced = m->referenced_message.value;
    snowflake replied =
        referenced && referenced->webhook_id.given != GIVEN ? referenced->author_id : 0;
    struct resolved_mentions mentions;
    enum err e =
        resolve_mentions_of_message(call, from->channel, from->perms, m->content,
                                    effective_allowed_mentions(from, in), replied, &mentions);

    if (e)
        return e;
    m->mentions = (struct list){ 0 };
    for (size_t i = 0; i < mentions.users.count; i++) {
        struct mentioned_user *mention = list_append(call->arena, &m->mentions, sizeof *mention);

        mention->user.id = ((snowflake *)mentions.users.items)[i];
    }
    m->mention_roles = mentions.roles;
    m->mention_everyone = mentions.everyone;
    return OK;
}

static void update_message_flags(const struct message_sender *from, const struct message_body *in,
                                 struct message *m)
{
    int64_t may = MESSAGE_SUPPRESS_EMBEDS;

    if (in->flags.given == ABSENT)
        return;
    m->flags = (m->flags & ~may) | (in->flags.value & may);
    /* An edit can set IS_COMPONENTS_V2 but not clear it. */
    if (from->may_use_embeds && !from->without_components)
        m->flags |= in->flags.value & MESSAGE_IS_COMPONENTS_V2;
}

static bool message_is_empty(const struct message *m)
{
    return m->content.n == 0 && m->attachments.count == 0 && str_is(m->embeds, "[]") &&
           str_is(m->components, "[]") && !m->poll && m->sticker_items.given != GIVEN &&
           m->snapshot.given != GIVEN;
}

static void update_message_content_fields(struct call *call, const struct message_sender *from,
                                          struct message *m)
{
    const struct message_body *in = call_get_message_send_state(call)->in;
    struct opt_list embeds = message_body_get_embeds(in);

    if (in->content.given != ABSENT)
        m->content = in->content.given == GIVEN ? in->content.value : STR("");
    if (from->may_use_embeds && embeds.given != ABSENT)
        m->embeds = embeds_encode_json(call->arena, &embeds.value);
    if (from->may_use_embeds && !from->without_components && in->components.given != ABSENT)
        m->components = components_encode_json(call->arena, (struct list *)&in->components.value);
}

/* A message with IS_COMPONENTS_V2 must have neither text nor embeds. */
static enum err check_components_v2_content(struct call *call, const struct message *m)
{
    if (!(m->flags & MESSAGE_IS_COMPONENTS_V2) || (!m->content.n && str_is(m->embeds, "[]")))
        return OK;
    return message_refuse_with_field_error(call, m->content.n ? "content" : "embeds",
                                           "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
                                           "The message has text or embeds, too.");
}

/* Refuses to change the content of a message with a poll. Only the edit of a deferred interaction
 * response may add a poll. */
static enum err add_poll_by_edit(struct call *call, const struct message_sender *from,
                                 struct message *m, bool content_changes)
{
    bool asks = call_get_message_send_state(call)->in->poll.given == GIVEN;

    if (m->polled)
        return content_changes || asks ? ERR_POLL_EDIT : OK;
    if (!asks)
        return OK;
    if (!(m->flags & MESSAGE_LOADING))
        return ERR_POLL_EDIT;
    enum err e = parse_poll_of_body(call, from, &m->poll);
    m->polled = true;
    return e ? e : message_insert_poll(call, m);
}

enum err message_edit(struct call *call, const struct message_sender *from, struct message *m)
{
    const struct message_send_state *sending = call_get_message_send_state(call);
    const struct message_body *in = sending->in;
    bool content_changes =
        in->content.given || in->attachments.given || sending->uploads.count ||
        (from->may_use_embeds && (message_body_get_embeds(in).given ||
                                  (!from->without_components && in->components.given)));
    bool loaded = content_changes || in->poll.given == GIVEN;
    enum err e = check_number_and_size_of_uploads(call, &m->attachments);

    if (e)
        return e;
    if (in->sticker_ids.value.count)
        return ERR_STICKER_EDIT;
    if (m->flags & MESSAGE_IS_VOICE_MESSAGE && loaded)
        return ERR_VOICE_MESSAGE_EDIT;
    e = add_poll_by_edit(call, from, m, content_changes);
    if (e)
        return e;
    update_message_flags(from, in, m);
    message_body_check_components_v2(&call->form, sending->here, in,
                                     m->flags & MESSAGE_IS_COMPONENTS_V2);
    if (form_has_errors(&call->form))
        return ERR_INVALID_FORM_BODY;
    e = components_resolve_emojis(call, from, sending->here, &in->components.value);
    if (e)
        return e;
    update_message_content_fields(call, from, m);
    e = check_components_v2_content(call, m);
    if (!e)
        e = merge_edited_attachments(call, from, m);
    if (!e && content_changes && message_is_empty(m))
        e = ERR_EMPTY_MESSAGE;
    if (!e && (in->content.given || in->allowed_mentions.given))
        e = update_message_mentions(call, from, m);
    if (e)
        return e;
    if (content_changes && !(m->flags & MESSAGE_LOADING))
        m->edited_timestamp = opt_int_present(clock_us());
    if (loaded)
        m->flags &= ~(int64_t)MESSAGE_LOADING;
    return message_update_row_and_emit(call, from->channel, m);
}
