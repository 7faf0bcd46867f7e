/* leftovers_rows.c - which rows hang on a guild, a channel or a role, and the files that they name.
 */
#include "platform/guilds/leftovers_rows.h"

#include <stddef.h>

#define PICTURES(area, owner, column, rows)                                                       \
    &"update files set gone = 1 where name in (select '" area "/' || " owner " || '/' || " column \
     " from (" rows ") x where " column " is not null)"

/* --- of a channel --------------------------------------------------------------------- */

#define ATTACHMENTS  "select id from attachments where channel_id = $1 order by id limit $2"
#define WEBHOOKS(of) "select id, avatar from webhooks where " of " = $1 order by id limit $2"
#define WEBHOOKS_OF(of)                                                               \
    {                                                                                 \
        PICTURES("avatars", "id", "avatar", WEBHOOKS(of)),                            \
            &"delete from webhooks where id in (select id from (" WEBHOOKS(of) ") x)" \
    }
#define INVITES_OF(of)                                                                 \
    {                                                                                  \
        NULL, &"delete from invites where code in (select code from invites where " of \
               " = $1 limit $2)"                                                       \
    }
/* The version of the index of commands there. */
#define COMMAND_INDEX                                                                 \
    {                                                                                 \
        NULL, &"delete from command_indexes where id = $1 and cast($2 as bigint) > 0" \
    }

#define MESSAGES "select id from messages where channel_id = $1 order by id limit $2"
/* Of the messages that go next: a step takes no more of those than it took of these. */
#define REACTIONS "select id from reactions where message_id in (" MESSAGES ")"

#define OF_MESSAGES(table, key)                                                       \
    {                                                                                 \
        NULL, &"delete from " table " where (" key ") in (select " key " from " table \
               " where message_id in (" MESSAGES ") limit $2)"                        \
    }

const struct leftovers leftovers_before_messages[] = {
    WEBHOOKS_OF("channel_id"),
    INVITES_OF("channel_id"),
    { &"update files set gone = 1 where id in (select a.file_id from attachments a where a.id in "
       "(" ATTACHMENTS ") and not exists (select 1 from attachments b where b.file_id = a.file_id "
       "and b.id not in (" ATTACHMENTS ")))",
      &"delete from attachments where id in (" ATTACHMENTS ")" },
    { 0 },
};

/* What hangs on the messages that go next, and nothing else does. */
const struct leftovers leftovers_of_messages[] = {
    { NULL, &"delete from reaction_users where (reaction_id, burst, user_id) in (select "
             "reaction_id, burst, user_id from reaction_users where reaction_id in (" REACTIONS
             ") limit $2)" },
    OF_MESSAGES("reaction_lanes", "message_id, lane"),
    { NULL, &"delete from reactions where id in (" REACTIONS " limit $2)" },
    { NULL, &"delete from jobs where kind = 'poll-end' and key in (select message_id from polls "
             "where message_id in (" MESSAGES ") limit $2)" },
    OF_MESSAGES("poll_votes", "message_id, answer_id, user_id"),
    OF_MESSAGES("poll_voters", "message_id, user_id"),
    OF_MESSAGES("poll_counts", "message_id, answer_id, lane"),
    OF_MESSAGES("polls", "message_id"),
    { NULL, &"delete from crossposts where (source_id, message_id) in (select source_id, "
             "message_id from crossposts where source_id in (" MESSAGES ") limit $2)" },
    { NULL, &"delete from crossposts where (source_id, message_id) in (select source_id, "
             "message_id from crossposts where message_id in (" MESSAGES ") limit $2)" },
    { 0 },
};
const struct leftovers leftovers_messages = { NULL,
                                              &"delete from messages where id in (" MESSAGES ")" };

