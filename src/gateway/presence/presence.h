/* presence.h - the presence of accounts: status, activities, list of sessions.
 *
 * Folder presence/ stores presences in the registry of sessions (sessions/registry.h) under the
 * gateway's lock, because an account's sessions may be on several loops. Changes are published as
 * events (fanout/event_bus.h). directory.h shares presences between nodes. */
#ifndef GATEWAY_PRESENCE_PRESENCE_H
#define GATEWAY_PRESENCE_PRESENCE_H

#include "gateway/sessions/session.h"
#include "json/schema.h"

struct presence_update;

/* Derives the kind of client (desktop, mobile or web) from "os|browser|device". */
enum client_kind client_kind_from_client_name(const char *client);

/* Parses a status. Returns `fallback` if it is missing or unknown. */
enum presence_status parse_presence_status(struct opt_str word, enum presence_status fallback);
const char *presence_status_name(enum presence_status status);

/* Called at the end of a rate limit window: announces a pending presence change. */
void on_presence_rate_limit_window_end(struct deadline *d);
/* Announce the account's presence if it has changed. presence_on_session_begin is called when a
 * session begins; `friends` are user ids, NULL for bots. presence_on_session_change is called when
 * a session is shown as offline, is resumed or (with `ending`) ends. */
void presence_on_session_begin(struct session *s, const struct list *friends);
void presence_on_session_change(struct session *s, bool ending);
/* Called when the session may have become visible or invisible: updates the lists of online members
 * of the session's guilds. */
void presence_update_online_members(struct session *s);
/* Announces the session's presence to a guild that the session has joined after READY. */
void presence_announce_to_guild(struct session *s, snowflake guild_id);
/* presence_encode_activities_json returns the activities of op 3 as JSON. session_set_activities
 * stores the valid activities; it needs the gateway's lock if other threads can see the session. */
struct str presence_encode_activities_json(const struct presence_update *in);
void session_set_activities(struct session *s, struct str raw, struct arena *arena);

struct remote_session;
/* Sends the presence of a session on another node to those sessions of this node that are in its
 * guilds. Returns false if the presence is unchanged. Thread-safe; the caller must not hold the
 * gateway's lock. */
bool presence_on_remote_session_change(struct gateway *g, const struct remote_session *r);
/* Sends the account's presence to those sessions on this node that belong to its friends. */
void presence_publish_to_local_friends(struct gateway *g, snowflake user_id,
                                       const struct list *friends);

void handle_presence_update_opcode(struct gateway_socket *p, int op, struct str raw,
                                   const void *d); /* op 3 */

/* Writes the list of an account's sessions as a JSON array. */
void write_session_list_json(struct gateway *g, snowflake user_id, struct json_writer *j);
/* Called when a session on this node has changed: sends the account's list of sessions to the
 * account's other sessions on this node. */
void send_session_list_after_local_change(struct session *s);
/* Called when a session on another node has changed: sends the account's list of sessions to its
 * sessions on this node. */
void send_session_list_after_remote_change(struct gateway *g, snowflake user_id);

#endif
