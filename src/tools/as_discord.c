/* as_discord.c - `serve --as-discord`: hosts entries and trusted certificates for bots under test.
 *
 * A command after "--" runs in a mount namespace of its own. There /etc/hosts has Discord's host
 * names, and the system's trusted certificates include the server's CA, so nothing changes outside
 * of the command. If the caller may not listen on port 443, server and command run in a user and a
 * network namespace of their own; then they can reach only each other. */
#include "tools/as_discord.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "server/as_discord.h"
#include "tools/serve.h"

/* Paths at which systems store their trusted certificates. The first file that exists is used. */
static const char *const system_certificate_files[] = {
    "/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Alpine, Arch */
    "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, RHEL */
    "/etc/ssl/ca-bundle.pem",             /* openSUSE */
    NULL,
};

/* Environment variables that name the file of certificates that a program trusts: ca.pem or
 * trusted.pem. */
static const struct {
    const char *name;
    /* Whether the file needs only the server's CA, because the program has a list of its own. */
    bool only_ours;
} certificate_variables[] = {
    { "NODE_EXTRA_CA_CERTS", true }, /* Node.js */
    { "SSL_CERT_FILE", false },      /* OpenSSL: Python, Ruby; Go, .NET, Rust */
    { "REQUESTS_CA_BUNDLE", false }, /* Python: requests */
    { "CURL_CA_BUNDLE", false },     /* curl */
    { NULL, false },
};

/* State of `serve --as-discord`. */
struct as_discord_run {
    const struct config *config;
    struct arena *arena;
    char **command; /* or NULL */
    /* Process that runs the command after it has read a byte from the pipe `start`; 0 without a
     * command. */
    pid_t child;
    int start;        /* write end of the pipe to the child process */
    bool own_network; /* whether server and command are in a network namespace of their own */
    char address[64]; /* address in the hosts entries */
    const char *ca, *trusted, *hosts;
};

static const char *find_system_certificates(void)
{
    const char *const *file = system_certificate_files;

    while (*file && access(*file, R_OK) != 0)
        file++;
    return *file;
}

/* --- files ---------------------------------------------------------------------------- */

/* Writes a file that consists of a text and of the content of another file, which may be
 * missing. */
static bool write_text_and_file(const char *path, struct str text, const char *other)
{
    struct buf content;

    buf_init(&content, 16 * 1024 * 1024);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool ok = fd >= 0 && write_all_bytes(fd, text) &&
              (!other || access(other, R_OK) != 0 || read_file_or_stdin(other, &content)) &&
              write_all_bytes(fd, buf_as_str(&content));
    if (!ok)
        fprintf(stderr, "guildhall: cannot write '%s': %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    buf_clear(&content);
    return ok;
}

static void append_hosts_line(struct buf *out, const char *prefix, const char *address)
{
    buf_printf(out, "%s%s", prefix, address);
    for (const char *const *name = platform_host_names; *name; name++)
        buf_printf(out, " %s", *name);
    buf_add_char(out, '\n');
}

/* Appends lines for the hosts file. The second line has the address in IPv6 form; without this
 * line, a client that asks only for IPv6 addresses would connect to Discord itself. */
static void append_hosts_entries(const struct as_discord_run *run, struct buf *out)
{
    append_hosts_line(out, "", run->address);
    if (!strchr(run->address, ':'))
        append_hosts_line(out, "::ffff:", run->address);
}

/* Writes the hosts file and the file of trusted certificates: the server's CA, then those of the
 * system. */
static bool write_files_for_clients(const struct as_discord_run *run)
{
    struct buf entry, authority;

    buf_init(&entry, SIZE_MAX);
    buf_init(&authority, 64 * 1024);
    append_hosts_entries(run, &entry);
    bool ok = read_file_or_stdin(run->ca, &authority) &&
              write_text_and_file(run->hosts, buf_as_str(&entry), "/etc/hosts") &&
              write_text_and_file(run->trusted, buf_as_str(&authority), find_system_certificates());
    buf_clear(&entry);
    buf_clear(&authority);
    return ok;
}

/* --- namespaces ----------------------------------------------------------------------- */

static bool write_to_proc_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_all_bytes(fd, str_of(text));

    if (fd >= 0)
        close(fd);
    return ok;
}

