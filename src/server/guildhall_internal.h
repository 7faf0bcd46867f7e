/* guildhall_internal.h - struct guildhall, and declarations that the files of server/ share. */
#ifndef GUILDHALL_INTERNAL_H
#define GUILDHALL_INTERNAL_H

#include <stdatomic.h>

#include "admin/control/control.h"
#include "server/guildhall.h"
#include "net/proxies.h"
#include "net/http/server.h"
#include "relay/relay.h"
#include "web/web.h"

struct cluster;
struct mailer;
struct tls_context;
struct voice_service;
struct workbench;

/* Indexes of row counts for /metrics. One event loop writes these counts and the database size; any
 * OS thread reads them. */
enum { INVENTORY_ACCOUNTS, INVENTORY_GUILDS, INVENTORY_MESSAGES, INVENTORY_TABLES };
/* Indexes of numbers about the work of PostgreSQL's vacuum, in the order of the columns of
 * read_vacuum_state. */
enum {
    VACUUM_DEAD_ROWS,
    VACUUM_LIVE_ROWS,
    VACUUM_OLDEST_TRANSACTION,
    VACUUM_ID_AGE,
    VACUUM_NUMBERS
};
struct server_row_counts {
    _Atomic int64_t rows[INVENTORY_TABLES];
    _Atomic int64_t vacuum[VACUUM_NUMBERS];
    /* bytes: size of the PostgreSQL database. again_at: time of the next count
     * (clock_monotonic_ns). */
    _Atomic int64_t bytes, again_at;
    _Atomic bool known, counting;
    int64_t began;
    struct api *api;
    struct loop *loop;
    struct loop_message post;
};

struct guildhall {
    const struct config *config;
    struct guildhall_hooks hooks;
    char host[256];
    int socket; /* listening socket from systemd, or 0 */
    struct store *store;
    struct auth *auth;
    /* connection to the cluster; NULL if the server is not part of a cluster */
    struct cluster *cluster;
    struct api *api;
    struct http_server_callbacks api_app;
    struct gateway *gateway;
    struct voice_service *voice;
    struct relay *relay;      /* voice relay of this process; NULL if the server has none */
    char voice_endpoint[300]; /* voice endpoint (host and port) that is sent to clients */
    struct loops *loops;
    struct tls_context *tls;
    struct trusted_proxy_networks proxies;
    struct web_options web;
    struct http_server *server;
    struct http_server *metrics_server; /* separate listener for metrics, or NULL */
    struct mailer *mailer;              /* sender of mail; NULL if the server sends no mail */
    struct workbench *workbench;
    struct control *control;   /* control socket for the operator's tools, or NULL */
    char journal_folder[4096]; /* folder of the session journal */
    struct server_row_counts inventory;
};

/* Return the configured number of OS threads. The default depends on the number of CPU cores. */
unsigned config_get_loop_count(const struct config *c);
unsigned config_get_password_thread_count(const struct config *c);

/* --- listener.c -------------------------------- */

/* Parse the listen address and the trusted proxies. If invalid, log an error and return false. */
bool split_host_and_port(const char *listen, char *host, size_t max, int *ret_port);
bool read_listen_address(struct guildhall *g, int *ret_port);
enum err open_tls_certificate(struct guildhall *g);
enum err start_main_listener(struct guildhall *g, int port);

/* --- voice_relay.c --- */

enum err start_voice_relay(struct guildhall *g);
/* Passes the endpoint of the relay to voice/. Must be called when the port is known. */
enum err set_voice_relay_endpoint(struct guildhall *g);

/* --- cluster_setup.c --- */

/* Returns whether this server is a node of a cluster, so that other nodes may use the database. */
bool config_is_clustered(const struct config *config);
/* Returns whether the configuration is allowed in a cluster; if not, logs an error. */
bool check_cluster_config(const struct config *config);
/* Joins the cluster. `announce` is called with the events of each commit by this or another node.
 */
enum err open_cluster(struct guildhall *g, void (*announce)(void *arg, int64_t position,
                                                            const struct emitted_event *list));
const char *get_session_journal_folder(struct guildhall *g);
void append_cluster_metrics(const struct guildhall *g, struct buf *out);

enum err start_metrics_listener(struct guildhall *g);

void append_row_count_metrics(struct guildhall *g, struct buf *out);
/* Logs a warning if the clock is behind the creation time of the newest message or account
 * (base/clock_watch.h). */
void check_clock_against_store(struct guildhall *g);

/* Appends the metrics of the gateway, the relay and the cluster; arg is a struct guildhall. */
void append_server_metrics(void *arg, struct buf *out);

/* In archive_import.c: commands with which copy-guild imports an archive into a running server. */
void control_import_guild_archive_and_reply(void *arg, unsigned uid, struct str folder,
                                            struct buf *out);
void control_create_claim_code_and_reply(void *arg, unsigned uid, struct str id, struct buf *out);

extern const struct control_socket_command control_socket_commands[];

#endif
