/* messages.h - messages, attachments, pins, mentions, forwards. Invariant: message_create creates
 * every message, also of webhooks and apps, except imports. The folder owns the tables messages,
 * attachments, cloud_uploads and message_unindexed, on SQLite also message_authors and the progress
 * of the jobs that read new messages, and may use message_parts/ and the folders below it. Start
 * with send.c (POST), draft_from_body.c (from body to new message), create.c, show/show.c (from row
 * to API object). */
#ifndef PLATFORM_MESSAGES_MESSAGES_H
#define PLATFORM_MESSAGES_MESSAGES_H

#include "model/message.h"
#include "platform/accounts/accounts.h"

/* A message to be created. A field that is zero is absent, empty or has its default. */
struct new_message {
    snowflake id; /* id of the message; 0 if message_create shall generate it */
    const struct channel *channel;
    int64_t type, flags;
    const struct user *author;   /* the account that is displayed as the author */
    const struct member *member; /* the author as a member; if NULL, message_create reads it */
    snowflake webhook_id; /* id of the webhook, or of the app whose interaction response this is */
    struct opt_str webhook_name, webhook_avatar;
    snowflake application_id;
    struct str content;
    bool tts, mention_everyone;
    struct str embeds, components;                    /* JSON arrays */
    struct list mentions, mention_roles;              /* snowflakes */
    struct opt_str nonce;                             /* JSON string or number */
    struct opt_str interaction, interaction_metadata; /* JSON */
    struct opt_str call; /* JSON of the call, for system messages of the type CALL */
    const struct message_reference *message_reference;
    struct list attachments; /* attachments whose files are already stored (struct attachment) */
    const struct poll *poll; /* poll of the message, or NULL */
    struct opt_str sticker_items; /* JSON */
    struct opt_str snapshot;      /* JSON of the forwarded message, see forwards.c */
    struct list snapshot_files;   /* struct attachment */
    snowflake ephemeral_for; /* account that sees an ephemeral message in addition to the author */
};

/* message_row_from_text returns a message row with this text and no other content.
 * message_precompute_json returns the value of the row's column messages.shown (p is NULL if the
 * message has no precomputed JSON). Both are for code that inserts message rows directly. */
struct message message_row_from_text(snowflake id, snowflake channel_id, snowflake author_id,
                                     struct str content);
struct str message_precompute_json(struct arena *arena, const struct message *m);

/* Inserts the message and emits MESSAGE_CREATE to everyone who can view the channel. Unarchives a
 * thread. Returns a private channel to the channel lists of its recipients (CHANNEL_CREATE). Checks
 * no permissions. */
enum err message_create(struct call *call, const struct new_message *draft, struct message *ret);

/* Creates a system message of this type. mentioned is the user whom the message mentions, or 0. */
enum err message_create_system_message(struct call *call, const struct channel *c,
                                       enum message_type type, snowflake author,
                                       snowflake mentioned, struct str content);

/* Adds some messages to the table message_authors (message_authors.c). The job that indexes
 * messages for search calls it in each step. Sets *ret_more to whether it must be called again. */
enum err messages_file_authors(struct tx *tx, bool *ret_more);

/* Reads a message with all fields that replies contain. Returns ERR_UNKNOWN_MESSAGE if it does not
 * exist or is ephemeral for another user. */
enum err message_find(struct call *call, snowflake channel_id, snowflake id, struct message *ret);
/* Removes the content of guild messages from a reply to a bot without the MESSAGE_CONTENT intent,
 * unless the bot wrote the message or is mentioned in it. Call it after writing the reply. */
enum err messages_hide_content_in_reply_to_bot(struct call *call);
/* Reads whether the bot that makes the call has the MESSAGE_CONTENT intent. */
enum err read_message_content_intent(struct call *call, bool *ret);
/* Reads a message, even if it is ephemeral for another user. */
enum err message_find_even_ephemeral(struct call *call, snowflake channel_id, snowflake id,
                                     struct message *ret);

