/* homes.h - which server carries a room, where several share the database.
 *
 * A room is a voice channel, a private call or a stream. It has a home from the moment at which
 * somebody is first told where its voice is until the last one leaves: a row with the identity
 * of a server, which everybody in the room is sent to. A home that is lost, or that is given up
 * by a server which stops, is another server's at once: tokens of before are void then, and
 * everybody is told anew. */
#ifndef VOICE_HOMES_H
#define VOICE_HOMES_H

#include "api/jobs/errand.h"
#include "model/voice_state.h"
#include "net/loop.h"

/* Where the voice of a room is, host and path; p == NULL: nowhere now, and all who are there will
 * be told of another. A room that is new gets a home: this server, if it carries voice. */
enum err voice_endpoint(struct call *call, snowflake room_id, struct str region, struct str *ret);
/* Whether connections of that room are this server's. */
enum err voice_home_is_here(struct call *call, snowflake room_id, bool *ret);
/* Nobody is in that room any more. */
enum err voice_home_drop(struct call *call, snowflake room_id);
/* Somebody has left a channel; the last one takes its home along. */
enum err voice_home_left(struct call *call, const struct voice_state *was);

/* --- home_watch.c: homes that are lost or given up -------------------------------------- */

struct home_watch;

struct home_watch *home_watch_new(struct api *api, struct loop *loop);
void home_watch_free(struct home_watch *w); /* accepts NULL */
/* Every second, on the loop. */
void home_watch_tick(struct home_watch *w);
/* Not on a loop; they wait. This server carries rooms from now on, and is reached there; or it
 * carries none any more, and those that it has are somebody else's. */
enum err home_watch_open(struct home_watch *w, const char *endpoint);
void home_watch_close(struct home_watch *w);

/* --- homes.c, for home_watch.c ---------------------------------------------------------- */

/* Some rooms that have no home which lives get another, and those who are in them are told;
 * *ret_more: there may be others. */
enum err voice_homes_mend(struct call *call, bool *ret_more);
/* Whether there are such rooms. */
enum err voice_homes_lost(struct call *call, bool *ret);
/* Where this server is reached from now on; empty: it carries nothing. */
enum err voice_home_offer(struct call *call, struct str endpoint);

#endif
