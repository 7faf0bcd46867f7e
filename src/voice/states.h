/* states.h - reads and changes voice states; hooks of guilds, channels and members. Every change of
 * a row of voice_states goes through this header, so that events are sent and dependent objects
 * (streams, calls, stages) are updated. */
#ifndef VOICE_STATES_H
#define VOICE_STATES_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "model/permissions/member_permissions.h"
#include "model/voice_state.h"
#include "platform/accounts/accounts.h"

/* --- reading, without the member ------------------------------------------------------ */

/* Finds a user's voice state in a guild; guild_id 0 means a private call. Returns
 * ERR_UNKNOWN_VOICE_STATE if the user has none there. */
enum err voice_state_find(struct tx *tx, snowflake guild_id, snowflake user_id,
                          struct voice_state *ret);
/* Finds the voice state of a user. A bot may have several; the oldest is returned. */
enum err voice_state_find_of_user(struct tx *tx, snowflake user_id, struct voice_state *ret);
/* Return lists of struct voice_state, ordered by guild and user. */
enum err list_voice_states_of_session(struct tx *tx, struct str session_id, struct list *ret);
enum err list_voice_states_of_channel(struct tx *tx, snowflake channel_id, struct list *ret);
enum err list_voice_states_of_guild(struct tx *tx, snowflake guild_id, struct list *ret);
/* Return at most `max` voice states. list_voice_states_of_node returns voice states of a node that
 * do not wait for RESUME any more. list_streams_awaiting_resume returns voice states of streaming
 * users that wait for RESUME (states_awaiting_resume.c). */
enum err list_voice_states_of_node(struct tx *tx, int64_t node, int64_t max, struct list *ret);
enum err list_streams_awaiting_resume(struct tx *tx, int64_t max, struct list *ret);
/* Counts the participants of a channel, and the participants with a camera. */
enum err count_voice_participants(struct tx *tx, snowflake channel_id, int64_t *ret_participants,
                                  int64_t *ret_cameras);

/* Reads whether a channel has at least this number of participants. */
enum err channel_has_voice_participants(struct tx *tx, snowflake channel_id, int64_t participants,
                                        bool *ret);

/* --- changing ------------------------------------------------------------------------- */

/* Writes a new or changed voice state and emits VOICE_STATE_UPDATE with the member. Reads the
 * member if s has none. `from` is the previous channel in the guild, or 0. */
enum err voice_state_save(struct call *call, struct voice_state *s, snowflake from);
/* Writes the voice state and sends it to the relay, but emits no event. */
enum err voice_state_save_without_event(struct call *call, const struct voice_state *s);
/* Emits VOICE_STATE_UPDATE without writing the voice state. */
enum err voice_state_emit_update(struct call *call, const struct voice_state *s, snowflake from);

/* Deletes a voice state: emits VOICE_STATE_UPDATE without a channel, then calls hook_voice_left. */
enum err voice_state_delete_and_emit(struct call *call, const struct voice_state *s);
/* Deletes all voice states of a list (struct voice_state). */
enum err voice_states_delete_all_and_emit(struct call *call, const struct list *states);
/* Moves a user to another channel of the guild, as a moderator does: emits VOICE_STATE_UPDATE, and
 * VOICE_SERVER_UPDATE to the session that is in voice. */
enum err voice_state_move_to_channel(struct call *call, const struct voice_state *s,
                                     const struct channel *to);

/* Returns the maximum number of cameras in a channel; 0 means unlimited. */
int64_t voice_max_cameras(const struct channel *c, const struct guild *g);
/* Reads whether a channel may have one more camera. `counted` says that the user's camera is
 * already on in the stored voice state. */
enum err read_whether_camera_is_within_limit(struct tx *tx, snowflake channel_id, int64_t max,
                                             bool counted, bool *ret);
/* Returns whether a member with these permissions is suppressed on joining the channel. */
bool member_is_suppressed_on_voice_join(const struct channel *c, snowflake afk_channel_id,
                                        uint64_t perms);
/* Returns the voice region of a channel: its rtc_region, else the region of its participants, else
 * the region `wanted`. */
enum err choose_region_of_voice_room(struct tx *tx, const struct channel *c, struct str wanted,
                                     struct str *ret);

