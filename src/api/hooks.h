/* hooks.h - hooks: a folder calls listeners of other folders inside its transaction.
 *
 * hooks.def lists the hooks. A domain sets its listeners in struct hooks; the others are NULL. */
#ifndef API_HOOKS_H
#define API_HOOKS_H

#include "api/call.h"
#include "model/application.h"
#include "model/guild.h"
#include "model/message.h"
#include "model/reaction.h"
#include "model/voice_state.h"

struct user_settings;

struct account_creation {
    snowflake user_id;
    struct opt_str invite; /* the invite code used to register */
    bool guild_required;   /* refuse the registration unless the invite leads to a guild */
};
struct settings_change {
    snowflake user_id;
    const struct user_settings *before, *after;
};
struct block_change {
    snowflake user_id, target_id;
};
struct created_guild {
    const struct guild *guild;
    const struct channel *channels;
    size_t channel_count;
};
struct guild_change {
    const struct guild *before, *after;
};
/* A page of the audit log, and the objects that its entries refer to, as JSON (struct str). */
struct audit_log_objects {
    snowflake guild_id;
    const struct list *entries; /* struct audit_entry; audit_log_list_targets selects from it */
    struct list webhooks, integrations, threads, auto_moderation_rules, guild_scheduled_events;
};
struct permission_change {
    snowflake guild_id;
    const struct channel *channel; /* NULL: in the whole guild */
};
struct member_leave {
    snowflake guild_id;
    const struct user *user;
    bool *done; /* set by a listener of member_leaving that has removed the member itself */
};
enum { BAN_DELETED_MESSAGES_AT_ONCE = 200 }; /* messages; takes the writer a few milliseconds */
struct member_ban {
    snowflake guild_id, user_id;
    int64_t since_us; /* older messages stay */
    int64_t *room;    /* messages that may still be deleted in this call, for all bans together */
};
struct voice_moderation {
    const struct member *member;
    struct opt_bool mute, deaf;
    struct opt_id to; /* channel to move to; null: disconnect */
    bool silenced;    /* voice_moderation_apply only: mute or deaf has changed */
};
/* A text that auto moderation checks, and the result. */
struct checked_text {
    const struct channel *channel;
    const struct member *member; /* the author */
    snowflake version;           /* version of the guild's rules */
    struct str title, text;
    bool edited;          /* an edit of an existing message */
    snowflake message_id; /* in flagged_message_written only */
    /* Set by the listener. refused: the message is not written, and the call already has a
     * response. found: a rule matched; flagged_message_written is called with it. */
    bool refused;
    const void *found;
};
struct checked_nickname {
    struct member *member; /* with the new nickname */
    snowflake version;
    bool trusted; /* by a moderator, or for a bot: rules do not apply */
    bool refused; /* set by the listener: the call already has a response */
};
struct message_creation {
    const struct channel *channel;
    const struct message *message;
};
struct message_insertion {
    const struct channel *thread;
    struct message *message;
};
struct recipient_change {
    const struct channel *channel;
    snowflake user_id, by;
    bool silent;
};
struct group_change {
    const struct channel *before, *after;
};
struct guild_app {
    snowflake guild_id, application_id;
};
struct account_app {
    snowflake user_id, application_id;
};
/* A button that sells a SKU; application_id: of its author, 0: none. */
struct sku_button {
    snowflake sku_id, application_id;
};
struct scheduled_event;
struct scheduled_event_stage {
    const struct scheduled_event *event;
    snowflake stage_id; /* set by the listener: the new stage instance */
};
struct voice_state_permissions {
    const struct voice_state *state;
    uint64_t permissions; /* current permissions in the state's channel */
};

struct hooks {
#define HOOK(name, type) enum err (*name)(struct call * call, type about);
#include "api/hooks.def"
#undef HOOK
};

#define HOOK(name, type) enum err hook_##name(struct call *call, type about);
#include "api/hooks.def"
#undef HOOK

/* Events that listeners can emit, for .fires of the routes that call hooks. */
#define VOICE_EVENTS \
    EVENT_VOICE_STATE_UPDATE, EVENT_VOICE_SERVER_UPDATE, EVENT_STREAM_UPDATE, EVENT_STREAM_DELETE
#define CALL_LEAVE_EVENTS                                                                   \
    EVENT_VOICE_STATE_UPDATE, EVENT_CALL_DELETE, EVENT_MESSAGE_UPDATE, EVENT_STREAM_UPDATE, \
        EVENT_STREAM_DELETE
/* Events of a message in a thread, which unarchives the thread and may add thread members. */
#define THREAD_MESSAGE_EVENTS                                             \
    EVENT_THREAD_UPDATE, EVENT_THREAD_CREATE, EVENT_THREAD_MEMBER_UPDATE, \
        EVENT_THREAD_MEMBERS_UPDATE
/* Events of a text that breaks an auto moderation rule: an alert in a channel, and a timeout of the
 * author. */
#define AUTOMOD_EVENTS                                                                       \
    EVENT_AUTO_MODERATION_ACTION_EXECUTION, EVENT_MESSAGE_CREATE, EVENT_GUILD_MEMBER_UPDATE, \
        EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE
#define FRIEND_EVENTS                                                                              \
    EVENT_RELATIONSHIP_ADD, EVENT_NOTIFICATION_CENTER_ITEM_CREATE, EVENT_FRIEND_SUGGESTION_DELETE, \
        EVENT_PRESENCE_UPDATE

#endif
