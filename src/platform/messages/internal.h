/* internal.h - what the files of messages/ share. */
#ifndef PLATFORM_MESSAGES_INTERNAL_H
#define PLATFORM_MESSAGES_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/messages/body.h"
#include "platform/messages/uploads.h"

/* --- rows.c: the SQL ------------------------------------------------------------------ */

/* As they lie in the store: author_id, not author; mentions without users. */
enum err message_row(struct tx *tx, snowflake channel_id, snowflake id, struct message *ret,
                     bool *ret_found);
/* Of any channel, if everybody there may see it. */
enum err message_public_row(struct tx *tx, snowflake id, struct message *ret, bool *ret_found);
/* Which part of a channel; all ids are exclusive, 0: no bound. */
struct message_page {
    snowflake before, after, around;
    int64_t limit;
};
/* Newest first: shown, or whole. */
enum err message_page(struct tx *tx, snowflake channel_id, const struct message_page *page,
                      struct list *ret);
/* Where that saves ways to the database: says that the page will be asked for, by a channel that is
 * perhaps not there; and who wrote it (struct user), else nobody. */
void message_page_prefetch(struct tx *tx, snowflake channel_id, const struct message_page *page);
enum err message_page_authors(struct tx *tx, snowflake channel_id, const struct message_page *page,
                              struct list *ret);
/* The newest one of a channel, whole; none where there is none. */
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
/* Its bytes go when the transaction has committed, unless a copy needs them. */
enum err attachment_release(struct call *call, const struct attachment *a);
/* ERR_NOT_FOUND. */
enum err attachment_find(struct tx *tx, snowflake channel_id, snowflake id, struct attachment *ret);

/* --- show.c: from rows to what the interface shows ------------------------------------ */

/* Author, where it is not known yet, mentions, attachments, the message it refers to. */
enum err message_complete(struct call *call, struct message *m);
enum err messages_complete(struct call *call, struct list *messages);
/* The same for who has read some of the accounts that they speak of (struct user). */
enum err messages_complete_by(struct call *call, struct list *messages, const struct list *users);
/* A webhook has a name and a picture of its own, for each message. */
const struct user *message_webhook_author(struct arena *arena, const struct message *m);
/* Does it show what it refers to? */
bool message_shows_reference(const struct message *m);
/* Of one channel: adds what others keep about them, for answers. */
enum err messages_show(struct call *call, struct list *messages);
/* Adds what only events carry. */
enum err message_for_gateway(struct call *call, const struct channel *c, struct message *m);
bool attachment_signed(struct call *call, snowflake channel_id, snowflake id, struct str filename);

/* --- shown.c: the text in their rows -------------------------------------------------- */

/* Whether its text (.shown) says who wrote it. */
bool message_text_has_author(const struct message *m);
/* What an event says of a new message that has such a text, and which part of that answers say. */
struct str message_event_text(struct arena *arena, const struct message *m, struct str *ret_told);
/* Writes an array of messages that are complete, as answers show them: with their reactions as the
 * caller sees them (messages_show), or as nobody's own, with marks where they are whose. */
struct own_marks;
void messages_write(struct json *j, const struct list *messages, struct own_marks *marks);

/* --- own_marks.c: where a page says what is its reader's own -------------------------- */

struct own_marks *own_marks_new(struct arena *arena, snowflake channel_id);
/* Writes the reactions that a message's row has, as nobody's own, and notes where they stand. */
void own_marks_write(struct own_marks *marks, struct json *j, const struct message *m);
/* All are noted. False: some are not, and the marks are of no use. */
bool own_marks_keep(struct own_marks *marks, struct arena *arena);
/* Where the page says false and should say true for the caller: uint32_t, in its order. */
enum err own_marks_find(struct call *call, const struct own_marks *marks, struct list *ret);
/* Adds a copy of the page in which it does. */
void own_marks_copy(struct buf *out, struct str page, const struct list *places);

/* --- kept_pages.c: pages that others read just before --------------------------------- */

struct kept_page;
/* NULL: none that still holds. In a transaction in which the store was asked before. */
const struct kept_page *kept_page_find(struct tx *tx, snowflake channel_id,
                                       const struct message_page *asked);