/* Reads a message of any channel by its id, without reactions. Ephemeral messages are not found.
 * The function checks no permissions: the caller must have checked that the channel may be read. */
enum err message_find_unless_ephemeral(struct call *call, snowflake id, struct message *ret);

/* Call it for each inserted row of messages. On SQLite, a job files messages by author and indexes
 * them for search in the order of their ids. A message is late if the job has passed its id, as
 * with one of an import: the function files it and queues it for the search index. On PostgreSQL,
 * an index and a trigger do so. */
enum err message_add_to_indexes_if_late(struct tx *tx, const struct message *m);

/* Updates content, embeds, components, flags, mentions and edited_timestamp of a message and emits
 * MESSAGE_UPDATE. */
enum err message_update_row_and_emit(struct call *call, const struct channel *c, struct message *m);

/* Emits MESSAGE_CREATE (`created`) or MESSAGE_UPDATE of a message that was imported. */
enum err message_emit_imported(struct call *call, const struct channel *c, snowflake id,
                               bool created);
/* Unpins a message and emits the events. */
enum err message_unpin_and_emit(struct call *call, const struct channel *c, struct message *m);

/* Sets the message flag HAS_THREAD if `shown` is true, else clears it, and emits MESSAGE_UPDATE. */
enum err message_set_thread_flag(struct call *call, const struct channel *c, struct message *m,
                                 bool shown);

/* Deletes the message with its files and emits MESSAGE_DELETE. */
enum err message_delete(struct call *call, const struct channel *c, const struct message *m);
/* Deletes a temporary message with its files. Emits no event. */
enum err message_delete_without_event(struct call *call, const struct message *m);
/* Deletes several messages and emits MESSAGE_DELETE_BULK. Skips ids of other channels. */
enum err messages_delete_bulk(struct call *call, const struct channel *c, const struct list *ids);

/* Schedules the job that deletes all messages of an account in steps. */
enum err messages_schedule_purge_of_account(struct call *call, snowflake author_id);
struct message_purge_progress {
    bool is_running;
    int64_t handled;   /* number of messages that were deleted so far */
    snowflake next_id; /* all messages of the account with smaller ids are deleted */
};
enum err read_message_purge_progress(struct tx *tx, snowflake author_id,
                                     struct message_purge_progress *ret);

/* Removes an attachment from all messages of all channels and deletes the file. Deletes a message
 * that has no other content or that is a forward. Changes at most MAX_FILE_REMOVALS messages per
 * call; *ret_more is true if more remain. Returns ERR_NOT_FOUND if no message has the
 * attachment. */
enum { MAX_FILE_REMOVALS = 50 };
enum err attachment_remove_from_all_messages(struct call *call, snowflake attachment_id,
                                             int64_t *ret_messages, bool *ret_more);

struct automod_checked_text;
/* Matches a text with the guild's AutoMod rules. If a rule blocks the text, writes the HTTP reply
 * and sets about->refused; the handler must then return. Does nothing if no rule applies to the
 * caller. */
enum err message_check_text_with_automod(struct call *call, struct automod_checked_text *about);
/* Executes the remaining AutoMod actions after the text was stored as message `id`. */
enum err message_run_automod_actions(struct call *call, struct automod_checked_text *about,
                                     snowflake id);

extern const struct domain messages_domain;
extern const struct domain attachments_domain; /* routes /attachments, without API prefix */
extern const struct domain cloud_uploads_domain, refresh_urls_domain;
extern const struct domain upload_slots_domain; /* routes /uploads, without API prefix */
extern const struct world_file_fields messages_world;

/* SQL for deletion rules of channels. NEXT_DELETED_MESSAGES selects the ids of the next $2 messages
 * of channel $1; the condition selects rows of other tables that refer to these messages. */
#define NEXT_DELETED_MESSAGES "select id from messages where channel_id = $1 order by id limit $2"
#define OF_DELETED_MESSAGES   "message_id in (" NEXT_DELETED_MESSAGES ")"

#endif
