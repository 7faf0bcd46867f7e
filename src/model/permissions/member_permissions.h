/* member_permissions.h - computes the permissions of a member from roles and overwrites.
 *
 * All functions are pure, except that timeouts depend on the clock. */
#ifndef MODEL_MEMBER_PERMISSIONS_H
#define MODEL_MEMBER_PERMISSIONS_H

#include "model/guild.h"
#include "model/permissions/permissions.h"

struct permission_computation_input {
    snowflake guild_id, user_id;
    bool owner;
    bool timed_out; /* whether the member has a timeout that has not ended yet */
    bool quarantined;
    bool pending; /* whether the member has not passed membership screening */
    /* Error for the requirement of the verification level that the member does not meet; OK if all
     * are met. */
    enum err unverified;
    uint64_t base;          /* union of the permissions of @everyone and all roles */
    const snowflake *roles; /* role ids, without @everyone */
    size_t role_count;
};

/* The kinds of steps of a permission computation. The steps are recorded to explain the result. A
 * step that does not apply is not recorded. */
enum permission_step_kind {
    STEP_ROLE,          /* a role grants `allow`; @everyone first */
    STEP_OWNER,         /* the guild's owner has all permissions */
    STEP_ADMINISTRATOR, /* a member with ADMINISTRATOR has all permissions */
    /* Overwrites of the channel; they apply in the order of these three steps. */
    STEP_OVERWRITE_EVERYONE,
    STEP_OVERWRITE_ROLE, /* if overwrites of several roles contradict each other, allow wins */
    STEP_OVERWRITE_MEMBER,
    STEP_TIMED_OUT,
    STEP_PENDING,
    STEP_UNVERIFIED,
    STEP_QUARANTINED,
    STEP_THREAD,           /* SEND_MESSAGES_IN_THREADS replaces SEND_MESSAGES */
    STEP_NEEDS_VIEW,       /* without VIEW_CHANNEL, nearly all other permissions are removed */
    STEP_NEEDS_CONNECT,    /* CONNECT is missing */
    STEP_NEEDS_SEND,       /* SEND_MESSAGES is missing */
    STEP_PRIVATE_THREAD,   /* the user is not a member of the private Discord thread */
    STEP_NO_SECOND_FACTOR, /* the guild requires two-factor authentication for these permissions */
};
struct permission_step {
    enum permission_step_kind kind;
    snowflake id; /* id of the role or member */
    uint64_t allow, deny;
    uint64_t after; /* the permissions after this step */
};
enum { PERMISSION_TRACE_MAX = 512 }; /* maximum number of steps; a member has at most 250 roles */
struct permission_trace {
    size_t count;
    struct permission_step steps[PERMISSION_TRACE_MAX];
};
/* Records a step of a permission computation; no effect if the trace is NULL. */
void permission_trace_add(struct permission_trace *trace, const struct permission_step *step);

uint64_t permissions_in_guild(const struct permission_computation_input *input);
uint64_t permissions_in_guild_traced(const struct permission_computation_input *input,
                                     struct permission_trace *trace);

/* Returns whether the member is restricted by a timeout, membership screening, quarantine or the
 * verification level. */
bool member_is_restricted(const struct permission_computation_input *input);
/* Returns OK if the member may write. Otherwise returns ERR_MISSING_PERMISSIONS, or the error for
 * the verification requirement that is not met. */
enum err check_member_may_write(const struct permission_computation_input *input);

/* Returns the permissions in a channel with these overwrites. For a Discord thread, pass the type
 * and the overwrites of the parent channel, and thread = true: then SEND_MESSAGES_IN_THREADS takes
 * the place of SEND_MESSAGES, also for permissions that depend on it. */
uint64_t permissions_in_channel(const struct permission_computation_input *input,
                                int64_t channel_type, const struct overwrite *overwrites,
                                size_t count, bool thread);

/* Returns the permissions in a channel, as permissions_in_channel does. If trace is not NULL, also
 * records the steps. */
uint64_t permissions_in_channel_traced(const struct permission_computation_input *input,
                                       int64_t channel_type, const struct overwrite *overwrites,
                                       size_t count, bool thread, struct permission_trace *trace);

/* Converts the permissions in the parent channel to those in a Discord thread of this type. The
 * result is 0 if the thread is private and the user neither is a member of the thread nor has
 * MANAGE_THREADS. The creator of a thread is a member of it until he leaves or is removed. */
uint64_t limit_permissions_to_thread(int64_t type, bool member, uint64_t permissions);
/* Returns the permissions in a Discord thread. If the thread is private and the user is a member of
 * it, thread->member must be set. */
uint64_t permissions_in_thread(const struct permission_computation_input *input,
                               const struct channel *thread, const struct channel *parent);
uint64_t permissions_in_thread_traced(const struct permission_computation_input *input,
                                      const struct channel *thread, const struct channel *parent,
                                      struct permission_trace *trace);

/* --- access of a member in a guild ----------------------------------------------------- */

/* Collects the input of the permission functions for a member. `g` must have its roles. */
struct permission_computation_input permission_computation_input_of_member(const struct guild *g,
                                                                           const struct member *m);

struct member_access {
    snowflake guild_id, owner_id, user_id;
    snowflake automod_version; /* version of the auto moderation rules; 0 if there are none */
    struct member *member;     /* the member, without .user */
    struct permission_computation_input input;
    uint64_t permissions; /* permissions in the guild as a whole */
    /* Permissions that were removed, because they require two-factor authentication. */
    uint64_t withheld;
    /* Permissions in the channel or guild of the request path that were removed, because they
     * require two-factor authentication. */
    uint64_t withheld_here;
    int64_t top_position;
    snowflake top_role; /* id of the highest role; the guild's id if it is @everyone */
};

/* Returns the error for a member who has none of the permissions in `any`. This is
 * ERR_GUILD_MFA_REQUIRED if at least one of them was withheld for lack of two-factor
 * authentication, otherwise ERR_MISSING_PERMISSIONS. */
enum err get_error_for_missing_permissions(uint64_t withheld, uint64_t any);
/* Returns the error for a member who has none of the permissions in `any` in the guild as a whole.
 * See get_error_for_missing_permissions. */
enum err get_error_for_permissions_missing_in_guild(const struct member_access *s, uint64_t any);

/* Return whether the member outranks a role, or another member. The owner outranks all members and
 * roles; other members need a strictly higher top role. */
bool member_outranks_role(const struct member_access *s, const struct role *role);
bool member_outranks_member(const struct member_access *s, const struct member_access *other);

#endif
