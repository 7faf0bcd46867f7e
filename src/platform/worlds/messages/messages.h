/* messages.h - what was said, in world files: messages, their polls and reactions, direct channels
 * and groups. */
#ifndef PLATFORM_WORLDS_MESSAGES_MESSAGES_H
#define PLATFORM_WORLDS_MESSAGES_MESSAGES_H

#include "platform/reactions/reactions.h"
#include "platform/worlds/file/file.h"

struct world_message {
    struct opt_id id;
    struct opt_str author, webhook;      /* one of them */
    struct opt_str username, avatar_url; /* a webhook's, if it spoke by others than its own */
    struct str content;
    struct opt_int at, minutes_ago, edited_at;
    struct opt_str embeds;
    struct opt_bool pinned;
    struct opt_list reactions; /* struct world_reaction */
    struct opt_object poll;    /* struct world_poll */
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
struct world_poll_answer {
    struct str text;
    struct opt_str emoji;  /* as of a reaction */
    struct opt_list users; /* struct str */
};
struct world_poll {
    struct str question;
    struct list answers; /* struct world_poll_answer */
    struct opt_int hours, ends_at;
    struct opt_bool allow_multiselect;
};
struct world_reaction {
    struct str emoji;  /* of Unicode, name:id, or the name of one of the guild's */
    struct list users; /* struct str */
};
/* A direct channel (two people) or a group. */
struct world_private {
    struct opt_id id;
    struct opt_str name, owner;
    struct opt_list people, messages; /* struct str, struct world_message */
};

extern const struct type world_message_list, world_private_list, world_forward_type;

import_step import_direct, import_group;
/* Messages without an id are for channels where nothing was said yet: importing them
 * again would say them again. */
enum err import_messages(struct importing *im, const struct opt_list *messages, snowflake channel,
                         const struct place *up);

enum err export_messages(struct tx *tx, snowflake channel, struct opt_list *ret);
/* Direct channels and groups. */
enum err export_private(struct tx *tx, struct opt_list *ret_directs, struct opt_list *ret_groups);

/* reactions.c: of messages that were just made, or are to be shown, in the order of ids. */
enum err import_reactions(struct importing *im, const struct opt_list *reactions, snowflake channel,
                          snowflake message, const struct place *up);
enum err export_reactions(struct tx *tx, snowflake channel, struct opt_list *messages);
/* Characters of Unicode, name:id, or the name of an emoji of the channel's guild. */
enum err world_emoji_named(struct importing *im, struct str text, snowflake channel,
                           const struct place *at, struct reaction_name *ret);
/* polls.c: the same for polls; in: NULL where there is none. */
enum err import_poll(struct importing *im, const struct world_poll *in, snowflake channel,
                     snowflake message, const struct place *up);
enum err export_polls(struct tx *tx, snowflake channel, struct opt_list *messages);
/* forwards.c: the same for what was taken along. */
enum err import_forward(struct importing *im, const struct world_forward *in, snowflake message);
enum err export_forwards(struct tx *tx, snowflake channel, struct opt_list *messages);
/* speakers.c: who says it. author 0, and a problem is noted, when there is nobody. */
struct world_speaker {
    snowflake author, webhook; /* the same for a webhook */
    struct opt_str name, avatar;
};
enum err import_speaker(struct importing *im, const struct world_message *m, snowflake channel,
                        const struct place *up, struct world_speaker *ret);
enum err export_speakers(struct tx *tx, snowflake channel, struct opt_list *messages);
/* stickers.c */
enum err import_message_stickers(struct importing *im, const struct opt_list *stickers,
                                 snowflake channel, snowflake message, const struct place *up);
enum err export_message_stickers(struct tx *tx, snowflake channel, struct opt_list *messages);

/* Stickers are found by name, too. */
extern const struct naming sticker_naming;

#endif
