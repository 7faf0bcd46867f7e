/* hooks.h - how one folder's change becomes another's, in the same transaction.
 *
 * hooks.def lists what there is to hear of. struct domain names a struct hooks with the
 * listeners; what a domain does not care about is NULL there. */
#ifndef API_HOOKS_H
#define API_HOOKS_H

#include "api/call.h"
#include "model/application.h"
#include "model/guild.h"
#include "model/message.h"
#include "model/reaction.h"
#include "model/voice_state.h"

struct user_settings;

struct account_made {
    snowflake user_id;
    struct opt_str invite; /* the code that it came with */
    bool guild_required;   /* refuse the registration unless the invite leads to a guild */
};
struct settings_change {
    snowflake user_id;
    const struct user_settings *before, *after;
};
struct block_change {
    snowflake user_id, target_id;
};
struct guild_made {
    const struct guild *guild;
    const struct channel *channels;
    size_t channel_count;
};
struct guild_change {
    const struct guild *before, *after;
};
/* A page of the audit log, and what its entries are about, as JSON (struct str). */
struct audit_shown {
    snowflake guild_id;
    const struct list *entries; /* struct audit_entry, see audit_targets */
    struct list webhooks, integrations, threads, auto_moderation_rules, guild_scheduled_events;
};
struct rights_change {
    snowflake guild_id;
    const struct channel *channel; /* NULL: anywhere in the guild */
};
struct member_leave {
    snowflake guild_id;
    const struct user *user;
    bool *done; /* leaving: a listener took the member out along with other things */
};
enum { PURGED_AT_ONCE = 200 }; /* messages: a few milliseconds of the writer */
struct member_ban {
    snowflake guild_id, user_id;
    int64_t since_us; /* messages of before stay */
    int64_t *room;    /* messages that may go at once; several bans of a call share it */
};
struct voice_order {
    const struct member *member;
    struct opt_bool mute, deaf;
    struct opt_id to; /* another channel, or null: none */
    bool silenced;    /* ordered: mute or deaf is another than before */
};
/* A text, and what becomes of it. */
struct text_judged {
    const struct channel *channel;
    const struct member *member; /* who writes it */
    snowflake version;           /* of the rules */
    struct str title, text;
    bool edited;          /* it takes the place of another */
    snowflake message_id; /* once it is written */
    /* The listener's: it is not to be written, and the call has its answer; or something was
     * found in it, of which text_written is told. */
    bool refused;
    const void *found;
};
struct name_judged {
    struct member *member; /* with the new one */
    snowflake version;
    bool trusted; /* whoever gives it may call anybody anything */
    bool refused; /* the listener's: the call has its answer */
};
struct message_made {
    const struct channel *channel;
    const struct message *message;
};
struct message_coming {
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
/* A button for it, by an application (0: none). */
struct sku_offer {
    snowflake sku_id, application_id;
};
struct scheduled_event;
struct event_stage {
    const struct scheduled_event *event;
    snowflake stage_id; /* the listener's: the stage that it opened */
};
struct voice_rights {
    const struct voice_state *state;
    uint64_t rights; /* in its channel, now */
};

struct hooks {
#define HOOK(name, type) enum err (*name)(struct call * call, type about);
#include "api/hooks.def"
#undef HOOK
};

#define HOOK(name, type) enum err hook_##name(struct call *call, type about);
#include "api/hooks.def"
#undef HOOK

/* What listeners can announce, for .fires of the rows that call hooks. */
#define VOICE_EVENTS \
    EVENT_VOICE_STATE_UPDATE, EVENT_VOICE_SERVER_UPDATE, EVENT_STREAM_UPDATE, EVENT_STREAM_DELETE
#define HANG_UP_EVENTS                                                                      \
    EVENT_VOICE_STATE_UPDATE, EVENT_CALL_DELETE, EVENT_MESSAGE_UPDATE, EVENT_STREAM_UPDATE, \
        EVENT_STREAM_DELETE
/* A message in a thread wakes it up, and people come to it. */
#define SPEAKING_EVENTS                                                   \
    EVENT_THREAD_UPDATE, EVENT_THREAD_CREATE, EVENT_THREAD_MEMBER_UPDATE, \
        EVENT_THREAD_MEMBERS_UPDATE
/* A text breaks a rule: a channel is told, who wrote it is timed out. */
#define JUDGED_EVENTS                                                                        \
    EVENT_AUTO_MODERATION_ACTION_EXECUTION, EVENT_MESSAGE_CREATE, EVENT_GUILD_MEMBER_UPDATE, \
        EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE
#define FRIEND_EVENTS                                                                              \
    EVENT_RELATIONSHIP_ADD, EVENT_NOTIFICATION_CENTER_ITEM_CREATE, EVENT_FRIEND_SUGGESTION_DELETE, \
        EVENT_PRESENCE_UPDATE

#endif
