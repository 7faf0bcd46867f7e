/* states.h - voice states: reading, changing, and hooks of guilds, channels and members.
 *
 * A state is a row of voice_states. Every change goes through this header, so that events are sent
 * and dependent objects (streams, calls, stages) are updated. */
#ifndef VOICE_STATES_H
#define VOICE_STATES_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "model/permissions/rights.h"
#include "model/voice_state.h"
#include "platform/accounts/accounts.h"

/* --- reading, without the member ------------------------------------------------------ */

/* Finds a state; ERR_UNKNOWN_VOICE_STATE. guild_id 0: in a private call. */
enum err voice_find(struct tx *tx, snowflake guild_id, snowflake user_id, struct voice_state *ret);
/* Finds a user's only state, in a guild or a call; for a bot, its oldest. */
enum err voice_of_user(struct tx *tx, snowflake user_id, struct voice_state *ret);
/* Return lists of struct voice_state, ordered by guild and user. */
enum err voice_of_session(struct tx *tx, struct str session_id, struct list *ret);
enum err voice_in_channel(struct tx *tx, snowflake channel_id, struct list *ret);
enum err voice_in_guild(struct tx *tx, snowflake guild_id, struct list *ret);
/* voice_of_node: at most max states of a node whose wait for a RESUME is over. voice_held_streams:
 * at most max states that wait for a RESUME (held.c) and stream. */
enum err voice_of_node(struct tx *tx, int64_t node, int64_t max, struct list *ret);
enum err voice_held_streams(struct tx *tx, int64_t max, struct list *ret);
/* Returns the number of participants of a channel, and of those with a camera. */
enum err voice_count(struct tx *tx, snowflake channel_id, int64_t *ret_people,
                     int64_t *ret_cameras);

/* Whether a channel has at least `people` participants. */
enum err voice_holds(struct tx *tx, snowflake channel_id, int64_t people, bool *ret);

/* --- changing ------------------------------------------------------------------------- */

/* Writes a new or changed state and emits VOICE_STATE_UPDATE with the member, which is read if s
 * has none. from: the previous channel in the guild, or 0. */
enum err voice_save(struct call *call, struct voice_state *s, snowflake from);
/* Writes the state and informs only the relay. */
enum err voice_save_unseen(struct call *call, const struct voice_state *s);
/* Emits VOICE_STATE_UPDATE without writing the state. */
enum err voice_announce(struct call *call, const struct voice_state *s, snowflake from);

/* Removes a state: VOICE_STATE_UPDATE without a channel, then hook_voice_left. */
enum err voice_leave(struct call *call, const struct voice_state *s);
/* Removes all states of a list (struct voice_state). */
enum err voice_leave_all(struct call *call, const struct list *states);
/* Moves a user to another channel of the guild, as a moderator does: VOICE_STATE_UPDATE, then
 * VOICE_SERVER_UPDATE to the session that is in voice. */
enum err voice_move(struct call *call, const struct voice_state *s, const struct channel *to);

/* Returns the limit of cameras in a channel; 0: unlimited. */
int64_t voice_max_cameras(const struct channel *c, const struct guild *g);
/* Whether one more camera is allowed; counted: it is already included in the count. */
enum err voice_camera_fits(struct tx *tx, snowflake channel_id, int64_t max, bool counted,
                           bool *ret);
/* Whether a member with these permissions is suppressed when it joins the channel. */
bool voice_suppressed(const struct channel *c, snowflake afk_channel_id, uint64_t rights);
/* Returns the region of a channel: the channel's own, else that of its participants, else
 * `wanted`. */
enum err voice_room_region(struct tx *tx, const struct channel *c, struct str wanted,
                           struct str *ret);

/* Returns a new random salt, which invalidates existing tokens. */
struct str voice_salt(struct arena *arena);
/* Derives the token of a voice connection from the salt. */
enum { VOICE_TOKEN = 16 };
void voice_token(const struct api *api, const struct voice_state *s,
                 unsigned char ret[VOICE_TOKEN]);
/* Emits VOICE_SERVER_UPDATE to the session of the state. */
enum err voice_send_server(struct call *call, const struct voice_state *s);

/* --- hooks ---------------------------------------------------------------------------- */

/* Hooks: remove voice states with their member, recipient, channel or guild. For a guild no event
 * is sent, because GUILD_DELETE was. */
enum err voice_drop_member(struct call *call, const struct member_leave *leave);
enum err voice_drop_recipient(struct call *call, const struct recipient_change *c);
enum err voice_drop_channel(struct call *call, const struct channel *c);
enum err voice_drop_guild(struct call *call, snowflake guild_id);
extern const struct job_kind voice_leftovers_job; /* for the other participants of a large room */

/* A channel moved to another node at this endpoint, host and path ({region} is replaced; p == NULL:
 * no node); lost: the previous node is dead. Gives all participants new tokens and emits
 * VOICE_SERVER_UPDATE; *ret_empty: there are none. */
enum err voice_resettle(struct call *call, snowflake channel_id, struct str endpoint, bool lost,
                        bool *ret_empty);

/* The region of a private call or guild channel changed: emit VOICE_SERVER_UPDATE to all
 * participants. */
enum err voice_migrate_call(struct call *call, snowflake channel_id, struct str region);
enum err voice_follow_region(struct call *call, const struct channel *c);
extern const struct job_kind voice_migration_job; /* for the other participants of a large room */

/* Update suppress, video and priority of voice states after permissions may have changed: in a
 * guild or channel, of one member (with roles), or by a guild's settings. */
enum err voice_review(struct call *call, const struct rights_change *where);
enum err voice_review_member(struct call *call, const struct member *m);
enum err voice_review_guild(struct call *call, const struct guild_change *c);
extern const struct job_kind voice_review_job;  /* runs at the end of a timeout */
extern const struct job_kind voice_reviews_job; /* for the other participants of a large room */

/* moderation.c: voice_order_check checks permissions first, then ERR_NOT_IN_VOICE; voice_order_obey
 * applies the change. */
enum err voice_order_check(struct call *call, const struct voice_order *in);
enum err voice_order_obey(struct call *call, const struct voice_order *order);

/* --- automatic changes ---------------------------------------------------------------- */

/* Schedules the move of an idle user to the guild's AFK channel; call it after a join. */
enum err voice_watch_idle(struct call *call, const struct voice_state *s);
/* the second job: for a whole guild */
extern const struct job_kind voice_idle_job, voice_patience_job;

/* Call it when the speakers of a stage may have changed: a stage without speakers is closed after a
 * delay. */
enum err stage_watch(struct call *call, snowflake channel_id);
enum err stage_left(struct call *call, const struct voice_state *was);
/* Closes the open stage of the channel, if any, with STAGE_INSTANCE_DELETE. */
enum err stage_close(struct call *call, snowflake channel_id);
extern const struct job_kind stage_silence_job;

/* Adds the open stages of the guild's visible channels to ret. */
enum err stages_show(struct tx *tx, struct gateway_guild *ret);
/* Adds to ret the voice states in channels that a viewer with these permissions sees, and their
 * members unless `all` members are in ret already. */
enum err voice_show(struct tx *tx, const struct rights_of *who, const struct list *channels,
                    bool all, struct gateway_guild *ret);

/* Lists the status and start time of the voice channels that the viewer may see (struct
 * voice_room). */
enum err voice_rooms(struct tx *tx, const struct rights_of *who, const struct list *channels,
                     struct list *ret);

extern const struct domain stages_domain;
extern const struct world_parts stages_world;

#endif
