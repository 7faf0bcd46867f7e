/* messages.h - what is said in channels.
 *
 * Everything that makes a message goes through message_create: people, webhooks,
 * answers of applications, the server itself. */
#ifndef PLATFORM_MESSAGES_MESSAGES_H
#define PLATFORM_MESSAGES_MESSAGES_H

#include "model/message.h"
#include "platform/accounts/accounts.h"

/* A message that is to be. What is zero is absent, empty or the default. */
struct message_draft {
    snowflake id; /* 0: a new one */
    const struct channel *channel;
    int64_t type, flags;
    const struct user *author;   /* shown as the author */
    const struct member *member; /* the author's in the guild; NULL: loaded, or none */
    snowflake webhook_id;        /* sent by a webhook, or an application's answer */
    struct opt_str webhook_name, webhook_avatar;
    snowflake application_id;
    struct str content;
    bool tts, mention_everyone;
    struct str embeds, components;                    /* JSON arrays */
    struct list mentions, mention_roles;              /* snowflakes */
    struct opt_str nonce;                             /* JSON: text or number */
    struct opt_str interaction, interaction_metadata; /* JSON */
    struct opt_str call;                              /* JSON, of MESSAGE_CALL */
    const struct message_reference *message_reference;
    struct list attachments;      /* struct attachment, whose bytes are kept by now */
    const struct poll *poll;      /* NULL: none */
    struct opt_str sticker_items; /* JSON */
    struct opt_str snapshot;      /* what it takes along, see forwards.c */
    struct list snapshot_files;   /* struct attachment */
    snowflake ephemeral_for;      /* with MESSAGE_EPHEMERAL: who sees it besides the author */
};

/* For who writes rows of messages: one that has nothing but text, and what messages.shown is for
 * a message; .p NULL: nothing. */
struct message message_plain(snowflake id, snowflake channel_id, snowflake author_id,
                             struct str content);
struct str message_shown_text(struct arena *arena, const struct message *m);

/* Writes it and announces MESSAGE_CREATE to everybody who sees the channel. A direct
 * channel that was not in somebody's list comes back there, with CHANNEL_CREATE; an
 * archived thread wakes up. Checks nothing. */
enum err message_create(struct call *call, const struct message_draft *draft, struct message *ret);

/* What the server itself says: types 1, 2 … mentioned: whom it is about, or 0. */
enum err message_system(struct call *call, const struct channel *c, enum message_type type,
                        snowflake author, snowflake mentioned, struct str content);

/* ERR_UNKNOWN_MESSAGE, also for one that only somebody else may see. Complete, as
 * calls answer it. */
enum err message_find(struct call *call, snowflake channel_id, snowflake id, struct message *ret);
/* When an answer of the row's type is written: takes the content out of its messages for bots
 * that may not have it. Messages of private channels and the bot's own stay whole, and those
 * that mention it. */
enum err messages_hide_content(struct call *call);
/* The same for messages that are only for one account. */
enum err message_find_ephemeral(struct call *call, snowflake channel_id, snowflake id,
                                struct message *ret);

/* One that a search or a list of others' ids has found, in a channel that the caller may read:
 * complete, without reactions. */
enum err message_found(struct call *call, snowflake id, struct message *ret);

/* Writes what can change about a message (content, embeds, components, flags, mentions,
 * edited_timestamp) and announces MESSAGE_UPDATE. */
enum err message_save(struct call *call, const struct channel *c, struct message *m);

/* A thread was started from it (or shown is false: that one is gone). MESSAGE_UPDATE. */
enum err message_show_thread(struct call *call, const struct channel *c, struct message *m,
                             bool shown);

/* Deletes it with its files and announces MESSAGE_DELETE. */
enum err message_delete(struct call *call, const struct channel *c, const struct message *m);
/* The same without a word: what was only kept for a while. */
enum err message_forget(struct call *call, const struct message *m);
/* Several at once: MESSAGE_DELETE_BULK. Ids that are not of this channel are skipped. */
enum err messages_delete(struct call *call, const struct channel *c, const struct list *ids);

/* Deletes all messages of an account, everywhere, as a job in steps. */
enum err messages_purge_author(struct call *call, snowflake author_id);
struct author_purge {
    bool is_running;
    int64_t handled;   /* messages so far */
    snowflake reached; /* messages with smaller ids are done */
};
enum err messages_purge_find(struct tx *tx, snowflake author_id, struct author_purge *ret);

/* Deletes the bytes of an attachment, of any channel: it leaves the messages that show it, and
 * messages that show nothing else, or forward it, are deleted. At most FILE_REMOVED_FROM messages
 * at once; *ret_more: there are more. ERR_NOT_FOUND: no message has it. */
enum { FILE_REMOVED_FROM = 50 };
enum err message_file_remove(struct call *call, snowflake attachment_id, int64_t *ret_messages,
                             bool *ret_more);

struct text_judged;
/* Asks a guild's rules, if there are any and they apply to the caller, whether this may be
 * written; .refused: it may not, and the call has its answer. */
enum err message_judge(struct call *call, struct text_judged *about);
/* Once it is written as this message. */
enum err message_judged(struct call *call, struct text_judged *about, snowflake id);

extern const struct domain messages_domain;
extern const struct domain attachments_domain; /* /attachments, at the root */
extern const struct domain cloud_uploads_domain, refresh_urls_domain;
extern const struct domain upload_places_domain; /* /uploads, at the root */

/* SQL for deletion rules WITH_MESSAGES: the messages that are deleted next, and rows of them. */
#define NEXT_DELETED_MESSAGES "select id from messages where channel_id = $1 order by id limit $2"
#define OF_DELETED_MESSAGES   "message_id in (" NEXT_DELETED_MESSAGES ")"

#endif
