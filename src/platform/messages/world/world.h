/* world.h - entry of a message in world files (docs/world-files.md), for import and export. */
#ifndef PLATFORM_MESSAGES_WORLD_H
#define PLATFORM_MESSAGES_WORLD_H

#include "model/message.h"
#include "platform/worlds/import_export.h"

struct world_message {
    struct opt_id id;
    struct opt_str author, webhook; /* exactly one of author and webhook is present */
    struct opt_str username,
        avatar_url; /* name and avatar of the message, if they differ from those of the webhook */
    struct str content;
    struct opt_int at, minutes_ago, edited_at;
    struct opt_str embeds;
    struct opt_bool pinned;
    struct opt_object forward; /* struct world_forward */
    struct opt_list stickers;  /* struct str */

    /* Fields of messages that were copied from another chat server; details.c imports them. */
    struct opt_int type, flags, pinned_at;
    struct opt_bool tts, mention_everyone;
    struct opt_str components, sticker_items, interaction_metadata; /* JSON */
    struct opt_id application_id;
    struct opt_list mentions;      /* struct str */
    struct opt_list mention_roles; /* snowflakes */
    struct opt_list attachments;   /* struct world_attachment */
    struct opt_object reference;   /* struct world_reference */
};
/* An attachment whose file is in the archive of a copied guild. */
struct world_attachment {
    snowflake id;
    struct str filename;
    struct opt_str description, content_type, title, waveform;
    struct opt_int width, height, flags;
    struct opt_real duration_secs;
};
/* The message to which a message replies. */
struct world_reference {
    struct opt_int type;
    struct opt_id message_id, channel_id, guild_id;
};
/* The snapshot of a forwarded message, and the ids of the source message. */
struct world_forward {
    struct opt_id message_id, guild_id;
    snowflake channel_id;
    struct str content;
    int64_t timestamp;
    struct opt_int type, edited_timestamp, flags;
    struct opt_str mentions, embeds, components, sticker_items; /* JSON */
    struct opt_list mention_roles;                              /* snowflakes */
};

extern const struct type world_forward_type, world_attachment_list, world_reference_type;

/* Check and import fields that only messages copied from another chat server have (details.c). */
void check_copied_message_fields(struct form *form, const struct json_path *here,
                                 const struct world_message *m);
enum err import_copied_message_fields(struct world_file_importer *im, const struct world_message *m,
                                      const struct json_path *up, struct message *ret);
/* Applies an edit in the world file to a message that is already stored. */
enum err import_message_edit(struct world_file_importer *im, const struct world_message *m,
                             const struct json_path *up, struct message *ret);

/* forwards.c: snapshots of forwarded messages. in is NULL if the message is not a forward. */
void import_forwarded_snapshot(struct world_file_importer *im, const struct world_forward *in,
                               struct message *ret);
enum err export_forwarded_snapshots(struct world_file_exporter *ex, struct world_file_entries to);
/* authors.c: the author of an imported message. .author is 0 if a form error was reported. */
struct imported_message_author {
    snowflake author,
        webhook; /* author, webhook: both the webhook's id if a webhook is the author */
    struct opt_str name, avatar;
};
enum err import_message_author(struct world_file_importer *im, const struct world_message *m,
                               snowflake channel, const struct json_path *up,
                               struct imported_message_author *ret);
enum err export_message_authors(struct world_file_exporter *ex, struct world_file_entries to);
enum err import_message_stickers(struct world_file_importer *im, const struct opt_list *stickers,
                                 const struct json_path *up, struct message *ret);
enum err export_message_stickers(struct world_file_exporter *ex, struct world_file_entries to);

#endif
