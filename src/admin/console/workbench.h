/* workbench.h - the workbench for bot developers: traffic, clock, faults, sessions, snapshots,
 * world files.
 *
 * The folder owns the routes below /console and no tables. It may use everything below server/. All
 * routes need operator access: the console key or, if the option `open` is set, a caller on this
 * machine. Routes that move the clock or inject faults also need the option `controls`.
 *
 * Start with traffic_routes.c. command_routes.c has the routes that run operator commands, access.c
 * checks access, traffic_format.c and redact.c prepare records for display, traffic_feed.c sends
 * the live feed. */
#ifndef ADMIN_CONSOLE_WORKBENCH_H
#define ADMIN_CONSOLE_WORKBENCH_H

#include "api/api.h"
#include "gateway/gateway.h"
#include "traffic/traffic.h"

struct workbench;

struct workbench_options {
    /* Size in bytes of the ring buffer of traffic records; 0: record only while a client reads. */
    size_t traffic_bytes;
    bool open;     /* whether local callers need no key */
    bool controls; /* whether the clock may be moved and faults injected */
    bool log;      /* log each call to standard output */
};

struct workbench *workbench_new(const struct workbench_options *options);
/* Returns whether the option `controls` is set. Accepts NULL. */
bool workbench_controls_are_enabled(const struct workbench *w);
/* Returns the ring buffer of traffic records, for the options of api and gateway. */
struct traffic_ring *workbench_get_traffic_ring_buffer(struct workbench *w);
/* Starts the workbench. Call this function after the event loops were started. */
void workbench_start(struct workbench *w, struct api *api, struct loops *loops);
/* Stops the workbench. Call this function when the server stops, while calls are still finishing.
 * `w` may be NULL. */
void workbench_stop(struct workbench *w);
void workbench_free(struct workbench *w);

/* Accepts WebSockets on /console/traffic/live; for http_server_callbacks.upgrade. */
bool workbench_accept_websocket(struct workbench *w, const struct http_request *r,
                                struct websocket_handler *ret);

extern const struct domain console_test_users_domain;

/* Returns the console key for remote callers, which is derived from the server's key file. */
const char *workbench_get_console_key(const struct workbench *w);

extern const struct domain workbench_domain, console_clock_domain, console_faults_domain,
    console_sessions_domain, console_snapshots_domain, console_worlds_domain, console_health_domain,
    console_permissions_domain, console_delivery_domain, console_commands_domain;

#endif
