/* rights.h - what a member may do, worked out from plain data.
 *
 * Pure functions: the same roles and overwrites always give the same rights. */
#ifndef MODEL_RIGHTS_H
#define MODEL_RIGHTS_H

#include "model/guild.h"
#include "model/permissions/permissions.h"

struct rights_of {
    snowflake guild_id, user_id;
    bool owner;
    bool timed_out; /* until a moment that is still to come */
    bool quarantined;
    bool pending;           /* has not answered what the guild asks newcomers */
    enum err unverified;    /* why the guild's verification level is not met; OK: it is */
    uint64_t base;          /* of @everyone and all roles, joined */
    const snowflake *roles; /* without @everyone */
    size_t role_count;
};

/* In the guild as a whole. */
uint64_t rights_in_guild(const struct rights_of *who);

/* By a timeout, rules that were not agreed to yet, auto moderation, or the verification level. */
bool rights_are_restrained(const struct rights_of *who);
/* OK, or why a restrained member may do nothing but read: ERR_MISSING_PERMISSIONS, or which part
 * of the verification level is not met. */
enum err rights_to_speak(const struct rights_of *who);

/* In a channel with these overwrites; for a thread, its parent's overwrites and
 * type, and thread = true. In a thread SEND_MESSAGES_IN_THREADS takes the place of
 * SEND_MESSAGES, also for the rights that hang on being able to send. */
uint64_t rights_in_channel(const struct rights_of *who, int64_t channel_type,
                           const struct overwrite *overwrites, size_t count, bool thread);

/* The rights that remain in a thread of this type, of those that its parent gives there. Only the
 * members of a private thread and those who manage threads have rights in it. The starter is a
 * member from the start, and like others only until they leave or are removed. */
uint64_t rights_past_door(int64_t type, bool member, uint64_t rights);
/* In a thread of this channel; it has its .member where it is private and they are in it. */
uint64_t rights_in_thread(const struct rights_of *who, const struct channel *thread,
                          const struct channel *parent);

/* --- where a member stands in a guild -------------------------------------------------- */

/* What the rights of a member come from, when the guild has its roles and the member its
 * own: for many of them at once. */
struct rights_of guild_rights_of(const struct guild *g, const struct member *m);

struct standing {
    snowflake guild_id, owner_id, user_id;
    snowflake automod_version; /* of the rules in force there; 0: none are */
    struct member *member;     /* without .user */
    struct rights_of rights_of;
    uint64_t rights;        /* in the guild as a whole */
    uint64_t withheld;      /* PERMISSIONS_MFA for want of a second factor; not in `rights` */
    uint64_t withheld_here; /* of a call's: those that they would have where the path leads */
    int64_t top_position;
    snowflake top_role; /* the highest role's id; the guild's id for @everyone */
};

/* Why somebody is refused who has none of these rights: ERR_MISSING_PERMISSIONS, or
 * ERR_GUILD_MFA_REQUIRED where one of them is only withheld. */
enum err rights_refusal(uint64_t withheld, uint64_t any);
/* The same in the guild as a whole. */
enum err standing_lacks(const struct standing *s, uint64_t any);

/* The owner is above everybody; others need a strictly higher top role. */
bool standing_above_role(const struct standing *s, const struct role *role);
bool standing_above(const struct standing *s, const struct standing *other);

#endif
