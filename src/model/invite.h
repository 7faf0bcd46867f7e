/* invite.h - invites to guilds, to groups and to become friends. */
#ifndef MODEL_INVITE_H
#define MODEL_INVITE_H

#include "model/guild.h"
#include "model/scheduled_event.h"

enum invite_type { INVITE_GUILD = 0, INVITE_GROUP = 1, INVITE_FRIEND = 2 };
enum invite_flags { INVITE_GUEST = 1 << 0, INVITE_BYPASSES_VERIFICATION_FORM = 1 << 3 };
enum invite_target_type { INVITE_TO_STREAM = 1, INVITE_TO_ACTIVITY = 2 };

struct invite_target_application {
    snowflake id;
    struct str name, description;
    struct opt_str icon;
};

struct invite {
    struct str code;
    int64_t type;
    const struct channel *channel; /* NULL for a friend invite */
    const struct guild *guild;
    const struct user *inviter, *target_user;
    const struct invite_target_application *target_application;
    struct opt_id guild_id, channel_id;
    struct opt_int target_type, expires_at;
    struct opt_int approximate_member_count, approximate_presence_count;
    /* Whether the user is a new member; set only in the response to accepting the invite. */
    struct opt_bool new_member;
    struct opt_id accepted_channel_id;
    const struct scheduled_event *guild_scheduled_event;

    struct opt_list roles; /* items: struct role, the roles that a new member gets; or absent */
    struct opt_int flags;  /* absent if there are no flags */

    /* Struct fields that only members who manage invites see. */
    int64_t uses, max_uses, max_age, created_at;
    bool temporary;

    /* The members below are not part of the JSON object. */
    struct list role_ids; /* snowflakes */
    /* items: struct role, those roles in role_ids that exist and can be assigned. */
    struct list named_roles;
    /* When the list of users who may accept the invite was set; null if there is no list. */
    struct opt_int targets_at;
    bool vanity; /* whether the invite is the vanity code of a guild, which has no row in the table
                  * of invites */
    snowflake inviter_id, target_user_id, target_application_id;
};

extern const struct schema invite_create_schema, invite_delete_schema; /* event payloads */
extern const struct type type_invite, type_invite_with_metadata, type_invites_with_metadata;

#endif
