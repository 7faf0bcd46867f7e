/* internal.h - what the files of channels/ share. */
#ifndef PLATFORM_CHANNELS_INTERNAL_H
#define PLATFORM_CHANNELS_INTERNAL_H

#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum {
    CHANNEL_BITRATE = 64000,
    STAGE_MAX_BITRATE = 64000,
    VOICE_MAX_USERS = 99,
    MAX_CHANNELS = 500,
    MAX_CHILDREN = 50,
    MAX_OVERWRITES = 1000,
    MAX_GUILD_OVERWRITES = 50000, /* about 4 MiB of a guild's object */
    MAX_LOCKED = 2000,            /* overwrites that one call compares or writes to lock channels */
    MAX_ACTIVE_THREADS = 1000,    /* of a guild */
    MAX_RECIPIENTS = 10,          /* with the caller */
    MAX_GROUPS = 10,
};

/* --- rows.c: channels in the store ---------------------------------------------------- */

/* As channel_find, without overwrites. */
enum err channel_find_bare(struct tx *tx, snowflake id, struct channel *ret);
enum err channel_load_overwrites(struct tx *tx, struct channel *c);
void channel_prefetch(struct tx *tx, snowflake id, bool overwrites);

/* --- homes.c -------------------------------------------------------------------------- */

/* What is asked of a channel of a guild that was found, before it is entered. */
void channel_guild_prefetch(struct call *call, const struct channel *c);
/* Whether what was prefetched of it was of the right guild. */
bool channel_home_agrees(const struct channel *c);
/* Channels of a category, without overwrites, or threads of a channel: five hundred of them,
 * archived ones last. */
enum err channel_children(struct tx *tx, snowflake parent_id, struct list *ret);
/* Somebody's open private channels after one of them, with recipients, in the order of ids. */
enum err user_channels_page(struct tx *tx, snowflake user_id, snowflake after, int64_t limit,
                            struct list *ret);
enum err channel_count_children(struct tx *tx, snowflake parent_id, int64_t *ret);
/* Without threads; *ret_top is the highest position, -1 when there are none. */
enum err guild_count_channels(struct tx *tx, snowflake guild_id, int64_t *ret_count,
                              int64_t *ret_top);

/* --- saving.c: what is written of them ------------------------------------------------ */

enum err overwrite_put(struct tx *tx, snowflake channel_id, const struct overwrite *o);
enum err overwrites_replace(struct tx *tx, snowflake channel_id, const struct list *overwrites);
/* The second channel has the overwrites of the first then; only rows that differ are written. */
enum err overwrites_copy(struct tx *tx, snowflake from_id, snowflake to_id);

/* --- people.c: who is in a private channel -------------------------------------------- */

enum err recipient_add(struct tx *tx, snowflake channel_id, snowflake user_id, struct opt_str nick);
/* The recipients of some of somebody's open channels, which are in the order of their ids. */
enum err user_channels_load(struct tx *tx, snowflake user_id, struct list *channels);
enum err recipient_remove(struct tx *tx, snowflake channel_id, snowflake user_id);
enum err recipient_close(struct tx *tx, snowflake channel_id, snowflake user_id);
/* Groups that somebody is in. */
enum err user_count_groups(struct tx *tx, snowflake user_id, int64_t *ret);

/* --- schema.c ------------------------------------------------------------------------- */

struct channel_move {
    snowflake id;
    struct opt_int position;
    struct opt_id parent_id;
    struct opt_bool lock_permissions;
};
struct overwrite_edit {
    int64_t type;
    struct opt_id allow, deny; /* bits */
};
struct channels_query {
    bool permissions;
};
struct leave_query {
    bool silent;
};

extern const struct type channel_create_body, channel_edit_body, channel_moves_body, overwrite_body;
extern const struct schema channels_query_schema, leave_query_schema;

/* --- edits.c: applying an edit to a channel of a guild -------------------------------- */

/* Form errors of what the type does not allow, a region that is not there, a parent
 * that is none. here: where in the body the edit stands; NULL: it is the body. */
enum err edit_check(struct call *call, const struct place *here, const struct channel_edit *in,
                    const struct channel *c);
