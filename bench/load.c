/* load.c - the load generator's command line. */
#include "load.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "http.h"

static const struct mode {
    const char *name;
    void (*run)(const struct options *o);
    const char *help;
} modes[] = {
    { "get", load_get, "--path P [--token T] --connections C [--count N] --seconds S" },
    { "write", load_write,
      "--tokens FILE [--path P --body JSON] --connections C [--count N] [--rate N] --seconds S" },
    { "play", load_play, "--script FILE --connections C [--count N] --seconds S" },
    { "register", load_register, "--prefix NAME --count N" },
    { "idle", load_idle, "--path P --connections C --seconds S" },
    { "fanout", load_fanout, "--path P --connections C --message BYTES --seconds S" },
    { "rounds", load_rounds,
      "--token T --bot T --body JSON --connections C [--rate N] --seconds S" },
    { "sessions", load_sessions, "--path P --tokens FILE --connections C --post P --token T" },
};

__attribute__((noreturn)) static void print_usage_error(void)
{
    struct buf text;

    buf_init(&text, 4096);
    for (size_t i = 0; i < COUNT_OF(modes); i++)
        buf_printf(&text, "\n  load %s --port PORT %s", modes[i].name, modes[i].help);
    die("usage:%.*s", STR_ARGS(buf_as_str(&text)));
}

static uint64_t number(const char *text, uint64_t max)
{
    uint64_t n;

    if (!str_to_u64(str_of(text), &n) || n > max)
        die("'%s' is not a number up to %llu", text, (unsigned long long)max);
    return n;
}

static struct options options_parse(int argc, char **argv)
{
    static const struct option names[] = {
        { "port", required_argument, NULL, 'p' },
        { "path", required_argument, NULL, 'P' },
        { "token", required_argument, NULL, 't' },
        { "tokens", required_argument, NULL, 'T' },
        { "script", required_argument, NULL, 'S' },
        { "post", required_argument, NULL, 'o' },
        { "bot", required_argument, NULL, 'B' },
        { "body", required_argument, NULL, 'b' },
        { "rate", required_argument, NULL, 'r' },
        { "prefix", required_argument, NULL, 'x' },
        { "connections", required_argument, NULL, 'c' },
        { "count", required_argument, NULL, 'n' },
        { "seconds", required_argument, NULL, 's' },
        { "message", required_argument, NULL, 'm' },
        { "tls", no_argument, NULL, 'l' },
        { 0 },
    };
    struct options o = { .connections = 1, .seconds = 10, .prefix = "bench" };

    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (c) {
        case 'p':
            o.port = (uint16_t)number(optarg, UINT16_MAX);
            break;
        case 'P':
            o.path = optarg;
            break;
        case 't':
            o.token = optarg;
            break;
        case 'T':
            o.tokens_file = optarg;
            break;
        case 'S':
            o.script_file = optarg;
            break;
        case 'o':
            o.post = optarg;
            break;
        case 'B':
            o.bot = optarg;
            break;
        case 'b':
            o.body = optarg;
            break;
        case 'r':
            o.rate = number(optarg, 100000);
            break;
        case 'l':
            o.tls = true;
            break;
        case 'x':
            o.prefix = optarg;
            break;
        case 'c':
            o.connections = number(optarg, 50000);
            break;
        case 'n':
            o.count = number(optarg, 100000000);
            break;
        case 's':
            o.seconds = strtod(optarg, NULL);
            break;
        case 'm':
            o.message = number(optarg, 1 << 20);
            break;
        default:
            print_usage_error();
        }
    }
    if (!o.port || !o.connections || o.seconds <= 0 || o.seconds > 600)
        print_usage_error();
    return o;
}

/* Raises the limit of open files. */
static void raise_file_limit(uint64_t wanted)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    if (limit.rlim_max < wanted)
        limit.rlim_max = wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("cannot have %llu open files: %s", (unsigned long long)wanted, strerror(errno));
}

int main(int argc, char **argv)
{
    if (argc < 2)
        print_usage_error();
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        if (strcmp(argv[1], modes[i].name) != 0)
            continue;
        struct options o = options_parse(argc - 1, argv + 1);
        raise_file_limit(o.connections + 64);
        modes[i].run(&o);
        return 0;
    }
    print_usage_error();
}