enum err kept_page_reply(struct call *call, const struct kept_page *p);
/* Answers with messages that are complete and keeps them for others. False: they cannot be kept,
 * and nothing is answered. */
bool kept_page_make(struct call *call, const struct message_page *asked,
                    const struct list *messages, enum err *ret);

/* --- files.c: what comes with a message ----------------------------------------------- */

size_t upload_count(const struct call *call);
/* Are they small enough, and is each that the body speaks of (struct attachment_in), at
 * this place, uploaded or present (struct attachment)? */
enum err uploads_check(struct call *call, const struct place *here, const struct list *words,
                       const struct list *present);
/* In a compute stage: writes bytes to the disk as an attachment of that name. */
enum err upload_keep_bytes(struct call *call, snowflake id, struct str given, struct str bytes,
                           struct attachment *ret);
/* What a body says about it; in: NULL where it says nothing. */
void attachment_describe(struct attachment *a, const struct attachment_in *in);
/* cloud_uploads.c: what came along (struct attachment), and what the body names of files that
 * were sent before: these are used up. ERR_UPLOAD_NOT_FOUND. */
enum err uploads_take_named(struct call *call, snowflake owner_id, struct list *ret);
/* In a compute stage: writes them to the disk. *ret: struct attachment. */
enum err uploads_keep(struct call *call, const struct list *words, struct list *ret);

/* --- media.c -------------------------------------------------------------------------- */

struct media {
    const char *type;
    uint32_t width, height; /* of pictures; 0: not known */
};

/* Letters, digits, dots, dashes and underscores; no dot in front; at most 100. */
struct str safe_filename(struct arena *a, struct str name);
struct media media_of(struct str filename, struct str bytes);
/* May a browser show it by itself? */
bool media_is_safe(struct str type);

/* --- component_emojis.c --------------------------------------------------------------- */

/* Whose emoji a sender may use. */
struct emoji_user sender_emojis(const struct sender *from);

/* --- schema.c ------------------------------------------------------------------------- */

/* What depends on whether the message is made of components only. */
void body_check_kind(struct form *form, const struct place *here, const struct message_body *in,
                     bool only_components);

/* --- voice_messages.c ----------------------------------------------------------------- */

/* Of a draft that is complete: one that says it is a voice message is one, and may be sent. */
enum err voice_message_check(const struct sender *from, const struct message_draft *d);

/* --- forwards.c ----------------------------------------------------------------------- */

/* Refuses because of one field of the message; write.c. */
enum err message_refuse(struct call *call, const char *field, const char *code,
                        const char *message);
/* ERR_FORWARD_UNREAD if the caller is a bot that does not get the content of this message. */
enum err message_check_readable(struct call *call, bool in_guild, const struct message *m);
/* Takes a message along that the caller may read. */
enum err message_forward(struct call *call, const struct sender *to, const struct reference_in *in,
                         struct message_draft *draft);
/* Makes message_snapshots of a message that is complete otherwise. */
void snapshot_show(struct call *call, struct message *m);

/* --- create.c -------------------------------------------------------------------------- */

/* A new poll of a message that is there. */
enum err message_keep_poll(struct call *call, const struct message *m);

/* --- mentions.c ----------------------------------------------------------------------- */

struct mentions {
    struct list users, roles; /* snowflakes */
    bool everyone;
};
/* Whom the text calls, as far as the sender may (rights) and wants to (allowed: may be
 * NULL). replied: the author of the message it answers, or 0. */
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

/* Deletes what somebody wrote in a guild since a moment, and announces it. As many as there is
 * room for at once; a job goes on with the rest. */
enum err purge_messages(struct call *call, const struct member_ban *ban);
extern const struct job_kind message_purge, account_purge;

/* --- system.c: what the server says --------------------------------------------------- */

enum err message_of_newcomer(struct call *call, const struct member *m);
enum err message_of_group_change(struct call *call, const struct group_change *g);
enum err message_of_arrival(struct call *call, const struct recipient_change *c);
enum err message_of_departure(struct call *call, const struct recipient_change *c);

#endif