static bool may_listen_on_https_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons(443),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool refused = bind(fd, (struct sockaddr *)&address, sizeof address) != 0 && errno == EACCES;

    close(fd);
    return !refused;
}

static bool enable_loopback_interface(void)
{
    struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

static bool print_port_refused(void)
{
    fprintf(
        stderr,
        "guildhall: --as-discord needs port 443, which only root may use. Run it as root, add a "
        "command (serve --as-discord -- COMMAND), or allow the port: sysctl "
        "net.ipv4.ip_unprivileged_port_start=443\n");
    return false;
}

/* Moves this process into a new user namespace and a new network namespace. The user id stays the
 * same. Call this function before any OS thread starts. */
static bool enter_own_network_namespace(void)
{
    unsigned uid = geteuid(), gid = getegid();
    char users[64], groups[64];

    snprintf(users, sizeof users, "%u %u 1", uid, uid);
    snprintf(groups, sizeof groups, "%u %u 1", gid, gid);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
        write_to_proc_file("/proc/self/setgroups", "deny") &&
        write_to_proc_file("/proc/self/uid_map", users) &&
        write_to_proc_file("/proc/self/gid_map", groups) && enable_loopback_interface())
        return true;
    fprintf(stderr,
            "guildhall: --as-discord needs port 443, which only root may use, and this system does "
            "not allow user namespaces (%s). Run it as root, or allow the port: sysctl "
            "net.ipv4.ip_unprivileged_port_start=443\n",
            strerror(errno));
    return false;
}

static bool bind_mount_file_over(const char *file, const char *target)
{
    if (mount(file, target, NULL, MS_BIND, NULL) == 0)
        return true;
    fprintf(stderr, "guildhall: cannot mount '%s' over '%s': %s\n", file, target, strerror(errno));
    return false;
}

static bool enter_own_mount_namespace(const struct as_discord_run *run)
{
    const char *certificates = find_system_certificates();

    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        fprintf(stderr, "guildhall: cannot create a mount namespace for the command: %s\n",
                strerror(errno));
        return false;
    }
    return bind_mount_file_over(run->hosts, "/etc/hosts") &&
           (!certificates || bind_mount_file_over(run->trusted, certificates));
}

/* --- the command ---------------------------------------------------------------------- */

/* Waits until the server listens, then runs the command in this process. Never returns. */
static void run_command_in_child(const struct as_discord_run *run, int started)
{
    char byte;

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_DFL); /* guildhall_init ignores it */
    if (read(started, &byte, 1) != 1)
        _exit(1); /* the server could not start, and has printed the reason */
    if (!enter_own_mount_namespace(run))
        _exit(126);
    for (int i = 0; certificate_variables[i].name; i++)
        setenv(certificate_variables[i].name,
               certificate_variables[i].only_ours ? run->ca : run->trusted, 1);
    execvp(run->command[0], run->command);
    fprintf(stderr, "guildhall: cannot run '%s': %s\n", run->command[0], strerror(errno));
    _exit(127);
}

/* Creates the process that will run the command. Call this function before OS threads start: after
 * a later fork, the process could call only few functions. */
static bool create_command_process(struct as_discord_run *run)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0 || (run->child = fork()) < 0) {
        fprintf(stderr, "guildhall: cannot start a process: %s\n", strerror(errno));
        return false;
    }
    if (run->child == 0) {
        close(ends[1]);
        run_command_in_child(run, ends[0]);
    }
    close(ends[0]);
    run->start = ends[1];
    return true;
}

/* Ends the command if it is still running. Returns the exit status of the command, or 128 plus the
 * number of the signal that ended the command. */
enum { STOP_TRIES = 100, STOP_TRY_US = 100 * 1000 };

static bool command_has_ended(pid_t child)
{
    siginfo_t info = { 0 };

    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid;
}

