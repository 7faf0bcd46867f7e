/* states.h - who is in voice, as far as guilds, channels and members are concerned.
 *
 * A state is a row. Whoever changes one does it here, so that everybody hears of it and
 * what hangs on it (streams, calls, stages) follows. */
#ifndef VOICE_STATES_H
#define VOICE_STATES_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "model/permissions/rights.h"
#include "model/voice_state.h"
#include "platform/accounts/accounts.h"

/* --- finding: without the member ------------------------------------------------------ */

/* ERR_UNKNOWN_VOICE_STATE. guild_id 0: in a private call. */
enum err voice_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct voice_state *ret);
/* A person's only one, wherever it is; a bot's oldest. */
enum err voice_of_user(struct tx *tx, snowflake user_id, struct voice_state *ret);
/* Lists of struct voice_state, in the order of guilds and users. */
enum err voice_of_session(struct tx *tx, struct str session_id, struct list *ret);
enum err voice_in_channel(struct tx *tx, snowflake channel_id, struct list *ret);
enum err voice_in_guild(struct tx *tx, snowflake guild_id, struct list *ret);
/* Some of a process, by its number, that are not held; some that stream and whose process is
 * gone. */
enum err voice_of_node(struct tx *tx, int64_t node, int64_t max, struct list *ret);
enum err voice_held_streams(struct tx *tx, int64_t max, struct list *ret);
/* How many are in a channel, and how many of them with a camera. */
enum err voice_count(struct tx *tx, snowflake channel_id, int64_t *ret_people,
                     int64_t *ret_cameras);

/* Whether so many are in a channel. */
enum err voice_holds(struct tx *tx, snowflake channel_id, int64_t people, bool *ret);

/* --- changing ------------------------------------------------------------------------- */

/* Writes a new state, or what changed about one, and announces VOICE_STATE_UPDATE, with
 * the member, which is loaded when it is not there. from: the channel of the guild that it
 * was in before, or 0. */
enum err voice_save(struct call *call, struct voice_state *s, snowflake from);
/* The same where nobody but what carries voice has to know. */
enum err voice_save_unseen(struct call *call, const struct voice_state *s);
/* Announces alone. */
enum err voice_announce(struct call *call, const struct voice_state *s, snowflake from);

/* Takes somebody out: VOICE_STATE_UPDATE without a channel, then hook_voice_left. */
enum err voice_leave(struct call *call, const struct voice_state *s);
/* All of a list (struct voice_state). */
enum err voice_leave_all(struct call *call, const struct list *states);
/* Puts somebody into another channel of the guild, as a moderator does:
 * VOICE_STATE_UPDATE, then VOICE_SERVER_UPDATE to the session that is in voice. */
enum err voice_move(struct call *call, const struct voice_state *s, const struct channel *to);

/* How many cameras a channel takes; 0: any number. */
int64_t voice_max_cameras(const struct channel *c, const struct guild *g);
/* Whether one more fits; counted: it is among those that are there. */
enum err voice_camera_fits(struct tx *tx, snowflake channel_id, int64_t max, bool counted,
                           bool *ret);
/* Whether somebody with these rights is kept silent in a channel when they come. */
bool voice_suppressed(const struct channel *c, snowflake afk_channel_id, uint64_t rights);
/* Where a channel is hosted: as it says itself, else where those who are in it are, else
 * `wanted`. */
enum err voice_room_region(struct tx *tx, const struct channel *c, struct str wanted,
                           struct str *ret);

/* A new salt: tokens of before are void. */
struct str voice_salt(struct arena *arena);
/* What a voice connection shows: it follows from the salt. */
enum { VOICE_TOKEN = 16 };
void voice_token(const struct api *api, const struct voice_state *s,
                 unsigned char ret[VOICE_TOKEN]);
/* VOICE_SERVER_UPDATE to the session of the state. */
enum err voice_send_server(struct call *call, const struct voice_state *s);

/* --- what it hears of ----------------------------------------------------------------- */

/* Listeners of hooks: voice ends with its member, recipient, channel or guild. The end of a guild
 * is not announced: nobody is left to hear it. */
enum err voice_drop_member(struct call *call, const struct member_leave *leave);
enum err voice_drop_recipient(struct call *call, const struct recipient_change *c);
enum err voice_drop_channel(struct call *call, const struct channel *c);
enum err voice_drop_guild(struct call *call, snowflake guild_id);
extern const struct job_kind voice_leftovers_job; /* the others of a large room */

/* A channel is another server's now, which is reached there, host and path ({region} may stand
 * in it; p == NULL: nobody's); lost: the one before is gone. Everybody there gets another token,
 * and is told; *ret_empty: nobody is there. */
enum err voice_resettle(struct call *call, snowflake channel_id, struct str endpoint, bool lost,
                        bool *ret_empty);

/* A private call, or a channel of a guild, is hosted elsewhere: everybody in it is told anew where
 * their voice is. */
enum err voice_migrate_call(struct call *call, snowflake channel_id, struct str region);
enum err voice_follow_region(struct call *call, const struct channel *c);
extern const struct job_kind voice_migration_job; /* goes on with it */

/* Rights may have changed: anywhere, those of one member (with roles), or by what a guild is
 * now. Who may not speak is silenced, who may again is not. */
enum err voice_review(struct call *call, const struct rights_change *where);
enum err voice_review_member(struct call *call, const struct member *m);
enum err voice_review_guild(struct call *call, const struct guild_change *c);
extern const struct job_kind voice_review_job;  /* when a timeout is over */
extern const struct job_kind voice_reviews_job; /* goes on with many */

/* moderation.c. Rights first, then ERR_NOT_IN_VOICE; then what is ordered. */
enum err voice_order_check(struct call *call, const struct voice_order *in);
enum err voice_order_obey(struct call *call, const struct voice_order *order);

/* --- what changes by itself ----------------------------------------------------------- */

/* Who does nothing for long goes to the guild's AFK channel: to be said after a join. */
enum err voice_watch_idle(struct call *call, const struct voice_state *s);
extern const struct job_kind voice_idle_job, voice_patience_job; /* the second: others of a guild */

/* Speakers of a stage may have come or gone: one without any is closed in a while. */
enum err stage_watch(struct call *call, snowflake channel_id);
enum err stage_left(struct call *call, const struct voice_state *was);
/* With STAGE_INSTANCE_DELETE, when one is open. */
enum err stage_close(struct call *call, snowflake channel_id);
extern const struct job_kind stage_silence_job;

/* Adds the stages that are open in the channels which the guild shows. */
enum err stages_show(struct tx *tx, struct gateway_guild *ret);
/* Adds to a guild, as who has these rights is shown it, the states in channels that it can
 * view and the members of everybody in voice. */
enum err voice_show(struct tx *tx, const struct rights_of *who, const struct list *channels,
                    bool all, struct gateway_guild *ret);

/* struct voice_room: those among the channels that have something to tell and that somebody
 * with these rights can view. */
enum err voice_rooms(struct tx *tx, const struct rights_of *who, const struct list *channels,
                     struct list *ret);

extern const struct domain stages_domain;

#endif
