/* room_owners.h - the node that carries the media of a voice room, in a cluster. A room is a voice
 * channel, a private call or a stream. A row names the room's owner node, to which all participants
 * connect; the row exists from the first VOICE_SERVER_UPDATE until the last participant leaves. If
 * the owner node dies or stops, another node becomes the owner: old tokens become invalid and all
 * participants get a new VOICE_SERVER_UPDATE. */
#ifndef VOICE_ROOM_OWNERS_H
#define VOICE_ROOM_OWNERS_H

#include "api/jobs/internal_call.h"
#include "model/voice_state.h"
#include "net/loop.h"

/* Returns the endpoint (host and path) of a room's voice server. ret->p is NULL if no node carries
 * the room now; VOICE_SERVER_UPDATE is then sent later. A new room is assigned to this node if this
 * node carries voice. */
enum err find_voice_endpoint_of_room(struct call *call, snowflake room_id, struct str region,
                                     struct str *ret);
enum err voice_room_belongs_to_this_node(struct call *call, snowflake room_id, bool *ret);
/* Deletes the owner row of an empty room. */
enum err voice_room_node_row_delete(struct call *call, snowflake room_id);
/* Hook: deletes the room's owner row if the last participant has left. */
enum err voice_room_release_node_on_last_leave(struct call *call, const struct voice_state *was);

/* --- room_owner_watch.c: rooms without a live owner node ------------------------------ */

struct room_owner_watch;

struct room_owner_watch *voice_room_node_watch_new(struct api *api, struct loop *loop);
void voice_room_node_watch_free(struct room_owner_watch *w); /* accepts NULL */
/* Call every second on the loop. */
void voice_room_node_watch_run_every_second(struct room_owner_watch *w);
/* voice_room_node_watch_accept_rooms makes this node accept rooms, at the given endpoint.
 * voice_room_node_watch_hand_over_rooms moves the rooms of this node to other nodes. Both block, so
 * they must not be called on an event loop. */
enum err voice_room_node_watch_accept_rooms(struct room_owner_watch *w, const char *endpoint);
void voice_room_node_watch_hand_over_rooms(struct room_owner_watch *w);

/* --- room_owners.c, for room_owner_watch.c -------------------------------------------- */

/* Assigns some of the rooms without a live owner to other nodes and sends VOICE_SERVER_UPDATE to
 * their participants. Sets *ret_more to true if there may be more rooms to assign. */
enum err assign_voice_rooms_of_dead_nodes(struct call *call, bool *ret_more);
/* Reads whether there are voice rooms without a live owner node. */
enum err read_whether_voice_rooms_lack_live_nodes(struct call *call, bool *ret);
/* Stores the voice endpoint of this node for the other nodes. The endpoint is empty if this node
 * carries no voice rooms. */
enum err node_publish_voice_endpoint(struct call *call, struct str endpoint);

#endif
