/* serve.c - `guildhall serve`: runs the server until a signal stops it. */
#include "tools/serve.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "admin/control/control.h"
#include "server/guildhall.h"
#include "tools/version.h"
#include "server/systemd.h"
#include "store/backup/snapshots.h"
#include "tools/temporary_server.h"
#include "tools/as_discord.h"

/* A running server and its configuration. */
struct served_instance {
    const struct config *config;
    const struct command_settings *settings; /* or NULL */
    struct command_settings current; /* settings as of the last reload; allocated in the arena */
    struct arena *arena;
    bool has_terminal;
    pthread_mutex_t lock; /* held during a reload, which a signal or the control socket can cause */
};

static bool runs_command; /* --as-discord; set before signals are blocked */

static sigset_t create_set_of_handled_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SNAPSHOT_SIGNAL);
    if (runs_command)
        sigaddset(&set, SIGCHLD); /* the command of --as-discord has ended */
    return set;
}

/* Blocks the signals, so that only wait_for_stop_signal receives them. Call this function before
 * any OS thread starts. */
static void block_signals(void)
{
    sigset_t set = create_set_of_handled_signals();
    struct sigaction ended_only = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };

    sigaction(SIGCHLD, &ended_only, NULL);

    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Reloads the settings. On an error, changes nothing. The caller holds the lock. */
static bool reload_settings_with_lock_held(struct served_instance *s, struct guildhall *g,
                                           struct buf *out)
{
    struct arena *arena = arena_new();
    struct command_settings now;
    const char *problem;

    if (!reread_settings(s->settings, arena, &now, &problem)) {
        log_error("reloaded: nothing, because the configuration is invalid: %s", problem);
        buf_printf(out, "nothing was reloaded: %s", problem);
        arena_free(arena);
        return false;
    }
    const struct config *before = s->arena ? &s->current.config : &s->settings->config;
    bool ok = guildhall_reload(g, before, &now.config);
    if (!ok)
        buf_add_lit(
            out,
            "the new certificate cannot be used, so the old one stays in use; the log contains "
            "the reason");
    arena_free(s->arena);
    s->arena = arena;
    s->current = now;
    return ok;
}

