/* parts.h - what the files that put the server together share. */
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

/* inventory.c: how much there was when it was counted last. Written on one loop, read by whoever
 * shows metrics. */
enum { INVENTORY_ACCOUNTS, INVENTORY_GUILDS, INVENTORY_MESSAGES, INVENTORY_TABLES };
struct inventory {
    _Atomic int64_t rows[INVENTORY_TABLES];
    _Atomic int64_t bytes, again_at; /* again_at: clock_mono */
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
    int socket; /* handed over by the service manager; 0: we open our own */
    struct store *store;
    struct auth *auth;
    struct cluster *cluster; /* NULL: this server is alone */
    struct api *api;
    struct server_app api_app;
    struct gateway *gateway;
    struct voice *voice;
    struct relay *relay;      /* NULL: voice is not carried */
    char voice_endpoint[300]; /* where it is reached */
    struct loops *loops;
    struct tls_context *tls;
    struct proxies proxies;
    struct web web;
    struct server *server;
    struct server *monitor; /* NULL: metrics have no listener of their own */
    struct mailer *mailer;  /* NULL: no mail is sent */
    struct workbench *workbench;
    struct control *control; /* NULL: it could not listen */
    char ledger[4096];       /* folder */
    struct inventory inventory;
};

/* As many as the machine has, unless the configuration says how many. */
unsigned parts_loop_count(const struct config *c);
unsigned parts_password_threads(const struct config *c);

/* --- port.c: one port for calls and sessions --- */

/* Takes host, port, trusted proxies from the configuration; false after a sentence in the log. */
bool parts_split_address(const char *listen, char *host, size_t max, int *ret_port);
bool parts_read_address(struct guildhall *g, int *ret_port);
enum err parts_open_tls(struct guildhall *g);
enum err parts_start_server(struct guildhall *g, int port);

/* --- carried_voice.c --- */

enum err parts_start_relay(struct guildhall *g);
/* Tells voice where the relay is reached, once the port is known. */
enum err parts_announce_relay(struct guildhall *g);

/* --- other_servers.c --- */

/* Whether there may be others on the database. */
bool parts_share(const struct config *config);
/* False after a sentence in the log: the configuration does not allow it. */
bool parts_can_share(const struct config *config);
/* What is committed is told by announce, wherever it was. */
enum err parts_open_cluster(struct guildhall *g, void (*announce)(void *arg, int64_t position,
                                                                  const struct announcement *list));
/* Where it is noted what sessions were told; NULL: nowhere. */
const char *parts_ledger(struct guildhall *g);
void parts_cluster_metrics(const struct guildhall *g, struct buf *out);

/* metrics_port.c: the listener of --metrics-listen, if there is to be one. */
enum err parts_start_monitor(struct guildhall *g);

void parts_inventory_metrics(struct guildhall *g, struct buf *out);
/* Compares the clock with the newest message and account (base/clock_watch.h). */
void parts_check_clock(struct guildhall *g);

/* What /metrics shows of the gateway and of the relay; arg is the server. */
void parts_metrics(void *arg, struct buf *out);

/* What its operator may ask through the control socket. */
extern const struct control_row parts_control_rows[];

#endif
