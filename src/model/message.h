/* message.h - messages and attachments. */
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
    MESSAGE_CROSSPOSTED = 1 << 0,  /* the message was published to following channels */
    MESSAGE_IS_CROSSPOST = 1 << 1, /* the message is a copy of a published message */
    MESSAGE_SOURCE_DELETED = 1 << 3,
    MESSAGE_SUPPRESS_EMBEDS = 1 << 2,
    MESSAGE_HAS_THREAD = 1 << 5,
    MESSAGE_EPHEMERAL = 1 << 6, /* visible to one user only; not stored in the channel */
    MESSAGE_LOADING = 1 << 7,
    /* The message mentions a role with too many members to add them to the Discord thread. */
    MESSAGE_ROLES_NOT_ADDED = 1 << 8,
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
    struct str url, proxy_url; /* signed URLs, which are set when the message is encoded */
    struct opt_int width, height;
    struct opt_str title, waveform;
    struct opt_real duration_secs;
    /* Flags of the attachment (enum attachment_flags); absent if there are none. */
    struct opt_int flags;

    /* The members below are not part of the JSON object. */
    snowflake file_id; /* id of the stored file; 0 if the file has the same id as the attachment */
    bool snapshot;     /* whether the attachment belongs to the forwarded message (snapshot) */
};

enum reference_type { REFERENCE_REPLY = 0, REFERENCE_FORWARD = 1 };

struct message_reference {
    int64_t type;
    struct opt_id message_id, guild_id;
    snowflake channel_id;
};

/* A mentioned user. The guild member is sent only in events about guild messages. */
struct mentioned_user {
    /* Must be the first struct member: the schema of a user is also used for this struct. */
    struct user user;
    const struct member *member;
};

struct message {
    snowflake id, channel_id;
    const struct user *author;
    struct str content;
    int64_t timestamp, type, flags;
    struct opt_int edited_timestamp;
    bool tts, mention_everyone, pinned;
    struct list mentions;          /* struct mentioned_user */
    struct list mention_roles;     /* snowflakes */
    struct list attachments;       /* struct attachment */
    struct str embeds, components; /* JSON arrays as text */
    struct opt_str nonce; /* JSON text; set only in the response to the creation and in its event */
    struct opt_str interaction, interaction_metadata; /* JSON */
    struct opt_str call;                              /* JSON; only for MESSAGE_CALL */
    struct opt_id webhook_id, application_id;
    const struct message_reference *message_reference;
    struct opt_object referenced_message; /* struct message */
    struct opt_int position;              /* position of the message in the Discord thread */
    const struct channel *thread;         /* Discord thread that was started from this message */
    struct opt_str reactions; /* text in the format of reaction_text.h; only in responses */
    const struct poll *poll;
    struct opt_str sticker_items;     /* JSON */
    struct opt_bool hit;              /* search results: whether the message matched */
    struct opt_str message_snapshots; /* JSON text, which is set when the message is encoded */

    /* Struct fields that are set only in events. */
    struct opt_id guild_id;
    const struct member *member; /* the author's guild member, without .user */
    struct opt_int channel_type;

    /* The members below are not part of the JSON object. */
    snowflake author_id;
    int64_t pinned_at; /* microseconds; 0 if unknown */
    struct opt_str webhook_name, webhook_avatar;
    snowflake ephemeral_for;         /* user who can see the message; 0 means everyone */
    int64_t reacted;                 /* enum message_reaction_state */
    struct opt_str stored_reactions; /* column "reactions", without counts in reaction_lanes */
    bool polled;                     /* whether the message has a poll */
    struct opt_str snapshot;         /* content of the forwarded message, see forwards.c */
    struct list snapshot_files;      /* struct attachment: files of the forwarded message */
    struct str cached_json; /* cached JSON (messages/show/precomputed_json.c), or NULL pointer */
    struct str shared_json; /* new messages: JSON that the response and the event have in common */
};

enum message_reaction_state {
    MAY_HAVE_REACTIONS = 1, /* the message may have reactions */
    /* The message has reactions; some may be counted only in the table reaction_lanes. */
    HAS_REACTIONS_IN_COUNTER_SHARDS = 2,
    /* The message's row contains the ids of all users who have reacted. */
    HAS_REACTIONS_WITH_ALL_USERS = 3,
};

struct message_delete_event {
    snowflake id, channel_id;
    struct opt_id guild_id;
};
struct messages_delete_event {
    struct list ids; /* snowflakes */
    snowflake channel_id;
    struct opt_id guild_id;
};

extern const struct schema message_schema;              /* message object in responses */
extern const struct schema gateway_message_schema;      /* message object in events */
extern const struct schema message_delete_event_schema; /* payload of MESSAGE_DELETE */
/* Schemas of the last part of a message in responses, without reactions. The first schema has the
 * fields after "author". The second one is for webhook messages and also has "author". */
extern const struct schema message_after_author_schema, webhook_message_from_author_schema;
extern const struct schema messages_delete_event_schema; /* payload of MESSAGE_DELETE_BULK */
extern const struct schema attachment_schema;
extern const struct type type_message, type_messages, type_message_files, type_message_mentions;

/* Returns whether messages of this type are created by the server, not by a user. */
bool message_is_system(int64_t type);
/* Returns whether messages of this type are system messages of groups and Discord threads that
 * cannot be deleted. */
bool message_cannot_be_deleted(int64_t type);

#endif