static bool on_reload_request(void *arg, struct guildhall *g, struct buf *out)
{
    struct served_instance *s = arg;

    pthread_mutex_lock(&s->lock);
    bool ok = reload_settings_with_lock_held(s, g, out);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

static int wait_for_stop_signal(struct served_instance *s, struct guildhall *g)
{
    sigset_t set = create_set_of_handled_signals();
    int sig;

    /* SIGHUP reloads the settings, but stops the server if SIGHUP was sent because a terminal was
     * closed. */
    while (sigwait(&set, &sig) == 0 && sig == SIGHUP && s->settings &&
           !(s->has_terminal && !isatty(STDIN_FILENO))) {
        struct buf message;

        buf_init(&message, SIZE_MAX);
        systemd_notify_state("RELOADING=1");
        on_reload_request(s, g, &message);
        systemd_notify_state("READY=1");
        buf_clear(&message);
    }
    return sig;
}

static void print_first_account_help(const struct guildhall *g, const struct config *config)
{
    bool empty;

    if (store_has_no_accounts(guildhall_get_store(g), &empty) || !empty)
        return;
    printf("guildhall: there are no accounts yet. Create the first one on this machine:\n  "
           "guildhall user add NAME --data %s\n  guildhall user passwd NAME --data %s\n",
           config->data, config->data);
    enum registration_mode mode = api_get_options(guildhall_get_api(g))->registration;

    if (mode == REGISTRATION_INVITE || mode == REGISTRATION_GUILD_INVITE)
        printf("Other people register with a code: guildhall invite create --data %s\n",
               config->data);
}

static void format_server_url(const struct guildhall *g, const struct config *config, char *out,
                              size_t max)
{
    const char *host = guildhall_get_host(g);
    const char *open = strchr(host, ':') ? "[" : "", *close = *open ? "]" : "";

    snprintf(out, max, "http%s://%s%s%s:%d", config->tls_only || config->as_discord ? "s" : "",
             open, host, close, guildhall_get_port(g));
}

/* Runs the server until a signal arrives. Returns the signal, or 0 if the server could not
 * start. */
static int run_server_until_signal(struct served_instance *s,
                                   void (*ready)(void *arg, const char *url), void *arg,
                                   char listen[300])
{
    const struct config *config = s->config;
    const struct guildhall_hooks hooks = { .reload = s->settings ? on_reload_request : NULL,
                                           .reload_arg = s,
                                           .version = build_identity.version };
    struct guildhall *g;

    if (!snapshot_finish_interrupted_restore(config->data) || guildhall_start(config, &hooks, &g))
        return 0;
    format_server_url(g, config, listen, 300);
    printf("guildhall: listening on %s\n", listen);
    if (ready)
        ready(arg, listen);
    else
        print_first_account_help(g, config);
    fflush(stdout);
    systemd_notify_state("READY=1");

    int sig = wait_for_stop_signal(s, g);
    log_info("the server is stopping: %s", sig == SIGINT    ? "interrupted"
                                           : sig == SIGTERM ? "asked to"
                                           : sig == SIGHUP  ? "the terminal was closed"
                                           : sig == SIGCHLD ? "the command has ended"
                                                            : "for a snapshot or a world file");
    systemd_notify_state(sig == SNAPSHOT_SIGNAL ? "RELOADING=1" : "STOPPING=1");
    guildhall_stop(g);
    return sig;
}

static void import_queued_world_file(const struct config *config)
{
    struct world_file_import_options options = {
        .domains = guildhall_domains,
        .password_cost = config_get_password_cost(config),
    };
    struct store *store = NULL;

    if (!guildhall_open_store(config, false, &store) && !store_lock_exclusive(store) &&
        !auth_new(config->data, store, &options.auth))
        world_file_import_run_queued(store, &options);
    else
        world_file_import_record_failure();
    auth_free(options.auth);
    store_close(store);
}

/* Called after a restart for a snapshot or an import. Prints nothing, because the URL is still the
 * same. */
static void print_nothing_on_restart(void *arg, const char *url)
{
    (void)arg, (void)url;
}

int serve_until_stopped(const struct config *config, const struct command_settings *settings,
                        void (*ready)(void *arg, const char *url), void *arg)
{
    struct config again = *config;
    struct served_instance s = { .config = &again,
                                 .settings = settings,
                                 .has_terminal = isatty(STDIN_FILENO),
                                 .lock = PTHREAD_MUTEX_INITIALIZER };
    char url[300] = "", listen[300];

    runs_command = config->as_discord;
    block_signals();
    if (settings && settings->temporary)
        temporary_server_stop_at_end_of_input();
    snapshots_set_pauses_and_syncs_disabled(strcmp(config->workbench, "on") == 0);
    int sig = run_server_until_signal(&s, ready, arg, url);
    snprintf(listen, sizeof listen, "%s", strstr(url, "//") ? strstr(url, "//") + 2 : "");
    while (sig == SNAPSHOT_SIGNAL) {
        /* If both a snapshot and an import were requested, restore the snapshot first, then import
         * the world file. */
        snapshot_run_requested_restore(config->data);
        if (world_file_import_is_queued())
            import_queued_world_file(config);
        /* After a restart, use the configuration of the last reload. */
        if (s.arena)
            again = s.current.config;
        again.listen = listen;
        sig = run_server_until_signal(&s, print_nothing_on_restart, NULL, url);
    }
    arena_free(s.arena);
    return sig ? 0 : 1;
}

int run_command_reload(const struct command_settings *s, char **arguments)
{
    struct buf reply;

    (void)arguments;
    buf_init(&reply, SIZE_MAX);
    enum err e = control_socket_send_request_to_all_servers(s->config.data, "reload", &reply);
    if (e)
        fprintf(stderr, "guildhall: %s '%s'\n",
                e == ERR_FORBIDDEN
                    ? "only root and the user that runs the server may reload the server on"
                : e == ERR_UNAVAILABLE ? "no server runs on"
                                       : "no response in time from the server on",
                s->config.data);
    else if (reply.n)
        fprintf(stderr, "guildhall: %.*s\n", STR_ARGS(buf_as_str(&reply)));
    int status = e || reply.n ? 1 : 0;
    buf_clear(&reply);
    return status;
}

const struct option_row serve_option_rows[] = {
    { "temporary", OPTION_SWITCH, .offset = offsetof(struct command_settings, temporary),
      .fallback = "off",
      .help = "For tests: stop when standard input ends, and delete the data folder, which must "
              "contain a file named temporary" },
    { 0 },
};

int run_command_serve(const struct command_settings *s, char **arguments)
{
    char **command = *arguments ? arguments + 1 : NULL;

    if (command && strcmp(*arguments, "--") != 0)
        return print_usage_error("serve accepts no arguments but a command after --");
    if (command && !*command)
        return print_usage_error("-- must be followed by a command");
    if (s->config.as_discord && s->temporary)
        return print_usage_error("--temporary does not work with --as-discord");
    if (s->config.as_discord)
        return serve_as_discord(s, command);
    if (command)
        return print_usage_error("serve runs a command only with --as-discord");
    if (s->temporary && !temporary_server_may_delete_folder(s->config.data))
        return 1;
    int status = serve_until_stopped(&s->config, s, NULL, NULL);
    /* Delete the folder only if the start succeeded; another server may be using it. */
    if (s->temporary && status == 0)
        temporary_server_delete_folder(s->config.data);
    return status;
}
