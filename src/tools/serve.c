/* serve.c - `guildhall serve`: the server, until it is told to stop. */
#include "tools/serve.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "guildhall.h"
#include "manager.h"
#include "snapshots.h"

static int wait_for_signal(void)
{
    sigset_t set;
    int sig;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SNAPSHOT_SIGNAL);
    sigwait(&set, &sig);
    return sig;
}

/* Before any thread starts, so that only wait_for_signal sees them. */
static void hold_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SNAPSHOT_SIGNAL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Nobody can come in yet: says how. */
static void greet_first_run(const struct guildhall *g, const struct config *config)
{
    bool empty;

    if (world_is_empty(guildhall_store(g), &empty) || !empty)
        return;
    printf("guildhall: there are no accounts yet. Make the first one, here on this machine:\n"
           "  guildhall user add NAME --data %s\n"
           "  guildhall user passwd NAME --data %s\n",
           config->data, config->data);
    if (api_options(guildhall_api(g))->registration == REGISTRATION_INVITE)
        printf("Others register with an invitation: guildhall invite create --data %s\n",
               config->data);
}

static void write_url(const struct guildhall *g, const struct config *config, char *out, size_t max)
{
    const char *host = guildhall_host(g);
    const char *open = strchr(host, ':') ? "[" : "", *close = *open ? "]" : "";

    snprintf(out, max, "http%s://%s%s%s:%d", config->tls_only ? "s" : "", open, host, close,
             guildhall_port(g));
}

/* Runs the server until a signal comes, which it returns; 0: it did not start. */
static int serve_once(const struct config *config, void (*ready)(void *arg, const char *url),
                      void *arg, char listen[300])
{
    struct guildhall *g;

    if (!snapshot_settle(config->data) || guildhall_start(config, NULL, &g))
        return 0;
    write_url(g, config, listen, 300);
    printf("guildhall: listening on %s\n", listen);
    if (ready)
        ready(arg, listen);
    else
        greet_first_run(g, config);
    fflush(stdout);
    manager_tell("READY=1");

    int sig = wait_for_signal();
    log_info("stopping (%s)", sig == SIGINT    ? "interrupted"
                              : sig == SIGTERM ? "asked to"
                                               : "to restore a snapshot");
    manager_tell(sig == SNAPSHOT_SIGNAL ? "RELOADING=1" : "STOPPING=1");
    guildhall_stop(g);
    return sig;
}

/* A server that restores a snapshot is the same to everybody outside: it comes back on its port,
 * and is told of once. */
static void greet_no_more(void *arg, const char *url)
{
    (void)arg, (void)url;
}

int serve_until_stopped(const struct config *config, void (*ready)(void *arg, const char *url),
                        void *arg)
{
    struct config again = *config;
    char url[300], listen[300];

    hold_signals();
    int sig = serve_once(&again, ready, arg, url);
    snprintf(listen, sizeof listen, "%s", strstr(url, "//") ? strstr(url, "//") + 2 : "");
    while (sig == SNAPSHOT_SIGNAL) {
        snapshot_bring_back(config->data);
        again.listen = listen;
        sig = serve_once(&again, greet_no_more, NULL, url);
    }
    return sig ? 0 : 1;
}

int tool_serve(const struct settings *s, char **arguments)
{
    if (*arguments)
        return usage("serve takes no arguments");
    return serve_until_stopped(&s->config, NULL, NULL);
}
