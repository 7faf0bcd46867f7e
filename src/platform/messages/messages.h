/* messages.h - public interface of messages/: messages, attachments, pins, mentions, forwards.
 *
 * The folder owns messages, attachments and cloud_uploads. It uses channels/, members/, emojis/,
 * stickers/, polls/ and message_parts/; reactions/, search/ and others are above it and use hooks.
 * Invariant: message_create makes every new message, also of webhooks and apps, except imports.
 * Start with send.c (POST), write.c (body to draft), create.c, show.c (row to object). */
#ifndef PLATFORM_MESSAGES_MESSAGES_H
#define PLATFORM_MESSAGES_MESSAGES_H

#include "model/message.h"
#include "platform/accounts/accounts.h"

/* A message to be created. Zero means absent, empty or the default. */
struct message_draft {
    snowflake id; /* 0: generate one */
    const struct channel *channel;
    int64_t type, flags;
    const struct user *author;   /* shown as the author */
    const struct member *member; /* in the guild; NULL: loaded if any */
    snowflake webhook_id;        /* of a webhook or an interaction reply */
    struct opt_str webhook_name, webhook_avatar;
    snowflake application_id;
    struct str content;
    bool tts, mention_everyone;
    struct str embeds, components;                    /* JSON arrays */
    struct list mentions, mention_roles;              /* snowflakes */
    struct opt_str nonce;                             /* JSON: text or number */
    struct opt_str interaction, interaction_metadata; /* JSON */
    struct opt_str call;                              /* JSON, for MESSAGE_CALL */
    const struct message_reference *message_reference;
    struct list attachments;      /* struct attachment, bytes already stored */
    const struct poll *poll;      /* NULL: none */
    struct opt_str sticker_items; /* JSON */
    struct opt_str snapshot;      /* forwarded content, see forwards.c */
    struct list snapshot_files;   /* struct attachment */
    snowflake ephemeral_for;      /* MESSAGE_EPHEMERAL: who sees it, with author */
};

/* For code that inserts message rows directly: a text-only message, and its messages.shown; .p
 * NULL: no precomputed text. */
struct message message_plain(snowflake id, snowflake channel_id, snowflake author_id,
                             struct str content);
struct str message_shown_text(struct arena *arena, const struct message *m);

/* Inserts the message and sends MESSAGE_CREATE to everyone who can view the channel. Reopens a
 * private channel that a recipient closed (CHANNEL_CREATE); unarchives a thread. Checks no
 * permissions. */
enum err message_create(struct call *call, const struct message_draft *draft, struct message *ret);

/* Creates a system message (types 1, 2 …). mentioned: the user it is about, or 0. */
enum err message_system(struct call *call, const struct channel *c, enum message_type type,
                        snowflake author, snowflake mentioned, struct str content);

/* ERR_UNKNOWN_MESSAGE, also if it is ephemeral for another user. Complete, as in replies. */
enum err message_find(struct call *call, snowflake channel_id, snowflake id, struct message *ret);
/* Call after writing the reply: removes the content of its messages for bots without
 * MESSAGE_CONTENT intent, but not in private channels, of the bot's own, or of those that mention
 * it. */
enum err messages_hide_content(struct call *call);
/* Same, but also finds ephemeral messages. */
enum err message_find_ephemeral(struct call *call, snowflake channel_id, snowflake id,
                                struct message *ret);

/* For a message that a search or list returned, in a channel that the caller may read: complete,
 * but without reactions. */
enum err message_found(struct call *call, snowflake id, struct message *ret);

/* Writes the mutable fields of a message (content, embeds, components, flags, mentions,
 * edited_timestamp) and sends MESSAGE_UPDATE. */
enum err message_save(struct call *call, const struct channel *c, struct message *m);

/* Marks that a thread was started from the message, or deleted (!shown). Sends MESSAGE_UPDATE. */
enum err message_show_thread(struct call *call, const struct channel *c, struct message *m,
                             bool shown);

/* Deletes the message with its files and sends MESSAGE_DELETE. */
enum err message_delete(struct call *call, const struct channel *c, const struct message *m);
/* Same without an event, for temporary messages. */
enum err message_forget(struct call *call, const struct message *m);
/* Deletes several and sends MESSAGE_DELETE_BULK. Skips ids of other channels. */
enum err messages_delete(struct call *call, const struct channel *c, const struct list *ids);

/* Deletes all messages of an account, in a job that runs in steps. */
enum err messages_purge_author(struct call *call, snowflake author_id);
struct author_purge {
    bool is_running;
    int64_t handled;   /* messages so far */
    snowflake reached; /* smaller ids are done */
};
enum err messages_purge_find(struct tx *tx, snowflake author_id, struct author_purge *ret);

/* Deletes the bytes of an attachment of any channel. The attachment is removed from its messages; a
 * message that shows nothing else, or forwards it, is deleted. At most FILE_REMOVED_FROM messages
 * at once; *ret_more: more remain. ERR_NOT_FOUND: no message has it. */
enum { FILE_REMOVED_FROM = 50 };
enum err message_file_remove(struct call *call, snowflake attachment_id, int64_t *ret_messages,
                             bool *ret_more);

struct text_judged;
/* Applies auto moderation to a text, if the guild has rules for the caller; .refused: it is
 * blocked, and the call already has its reply. */
enum err message_judge(struct call *call, struct text_judged *about);
/* Call when the text was stored as this message. */
enum err message_judged(struct call *call, struct text_judged *about, snowflake id);

extern const struct domain messages_domain;
extern const struct domain attachments_domain; /* /attachments, without the API prefix */
extern const struct domain cloud_uploads_domain, refresh_urls_domain;
extern const struct domain upload_places_domain; /* /uploads, without the API prefix */
extern const struct world_parts messages_world;

/* SQL for deletion rules WITH_MESSAGES: the next messages to delete, a condition on their rows. */
#define NEXT_DELETED_MESSAGES "select id from messages where channel_id = $1 order by id limit $2"
#define OF_DELETED_MESSAGES   "message_id in (" NEXT_DELETED_MESSAGES ")"

#endif
