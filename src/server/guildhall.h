/* guildhall.h - the whole server: starts and stops store, API, gateway, relay and listeners.
 *
 * src/server owns the process: configuration -> store -> loops -> api, gateway, relay -> port. It
 * may use every folder except tools/. main.c runs one server; tests may run several in one process.
 * Invariant: the store closes last. Start reading with guildhall_start. */
#ifndef GUILDHALL_H
#define GUILDHALL_H

#include "api/api.h"
#include "server/config.h"
#include "gateway/gateway.h"
#include "platform/worlds/worlds.h"

/* Version of the next or current release. Generated documents contain it; meson.build must have the
 * same version. */
#define GUILDHALL_VERSION "0.1.0"

struct guildhall;

/* All source folders that implement a resource (struct domain); the list ends with NULL. */
extern const struct domain *const guildhall_domains[];

struct guildhall_hooks {
    /* Called with the events of each commit, in commit order. May be NULL. */
    void (*events_committed)(void *arg, const struct emitted_event *list);
    void *arg;
    /* Domains to use instead of guildhall_domains, or NULL. */
    const struct domain *const *domains;
    /* Functions to use instead of gateway_source, or NULL. */
    const struct gateway_source *source;
    /* Reads the configuration again and applies it. The control socket calls it on any OS thread.
     * If the configuration is invalid, changes nothing, writes the reason to `out` and returns
     * false. May be NULL. */
    bool (*reload)(void *arg, struct guildhall *g, struct buf *out);
    void *reload_arg;
    /* Delay in ms between the WebSocket upgrade and HELLO; 0 means the default. */
    unsigned hello_ms;
    /* Version that metrics and the list of nodes show; NULL means GUILDHALL_VERSION. */
    const char *version;
};

/* Initializes libraries, logging, hash keys and the handling of SIGPIPE. Called once per process.
 */
void guildhall_init(const struct config *config);
/* Raises the soft limit of file descriptors to the hard limit; called by guildhall_init. */
void raise_descriptor_limit(void);

/* Starts a server. If port, data folder or configuration are invalid, logs and returns an error. */
enum err guildhall_start(const struct config *config, const struct guildhall_hooks *hooks,
                         struct guildhall **ret);
/* Applies the options that can change at run time (option_row.reloads). Logs which options have
 * changed and which changes need a restart. If the new certificate is invalid, returns false and
 * continues to use the old certificate. */
bool guildhall_reload(struct guildhall *g, const struct config *before, const struct config *now);
/* Waits until running requests have finished, then stops the server and frees it. g may be NULL. */
void guildhall_stop(struct guildhall *g);

int guildhall_get_port(const struct guildhall *g);
const char *guildhall_get_host(const struct guildhall *g);
bool guildhall_has_tls(const struct guildhall *g);
struct store *guildhall_get_store(const struct guildhall *g);
struct auth *guildhall_get_auth(const struct guildhall *g);
struct api *guildhall_get_api(const struct guildhall *g);
struct gateway *guildhall_get_gateway(const struct guildhall *g);
struct voice_service *guildhall_get_voice(const struct guildhall *g);

/* Returns the cost of hashing a password (Argon2id), according to the options. */
struct password_cost config_get_password_cost(const struct config *c);

/* Opens the store for a tool. With `concurrently`, the tool may only read, while a server may be
 * running. Otherwise the tool may write, and no server may be running. */
enum err guildhall_open_store(const struct config *config, bool concurrently, struct store **ret);

#endif
