/* workbench.h - what people who write bots see of a server, and do to it: the traffic, the
 * clock, faults, sessions, snapshots, world files.
 *
 * Its routes lie below /console. They are for the operator: who shows the console's key, or,
 * where that is allowed, who calls from this very machine. What changes the world behind its
 * back (clock, faults) is there only when it was asked for at the start.
 *
 * Begin reading with routes.c; orders.c has the routes that are operator commands
 * (orders/orders.h); access.c says who may call, show.c and hide.c what is shown of
 * the traffic, feed.c how it is followed. It may use everything below the tools. */
#ifndef ADMIN_CONSOLE_WORKBENCH_H
#define ADMIN_CONSOLE_WORKBENCH_H

#include "api/api.h"
#include "gateway/gateway.h"
#include "traffic/traffic.h"

struct workbench;

struct workbench_options {
    size_t traffic_bytes; /* kept from the start; 0: only while somebody looks */
    bool open;            /* callers on this machine need no key */
    bool controls;        /* the clock may be moved, faults made */
    bool log;             /* a line for each call, on the standard output */
};

struct workbench *workbench_new(const struct workbench_options *options);
/* May the clock be moved and faults be made? Accepts NULL. */
bool workbench_has_controls(const struct workbench *w);
/* For the options of the api and the gateway. */
struct traffic *workbench_traffic(struct workbench *w);
/* Once the loops run. */
void workbench_start(struct workbench *w, struct api *api, struct loops *loops);
/* When the server is stopped, while calls still end. Accepts NULL. */
void workbench_stop(struct workbench *w);
void workbench_free(struct workbench *w);

/* For struct server_app: takes /console/traffic/live. */
bool workbench_upgrade(struct workbench *w, const struct http_request *r,
                       struct websocket_handler *ret);

extern const struct domain console_people_domain; /* people.c */

/* What callers from elsewhere show: it follows from the server's key file. */
const char *workbench_key(const struct workbench *w);

extern const struct domain workbench_domain, console_clock_domain, console_faults_domain,
    console_sessions_domain, console_snapshots_domain, console_worlds_domain, console_health_domain;

#endif
