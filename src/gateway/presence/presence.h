/* presence.h - what others see of somebody's sessions.
 *
 * The state is the registry's, under the gateway's lock, as an account's sessions may be on
 * several loops. Changes leave as events, by the bus. */
#ifndef GATEWAY_PRESENCE_PRESENCE_H
#define GATEWAY_PRESENCE_PRESENCE_H

#include "gateway/sessions/session.h"
#include "json/schema.h"

struct presence_update;

/* What a client is, by "os|browser|device". */
enum client_kind client_kind(const char *client);

/* What a client calls it; fallback when it says nothing we know. */
enum presence_status presence_status(struct opt_str word, enum presence_status fallback);
/* The same the other way round. */
const char *presence_word(enum presence_status status);

/* Tells of a change that is due, when its time has come. */
void presence_tell(struct session *s);
void presence_window_ended(struct deadline *d);
/* A session began (friends: of its account, ids; NULL for bots), faded, came back or, with
 * `ending`, ends: tells who may see it when that changes what they see. */
void presence_begin(struct session *s, const struct list *friends);
void presence_change(struct session *s, bool ending);
/* Whether it is seen has changed: it counts in its guilds, or does not any more. */
void presence_recount(struct session *s);
/* Tells a guild that the session has only now a seat in. */
void presence_arrive(struct session *s, snowflake guild_id);
/* What is said to be done, as JSON: what others may be shown of it is kept. With the
 * gateway's lock, once the session is known to others. */
struct str presence_activities(const struct presence_update *in);
void session_set_activities(struct session *s, struct str raw, struct arena *arena);

struct remote_session;
/* What is known of a session of another server has changed: tells who is here and may see it;
 * whether that changes what they see. From any thread, without the lock. */
bool presence_remote_changed(struct gateway *g, const struct remote_session *r);
/* The same for friends. */
void presence_tell_friends_here(struct gateway *g, snowflake user_id, const struct list *friends);

void handle_presence(struct peer *p, int op, struct str raw, const void *d); /* op 3 */

/* The list of an account's sessions, as a JSON value. */
void sessions_write(struct gateway *g, snowflake user_id, struct json *j);
/* Tells the other sessions of the account. */
void sessions_changed(struct session *s);
/* The same of a session that another server has: tells those here. */
void sessions_changed_there(struct gateway *g, snowflake user_id);

#endif