const struct leftovers leftovers_after_messages[] = {
    { NULL, &"delete from read_states where (user_id, kind, entity_id) in (select user_id, kind, "
             "entity_id from read_states where entity_id = $1 limit $2)" },
    { NULL, &"delete from mention_notes where (channel_id, message_id, kind, target_id) in (select "
             "channel_id, message_id, kind, target_id from mention_notes where channel_id = $1 "
             "limit $2)" },
    { NULL, &"delete from slow_modes where channel_id = $1 and user_id in "
             "(select user_id from slow_modes where channel_id = $1 limit $2)" },
    { NULL, &"delete from thread_members where thread_id = $1 and user_id in "
             "(select user_id from thread_members where thread_id = $1 limit $2)" },
    { NULL, &"delete from recipients where channel_id = $1 and user_id in "
             "(select user_id from recipients where channel_id = $1 limit $2)" },
    { NULL, &"delete from overwrites where channel_id = $1 and target_id in "
             "(select target_id from overwrites where channel_id = $1 limit $2)" },
    { NULL, &"delete from command_permissions where (guild_id, target_id, entity_id, type) in "
             "(select guild_id, target_id, entity_id, type from command_permissions "
             "where entity_id = $1 limit $2)" },
    COMMAND_INDEX,
    { NULL, &"delete from jobs where kind = 'archive_thread' and key = $1 and "
             "cast($2 as bigint) > 0" },
    { PICTURES("channel-icons", "id", "icon",
               "select id, icon from channels where id = $1 limit $2"),
      &"delete from channels where id = $1 and cast($2 as bigint) > 0" },
    { 0 },
};

/* --- of a role ------------------------------------------------------------------------ */

const struct leftovers leftovers_of_role[] = {
    { NULL, &"delete from member_roles where (guild_id, user_id, role_id) in (select guild_id, "
             "user_id, role_id from member_roles where role_id = $1 limit $2)" },
    { NULL, &"delete from roles where id = $1 and cast($2 as bigint) > 0" },
    { 0 },
};

/* --- of a guild ----------------------------------------------------------------------- */

#define MEMBERS \
    "select user_id, avatar, banner from members where guild_id = $1 order by user_id limit $2"
#define ROLES        "select id, icon from roles where guild_id = $1 order by id limit $2"
#define EMOJIS       "select id, image from emojis where guild_id = $1 order by id limit $2"
#define STICKERS     "select id, image from stickers where guild_id = $1 order by id limit $2"
#define INTEGRATIONS "select id from integrations where guild_id = $1"
#define GUILD(area, column)                                                                       \
    {                                                                                             \
        PICTURES(area, "id", column, "select id, " column " from guilds where id = $1 limit $2"), \
            NULL                                                                                  \
    }

const struct leftovers leftovers_roles_of_members[] = {
    { NULL, &"delete from member_roles where (guild_id, user_id, role_id) in (select guild_id, "
             "user_id, role_id from member_roles where guild_id = $1 limit $2)" },
    { 0 },
};

const struct leftovers leftovers_of_members[] = {
    { PICTURES("member-avatars", "user_id", "avatar", MEMBERS), NULL },
    { PICTURES("member-banners", "user_id", "banner", MEMBERS),
      &"delete from members where guild_id = $1 and user_id in (select user_id from (" MEMBERS
       ") x)" },
    { 0 },
};

