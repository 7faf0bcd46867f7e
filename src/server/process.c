/* process.c - initialises the process (libraries, limits), and computes numbers of threads. */
#ifdef GUILDHALL_STATIC
#include <nss.h>
#endif
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/guildhall_internal.h"

/* Raises the limit of file descriptors, because each connection needs one. The default soft limit
 * is often 1,024, for programs that use select(). */
void raise_descriptor_limit(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == r.rlim_max)
        return;
    r.rlim_cur = r.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &r) != 0)
        log_warn(
            "cannot raise the limit of open files (ulimit -n), so the server serves fewer connections");
}

/* Restricts name lookup to the NSS modules files and dns, which the static build contains. glibc
 * would load all other modules of nsswitch.conf, and they would need another libc. */
static void configure_name_lookup(void)
{
#ifdef GUILDHALL_STATIC
    __nss_configure_lookup("hosts", "files dns");
#endif
}

void guildhall_init(const struct config *config)
{
    bool json = strcmp(config->log_format, "json") == 0 ||
                (strcmp(config->log_format, "auto") == 0 && !isatty(STDERR_FILENO));

    mem_configure_malloc(config_get_loop_count(config));
    if (sodium_init() < 0) {
        fprintf(stderr,
                "guildhall: cannot initialise libsodium: the system provides no random numbers\n");
        exit(1);
    }
    log_init(STDERR_FILENO, log_level_from_name(config->log_level), json);
    hash_init_random_key();
    snowflake_set_node((unsigned)config->node);
    signal(SIGPIPE, SIG_IGN);
    configure_name_lookup();
    raise_descriptor_limit();
}

static unsigned cpu_core_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores > 0 ? (unsigned)cores : 1;
}

unsigned config_get_loop_count(const struct config *c)
{
    return c->loops ? (unsigned)c->loops : cpu_core_count();
}

struct password_cost config_get_password_cost(const struct config *c)
{
    return (struct password_cost){ .ops = (unsigned long long)c->password_passes,
                                   .memory = (size_t)c->password_memory_mib * 1024 * 1024 };
}

/* Returns the number of OS threads that hash passwords. The default is half the number of CPU
 * cores, so that many log-ins at once leave the other cores free. */
unsigned config_get_password_thread_count(const struct config *c)
{
    return c->password_threads ? (unsigned)c->password_threads : (cpu_core_count() + 1) / 2;
}
