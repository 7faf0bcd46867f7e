/* message_body.h - request bodies that create or change a message, for users, bots and webhooks. */
#ifndef PLATFORM_MESSAGES_MESSAGE_BODY_H
#define PLATFORM_MESSAGES_MESSAGE_BODY_H

#include "platform/message_parts/component.h"
#include "platform/message_parts/embed.h"
#include "platform/messages/messages.h"
#include "platform/polls/polls.h"
#include "platform/stickers/stickers.h"

enum {
    MESSAGE_MAX_FILES = 10,
    MESSAGE_MAX_FILE = 10 * 1024 * 1024,   /* bytes per file */
    MESSAGE_MAX_UPLOAD = 32 * 1024 * 1024, /* bytes of the whole multipart body */
};

/* An attachment in a request body: `id` is that of an attachment of the edited message, or the
 * number n of the uploaded file files[n]. */
struct attachment_in_body {
    snowflake id;
    struct opt_str filename, description, title, waveform;
    struct opt_real duration_secs;
    struct opt_bool is_spoiler, is_remix;
    struct opt_str uploaded_filename; /* name of an earlier upload (cloud_uploads.h) */
};

/* Users and roles that a message may ping. Without this object, all mentions ping. */
struct allowed_mentions {
    struct opt_list parse;        /* struct str: "users", "roles", "everyone" */
    struct opt_list users, roles; /* snowflakes */
    struct opt_bool replied_user;
};

struct message_reference_in_body {
    struct opt_int type;
    snowflake message_id;
    struct opt_id channel_id, guild_id;
    bool fail_if_not_exists;
    struct opt_object forward_only; /* struct forward_selection */
};

/* Embeds and attachments to forward. Without this object, the whole message is forwarded. */
struct forward_selection {
    struct opt_list embed_indices, attachment_ids; /* int64_t, snowflakes */
};

/* Union of the fields of all message bodies; each route accepts a subset. */
struct message_body {
    struct opt_str content, nonce, username, avatar_url, thread_name;
    struct opt_bool tts, enforce_nonce;
    struct opt_list embeds, components, attachments, applied_tags, sticker_ids;
    struct opt_object allowed_mentions, message_reference;
    struct opt_object poll;  /* struct poll_request */
    struct opt_object embed; /* older form of `embeds`: a single struct embed */
    struct opt_int flags;
};
/* Returns the embeds of a body, from the field `embeds` or `embed`. */
struct opt_list message_body_get_embeds(const struct message_body *in);

/* Field types of message bodies, for schemas whose struct starts with struct message_body. */
extern const struct type type_message_content, type_attachments_in, type_allowed_mentions,
    type_message_reference_in, type_sticker_ids;
/* clang-format off */
#define MESSAGE_BODY_FIELD(member_, type_)                                                         \
    { FIELD(struct message_body, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE }
#define MESSAGE_PATCH_FIELDS                                                                       \
    MESSAGE_BODY_FIELD(content, type_message_content),                                             \
    MESSAGE_BODY_FIELD(embeds, type_embeds_in),                                                    \
    MESSAGE_BODY_FIELD(components, type_components_in),                                            \
    MESSAGE_BODY_FIELD(attachments, type_attachments_in),                                          \
    MESSAGE_BODY_FIELD(allowed_mentions, type_allowed_mentions),                                   \
    MESSAGE_BODY_FIELD(flags, type_count),                                                         \
    MESSAGE_BODY_FIELD(poll, poll_body),                                                         \
    MESSAGE_BODY_FIELD(sticker_ids, type_sticker_ids)
#define MESSAGE_BODY_FIELDS MESSAGE_PATCH_FIELDS, MESSAGE_BODY_FIELD(tts, type_bool)
/* clang-format on */

extern const struct type message_create_body, message_edit_body, webhook_message_body;

/* --- write.c -------------------------------------------------------------------------- */

/* The sender of a message and the target channel. */
struct message_sender {
    const struct channel *channel;
    uint64_t perms;
    bool may_use_embeds;     /* whether the sender may set embeds and components (bots, webhooks) */
    bool without_components; /* the sender may not use components */
    bool may_use_stickers;   /* the sender may use stickers */
    /* Default if the body has no allowed_mentions; NULL if all mentions ping by default. */
    const struct allowed_mentions *allowed;
    snowflake user_id, application_id; /* account and app with access to custom emoji; 0 if none */
};

/* Data that the stages of a call with a message body pass on to each other. */
struct message_send_state {
    const struct message_body *in;
    const struct json_path *here; /* path of `in` in the body; NULL if `in` is the body */
    struct list uploads;          /* struct attachment */
};

static inline struct message_send_state *call_get_message_send_state(const struct call *call)
{
    return call_get_stage_data(call, "message_send_state");
}

/* Reads the request body as a message, and schedules the storage of uploaded files; `check` runs
 * before they are stored. Call it in the route's prepare stage. */
enum err schedule_storing_message_uploads(struct call *call, enum err (*check)(struct call *call));
/* Reads the object `in` inside the request body, at the path `here`, as a message. Both pointers
 * must remain valid until the call ends. */
enum err schedule_storing_nested_message_uploads(struct call *call, const struct message_body *in,
                                                 const struct json_path *here,
                                                 enum err (*check)(struct call *call));

/* Checks number and size of the uploaded files. Each attachment in the body must be uploaded or in
 * the list `present` (struct attachment). */
enum err check_number_and_size_of_uploads(struct call *call, const struct list *present);
/* Check the uploaded files of a new message, and of an edit of the message in the path. */
enum err check_uploads_of_new_message(struct call *call);
enum err check_uploads_of_edit(struct call *call);

/* Checks that a nonce, given as JSON, is a string of at most 25 characters or an integer. Reports a
 * form error at `nonce` below `here`. */
void message_nonce_validate(struct form *form, const struct json_path *here,
                            const struct opt_str *nonce);
/* Validates a new message body as a whole, for rules that involve several fields. */
void message_body_validate(struct form *form, const struct json_path *here, const void *object);
/* Validates the body of an edit; message_edit checks the rules that depend on the stored
 * message. */
void message_patch_validate(struct form *form, const struct json_path *here, const void *object);

/* Builds a new message from the request body. Returns ERR_EMPTY_MESSAGE, ERR_MISSING_PERMISSIONS or
 * form errors. */
enum err new_message_from_body(struct call *call, const struct message_sender *from,
                               struct new_message *ret);
/* Reports a form error for each emoji in components that the sender may not use, and adds the name
 * to emoji that are given by id. here is the path of the body. */
enum err components_resolve_emojis(struct call *call, const struct message_sender *from,
                                   const struct json_path *here, const struct list *components);
/* Edits a message with the fields of the body and emits MESSAGE_UPDATE. The edit of a deferred
 * interaction response clears the flag LOADING and does not set edited_timestamp. */
enum err message_edit(struct call *call, const struct message_sender *from, struct message *m);

#endif
