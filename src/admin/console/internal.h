/* internal.h - structs and functions shared by the files of the workbench. */
#ifndef ADMIN_CONSOLE_INTERNAL_H
#define ADMIN_CONSOLE_INTERNAL_H

#include "admin/console/traffic_records.h"
#include "admin/console/workbench.h"

enum { CONSOLE_KEY_BYTES = 32, CONSOLE_KEY_TEXT = 44, FEED_WATCHERS_MAX = 16 };

/* Properties of the HTTP request that opens a live feed. The handler of its WebSocket gets them. */
struct traffic_feed_upgrade_request {
    struct workbench *workbench;
    bool local_head;
};

struct workbench {
    struct workbench_options options;
    struct traffic_ring *traffic;
    struct api *api;
    char key[CONSOLE_KEY_TEXT];
    struct traffic_feed_upgrade_request feed_upgrades[2]; /* index is local_head */
    _Atomic unsigned watchers;
    struct call_log *log; /* NULL if calls are not logged */
    struct health *health;
};

/* Rate limit for a page that polls once per second, plus some clicks. */
extern const struct rate_limit limit_console;

struct workbench *call_get_workbench(const struct call *call);

/* --- access.c ------------------------------------------------------------------------- */

/* Returns OK if the caller is the operator, otherwise an error. Used in the field .admit of
 * routes. */
enum err check_console_permission(struct call *call);
/* Returns OK if the caller is the operator and the option `controls` is set. For routes that move
 * the clock or inject faults. */
enum err check_console_controls_permission(struct call *call);

/* Returns whether the request was sent by a local program or by a page of this server. Refuses
 * pages of other sites, including those whose host name resolves to this machine (DNS
 * rebinding). */
bool request_is_from_local_page(const struct http_request *r);
bool console_key_is_valid(const struct workbench *w, struct str key);

/* --- explain_permission.c ------------------------------------------------------------- */

/* Finds an account by name or id; an error is reported at this field of the query. */
enum err find_user_named_in_console_query(struct call *call, const char *field, struct str name,
                                          struct user *ret);
void write_permission_steps_json(struct json_writer *j, const struct list *steps);

/* --- routes.c ------------------------------------------------------------------------- */

/* Filter of traffic records: the query of the route, or (with the key) the message of a client of
 * the live feed. */
struct traffic_filter_query {
    struct str key, kind, user, route, method, status, event, session, text;
    struct opt_int after;
    snowflake application_id;
    int64_t limit;
};
extern const struct schema traffic_live_schema;
struct traffic_filter traffic_filter_from_query(const struct traffic_filter_query *q);

/* --- call_log.c ------------------------------------------------------------------------ */

/* Starts a timer on this loop that logs each call to standard output. */
struct call_log *call_log_start_printing(struct workbench *w, struct loop *loop);
/* Prints the remaining records and stops the timer. Do not call this function on an event loop,
 * because it blocks. `l` may be NULL. */
void call_log_stop_printing(struct call_log *l);

/* --- health_stats.c -------------------------------------------------------------------- */

/* Starts a timer on this loop that samples statistics. */
struct health *health_stats_start_sampling(struct api *api, struct loop *loop);
/* Stops the timer that samples statistics. Do not call this function on an event loop, because it
 * blocks. `h` may be NULL. */
void health_stats_stop_sampling(struct health *h);
void health_stats_free(struct health *h);

#endif
