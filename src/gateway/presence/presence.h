/* presence.h - the presence of accounts: status, activities, list of sessions.
 *
 * Folder presence/ stores it in the registry under the gateway's lock, because an account's
 * sessions may be on several loops. Changes are published as events (fanout/bus.h). directory.h
 * shares it between nodes. */
#ifndef GATEWAY_PRESENCE_PRESENCE_H
#define GATEWAY_PRESENCE_PRESENCE_H

#include "gateway/sessions/session.h"
#include "json/schema.h"

struct presence_update;

/* The kind of client, from "os|browser|device". */
enum client_kind client_kind(const char *client);

/* Parses a status; fallback if it is missing or unknown. */
enum presence_status presence_status(struct opt_str word, enum presence_status fallback);
/* The name of a status. */
const char *presence_word(enum presence_status status);

/* Announces a pending change if the rate limit allows it. */
void presence_tell(struct session *s);
void presence_window_ended(struct deadline *d);
/* Call when a session begins (friends: ids; NULL for bots), is shown as offline, is resumed or,
 * with `ending`, ends: announces the account's presence if it changed. */
void presence_begin(struct session *s, const struct list *friends);
void presence_change(struct session *s, bool ending);
/* Updates the online count of its guilds after its visibility may have changed. */
void presence_recount(struct session *s);
/* Announces the presence to a guild in which the session got its seat after READY. */
void presence_arrive(struct session *s, snowflake guild_id);
/* The activities of op 3 as JSON; stores those that are valid. With the gateway's lock held once
 * other threads can see the session. */
struct str presence_activities(const struct presence_update *in);
void session_set_activities(struct session *s, struct str raw, struct arena *arena);

struct remote_session;
/* A session of another node has changed: sends the presence to local sessions of its guilds; false:
 * unchanged. From any thread, without the lock. */
bool presence_remote_changed(struct gateway *g, const struct remote_session *r);
/* Sends the account's presence to local sessions of its friends. */
void presence_tell_friends_here(struct gateway *g, snowflake user_id, const struct list *friends);

void handle_presence(struct peer *p, int op, struct str raw, const void *d); /* op 3 */

/* Writes the list of an account's sessions, as a JSON value. */
void sessions_write(struct gateway *g, snowflake user_id, struct json *j);
/* Sends the list to the account's other sessions. */
void sessions_changed(struct session *s);
/* Sends the list to local sessions after a session on another node has changed. */
void sessions_changed_there(struct gateway *g, snowflake user_id);

#endif
