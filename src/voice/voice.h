/* voice.h - voice: who is where, with whom, and hosted in which region.
 *
 * Sessions ask through the gateway, moderators through the routes; everybody else hears
 * of it. Media is carried by relay/, which asks here who may connect. */
#ifndef VOICE_VOICE_H
#define VOICE_VOICE_H

#include "api/api.h"
#include "gateway/gateway.h"
#include "net/loop.h"
#include "relay/relay.h"

extern const struct domain regions_domain, voice_domain, calls_domain;
extern const struct domain voice_keys_domain, voice_effects_domain, voice_rooms_domain;
extern const struct domain streams_domain, stream_files_domain;

/* What an operator sets, before the server starts: whether keys may be signed with the
 * label that clients in use sign with, and whether everybody counts as premium. */
void voice_keys_set(bool accept_second_label);
void voice_effects_set(bool everybody_is_premium);

/* People of one room, whatever their rights: what one of them says goes to all others at once. */
enum { VOICE_ROOM = 10000 };

/* What a server's sessions ask for, and the lease of what they hold. */
struct voice;

/* What a process of this number left behind waits for its sessions. Once the loops run, before the
 * server listens. */
enum err voice_start(struct api *api, struct loops *loops, struct voice **ret);
/* When no call runs any more, before the loops stop. Accepts NULL. */
void voice_stop(struct voice *v);
void voice_free(struct voice *v);

/* --- connections.c: what the relay asks ----------------------------------------------- */

struct relay_source voice_relay_source(struct api *api);
/* Where this server's own relay is reached, host and path; NULL: there is none. It must outlive
 * all calls. */
void voice_set_relay(const char *endpoint);
/* The same where several servers share the database: from now on rooms may be here; or those that
 * are go to other servers. Not on a loop: they wait. */
enum err voice_open_rooms(struct voice *v, const char *endpoint);
void voice_give_up_rooms(struct voice *v);

/* For gateway_hooks; v may be NULL. False: the opcode does not take such data. */
bool voice_command(struct voice *v, const struct gateway_caller *who, int op, struct str d);
void voice_ended(struct voice *v, const struct gateway_caller *who);
/* A session was resumed; an account's RESUME was refused; a session of a bot that has begun has
 * received a guild. After a restart voice goes on by this (held.c). */
void voice_resumed(struct voice *v, const struct gateway_caller *who);
void voice_refused(struct voice *v, snowflake user_id);
void voice_entered(struct voice *v, const struct gateway_caller *who, snowflake guild_id);
/* Places that something is kept of for sessions, for tests: where they were told something. */
size_t voice_places_kept(struct voice *v);

#endif