/* Overwrites without unknown bits. */
void edit_apply(const struct channel_edit *in, struct channel *c);
/* Sets the type of those that came without one: a role of the guild, else a member. */
enum err overwrites_infer(struct call *call, const struct list *wanted);
/* May the caller, who has these rights, set these overwrites where those were? */
enum err overwrites_permit(struct call *call, const struct list *wanted, const struct list *before,
                           uint64_t own);
/* After writing: has the guild not too many of them together, now that a channel has this
 * many, and with those that are still coming? ERR_MAX_GUILD_OVERWRITES. */
enum err overwrites_fit(struct call *call, snowflake guild_id, size_t of_channel, int64_t coming);

/* --- telling.c ------------------------------------------------------------------------ */

/* Tells the viewers that a channel changed; it is read again. Rights in it may be others
 * now. */
enum err channel_announce(struct call *call, snowflake id);
/* The same of many (snowflakes): as many as a transaction should tell, the others soon. */
enum err channels_announce(struct call *call, const struct list *ids);
extern const struct job_kind channel_news_kind;

/* --- forums.c ------------------------------------------------------------------------- */

enum { MAX_FORUM_TAGS = 20 };
/* Tags that are doubled, too many or unknown; an emoji that is none. */
enum err forum_check(struct call *call, const struct place *here, const struct channel_edit *in,
                     const struct channel *c);
/* New tags get an id. */
void forum_apply(const struct channel_edit *in, struct channel *c);
extern const struct type forum_tag_body;
enum err create_forum_tag(struct call *call);
enum err replace_forum_tag(struct call *call);
enum err delete_forum_tag(struct call *call);

/* --- follow.c ------------------------------------------------------------------------- */

/* Writes an audit log entry for each overwrite that was added, changed or deleted. Where they are
 * too many for that, the entry of the channel tells them all. */
bool overwrites_are_noted_singly(const struct list *before, const struct list *now);
enum err overwrites_note(struct call *call, const struct list *before, const struct list *now);
/* The fields of a channel that the audit log tells. */
extern const struct field audited_channel[];
/* After the overwrites of a channel were written and told: it was as given, and has so many
 * now. Those of its category's channels that had the same follow, at once or soon.
 * ERR_MAX_GUILD_OVERWRITES. */
enum err overwrites_settle(struct call *call, const struct channel *was, size_t now);
extern const struct job_kind category_follow_kind;

/* --- handlers ------------------------------------------------------------------------- */

/* The channels that a guild begins with. */
enum err channels_found(struct call *call, const struct guild_made *made);
enum err list_guild_channels(struct call *call);
enum err create_guild_channel(struct call *call);
enum err move_guild_channels(struct call *call);
enum err get_channel(struct call *call);
enum err prepare_modify_channel(struct call *call);
enum err admit_modify_channel(struct call *call);
enum err modify_channel(struct call *call);
enum err remove_channel(struct call *call);
enum err put_overwrite(struct call *call);
enum err delete_overwrite(struct call *call);

/* --- groups.c ------------------------------------------------------------------------- */

bool ids_contain(const struct list *ids, snowflake id);
/* A group of the caller's with these others (snowflakes), who may all be in it; the
 * answer of the call. nicks: struct pair of id and nick. origin: the direct channel it
 * comes from, or 0. ERR_MAX_RECIPIENTS, ERR_MAX_GROUP_DMS. */
enum err group_make(struct call *call, const struct list *others, const struct list *nicks,
                    snowflake origin);
/* Somebody who comes to a group. */
struct group_entry {
    const struct user *user;
    snowflake by; /* who brings them */
    struct opt_str nick;
};
/* As group_join. */
enum err group_add(struct call *call, const struct channel *c, const struct group_entry *in,
                   bool *ret_new);
/* With the system's message, unless silent. The last one takes the group with them. */
enum err group_take_out(struct call *call, const struct channel *c, const struct user *user,
                        bool silent);

/* --- the kinds that share PATCH and DELETE /channels/{channel.id} --------------------- */

/* What the stages before the handler found out. */
struct edit_stages {
    struct opt_str icon;
    bool counted;
};

enum err modify_group(struct call *call, const struct edit_stages *stages);
enum err leave_private_channel(struct call *call, bool silent);
extern const struct job_kind thread_archiving;

/* --- deletion.c ----------------------------------------------------------------------- */

enum err channels_mark_of_guild(struct call *call, snowflake guild_id);
extern const struct job_kind channel_leftovers;
extern const struct deletion_rule channel_deletions[];

#endif
