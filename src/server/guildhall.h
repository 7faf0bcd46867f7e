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

/* Version of the next or current release, for generated documents; meson.build has the same. */
#define GUILDHALL_VERSION "0.1.0"

struct guildhall;

/* All source folders that implement a resource (struct domain); the list ends with NULL. */
extern const struct domain *const guildhall_domains[];

struct guildhall_hooks {
    /* Called with the events of each commit, in commit order. May be NULL. */
    void (*events_committed)(void *arg, const struct emitted_event *list);
    void *arg;
    /* List of domains to use instead of guildhall_domains, or NULL. */
    const struct domain *const *domains;
    /* Gateway source to use instead of gateway_source, or NULL. */
    const struct gateway_source *source;
    /* Reads the configuration again and applies it. Called on any thread, for a request to the
     * control socket. Returns false, with the reason in out, if nothing changed. May be NULL. */
    bool (*reload)(void *arg, struct guildhall *g, struct buf *out);
    void *reload_arg;
    /* Delay in ms between the WebSocket upgrade and HELLO; 0 means the default. */
    unsigned hello_ms;
    /* Version to show in metrics and the list of nodes; NULL means GUILDHALL_VERSION. */
    const char *version;
};

/* Initializes libraries, logging, hash keys and SIGPIPE; call it once per process. */
void guildhall_init(const struct config *config);
/* Raises the soft limit of file descriptors to the hard limit; guildhall_init calls this. */
void raise_descriptor_limit(void);

/* Starts a server. Logs and returns an error if port, data folder or configuration is invalid. */
enum err guildhall_start(const struct config *config, const struct guildhall_hooks *hooks,
                         struct guildhall **ret);
/* Applies options that can change at run time (option_row.reloads), and logs which have changed and
 * which need a restart. Returns false if the new certificate is invalid; then the old one stays. */
bool guildhall_reload(struct guildhall *g, const struct config *before, const struct config *now);
/* Finishes running requests, then stops the server and frees it. Accepts NULL. */
void guildhall_stop(struct guildhall *g);

int guildhall_get_port(const struct guildhall *g);
const char *guildhall_get_host(const struct guildhall *g);
bool guildhall_has_tls(const struct guildhall *g);
struct store *guildhall_get_store(const struct guildhall *g);
struct auth *guildhall_get_auth(const struct guildhall *g);
struct api *guildhall_get_api(const struct guildhall *g);
struct gateway *guildhall_get_gateway(const struct guildhall *g);
struct voice_service *guildhall_get_voice(const struct guildhall *g);

/* Cost of hashing a password, from the options. */
struct password_cost config_password_cost(const struct config *c);

/* Opens the store for a tool: to write if no server runs, or with `concurrently` to read. */
enum err guildhall_open_store(const struct config *config, bool concurrently, struct store **ret);

#endif
