/* internal.h - what the files of the workbench share. */
#ifndef ADMIN_CONSOLE_INTERNAL_H
#define ADMIN_CONSOLE_INTERNAL_H

#include "admin/console/show.h"
#include "admin/console/workbench.h"

enum { CONSOLE_KEY_BYTES = 32, CONSOLE_KEY_TEXT = 44, MOST_WATCHERS = 16 };

/* How a WebSocket came in: what only the head of its request tells. */
struct live_door {
    struct workbench *workbench;
    bool local_head;
};

struct workbench {
    struct workbench_options options;
    struct traffic *traffic;
    struct api *api;
    char key[CONSOLE_KEY_TEXT];
    struct live_door doors[2]; /* by local_head */
    _Atomic unsigned watchers;
    struct call_log *log; /* NULL: none */
    struct health *health;
};

/* A page that looks every second, and a person who clicks. */
extern const struct limit limit_console;

struct workbench *workbench_of(const struct call *call);

/* --- access.c ------------------------------------------------------------------------- */

/* For rows: the operator calls. */
enum err console_admit(struct call *call);
/* The same where the clock may be moved and faults made. */
enum err console_admit_controls(struct call *call);

/* Could the request come from a program or a page of this machine, as far as its head tells?
 * A page of another site, also one whose name leads to this machine, is refused. */
bool head_is_own(const struct http_request *r);
bool key_is_right(const struct workbench *w, struct str key);

/* --- routes.c ------------------------------------------------------------------------- */

/* Which records of the traffic are wanted: the query of the route, and with the key what a client
 * sends to follow them. */
struct traffic_query {
    struct str key, kind, user, route, method, status, event, session, text;
    struct opt_int after;
    snowflake application_id;
    int64_t limit;
};
extern const struct schema traffic_live_schema;
struct traffic_filter traffic_filter_of(const struct traffic_query *q);

/* --- log.c ---------------------------------------------------------------------------- */

/* Prints a line for each call, on the loop, until it is stopped. */
struct call_log *call_log_start(struct workbench *w, struct loop *loop);
/* Prints what is left; accepts NULL. Not from a loop. */
void call_log_stop(struct call_log *l);

/* --- health.c ------------------------------------------------------------------------- */

/* Notes how the server does, on the loop, until it is stopped. */
struct health *health_start(struct api *api, struct loop *loop);
/* Not from a loop; accepts NULL. */
void health_stop(struct health *h);
void health_free(struct health *h);

#endif
