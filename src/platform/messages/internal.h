/* internal.h - declarations that the files of messages/ share. */
#ifndef PLATFORM_MESSAGES_INTERNAL_H
#define PLATFORM_MESSAGES_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/messages/body.h"
#include "platform/messages/uploads.h"

/* --- rows.c: the SQL ------------------------------------------------------------------ */

/* As stored: author_id but no author; mentions without users. */
enum err message_row(struct tx *tx, snowflake channel_id, snowflake id, struct message *ret,
                     bool *ret_found);
/* Finds a message of any channel, unless it is ephemeral. */
enum err message_public_row(struct tx *tx, snowflake id, struct message *ret, bool *ret_found);
/* A page of a channel's messages; all ids are exclusive, 0: no bound. */
struct message_page {
    snowflake before, after, around;
    int64_t limit;
};
/* Newest first. Messages with a precomputed text have only .shown, the others all columns. */
enum err message_page(struct tx *tx, snowflake channel_id, const struct message_page *page,
                      struct list *ret);
/* Only where queries are network round trips: prefetches a page, even of a channel that may not
 * exist, and reads its authors (struct user) with one query; otherwise *ret is empty. */
void message_page_prefetch(struct tx *tx, snowflake channel_id, const struct message_page *page);
enum err message_page_authors(struct tx *tx, snowflake channel_id, const struct message_page *page,
                              struct list *ret);
/* The newest message of a channel with all columns; an empty list if there is none. */
enum err message_last(struct tx *tx, snowflake channel_id, struct list *ret);
enum err message_pins(struct tx *tx, snowflake channel_id, struct list *ret);
/* The id of a message with this nonce that the author wrote after `since`, or 0. */
enum err message_by_nonce(struct tx *tx, snowflake channel_id, snowflake author, struct str nonce,
                          snowflake since, snowflake *ret);
enum err message_insert(struct tx *tx, const struct message *m);
enum err message_update(struct tx *tx, const struct message *m);
enum err message_remove(struct tx *tx, snowflake id);
enum err message_count_pins(struct tx *tx, snowflake channel_id, int64_t *ret);

enum err attachments_of(struct tx *tx, snowflake message_id, struct list *ret);
enum err attachment_insert(struct tx *tx, const struct message *m, const struct attachment *a);
enum err attachment_remove(struct tx *tx, snowflake id);
/* Deletes the file after the commit, unless another attachment shares it. */
enum err attachment_release(struct call *call, const struct attachment *a);
/* ERR_NOT_FOUND. */
enum err attachment_find(struct tx *tx, snowflake channel_id, snowflake id, struct attachment *ret);

/* --- show.c: from rows to API objects --------------------------------------------------- */

/* Adds author (if missing), mentions, attachments and the referenced message. */
enum err message_complete(struct call *call, struct message *m);
enum err messages_complete(struct call *call, struct list *messages);
/* Same, with accounts that were already read (struct user). */
enum err messages_complete_by(struct call *call, struct list *messages, const struct list *users);
/* A webhook message has its own name and avatar. */
const struct user *message_webhook_author(struct arena *arena, const struct message *m);
/* True if the message type includes the referenced message. */
bool message_shows_reference(const struct message *m);
/* For messages of one channel: adds reactions and other data of higher folders, for replies. */
enum err messages_show(struct call *call, struct list *messages);
/* Adds the fields that only events contain. */
enum err message_for_gateway(struct call *call, const struct channel *c, struct message *m);
bool attachment_signed(struct call *call, snowflake channel_id, snowflake id, struct str filename);

/* --- shown.c: precomputed text of a message --------------------------------------------- */

/* True if the precomputed text (.shown) includes the author. */
bool message_text_has_author(const struct message *m);
/* Event text of a new message with a precomputed text; *ret_told is the part that replies share. */
struct str message_event_text(struct arena *arena, const struct message *m, struct str *ret_told);
/* Writes complete messages as a JSON array. Reactions are those that the caller sees
 * (messages_show) if marks is NULL; otherwise "me" is always false and its offsets are recorded. */
struct own_marks;
void messages_write(struct json *j, const struct list *messages, struct own_marks *marks);

/* --- own_marks.c: offsets of reader-specific values in a cached page -------------------- */

struct own_marks *own_marks_new(struct arena *arena, snowflake channel_id);
/* Writes the reactions stored in a message's row with "me":false and records the offsets. */
void own_marks_write(struct own_marks *marks, struct json *j, const struct message *m);
/* Ends the recording. False: the buffer was too small, and the marks are unusable. */
bool own_marks_keep(struct own_marks *marks, struct arena *arena);
/* Offsets of the page at which false must become true for the caller: uint32_t, ascending. */
enum err own_marks_find(struct call *call, const struct own_marks *marks, struct list *ret);
/* Appends a copy of the page with these offsets changed to true. */
void own_marks_copy(struct buf *out, struct str page, const struct list *places);

/* --- kept_pages.c: cache of encoded pages ----------------------------------------------- */

struct kept_page;
/* NULL if no valid page is cached. The transaction must already have read from the store. */
const struct kept_page *kept_page_find(struct tx *tx, snowflake channel_id,
                                       const struct message_page *asked);
