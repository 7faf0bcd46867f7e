/* internal.h - declarations that the files of messages/ share. */
#ifndef PLATFORM_MESSAGES_INTERNAL_H
#define PLATFORM_MESSAGES_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/messages/message_body.h"
#include "platform/messages/uploads.h"

/* --- rows.c: the SQL ------------------------------------------------------------------ */

/* Reads the row of a message: .author_id but no .author, and the ids of mentions without their
 * users. */
enum err message_row_read(struct tx *tx, snowflake channel_id, snowflake id, struct message *ret,
                          bool *ret_found);
/* Reads a message of any channel, unless the message is ephemeral. */
enum err message_read_row_unless_ephemeral(struct tx *tx, snowflake id, struct message *ret,
                                           bool *ret_found);
/* A page of a channel's messages. `before` and `after` are exclusive message ids; 0 means no
 * bound. */
struct message_page_query {
    snowflake before, after, around;
    int64_t limit;
};
/* Reads a page of messages, newest first. Of a message with precomputed JSON, only ids, JSON and
 * reactions are read; of any other message, all columns. */
enum err message_page_read(struct tx *tx, snowflake channel_id,
                           const struct message_page_query *page, struct list *ret);
/* Reads the authors (struct user) of a page of messages with one query, to save network round trips
 * (PostgreSQL). On SQLite, where a query needs no round trip, *ret is empty. */
enum err message_page_read_authors(struct tx *tx, snowflake channel_id,
                                   const struct message_page_query *page, struct list *ret);
/* Reads the newest message of a channel with all columns. *ret is empty if the channel has no
 * message. */
enum err message_read_newest(struct tx *tx, snowflake channel_id, struct list *ret);
/* ret_authors: as message_page_read_authors. */
enum err messages_read_pinned(struct tx *tx, snowflake channel_id, struct list *ret,
                              struct list *ret_authors);
/* Returns the id of a message with this nonce that the author wrote after `since`, or 0. */
enum err message_find_by_nonce(struct tx *tx, snowflake channel_id, snowflake author,
                               struct str nonce, snowflake since, snowflake *ret);
enum err message_insert(struct tx *tx, const struct message *m);
enum err message_update(struct tx *tx, const struct message *m);
enum err message_row_delete(struct tx *tx, snowflake id);
enum err message_count_pins(struct tx *tx, snowflake channel_id, int64_t *ret);

enum err attachments_read(struct tx *tx, snowflake message_id, struct list *ret);
enum err attachment_insert(struct tx *tx, const struct message *m, const struct attachment *a);
enum err attachment_row_delete(struct tx *tx, snowflake id);
/* Deletes the attachment's file after the commit, unless another attachment shares the file. */
enum err attachment_delete_file_if_unshared(struct call *call, const struct attachment *a);
/* Finds an attachment. Returns ERR_NOT_FOUND if the channel has no such attachment. */
enum err attachment_find(struct tx *tx, snowflake channel_id, snowflake id, struct attachment *ret);

/* --- show.c: from rows to API objects --------------------------------------------------- */

/* Reads a message's author (unless already read), mentioned users, attachments and referenced
 * message. */
enum err message_read_referenced_objects(struct call *call, struct message *m);
enum err messages_read_referenced_objects(struct call *call, struct list *messages);
/* Reads the objects to which messages refer, except the accounts in `users` (struct user), which
 * the caller has already read. */
enum err messages_read_referenced_objects_except_users(struct call *call, struct list *messages,
                                                       const struct list *users);
/* Returns the author object of a webhook message, with the name and avatar of the message. */
const struct user *message_get_webhook_author(struct arena *arena, const struct message *m);
/* Returns true if the API object of a message includes the referenced message. */
bool message_json_includes_referenced_message(const struct message *m);
/* Adds reactions and other fields that hooks provide to messages of one channel, for replies. */
enum err messages_add_caller_specific_fields(struct call *call, struct list *messages);
/* Adds the fields of a message that only gateway events contain. */
enum err message_add_event_fields(struct call *call, const struct channel *c, struct message *m);
bool attachment_signature_is_valid(struct call *call, snowflake channel_id, snowflake id,
                                   struct str filename);

