/* guildhall.h - the whole server, put together.
 *
 * options -> store -> loops -> table of domains -> port. main.c runs one; tests
 * run one per world. */
#ifndef GUILDHALL_H
#define GUILDHALL_H

#include "api/api.h"
#include "server/config.h"
#include "gateway/gateway.h"
#include "platform/worlds/worlds.h"

#define GUILDHALL_VERSION "0.1.0"

struct guildhall;

/* Every domain, ended by NULL. */
extern const struct domain *const guildhall_domains[];

/* What domains add to world files. */

struct guildhall_hooks {
    /* Sees every announcement after its commit, in commit order. May be NULL. */
    void (*announce)(void *arg, const struct announcement *list);
    void *arg;
    /* Served instead of guildhall_domains. May be NULL. */
    const struct domain *const *domains;
    /* Asked by the gateway instead of the platform. May be NULL. */
    const struct gateway_source *source;
    /* Reads the configuration again and takes it over, from any thread: the operator asks by the
     * control socket. False with a sentence in out: everything stays as it is. May be NULL. */
    bool (*reload)(void *arg, struct guildhall *g, struct buf *out);
    void *reload_arg;
    /* Milliseconds from the upgrade to HELLO. 0: as clients need it. */
    unsigned hello_ms;
};

/* Once a process: libraries, hashing, signals that would end it. */
void guildhall_init(const struct config *config);
/* Part of it: as many descriptors as the hard limit allows. */
void guildhall_raise_descriptors(void);

/* Logs a sentence and returns an error when the port, the folder or the
 * configuration is bad. */
enum err guildhall_start(const struct config *config, const struct guildhall_hooks *hooks,
                         struct guildhall **ret);
/* Takes over what can change in a server that runs (option_row.reloads), and logs what that was
 * and what is left for the next start. False: the certificate cannot be used, and stays. */
bool guildhall_reload(struct guildhall *g, const struct config *before, const struct config *now);
/* Finishes calls, then closes. Accepts NULL. */
void guildhall_stop(struct guildhall *g);

int guildhall_port(const struct guildhall *g);
const char *guildhall_host(const struct guildhall *g);
bool guildhall_has_tls(const struct guildhall *g);
struct store *guildhall_store(const struct guildhall *g);
struct auth *guildhall_auth(const struct guildhall *g);
struct api *guildhall_api(const struct guildhall *g);
struct gateway *guildhall_gateway(const struct guildhall *g);
struct voice *guildhall_voice(const struct guildhall *g);

/* The store alone, for tools: to write while no server runs on the data, or only to
 * read beside one. */
enum err guildhall_open_store(const struct config *config, bool beside, struct store **ret);

#endif