enum err kept_page_reply(struct call *call, const struct kept_page *p);
/* Replies with complete messages and caches the page. False: not cacheable, nothing was written. */
bool kept_page_make(struct call *call, const struct message_page *asked,
                    const struct list *messages, enum err *ret);

/* --- files.c: uploaded files ------------------------------------------------------------ */

size_t upload_count(const struct call *call);
/* Checks the file sizes; each attachment that the body names (struct attachment_in, at this path)
 * must be uploaded or present (struct attachment). */
enum err uploads_check(struct call *call, const struct place *here, const struct list *words,
                       const struct list *present);
/* Call in a compute stage: writes the bytes to disk as an attachment of that name. */
enum err upload_keep_bytes(struct call *call, snowflake id, struct str given, struct str bytes,
                           struct attachment *ret);
/* Copies what the body says about an attachment; in: NULL if nothing. */
void attachment_describe(struct attachment *a, const struct attachment_in *in);
/* cloud_uploads.c: the uploaded files of the request (struct attachment) plus the earlier uploads
 * that the body names, which are consumed. ERR_UPLOAD_NOT_FOUND. */
enum err uploads_take_named(struct call *call, snowflake owner_id, struct list *ret);
/* Call in a compute stage: writes the files to disk. *ret: struct attachment. */
enum err uploads_keep(struct call *call, const struct list *words, struct list *ret);

/* --- media.c -------------------------------------------------------------------------- */

struct media {
    const char *type;
    uint32_t width, height; /* of pictures; 0: unknown */
};

/* Letters, digits, dots, dashes and underscores; no leading dot; at most 100 characters. */
struct str safe_filename(struct arena *a, struct str name);
struct media media_of(struct str filename, struct str bytes);
/* True if browsers may display this content type inline. */
bool media_is_safe(struct str type);

/* --- component_emojis.c --------------------------------------------------------------- */

/* The account and permissions for emoji checks of a sender. */
struct emoji_user sender_emojis(const struct sender *from);

/* --- schema.c ------------------------------------------------------------------------- */

/* Rules that depend on whether the message has the flag IS_COMPONENTS_V2. */
void body_check_kind(struct form *form, const struct place *here, const struct message_body *in,
                     bool only_components);

/* --- voice_messages.c ----------------------------------------------------------------- */

/* For a complete draft: a message flagged as a voice message must be valid and allowed. */
enum err voice_message_check(const struct sender *from, const struct message_draft *d);

/* --- forwards.c ----------------------------------------------------------------------- */

/* Refuses the message with a form error at one field; write.c. */
enum err message_refuse(struct call *call, const char *field, const char *code,
                        const char *message);
/* ERR_FORWARD_UNREAD if the caller is a bot that may not see the content of this message. */
enum err message_check_readable(struct call *call, bool in_guild, const struct message *m);
/* Adds a snapshot of a message that the caller may read to the draft. */
enum err message_forward(struct call *call, const struct sender *to, const struct reference_in *in,
                         struct message_draft *draft);
/* Sets message_snapshots; all other fields must be complete. */
void snapshot_show(struct call *call, struct message *m);

/* --- create.c -------------------------------------------------------------------------- */

/* Adds a new poll to an existing message. */
enum err message_keep_poll(struct call *call, const struct message *m);

/* --- mentions.c ----------------------------------------------------------------------- */

struct mentions {
    struct list users, roles; /* snowflakes */
    bool everyone;
};
/* Resolves the mentions of a text, as far as the sender's permissions and `allowed` (may be NULL)
 * permit. replied: author of the message it replies to, or 0. */
enum err mentions_find(struct call *call, const struct channel *c, uint64_t rights,
                       struct str content, const struct allowed_mentions *allowed,
                       snowflake replied, struct mentions *ret);

/* --- write.c, send.c ------------------------------------------------------------------ */

enum err may_send(struct call *call);
enum err prepare_create_message(struct call *call);
enum err prefetch_create_message(struct call *call);
enum err create_message(struct call *call);
enum err trigger_typing(struct call *call);

/* --- pins.c --------------------------------------------------------------------------- */

enum err may_pin(struct call *call);
enum err list_pins(struct call *call);
extern const struct schema pins_query_schema;
extern const struct type pins_page_reply;
enum err list_pins_page(struct call *call);
enum err pin_message(struct call *call);
enum err unpin_message(struct call *call);

/* --- deletion.c ----------------------------------------------------------------------- */

extern const struct deletion_rule message_deletions[];

/* --- purge.c -------------------------------------------------------------------------- */

/* Deletes the messages of a user in a guild since a time and sends the events. Deletes at most
 * *ban->room at once; a job continues with the rest. */
enum err purge_messages(struct call *call, const struct member_ban *ban);
extern const struct job_kind message_purge, account_purge;

/* --- system.c: system messages ---------------------------------------------------------- */

enum err message_of_newcomer(struct call *call, const struct member *m);
enum err message_of_group_change(struct call *call, const struct group_change *g);
enum err message_of_arrival(struct call *call, const struct recipient_change *c);
enum err message_of_departure(struct call *call, const struct recipient_change *c);

#endif
