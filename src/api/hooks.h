/* hooks.h - hooks: a folder calls listeners of other folders inside its transaction.
 *
 * hooks.def lists the hooks. A domain (feature folder) sets its listeners in a struct
 * hook_listeners; hooks without a listener are NULL. */
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
    bool guild_required;   /* whether the account may be created only with an invite to a guild;
                            * a listener refuses all other registrations */
};
struct user_settings_change {
    snowflake user_id;
    const struct user_settings *before, *after;
};
struct user_block_change {
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
/* A page of the audit log, and the objects that its entries refer to; the lists contain JSON texts
 * (struct str). */
struct audit_log_objects {
    snowflake guild_id;
    const struct list *entries; /* struct audit_entry; see audit_log_list_target_ids_of_actions */
    struct list webhooks, integrations, threads, auto_moderation_rules, guild_scheduled_events;
};
struct permission_change {
    snowflake guild_id;
    const struct channel *channel; /* channel whose permissions changed; NULL if permissions in the
                                    * whole guild changed */
};
struct member_leaving_guild {
    snowflake guild_id;
    const struct user *user;
    /* Set to true by a listener of the hook member_leaving that has removed the member. */
    bool *done;
};
enum { BAN_DELETED_MESSAGES_AT_ONCE = 200 }; /* takes the writer a few milliseconds */
struct member_ban {
    snowflake guild_id, user_id;
    int64_t since_us; /* older messages are not deleted */
    int64_t *room; /* number of messages that this call may still delete, in total over all members
                    * that it bans */
};
struct voice_moderation_change {
    const struct member *member;
    struct opt_bool mute, deaf;
    struct opt_id to; /* voice channel to which the member is moved; null to disconnect the
                       * member */
    bool silenced; /* whether mute or deaf has changed; only for the hook voice_moderation_apply */
};
/* A text that auto moderation checks, and the result. */
struct automod_checked_text {
    const struct channel *channel;
    const struct member *member; /* author of the text */
    snowflake version; /* version of the guild's auto moderation rules that checked the text */
    struct str title, text;
    bool edited;          /* whether an existing message is edited */
    snowflake message_id; /* only for flagged_message_written */
    /* Set by the listener. If refused is true, the message is not inserted, and the response is
     * already set. found is the matched rule, which is passed to the hook
     * flagged_message_written. */
    bool refused;
    const void *found;
};
struct automod_checked_nickname {
    struct member *member; /* contains the new nickname */
    snowflake version;
    bool trusted; /* the rules do not apply, because a moderator makes the change or the nickname is
                   * of a bot */
    bool refused; /* set by the listener if the nickname is refused; the response is already set */
};
struct message_creation {
    const struct channel *channel;
    const struct message *message;
};
struct thread_message_insertion {
    const struct channel *thread;
    struct message *message;
};
struct group_recipient_change {
    const struct channel *channel;
    snowflake user_id, by;
    bool silent;
};
struct group_channel_change {
    const struct channel *before, *after;
};
struct guild_app_installation {
    snowflake guild_id, application_id;
};
struct account_app_installation {
    snowflake user_id, application_id;
};
/* A button that sells an SKU. application_id is the app that is the author of the message, or 0. */
struct premium_button {
    snowflake sku_id, application_id;
};
struct scheduled_event;
struct scheduled_event_stage_change {
    const struct scheduled_event *event;
    snowflake stage_id; /* the new stage instance; set by the listener */
};
struct voice_state_permissions {
    const struct voice_state *state;
    uint64_t permissions; /* current permissions of the user in the channel of the voice state */
};

struct hook_listeners {
#define HOOK(name, type) enum err (*name)(struct call * call, type about);
#include "api/hooks.def"
#undef HOOK
};

#define HOOK(name, type) enum err hook_##name(struct call *call, type about);
#include "api/hooks.def"
#undef HOOK

/* Events that listeners of the voice hooks can emit. Routes that call these hooks list them in
 * .fires. */
#define VOICE_EVENTS \
    EVENT_VOICE_STATE_UPDATE, EVENT_VOICE_SERVER_UPDATE, EVENT_STREAM_UPDATE, EVENT_STREAM_DELETE
#define CALL_LEAVE_EVENTS                                                                   \
    EVENT_VOICE_STATE_UPDATE, EVENT_CALL_DELETE, EVENT_MESSAGE_UPDATE, EVENT_STREAM_UPDATE, \
        EVENT_STREAM_DELETE
/* Events of a message in a Discord thread: it may unarchive the thread and add thread members. */
#define THREAD_MESSAGE_EVENTS                                             \
    EVENT_THREAD_UPDATE, EVENT_THREAD_CREATE, EVENT_THREAD_MEMBER_UPDATE, \
        EVENT_THREAD_MEMBERS_UPDATE
/* Events after a text has broken an auto moderation rule: an alert in a channel, and a timeout of
 * the author. */
#define AUTOMOD_EVENTS                                                                       \
    EVENT_AUTO_MODERATION_ACTION_EXECUTION, EVENT_MESSAGE_CREATE, EVENT_GUILD_MEMBER_UPDATE, \
        EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE
#define FRIEND_EVENTS                                                                              \
    EVENT_RELATIONSHIP_ADD, EVENT_NOTIFICATION_CENTER_ITEM_CREATE, EVENT_FRIEND_SUGGESTION_DELETE, \
        EVENT_PRESENCE_UPDATE

#endif