const struct leftovers leftovers_of_guild[] = {
    WEBHOOKS_OF("guild_id"),
    INVITES_OF("guild_id"),
    { NULL, &"delete from read_states where (user_id, kind, entity_id) in (select user_id, kind, "
             "entity_id from read_states where entity_id = $1 limit $2)" },
    { NULL, &"delete from user_guild_settings where (user_id, guild_id) in (select user_id, "
             "guild_id from user_guild_settings where guild_id = $1 and guild_id <> 0 limit $2)" },
    { NULL, &"delete from bans where guild_id = $1 and user_id in "
             "(select user_id from bans where guild_id = $1 limit $2)" },
    { NULL, &"delete from member_sanctions where guild_id = $1 and user_id in "
             "(select user_id from member_sanctions where guild_id = $1 limit $2)" },
    { NULL, &"delete from audit_log where id in "
             "(select id from audit_log where guild_id = $1 order by id limit $2)" },
    { NULL, &"delete from scheduled_event_users where (event_id, exception_id, user_id) in (select "
             "event_id, exception_id, user_id from scheduled_event_users where event_id in (select "
             "id from scheduled_events where guild_id = $1) limit $2)" },
    { NULL, &"delete from jobs where kind = 'scheduled-event' and key in (select key from jobs "
             "where kind = 'scheduled-event' and key in (select id from scheduled_events where "
             "guild_id = $1) limit $2)" },
    { PICTURES("guild-events", "id", "image",
               "select id, image from scheduled_events where guild_id = $1 order by id limit $2"),
      &"delete from scheduled_events where id in "
       "(select id from scheduled_events where guild_id = $1 order by id limit $2)" },
    { PICTURES("sounds", "id", "file",
               "select id, file from sounds where guild_id = $1 order by id limit $2"),
      &"delete from sounds where id in "
       "(select id from sounds where guild_id = $1 order by id limit $2)" },
    { NULL, &"delete from guild_welcome_screens where guild_id = $1 and cast($2 as bigint) > 0" },
    { NULL, &"delete from guild_onboarding where guild_id = $1 and cast($2 as bigint) > 0" },
    { NULL, &"delete from onboarding_answers where (guild_id, user_id) in (select guild_id, "
             "user_id from onboarding_answers where guild_id = $1 limit $2)" },
    { NULL, &"delete from guild_templates where guild_id = $1 and cast($2 as bigint) > 0" },
    { NULL, &"delete from join_requests where id in (select id from join_requests where "
             "guild_id = $1 limit $2)" },
    { NULL, &"delete from entitlements where id in (select id from entitlements where "
             "guild_id = $1 limit $2)" },
    { NULL, &"delete from automod_rules where id in "
             "(select id from automod_rules where guild_id = $1 limit $2)" },
    { NULL, &"delete from automod_echoes where (guild_id, user_id, hash) in (select guild_id, "
             "user_id, hash from automod_echoes where guild_id = $1 limit $2)" },
    { NULL, &"delete from commands where id in "
             "(select id from commands where guild_id = $1 and guild_id <> 0 limit $2)" },
    { NULL, &"delete from command_lists where (application_id, guild_id) in (select "
             "application_id, guild_id from command_lists where guild_id = $1 and guild_id <> 0 "
             "limit $2)" },
    { NULL, &"delete from command_creates where (application_id, guild_id, id) in (select "
             "application_id, guild_id, id from command_creates where guild_id = $1 and "
             "guild_id <> 0 limit $2)" },
    { NULL, &"delete from command_permissions where (guild_id, target_id, entity_id, type) in "
             "(select guild_id, target_id, entity_id, type from command_permissions "
             "where guild_id = $1 limit $2)" },
    { NULL, &"delete from integration_subscribers where (integration_id, subscriber_id) in "
             "(select integration_id, subscriber_id from integration_subscribers where "
             "integration_id in (" INTEGRATIONS ") limit $2)" },
    { NULL, &"delete from integration_members where (integration_id, user_id) in "
             "(select integration_id, user_id from integration_members where "
             "integration_id in (" INTEGRATIONS ") limit $2)" },
    { PICTURES("emojis", "id", "image", EMOJIS),
      &"delete from emojis where id in (select id from (" EMOJIS ") x)" },
    { PICTURES("stickers", "id", "image", STICKERS),
      &"delete from stickers where id in (select id from (" STICKERS ") x)" },
    { PICTURES("role-icons", "id", "icon", ROLES),
      &"delete from roles where id in (select id from (" ROLES ") x)" },
    GUILD("icons", "icon"),
    GUILD("banners", "banner"),
    GUILD("splashes", "splash"),
    GUILD("discovery-splashes", "discovery_splash"),
    GUILD("home-headers", "home_header"),
    COMMAND_INDEX,
    { NULL, &"delete from guilds where id = $1 and cast($2 as bigint) > 0" },
    { 0 },
};
