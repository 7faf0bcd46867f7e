/* member_permissions.h - computes the permissions of a member from roles and overwrites.
 *
 * All functions are pure, except that timeouts depend on the clock. */
#ifndef MODEL_MEMBER_PERMISSIONS_H
#define MODEL_MEMBER_PERMISSIONS_H

#include "model/guild.h"
#include "model/permissions/permissions.h"

struct permission_input {
    snowflake guild_id, user_id;
    bool owner;
    bool timed_out; /* whether a timeout has not ended yet */
    bool quarantined;
    bool pending;           /* whether the member has not passed membership screening */
    enum err unverified;    /* unmet requirement of the verification level, or OK */
    uint64_t base;          /* union of the permissions of @everyone and all roles */
    const snowflake *roles; /* role ids, without @everyone */
    size_t role_count;
};

uint64_t permissions_in_guild(const struct permission_input *input);

/* Returns true if a timeout, screening, quarantine or verification level restricts the member. */
bool member_is_restricted(const struct permission_input *input);
/* Returns OK if the member may write, otherwise ERR_MISSING_PERMISSIONS or the unmet verification
 * requirement. */
enum err check_member_may_write(const struct permission_input *input);

/* Returns the permissions in a channel with these overwrites. For a thread, pass the parent's type
 * and overwrites, and thread = true: SEND_MESSAGES_IN_THREADS then replaces SEND_MESSAGES, also for
 * permissions that depend on it. */
uint64_t permissions_in_channel(const struct permission_input *input, int64_t channel_type,
                                const struct overwrite *overwrites, size_t count, bool thread);

/* Reduces the permissions in the parent channel to those in a thread of this type. In a private
 * thread, only its members and users with MANAGE_THREADS have any permission. The thread's creator
 * is a member until leaving or removal. */
uint64_t limit_permissions_to_thread(int64_t type, bool member, uint64_t permissions);
/* Returns the permissions in a thread. If the thread is private and the user is a member of it,
 * thread->member must be set. */
uint64_t permissions_in_thread(const struct permission_input *input, const struct channel *thread,
                               const struct channel *parent);

/* --- access of a member in a guild ----------------------------------------------------- */

/* Collects the input for the functions above from a guild with its roles and a member. */
struct permission_input permission_input_of_member(const struct guild *g, const struct member *m);

struct member_access {
    snowflake guild_id, owner_id, user_id;
    snowflake automod_version; /* version of the auto moderation rules; 0 if there are none */
    struct member *member;     /* the member, without .user */
    struct permission_input input;
    uint64_t permissions;   /* permissions in the guild as a whole */
    uint64_t withheld;      /* removed from `permissions`, because they require a second factor */
    uint64_t withheld_here; /* same, for the channel or guild of the request path */
    int64_t top_position;
    snowflake top_role; /* id of the highest role; the guild's id if it is @everyone */
};

/* Returns the error for a member who has none of the permissions `any`: ERR_GUILD_MFA_REQUIRED if
 * one of them is only withheld for lack of a second factor, otherwise ERR_MISSING_PERMISSIONS. */
enum err missing_permission_error(uint64_t withheld, uint64_t any);
/* Like missing_permission_error, but for permissions in the guild as a whole. */
enum err member_missing_permission_error(const struct member_access *s, uint64_t any);

/* The owner outranks all members and roles; other members need a strictly higher top role. */
bool member_outranks_role(const struct member_access *s, const struct role *role);
bool member_outranks(const struct member_access *s, const struct member_access *other);

#endif
