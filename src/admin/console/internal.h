/* internal.h - functions shared by the files of the workbench. */
#ifndef ADMIN_CONSOLE_INTERNAL_H
#define ADMIN_CONSOLE_INTERNAL_H

#include "admin/console/show.h"
#include "admin/console/workbench.h"

enum { CONSOLE_KEY_BYTES = 32, CONSOLE_KEY_TEXT = 44, MOST_WATCHERS = 16 };

/* Properties of the upgrade request that the feed's WebSocket handler needs. */
struct live_door {
    struct workbench *workbench;
    bool local_head;
};

struct workbench {
    struct workbench_options options;
    struct traffic *traffic;
    struct api *api;
    char key[CONSOLE_KEY_TEXT];
    struct live_door doors[2]; /* index: local_head */
    _Atomic unsigned watchers;
    struct call_log *log; /* NULL: no log */
    struct health *health;
};

/* Allows a page that polls every second, and some clicks. */
extern const struct limit limit_console;

struct workbench *workbench_of(const struct call *call);

/* --- access.c ------------------------------------------------------------------------- */

/* Access check of routes: returns OK if the caller is the operator. */
enum err console_admit(struct call *call);
/* Access check of routes that move the clock or inject faults: also needs the option `controls`. */
enum err console_admit_controls(struct call *call);

/* Returns whether the request head is that of a local program or a page of this server. Rejects
 * pages of other sites, also those with a host name that resolves to this machine (DNS
 * rebinding). */
bool head_is_own(const struct http_request *r);
bool key_is_right(const struct workbench *w, struct str key);

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
struct traffic_filter traffic_filter_of(const struct traffic_query *q);

/* --- log.c ---------------------------------------------------------------------------- */

/* Logs each call to standard output from a timer on this loop, until stopped. */
struct call_log *call_log_start(struct workbench *w, struct loop *loop);
/* Prints the remaining records. Do not call it on a loop. Accepts NULL. */
void call_log_stop(struct call_log *l);

/* --- health.c ------------------------------------------------------------------------- */

/* Samples statistics from a timer on this loop, until stopped. */
struct health *health_start(struct api *api, struct loop *loop);
/* Do not call it on a loop. Accepts NULL. */
void health_stop(struct health *h);
void health_free(struct health *h);

#endif