/* Returns a new random salt. In a voice state it invalidates all earlier tokens. */
struct str voice_token_salt_new(struct arena *arena);
/* Derives the token of a voice connection from the salt in the voice state. */
enum { VOICE_TOKEN_SIZE = 16 };
void voice_token_derive(const struct api *api, const struct voice_state *s,
                        unsigned char ret[VOICE_TOKEN_SIZE]);
enum err emit_voice_server_update(struct call *call, const struct voice_state *s);

/* --- hooks ---------------------------------------------------------------------------- */

/* Hooks: delete the voice states of a member, recipient, channel or guild. For a guild no event is
 * sent, because GUILD_DELETE was sent. */
enum err voice_on_member_leave(struct call *call, const struct member_leaving_guild *leave);
enum err voice_on_recipient_remove(struct call *call, const struct group_recipient_change *c);
enum err voice_on_channel_delete(struct call *call, const struct channel *c);
enum err voice_on_guild_delete(struct call *call, snowflake guild_id);
/* Job that continues the removal of voice states in a large room. */
extern const struct job_kind voice_removal_job;

/* Moves the participants of a channel to another node: gives them new tokens and emits
 * VOICE_SERVER_UPDATE. endpoint is the new host and path ({region} is replaced); endpoint.p is NULL
 * if there is no node. lost is true if the previous node is dead. Sets *ret_empty to true if the
 * room is empty. */
enum err voice_room_move_to_node(struct call *call, snowflake channel_id, struct str endpoint,
                                 bool lost, bool *ret_empty);

/* Emit VOICE_SERVER_UPDATE to all participants after a change of the voice region of a private call
 * or guild channel. */
enum err voice_call_change_region(struct call *call, snowflake channel_id, struct str region);
enum err voice_on_channel_region_change(struct call *call, const struct channel *c);
/* Job that continues a region change in a large room. */
extern const struct job_kind voice_region_job;

/* Update suppress, video and priority of voice states after a change of permissions in a guild or
 * channel, of the permissions of one member, or of a guild's settings. */
enum err voice_on_permission_change(struct call *call, const struct permission_change *where);
enum err voice_on_member_change(struct call *call, const struct member *m);
enum err voice_on_guild_change(struct call *call, const struct guild_change *c);
/* Job that runs when a member's timeout ends. */
extern const struct job_kind voice_timeout_end_job;
/* Job that continues a permission change in a large room. */
extern const struct job_kind voice_permission_steps_job;

/* Actions of moderators (moderation.c). check_voice_moderation checks the permissions first, then
 * returns ERR_NOT_IN_VOICE if the member is not in voice. */
enum err check_voice_moderation(struct call *call, const struct voice_moderation_change *in);
enum err apply_voice_moderation(struct call *call, const struct voice_moderation_change *change);

/* --- automatic changes ---------------------------------------------------------------- */

/* Called after a join: schedules a job that moves an idle user to the guild's AFK channel. */
enum err afk_schedule_move_of_idle_user(struct call *call, const struct voice_state *s);
/* afk_reschedule_job runs for a whole guild */
extern const struct job_kind afk_move_job, afk_reschedule_job;

/* Called when a stage's speakers may have changed: schedules a job that closes a silent stage. */
enum err stage_schedule_close_if_silent(struct call *call, snowflake channel_id);
enum err stage_on_voice_leave(struct call *call, const struct voice_state *was);
/* Opens a stage, or changes the stage that is open in the channel. silent_since is the time since
 * which the stage has had no speaker. */
struct stage_instance;
enum err stage_instance_insert(struct tx *tx, const struct stage_instance *s,
                               struct opt_int silent_since);
/* Closes the open stage of the channel, if any, with STAGE_INSTANCE_DELETE. */
enum err stage_instance_close(struct call *call, snowflake channel_id);
extern const struct job_kind stage_silence_job;

/* Adds to ret the open stages of the guild channels that the viewer can see. */
enum err read_visible_stage_instances(struct tx *tx, struct gateway_guild *ret);
/* Adds to ret the voice states of the channels that the viewer can see, with their members. If
 * `all` is set, ret already has all members. */
enum err read_visible_voice_states(struct tx *tx, const struct permission_computation_input *who,
                                   const struct list *channels, bool all,
                                   struct gateway_guild *ret);

/* Lists status and start time of the voice channels that the viewer can see. */
enum err read_visible_voice_channel_statuses(struct tx *tx,
                                             const struct permission_computation_input *who,
                                             const struct list *channels, struct list *ret);

extern const struct domain stages_domain;
extern const struct world_file_fields stages_world;

#endif
