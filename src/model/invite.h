/* invite.h - invites to guilds, to groups and to become friends. */
#ifndef MODEL_INVITE_H
#define MODEL_INVITE_H

#include "model/guild.h"
#include "model/scheduled_event.h"

enum invite_type { INVITE_GUILD = 0, INVITE_GROUP = 1, INVITE_FRIEND = 2 };
enum invite_flags { INVITE_GUEST = 1 << 0, INVITE_BYPASSES_FORM = 1 << 3 };
enum invite_target { INVITE_TO_STREAM = 1, INVITE_TO_ACTIVITY = 2 };

struct invite_application {
    snowflake id;
    struct str name, description;
    struct opt_str icon;
};

struct invite {
    struct str code;
    int64_t type;
    const struct channel *channel; /* NULL: friend invite */
    const struct guild *guild;
    const struct user *inviter, *target_user;
    const struct invite_application *target_application;
    struct opt_id guild_id, channel_id;
    struct opt_int target_type, expires_at;
    struct opt_int approximate_member_count, approximate_presence_count;
    struct opt_bool new_member; /* after accepting */
    const struct scheduled_event *guild_scheduled_event;

    struct opt_list roles; /* struct role: given on joining; absent: none */
    struct opt_int flags;  /* absent: none */

    /* Only for members who manage invites. */
    int64_t uses, max_uses, max_age, created_at;
    bool temporary;

    /* Not shown. */
    struct list role_ids;      /* snowflakes */
    struct list named_roles;   /* struct role: existing, assignable roles of role_ids */
    struct opt_int targets_at; /* when its list of allowed users was set; null: none */
    bool vanity;               /* vanity code of a guild: has no row */
    snowflake inviter_id, target_user_id, target_application_id;
};

extern const struct schema invite_schema;                              /* public */
extern const struct schema full_invite_schema;                         /* with uses, max_age etc. */
extern const struct schema invite_create_schema, invite_delete_schema; /* events */
extern const struct type type_invite, type_full_invite, type_full_invites;

#endif
