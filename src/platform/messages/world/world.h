/* world.h - what was said, in world files: what the files about messages share. */
#ifndef PLATFORM_MESSAGES_WORLD_H
#define PLATFORM_MESSAGES_WORLD_H

#include "model/message.h"
#include "platform/worlds/file.h"

struct world_message {
    struct opt_id id;
    struct opt_str author, webhook;      /* one of them */
    struct opt_str username, avatar_url; /* a webhook's, if it spoke by others than its own */
    struct str content;
    struct opt_int at, minutes_ago, edited_at;
    struct opt_str embeds;
    struct opt_bool pinned;
    struct opt_object forward; /* struct world_forward */
    struct opt_list stickers;  /* struct str */
};
/* What it took along of another message, and where that stands. */
struct world_forward {
    struct opt_id message_id, guild_id;
    snowflake channel_id;
    struct str content;
    int64_t timestamp;
    struct opt_int type, edited_timestamp, flags;
    struct opt_str mentions, embeds, components, sticker_items; /* JSON */
    struct opt_list mention_roles;                              /* snowflakes */
};

extern const struct type world_forward_type;

/* world_forwards.c: what a message took along; in: NULL where there is nothing. */
void import_forward(struct importing *im, const struct world_forward *in, struct message *ret);
enum err export_forwards(struct exporting *ex, struct world_entries to);
/* world_speakers.c: who says it. author 0, and a problem is noted, when there is nobody. */
struct world_speaker {
    snowflake author, webhook; /* the same for a webhook */
    struct opt_str name, avatar;
};
enum err import_speaker(struct importing *im, const struct world_message *m, snowflake channel,
                        const struct place *up, struct world_speaker *ret);
enum err export_speakers(struct exporting *ex, struct world_entries to);
/* world_stickers.c */
enum err import_message_stickers(struct importing *im, const struct opt_list *stickers,
                                 const struct place *up, struct message *ret);
enum err export_message_stickers(struct exporting *ex, struct world_entries to);

#endif
