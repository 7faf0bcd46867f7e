/* internal.h - functions shared by the files of the workbench. */
#ifndef ADMIN_CONSOLE_INTERNAL_H
#define ADMIN_CONSOLE_INTERNAL_H

#include "admin/console/traffic_records.h"
#include "admin/console/workbench.h"

enum { CONSOLE_KEY_BYTES = 32, CONSOLE_KEY_TEXT = 44, FEED_WATCHERS_MAX = 16 };

/* Properties of the upgrade request that the feed's WebSocket handler needs. */
struct traffic_feed_upgrade {
    struct workbench *workbench;
    bool local_head;
};

struct workbench {
    struct workbench_options options;
    struct traffic_ring *traffic;
    struct api *api;
    char key[CONSOLE_KEY_TEXT];
    struct traffic_feed_upgrade feed_upgrades[2]; /* index: local_head */
    _Atomic unsigned watchers;
    struct call_log *log; /* NULL: no log */
    struct health *health;
};

/* Allows a page that polls every second, and some clicks. */
extern const struct rate_limit limit_console;

struct workbench *call_get_workbench(const struct call *call);

/* --- access.c ------------------------------------------------------------------------- */

/* Access check of routes: returns OK if the caller is the operator. */
enum err check_console_permission(struct call *call);
/* Access check of routes that move the clock or inject faults: also needs the option `controls`. */
enum err check_console_controls_permission(struct call *call);

/* Returns whether the request head is that of a local program or a page of this server. Rejects
 * pages of other sites, also those with a host name that resolves to this machine (DNS
 * rebinding). */
bool request_is_from_local_page(const struct http_request *r);
bool console_key_is_valid(const struct workbench *w, struct str key);

/* --- explain_permission.c ------------------------------------------------------------- */

/* Finds an account by name or id; an error concerns this field of the query. */
enum err console_find_user(struct call *call, const char *field, struct str name, struct user *ret);
void write_explained_steps(struct json_writer *j, const struct list *steps);

/* --- routes.c ------------------------------------------------------------------------- */

/* Filter of traffic records: the query of the route and, with the key, the message of a feed
 * client. */
struct traffic_query {
    struct str key, kind, user, route, method, status, event, session, text;
    struct opt_int after;
    snowflake application_id;
    int64_t limit;
};
extern const struct schema traffic_live_schema;
struct traffic_filter traffic_filter_from_query(const struct traffic_query *q);

/* --- log.c ---------------------------------------------------------------------------- */

/* Logs each call to standard output from a timer on this loop, until stopped. */
struct call_log *call_log_start(struct workbench *w, struct loop *loop);
/* Prints the remaining records. Do not call it on a loop. Accepts NULL. */
void call_log_stop(struct call_log *l);

/* --- health.c ------------------------------------------------------------------------- */

/* Samples statistics from a timer on this loop, until stopped. */
struct health *health_stats_start(struct api *api, struct loop *loop);
/* Do not call it on a loop. Accepts NULL. */
void health_stats_stop(struct health *h);
void health_stats_free(struct health *h);

#endif
