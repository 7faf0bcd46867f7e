/* serve.c - `guildhall serve`: the server, until it is told to stop. */
#include "tools/serve.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "guildhall.h"
#include "manager.h"

static int wait_for_signal(void)
{
    sigset_t set;
    int sig;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
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

int serve_until_stopped(const struct config *config, void (*ready)(void *arg, const char *url),
                        void *arg)
{
    struct guildhall *g;
    char url[300];

    hold_signals();
    if (guildhall_start(config, NULL, &g))
        return 1;
    const char *host = guildhall_host(g);
    const char *open = strchr(host, ':') ? "[" : "", *close = *open ? "]" : "";
    snprintf(url, sizeof url, "http%s://%s%s%s:%d", config->tls_only ? "s" : "", open, host, close,
             guildhall_port(g));
    printf("guildhall: listening on %s\n", url);
    if (ready)
        ready(arg, url);
    else
        greet_first_run(g, config);
    fflush(stdout);
    manager_tell("READY=1");

    int sig = wait_for_signal();
    log_info("stopping (%s)", sig == SIGINT ? "interrupted" : "asked to");
    manager_tell("STOPPING=1");
    guildhall_stop(g);
    return 0;
}

int tool_serve(const struct settings *s, char **arguments)
{
    if (*arguments)
        return usage("serve takes no arguments");
    return serve_until_stopped(&s->config, NULL, NULL);
}