/* --- precomputed_json.c: the message as JSON, stored in its row ------------------------- */

/* Returns true if the JSON in the message's row includes the author. */
bool message_json_has_author(const struct message *m);
/* Encodes the MESSAGE_CREATE event of a message from the JSON in its row. *ret_received is the
 * beginning of the result, which the HTTP reply contains, too. */
struct str message_encode_create_event(struct arena *arena, const struct message *m,
                                       struct str *ret_received);
/* Writes complete messages as a JSON array. If marks is NULL, writes the caller's own "me" values
 * of reactions. Otherwise writes "me":false, so that the page can be cached for all readers, and
 * records the offsets of these values in marks. */
struct own_reaction_offsets;
void messages_write_json(struct json_writer *j, const struct list *messages,
                         struct own_reaction_offsets *marks);

/* --- own_reaction_offsets.c: offsets of reader-specific values in a cached page --------- */

struct own_reaction_offsets *own_reaction_offsets_new(struct arena *arena, snowflake channel_id);
/* Writes the reactions that a message's row contains, each with "me":false, and records the offsets
 * of these values. */
void own_reaction_offsets_write_json(struct own_reaction_offsets *marks, struct json_writer *j,
                                     const struct message *m);
/* Ends the recording of offsets. Returns false if the buffer was too small for all offsets. */
bool own_reaction_offsets_finish(struct own_reaction_offsets *marks, struct arena *arena);
/* Lists the offsets (uint32_t, ascending) of the "me" values in a cached page of messages that must
 * become true, because the caller has added the reaction. */
enum err own_reaction_offsets_read_for_caller(struct call *call,
                                              const struct own_reaction_offsets *marks,
                                              struct list *ret);
/* Appends a copy of a cached page of messages in which the "me" values at these offsets are
 * true. */
void copy_page_with_own_reactions(struct buf *out, struct str page, const struct list *offset_list);

/* --- page_cache.c: cache of encoded pages ----------------------------------------------- */

struct cached_message_page;
/* Returns the cached page of messages, or NULL if there is none or if rows have changed since it
 * was cached. Call it only after the transaction has read from the store. */
const struct cached_message_page *find_cached_message_page(struct tx *tx, snowflake channel_id,
                                                           const struct message_page_query *asked);
enum err reply_with_cached_message_page(struct call *call, const struct cached_message_page *p);
/* Replies with a page of complete messages and caches the page. Returns false, without a reply, if
 * the page cannot be cached. */
bool reply_with_message_page_and_cache_it(struct call *call, const struct message_page_query *asked,
                                          const struct list *messages, enum err *ret);

/* --- files.c: uploaded files ------------------------------------------------------------ */

size_t count_uploaded_files(const struct call *call);
/* Checks the sizes of the uploaded files. Each attachment in the body (struct attachment_in_body,
 * at path `here`) must be uploaded or in the list `present` (struct attachment). */
enum err uploaded_files_validate(struct call *call, const struct json_path *here,
                                 const struct list *drafts, const struct list *present);
/* Stores bytes as an attachment named `given`. Call it in a compute stage (thread pool). */
enum err attachment_store_bytes(struct call *call, snowflake id, struct str given, struct str bytes,
                                struct attachment *ret);
/* Copies the fields of `in` to the attachment. in is NULL if the body has no fields for this
 * attachment. */
void attachment_copy_body_fields(struct attachment *a, const struct attachment_in_body *in);
/* Lists the uploaded files of the request and the earlier uploads that the body names (struct
 * attachment), and deletes these uploads' rows in cloud_uploads. Returns ERR_UPLOAD_NOT_FOUND if
 * an earlier upload does not exist. */
enum err consume_uploads_named_in_body(struct call *call, snowflake owner_id, struct list *ret);
/* Stores the uploaded files (struct attachment). Call it in a compute stage (thread pool). */
enum err uploaded_files_store(struct call *call, const struct list *drafts, struct list *ret);

/* --- media.c -------------------------------------------------------------------------- */