static int end_and_wait_for_command(const struct as_discord_run *run)
{
    int status = 0;

    close(run->start);
    kill(run->child, SIGTERM); /* no effect if it has ended */
    for (int i = 0; i < STOP_TRIES && !command_has_ended(run->child); i++)
        usleep(STOP_TRY_US);
    kill(run->child, SIGKILL); /* no effect if it has ended */
    while (waitpid(run->child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void print_guide_for_other_clients(const struct as_discord_run *run)
{
    struct buf entry;

    buf_init(&entry, SIZE_MAX);
    append_hosts_entries(run, &entry);
    printf("\nDiscord's host names are served here. A bot needs these lines in /etc/hosts:\n\n"
           "%.*s\nand must trust the authority of the certificates:\n\n",
           STR_ARGS(buf_as_str(&entry)));
    for (int i = 0; certificate_variables[i].name; i++)
        printf("  export %s='%s'\n", certificate_variables[i].name,
               certificate_variables[i].only_ours ? run->ca : run->trusted);
    printf("\nRemove the lines from /etc/hosts after the test, otherwise this machine cannot reach "
           "Discord. To change nothing outside one command: guildhall serve --as-discord -- "
           "COMMAND\n");
    buf_clear(&entry);
}

static void on_server_ready(void *arg, const char *url)
{
    struct as_discord_run *run = arg;

    (void)url;
    if (!write_files_for_clients(run)) {
        kill(getpid(), SIGTERM);
        return;
    }
    if (!run->command) {
        print_guide_for_other_clients(run);
        return;
    }
    printf("guildhall: running '%s' with Discord's host names%s\n", run->command[0],
           run->own_network ? " in a network of its own (as root, it also reaches other networks)"
                            : "");
    fflush(stdout);
    if (write(run->start, "!", 1) != 1)
        kill(getpid(), SIGTERM);
}

/* Chooses the address for the hosts entries: the address on which the server listens, or
 * loopback. */
static void choose_address_of_hosts_file(struct as_discord_run *run)
{
    struct str host = str_of(run->config->listen);
    const char *colon = strrchr(run->config->listen, ':');
    struct in_addr address;

    host.n = (size_t)(colon - run->config->listen);
    snprintf(run->address, sizeof run->address, "%.*s", STR_ARGS(host));
    if (run->address[0] == '[') { /* IPv6 */
        memmove(run->address, run->address + 1, strlen(run->address));
        run->address[strcspn(run->address, "]")] = 0;
        if (strcmp(run->address, "::") == 0)
            snprintf(run->address, sizeof run->address, "::1");
    } else if (inet_pton(AF_INET, run->address, &address) != 1 || address.s_addr == INADDR_ANY) {
        snprintf(run->address, sizeof run->address, "127.0.0.1");
    }
}

static const char *make_path_absolute(struct arena *arena, const char *path)
{
    char folder[4096];

    return path[0] == '/' || !getcwd(folder, sizeof folder)
               ? path
               : str_printf(arena, "%s/%s", folder, path).p;
}

int serve_as_discord(const struct command_settings *s, char **command)
{
    struct as_discord_run run = { .config = &s->config, .arena = arena_new(), .command = command };
    int status = 1;

    run.ca = make_path_absolute(run.arena,
                                as_discord_folder_get_file_path(run.config, run.arena, "ca.pem"));
    run.trusted = make_path_absolute(
        run.arena, as_discord_folder_get_file_path(run.config, run.arena, "trusted.pem"));
    run.hosts = make_path_absolute(run.arena,
                                   as_discord_folder_get_file_path(run.config, run.arena, "hosts"));
    choose_address_of_hosts_file(&run);
    if (!may_listen_on_https_port()) {
        run.own_network = true;
        if (command ? !enter_own_network_namespace() : !print_port_refused())
            goto end;
    }
    if (command && !create_command_process(&run))
        goto end;
    status = serve_until_stopped(&s->config, s, on_server_ready, &run);
    if (command) {
        int of_command = end_and_wait_for_command(&run);

        status = status ? status : of_command;
    }
end:
    arena_free(run.arena);
    return status;
}
