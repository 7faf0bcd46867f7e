/* voice.h - voice states, private calls, stages, streams, regions and voice keys. This folder owns
 * the voice states of users and the node that carries each room. Clients change their voice state
 * with gateway opcodes (session_opcodes.c queues them, join.c handles op 4), moderators with routes
 * (moderation.c, states.c). A change and its events are written in one transaction. relay/ carries
 * the media; connections.c checks its connections, and each committed change is sent to relay/
 * (struct relay_voice_state). May include platform/, relay/ and lower layers. Invariant: a user has
 * at most one voice state per guild. Start with states.h, then join.c. */
#ifndef VOICE_VOICE_H
#define VOICE_VOICE_H

#include "api/api.h"
#include "gateway/gateway.h"
#include "net/loop.h"
#include "relay/relay.h"

extern const struct domain regions_domain, voice_domain, calls_domain;
extern const struct domain voice_keys_domain, voice_effects_domain, voice_rooms_domain;
extern const struct domain streams_domain, stream_files_domain;

/* Set options of the operator, before the server starts: whether voice keys may also be signed with
 * the second label (keys.c), and whether all accounts count as premium. */
void voice_keys_set_accept_second_label(bool accept_second_label);
void voice_effects_set_everybody_is_premium(bool everybody_is_premium);

/* Maximum number of participants of a voice channel: each packet is sent to all others. */
enum { VOICE_ROOM_MAX = 10000 };

/* Queues of voice opcodes of this node's sessions, and the node's lease on their voice states. */
struct voice_service;

/* Starts the voice service and marks the voice states of the previous process as waiting for
 * RESUME. Must be called when the event loops run, before the server accepts connections. */
enum err voice_start(struct api *api, struct loops *loops, struct voice_service **ret);
/* Stops the voice service, after the last request and before the event loops stop. v may be NULL.
 */
void voice_stop(struct voice_service *v);
void voice_free(struct voice_service *v);

/* --- connections.c: callbacks for the relay ------------------------------------------- */

struct relay_callbacks voice_relay_callbacks(struct api *api);
/* Sets the endpoint (host and path) of this server's own relay; NULL if there is none. The string
 * is not copied. */
void voice_set_relay_endpoint(const char *endpoint);
/* In a cluster: voice_start_accepting_rooms lets this node carry voice rooms; voice_hand_over_rooms
 * moves its rooms to other nodes. Both block, so they must not be called on an event loop. */
enum err voice_start_accepting_rooms(struct voice_service *v, const char *endpoint);
void voice_stop_accepting_rooms(struct voice_service *v);

/* Callbacks for struct gateway_hooks; v may be NULL. voice_handle_opcode returns false if the
 * payload does not match the opcode. */
bool voice_handle_opcode(struct voice_service *v, const struct gateway_hook_session *who, int op,
                         struct str d);
void voice_on_session_end(struct voice_service *v, const struct gateway_hook_session *who);
/* Restore voice states from before a restart (states_awaiting_resume.c). Called when a session was
 * resumed, when a RESUME was refused, and when a bot's new session has received a guild. */
void voice_on_session_resumed(struct voice_service *v, const struct gateway_hook_session *who);
void voice_on_resume_refused(struct voice_service *v, snowflake user_id);
void voice_on_session_received_guild(struct voice_service *v,
                                     const struct gateway_hook_session *who, snowflake guild_id);
/* Returns how many rate limits are stored for all sessions; for tests. */
size_t voice_count_rate_limit_states(struct voice_service *v);

#endif