struct attachment_media_info {
    const char *type;
    uint32_t width, height; /* size of a picture in pixels; 0 if unknown */
};

/* Replaces unsafe characters of a file name, removes leading dots, and limits the name to 100
 * bytes. */
struct str sanitize_filename(struct arena *a, struct str name);
struct attachment_media_info media_detect_type(struct str filename, struct str bytes);
/* Returns whether browsers may display this content type inline. */
bool media_type_is_safe_inline(struct str type);

/* --- component_emojis.c --------------------------------------------------------------- */

/* Returns the account and permissions that decide which emoji the sender of a message may use. */
struct emoji_use_context emoji_use_context_of_sender(const struct message_sender *from);

/* --- schema.c ------------------------------------------------------------------------- */

/* Checks rules that depend on whether the message has the flag IS_COMPONENTS_V2. */
void message_body_check_components_v2(struct form *form, const struct json_path *here,
                                      const struct message_body *in, bool only_components);

/* --- voice_messages.c ----------------------------------------------------------------- */

/* If a new message has the voice message flag, checks its content and the sender's permission. */
enum err check_content_of_voice_message(const struct message_sender *from,
                                        const struct new_message *d);

/* --- forwards.c ----------------------------------------------------------------------- */

/* Refuses the message with a form error at this field. */
enum err message_refuse_with_field_error(struct call *call, const char *field, const char *code,
                                         const char *message);
/* Returns ERR_FORWARD_UNREAD if the caller is a bot that may not read the content of the message to
 * forward. */
enum err check_caller_may_read_forwarded_content(struct call *call, bool in_guild,
                                                 const struct message *m);
/* Adds a snapshot of the message to forward, which the caller must be able to read, to a new
 * message. */
enum err new_message_add_forwarded_snapshot(struct call *call, const struct message_sender *to,
                                            const struct message_reference_in_body *in,
                                            struct new_message *draft);
/* Sets the field message_snapshots of a forward. The caller must have set all other fields
 * before. */
void message_set_snapshots(struct call *call, struct message *m);

/* --- create.c -------------------------------------------------------------------------- */

enum err message_insert_poll(struct call *call, const struct message *m);

/* --- mentions.c ----------------------------------------------------------------------- */

struct resolved_mentions {
    struct list users, roles; /* snowflakes */
    bool everyone;
};
/* Lists the users and roles that a text mentions and that the sender's permissions and `allowed`
 * (may be NULL) permit. replied is the author of the message to which this message replies, or
 * 0. */
enum err resolve_mentions_of_message(struct call *call, const struct channel *c, uint64_t perms,
                                     struct str content, const struct allowed_mentions *allowed,
                                     snowflake replied, struct resolved_mentions *ret);

/* --- write.c, send.c ------------------------------------------------------------------ */

enum err check_send_permission(struct call *call);
enum err validate_message_create_request(struct call *call);
enum err create_message(struct call *call);
enum err trigger_typing(struct call *call);

/* --- pins.c --------------------------------------------------------------------------- */

enum err check_pin_permission(struct call *call);
enum err list_pins(struct call *call);
extern const struct schema pins_query_schema;
extern const struct type pins_page_reply;
enum err list_pins_page(struct call *call);
enum err pin_message(struct call *call);
enum err unpin_message(struct call *call);

/* --- deletion.c ----------------------------------------------------------------------- */

extern const struct deletion_rule message_deletions[];

/* --- purge.c -------------------------------------------------------------------------- */

/* Deletes the messages that a banned user sent in a guild since a time, and emits the events.
 * Deletes at most *ban->room messages; a job deletes the rest. */
enum err purge_messages_of_user(struct call *call, const struct member_ban *ban);
extern const struct job_kind message_purge_job, account_purge_job;

/* --- system_messages.c ---------------------------------------------------------------- */

enum err send_member_join_message(struct call *call, const struct member *m);
enum err send_group_change_message(struct call *call, const struct group_channel_change *g);
enum err send_recipient_add_message(struct call *call, const struct group_recipient_change *c);
enum err send_recipient_remove_message(struct call *call, const struct group_recipient_change *c);

#endif
