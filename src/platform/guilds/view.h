/* view.h - what rights in a guild are made of, kept in memory for those who only read.
 *
 * A view is the state of a guild's owner, roles, channels and overwrites after some
 * commit. It never changes; whoever holds one keeps it until it is let go. What a
 * commit changes is dropped before anybody hears of the commit, so a reader that was
 * told of a change never sees the guild as it was before. Never used inside a
 * transaction that writes: that one decides from the store. */
#ifndef PLATFORM_GUILDS_VIEW_H
#define PLATFORM_GUILDS_VIEW_H

#include "model/events.h"
#include "model/member.h"
#include "model/rights.h"
#include "store/store.h"

enum { VIEWS_MOST = 4096 }; /* guilds that are kept; the oldest view goes first */

struct view_role {
    snowflake id;
    int64_t position;
    uint64_t permissions;
};

struct view_channel {
    snowflake id, parent_id, starter; /* of threads: who began it */
    int64_t type;
    const struct overwrite *overwrites; /* of a thread: none, its parent's count */
    size_t overwrite_count;
};

struct guild_view {
    snowflake guild_id, owner_id;
    const struct view_role *roles; /* with @everyone, by id */
    size_t role_count;
    const struct view_channel *channels; /* and threads that are not archived, by id */
    size_t channel_count;
};

/* A moment in the changes of a guild. Take it before the transaction begins whose
 * snapshot view_get reads: a view of an older state is then not kept for others. */
uint64_t view_moment(snowflake guild_id);

/* The view of a guild, from memory or else from the store. ERR_UNKNOWN_GUILD. The
 * caller lets it go. */
enum err view_get(struct tx *tx, snowflake guild_id, uint64_t moment,
                  const struct guild_view **ret);
/* From memory only, without a transaction; NULL when it is not there. */
const struct guild_view *view_peek(snowflake guild_id);
void view_release(const struct guild_view *v);

/* NULL when there is none (archived threads have none either). */
const struct view_channel *view_channel(const struct guild_view *v, snowflake id);

/* A member's rights in a channel, or with channel_id 0 in the guild as a whole, at a
 * time (microseconds). 0 for a channel that the view does not have. */
uint64_t view_rights(const struct guild_view *v, const struct member *m, snowflake channel_id,
                     int64_t now);

/* After a commit, before anybody hears of it: drops what the announcements make old. */
void views_note(const struct announcement *list);
/* When the store changes under our feet: another one is opened, or closed. */
void views_forget(void);
size_t views_count(void);

#endif
