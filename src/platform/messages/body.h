/* body.h - what people, bots and webhooks send to make or change a message. */
#ifndef PLATFORM_MESSAGES_BODY_H
#define PLATFORM_MESSAGES_BODY_H

#include "platform/message_parts/component.h"
#include "platform/message_parts/embed.h"
#include "platform/messages/messages.h"
#include "platform/polls/polls.h"
#include "platform/stickers/stickers.h"

enum {
    MESSAGE_MAX_FILES = 10,
    MESSAGE_MAX_FILE = 10 * 1024 * 1024,   /* bytes each */
    MESSAGE_MAX_UPLOAD = 32 * 1024 * 1024, /* all together, with the form around them */
};

/* What a body says about a file: one that is there, or the n-th that comes along. */
struct attachment_in {
    snowflake id;
    struct opt_str filename, description, title, waveform;
    struct opt_real duration_secs;
    struct opt_bool is_spoiler, is_remix;
    struct opt_str uploaded_filename; /* sent before (cloud_uploads.c) */
};

/* Whom a message may call. Absent: everybody it names. */
struct allowed_mentions {
    struct opt_list parse;        /* struct str: "users", "roles", "everyone" */
    struct opt_list users, roles; /* snowflakes */
    struct opt_bool replied_user;
};

struct reference_in {
    struct opt_int type;
    snowflake message_id;
    struct opt_id channel_id, guild_id;
    bool fail_if_not_exists;
    struct opt_object forward_only; /* struct forward_only */
};

/* Which parts of a message are forwarded. */
struct forward_only {
    struct opt_list embed_indices, attachment_ids; /* int64_t, snowflakes */
};

/* Routes take different parts of it. */
struct message_body {
    struct opt_str content, nonce, username, avatar_url, thread_name;
    struct opt_bool tts, enforce_nonce;
    struct opt_list embeds, components, attachments, applied_tags, sticker_ids;
    struct opt_object allowed_mentions, message_reference;
    struct opt_object poll;  /* struct poll_in */
    struct opt_object embed; /* struct embed; the older way to send one, see body_embeds */
    struct opt_int flags;
};
/* What it says of embeds, by whichever name. */
struct opt_list body_embeds(const struct message_body *in);

/* What all new messages have, as rows of a schema whose struct begins with it. */
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

/* Who sends, what, and where to. */
struct sender {
    const struct channel *channel;
    uint64_t rights;
    bool rich;   /* embeds and components count: bots and webhooks */
    bool bare;   /* components do not */
    bool sticks; /* stickers can be sent */
    /* Whom a message calls that does not say so itself; NULL: everybody it names. */
    const struct allowed_mentions *allowed;
    snowflake user_id, application_id; /* whose emoji may be used; 0: nobody's */
};

/* What the stages of every route with such a body pass on. */
struct message_sending {
    const struct message_body *in;
    const struct place *here; /* of `in` in the call's body; NULL: it is all of it */
    struct list uploads;      /* struct attachment */
};

static inline struct message_sending *message_sending_of(const struct call *call)
{
    return call_passed(call, "message_sending");
}

/* The row's prepare. check runs when files came along, before they are kept. */
enum err prepare_sending(struct call *call, enum err (*check)(struct call *call));
/* The same where the message is only a part of the body; both must stay. */
enum err prepare_sending_part(struct call *call, const struct message_body *in,
                              const struct place *here, enum err (*check)(struct call *call));

/* The files that came along are few and small enough, and each one that the body speaks
 * of is among them or present (struct attachment). */
enum err check_uploads(struct call *call, const struct list *present);

/* A nonce, as JSON: text of at most 25 characters, or a whole number; a problem is noted at
 * `nonce` below here. */
void nonce_check(struct form *form, const struct place *here, const struct opt_str *nonce);
/* What ties the parts of a new message together: a schema's check. */
void message_body_check(struct form *form, const struct place *here, const void *object);
/* The same for a change; what else depends on the message is seen when it is made. */
void message_patch_check(struct form *form, const struct place *here, const void *object);

/* From a body to a draft; ERR_EMPTY_MESSAGE, form errors, ERR_MISSING_PERMISSIONS. */
enum err draft_from_body(struct call *call, const struct sender *from, struct message_draft *ret);
/* Refuses emoji that the sender may not use, at their places, and gives those that came by id
 * their name. here: of the body. */
enum err components_take_emojis(struct call *call, const struct sender *from,
                                const struct place *here, const struct list *components);
/* Changes a message as a body says, and announces it. One that was still loading is
 * complete then, and does not count as edited. */
enum err message_edit(struct call *call, const struct sender *from, struct message *m);

#endif
