/* message.h - what was said, as the interface shows it. */
#ifndef MODEL_MESSAGE_H
#define MODEL_MESSAGE_H

#include "model/channel.h"
#include "model/member.h"
#include "model/poll.h"

enum message_type {
    MESSAGE_DEFAULT = 0,
    MESSAGE_RECIPIENT_ADD = 1,
    MESSAGE_RECIPIENT_REMOVE = 2,
    MESSAGE_CALL = 3,
    MESSAGE_CHANNEL_NAME_CHANGE = 4,
    MESSAGE_CHANNEL_ICON_CHANGE = 5,
    MESSAGE_CHANNEL_PINNED_MESSAGE = 6,
    MESSAGE_USER_JOIN = 7,
    MESSAGE_CHANNEL_FOLLOW_ADD = 12,
    MESSAGE_THREAD_CREATED = 18,
    MESSAGE_REPLY = 19,
    MESSAGE_CHAT_INPUT_COMMAND = 20,
    MESSAGE_THREAD_STARTER = 21,
    MESSAGE_CONTEXT_MENU_COMMAND = 23,
    MESSAGE_AUTO_MODERATION = 24,
    MESSAGE_STAGE_START = 27,
    MESSAGE_STAGE_END = 28,
    MESSAGE_STAGE_SPEAKER = 29,
    MESSAGE_STAGE_TOPIC = 31,
    MESSAGE_INCIDENT_ON = 36,
    MESSAGE_INCIDENT_OFF = 37,
    MESSAGE_POLL_RESULT = 46,
};

enum message_flags {
    MESSAGE_CROSSPOSTED = 1 << 0,  /* published to those who follow the channel */
    MESSAGE_IS_CROSSPOST = 1 << 1, /* a copy */
    MESSAGE_SOURCE_DELETED = 1 << 3,
    MESSAGE_SUPPRESS_EMBEDS = 1 << 2,
    MESSAGE_HAS_THREAD = 1 << 5,
    MESSAGE_EPHEMERAL = 1 << 6, /* only for its receiver; not part of the channel */
    MESSAGE_LOADING = 1 << 7,
    MESSAGE_ROLES_NOT_ADDED = 1 << 8, /* a mentioned role has more members than a thread takes */
    MESSAGE_SUPPRESS_NOTIFICATIONS = 1 << 12,
    MESSAGE_IS_VOICE_MESSAGE = 1 << 13,
    MESSAGE_HAS_SNAPSHOT = 1 << 14,
    MESSAGE_IS_COMPONENTS_V2 = 1 << 15,
};

enum attachment_flags { ATTACHMENT_IS_REMIX = 1 << 2, ATTACHMENT_IS_SPOILER = 1 << 3 };

struct attachment {
    snowflake id;
    struct str filename;
    struct opt_str description, content_type;
    int64_t size;
    struct str url, proxy_url; /* signed; made when the message is shown */
    struct opt_int width, height;
    struct opt_str title, waveform;
    struct opt_real duration_secs;
    struct opt_int flags; /* enum attachment_flags; absent: none */

    /* Not shown to anybody. */
    snowflake file_id; /* where its bytes are; 0: its own id */
    bool snapshot;     /* of what the message took along */
};

enum reference_type { REFERENCE_REPLY = 0, REFERENCE_FORWARD = 1 };

struct message_reference {
    int64_t type;
    struct opt_id message_id, guild_id;
    snowflake channel_id;
};

/* Somebody a message speaks to, and, in guilds and events, the member. */
struct mention {
    struct user user; /* first: the rows of a user hold for it too */
    const struct member *member;
};

struct message {
    snowflake id, channel_id;
    const struct user *author;
    struct str content;
    int64_t timestamp, type, flags;
    struct opt_int edited_timestamp;
    bool tts, mention_everyone, pinned;
    struct list mentions;                             /* struct mention */
    struct list mention_roles;                        /* snowflakes */
    struct list attachments;                          /* struct attachment */
    struct str embeds, components;                    /* JSON arrays */
    struct opt_str nonce;                             /* JSON; only where it was sent */
    struct opt_str interaction, interaction_metadata; /* JSON */
    struct opt_str call;                              /* JSON, of MESSAGE_CALL */
    struct opt_id webhook_id, application_id;
    const struct message_reference *message_reference;
    struct opt_object referenced_message; /* struct message */
    struct opt_int position;              /* in threads */
    const struct channel *thread;         /* that was started from it */
    struct opt_str reactions;             /* see reaction_text.h; only in answers */
    const struct poll *poll;
    struct opt_str sticker_items;     /* JSON */
    struct opt_bool hit;              /* in answers to searches: it was found */
    struct opt_str message_snapshots; /* JSON; made when the message is shown */

    /* Only in events. */
    struct opt_id guild_id;
    const struct member *member; /* the author's, without .user */
    struct opt_int channel_type;

    /* Not shown to anybody. */
    snowflake author_id;
    int64_t pinned_at; /* 0: not known */
    struct opt_str webhook_name, webhook_avatar;
    snowflake ephemeral_for;       /* 0: for everybody */
    int64_t reacted;               /* enum message_reacted */
    struct opt_str kept_reactions; /* as the row has them: without what lanes counted */
    bool polled;                   /* it has a poll */
    struct opt_str snapshot;       /* what it took along, see forwards.c */
    struct list snapshot_files;    /* struct attachment */
    struct str shown;              /* on pages: see messages/show/shown.c; .p NULL: it has none */
    struct str told;               /* new: what answers and events have in common, without an end */
};

enum message_reacted {
    REACTED = 1,          /* it may have reactions */
    REACTED_IN_LANES = 2, /* it has some, and lanes have counted others of them */
    REACTED_BY_FEW = 3,   /* the row names everybody who has reacted */
};

struct message_gone {
    snowflake id, channel_id;
    struct opt_id guild_id;
};
struct messages_gone {
    struct list ids; /* snowflakes */
    snowflake channel_id;
    struct opt_id guild_id;
};

extern const struct schema message_schema;         /* what calls answer */
extern const struct schema gateway_message_schema; /* what events carry */
extern const struct schema message_gone_schema;    /* MESSAGE_DELETE */
/* What follows the author in answers, without reactions; of a webhook, with the author. */
extern const struct schema shown_message_schema, shown_webhook_message_schema;
extern const struct schema messages_gone_schema; /* MESSAGE_DELETE_BULK */
extern const struct schema attachment_schema;
extern const struct type type_message, type_messages, type_message_files, type_message_mentions;

/* Made by the server, not written by anybody. */
bool message_is_system(int64_t type);
/* What happened in a group or a thread stays written down: nobody deletes these. */
bool message_stays(int64_t type);

#endif
