/* parts.h - struct guildhall and declarations shared by the files of server/. */
#ifndef PARTS_H
#define PARTS_H

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
struct voice;
struct workbench;

/* Last counts of inventory.c. Written on one loop, read by any thread that writes metrics. */
enum { INVENTORY_ACCOUNTS, INVENTORY_GUILDS, INVENTORY_MESSAGES, INVENTORY_TABLES };
struct inventory {
    _Atomic int64_t rows[INVENTORY_TABLES];
    _Atomic int64_t bytes, again_at; /* again_at: clock_mono of the next count */
    _Atomic bool known, counting;
    int64_t began;
    struct api *api;
    struct loop *loop;
    struct post post;
};

struct guildhall {
    const struct config *config;
    struct guildhall_hooks hooks;
    char host[256];
    int socket; /* listening socket from systemd; 0: none */
    struct store *store;
    struct auth *auth;
    struct cluster *cluster; /* NULL: the server is not part of a cluster */
    struct api *api;
    struct server_app api_app;
    struct gateway *gateway;
    struct voice *voice;
    struct relay *relay;      /* NULL: no voice relay */
    char voice_endpoint[300]; /* endpoint of the relay for clients */
    struct loops *loops;
    struct tls_context *tls;
    struct proxies proxies;
    struct web web;
    struct server *server;
    struct server *monitor; /* NULL: no separate metrics listener */
    struct mailer *mailer;  /* NULL: no mail is sent */
    struct workbench *workbench;
    struct control *control; /* NULL: no control socket */
    char ledger[4096];       /* folder of the session journal */
    struct inventory inventory;
};

/* Return the number of threads: from the configuration, otherwise from the number of cores. */
unsigned parts_loop_count(const struct config *c);
unsigned parts_password_threads(const struct config *c);

/* --- port.c ------------------------------------ */

/* Read host, port and trusted proxies from the configuration; return false and log on errors. */
bool parts_split_address(const char *listen, char *host, size_t max, int *ret_port);
bool parts_read_address(struct guildhall *g, int *ret_port);
enum err parts_open_tls(struct guildhall *g);
enum err parts_start_server(struct guildhall *g, int port);

/* --- carried_voice.c --- */

enum err parts_start_relay(struct guildhall *g);
/* Passes the endpoint of the relay to voice/, once the port is known. */
enum err parts_announce_relay(struct guildhall *g);

/* --- other_servers.c --- */

/* Returns true if other nodes may use the database. */
bool parts_share(const struct config *config);
/* Returns false and logs if the configuration does not allow a cluster. */
bool parts_can_share(const struct config *config);
/* Calls announce with the events of each commit, of this or another node. */
enum err parts_open_cluster(struct guildhall *g, void (*announce)(void *arg, int64_t position,
                                                                  const struct announcement *list));
const char *parts_ledger(struct guildhall *g);
void parts_cluster_metrics(const struct guildhall *g, struct buf *out);

enum err parts_start_monitor(struct guildhall *g);

void parts_inventory_metrics(struct guildhall *g, struct buf *out);
/* Compares the clock with the newest message and account (base/clock_watch.h). */
void parts_check_clock(struct guildhall *g);

/* Writes the metrics of the gateway, the relay and the cluster; arg is the server. */
void parts_metrics(void *arg, struct buf *out);

/* Commands of the control socket. */
extern const struct control_row parts_control_rows[];

#endif
