/* world.c - a complete server for one test. */
#include "world.h"

#include <ftw.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stall_meter.h"
#include "base/log.h"
#include "base/mem.h"
#include "facts_read.h"
#include "gateway_conn.h"
#include "internal.h"
#include "platform/accounts/accounts.h"
#include "postgres.h"
#include "sqlite.h"

static struct world *running; /* the test to which an expectation belongs */

/* --- failing -------------------------------------------------------------------------- */

void fail_test(const char *file, int line, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    printf("%s:%d: ", file, line);
    vprintf(fmt, args);
    printf("\n");
    va_end(args);
    longjmp(running->failed, 1);
}

/* --- blocked loops -------------------------------------------------------------------- */

/* Factor for the time limits of a release build: unoptimised code and sanitizers are slower, and
 * the allocator of ThreadSanitizer copies growing memory. */
#if defined(__SANITIZE_THREAD__)
enum { SLOWNESS = 25 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SLOWNESS = 8 };
#else
enum { SLOWNESS = 3 };
#endif

static struct {
    pthread_mutex_t lock;
    struct stall_record worst;
} held = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void record_hold(const struct stall_record *r)
{
    pthread_mutex_lock(&held.lock);
    if (r->longest_ns > held.worst.longest_ns)
        held.worst = *r;
    pthread_mutex_unlock(&held.lock);
}

unsigned build_slowness(void)
{
    return SLOWNESS;
}

void note_hold(const char *kind, const char *part, double ms)
{
    record_hold(&(struct stall_record){ kind, part, (int64_t)(ms * 1e6) });
}

/* Returns whether no loop or writer was blocked too long; the server has stopped. */
static bool held_nobody_up(void)
{
    struct stall_record worst = held.worst;

    held.worst = (struct stall_record){ 0 };
    if (worst.longest_ns)
        printf("the server held everybody up: a %s took %lld ms of processor time for %s\n",
               worst.kind, (long long)(worst.longest_ns / 1000000), worst.part);
    return !worst.longest_ns;
}

/* --- announcements -------------------------------------------------------------------- */

static void record(void *arg, const struct emitted_event *list)
{
    struct world *w = arg;

    pthread_mutex_lock(&w->lock);
    for (; list; list = list->next) {
        struct arrivals *h = mem_new(sizeof *h);

        h->event = list->event;
        h->to = list->to;
        h->payload = mem_resize(NULL, list->payload.n + 1);
        memcpy(h->payload, list->payload.p, list->payload.n);
        h->payload[list->payload.n] = '\0';
        if (list->routing) {
            h->facts = mem_resize(NULL, event_routing_size(list->routing));
            memcpy(h->facts, list->routing, event_routing_size(list->routing));
        }
        *w->received_end = h;
        w->received_end = &h->next;
    }
    pthread_mutex_unlock(&w->lock);
}

static const struct arrivals *next_account_event(void *of)
{
    struct client *c = of;
    struct world *w = c->world;
    const struct arrivals *found = NULL;
    size_t i = 0;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h && !found; h = h->next, i++)
        if (i >= c->arrivals && h->to.kind == AUDIENCE_USER &&
            h->to.id == strtoull(c->id, NULL, 10))
            found = h;
    if (found)
        c->arrivals = i;
    pthread_mutex_unlock(&w->lock);
    return found;
}

void expect_event_at(const char *file, int line, struct client *c, const char *event,
                     const char *fmt, ...)
{
    struct arena *a = c->world->arena;
    struct str where;
    va_list args;

    if (c->gate) {
        va_start(args, fmt);
        expect_dispatch_of(file, line, c->gate, event, parse_expected(a, fmt, args));
        va_end(args);
        return;
    }
    const struct arrivals *h = received_soon(next_account_event, c);
    if (!h)
        fail_test(file, line, "%s got no event, expected %s", c->name, event);
    if (strcmp(get_name_of_event_type(h->event), event) != 0)
        fail_test(file, line, "%s got %s, expected %s", c->name, get_name_of_event_type(h->event),
                  event);
    va_start(args, fmt);
    const struct dom *expected = parse_expected(a, fmt, args);
    va_end(args);
    if (!dom_contains(dom_parse(a, str_of(h->payload)), expected, a, &where))
        fail_test(file, line, "%s: %s in %s", event, where.p, h->payload);
}

void expect_silence_at(const char *file, int line, struct client *c)
{
    if (c->gate) {
        expect_quiet_at(file, line, c->gate);
        return;
    }
    const struct arrivals *h = next_account_event(c);
    if (h)
        fail_test(file, line, "%s got an unexpected %s", c->name, get_name_of_event_type(h->event));
}

enum event world_event(struct world *w, size_t i)
{
    enum event event = EVENT_NONE;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h; h = h->next)
        if (i-- == 0) {
            event = h->event;
            break;
        }
    pthread_mutex_unlock(&w->lock);
    return event;
}

size_t world_count_events(struct world *w, enum event event)
{
    size_t count = 0;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h; h = h->next)
        count += h->event == event;
    pthread_mutex_unlock(&w->lock);
    return count;
}

/* Returns whether the routing fields of an event agree with its payload. */
static bool facts_agree(const struct arrivals *h)
{
    struct arena *arena = arena_new();
    const struct event_routing *read = facts_read(h->event, str_of(h->payload), arena);
    bool same = event_routing_kind(h->event) == ROUTING_NONE
                    ? !h->facts
                    : read && h->facts &&
                          event_routing_size(read) == event_routing_size(h->facts) &&
                          memcmp(read, h->facts, event_routing_size(read)) == 0;

    if (!same)
        printf("%s was announced with other facts than those of %s\n",
               get_name_of_event_type(h->event), h->payload);
    arena_free(arena);
    return same;
}

/* Frees the recorded events; returns whether all routing fields agreed. */
static bool free_recorded_events(struct world *w)
{
    bool ok = true;

    for (struct arrivals *h = w->arrivals, *next; h; h = next) {
        next = h->next;
        ok &= facts_agree(h);
        mem_free(h->facts);
        mem_free(h->payload);
        mem_free(h);
    }
    return ok;
}

/* --- the server ----------------------------------------------------------------------- */

/* Tests open thousands of sockets, and none of them reads too much at once. */
enum { WORLD_HELLO_MS = 10 };

bool world_try_start(struct world *w)
{
    struct guildhall_hooks hooks = { .events_committed = record,
                                     .arg = w,
                                     .domains = w->domains,
                                     .source = w->source,
                                     .hello_ms = WORLD_HELLO_MS };

    return guildhall_start(&w->config, &hooks, &w->server) == OK;
}

void world_stop(struct world *w)
{
    conns_close(w);
    for (struct client *c = w->clients; c; c = c->next)
        c->gate = NULL;
    for (struct client *c = w->clients; c; c = c->next)
        client_hang_up(c);
    guildhall_stop(w->server);
    w->server = NULL;
    clock_advance_wall_and_monotonic(100 * 1000); /* the next server then uses new ids */
}

void world_restart(struct world *w)
{
    world_stop(w);
    if (!world_try_start(w))
        fail_test(__FILE__, __LINE__, "the server does not start again");
}

void world_use_source(struct world *w, const struct gateway_source *source)
{
    w->source = source;
    world_restart(w);
}

struct config *world_config(struct world *w)
{
    return &w->config;
}

struct guildhall *world_server(struct world *w)
{
    return w->server;
}

const char *world_folder(const struct world *w)
{
    return w->folder;
}

int world_port(const struct world *w)
{
    return guildhall_get_port(w->server);
}

struct arena *world_arena(struct world *w)
{
    return w->arena;
}

void world_log_begin(struct world *w)
{
    w->log = tmpfile();
    if (!w->log)
        fail_test(__FILE__, __LINE__, "no temporary file for the log");
    log_init(fileno(w->log), LOG_INFO, 0);
}

const char *world_log_end(struct world *w)
{
    long n = lseek(fileno(w->log), 0, SEEK_END);
    char *text = arena_alloc(w->arena, (size_t)n + 1);
    ssize_t got = pread(fileno(w->log), text, (size_t)n, 0);

    text[got > 0 ? got : 0] = '\0';
    log_init(STDERR_FILENO, LOG_ERROR, 0);
    fclose(w->log);
    w->log = NULL;
    return text;
}

/* --- clients -------------------------------------------------------------------------- */

static struct client *add_client(struct world *w, const char *name, const char *authorization)
{
    struct client *c = mem_new(sizeof *c);

    c->world = w;
    c->fd = -1;
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->authorization, sizeof c->authorization, "%s", authorization);
    c->next = w->clients;
    w->clients = c;
    return c;
}

struct client *world_client_with(struct world *w, const char *authorization)
{
    return add_client(w, "somebody", authorization);
}

struct client *world_anonymous(struct world *w)
{
    return add_client(w, "a stranger", "");
}

struct member_to_add_to_guild {
    struct world *world;
    struct account_to_create draft;
    struct client *client;
};

static enum err create(struct tx *tx, void *arg)
{
    struct member_to_add_to_guild *n = arg;
    struct user user;
    struct str token;
    enum err e = account_create(tx, guildhall_get_auth(n->world->server), &n->draft, &user, &token);

    if (e)
        return e;
    snprintf(n->client->id, sizeof n->client->id, "%llu", (unsigned long long)user.id);
    snprintf(n->client->authorization, sizeof n->client->authorization, "%s%.*s",
             n->draft.bot ? "Bot " : "", STR_ARGS(token));
    return OK;
}

static struct client *newcomer(struct world *w, const char *name, bool bot)
{
    for (struct client *c = w->clients; c; c = c->next)
        if (strcmp(c->name, name) == 0)
            return c;

    struct member_to_add_to_guild n = { .world = w,
                                        .draft = { .username = str_of(name), .bot = bot },
                                        .client = add_client(w, name, "") };
    if (store_run_transaction_and_wait(guildhall_get_store(w->server), STORE_WRITE, w->arena,
                                       create, &n))
        fail_test(__FILE__, __LINE__, "cannot create the account %s", name);
    return n.client;
}

struct client *world_client(struct world *w, const char *name)
{
    return newcomer(w, name, false);
}

struct client *world_bot(struct world *w, const char *name)
{
    return newcomer(w, name, true);
}

struct request_for_token {
    struct world *world;
    struct token_to_issue grant;
    struct client *client;
};

static enum err issue(struct tx *tx, void *arg)
{
    static const char *const words[] = { "", "", "Bot ", "Bearer " };
    struct request_for_token *r = arg;
    struct str token;
    enum err e = auth_issue_token(guildhall_get_auth(r->world->server), tx, &r->grant, &token);

    if (!e)
        snprintf(r->client->authorization, sizeof r->client->authorization, "%s%.*s",
                 words[r->grant.kind], STR_ARGS(token));
    return e;
}

struct client *world_token(struct world *w, const struct client *owner, enum caller_kind kind,
                           const char *scopes, double seconds)
{
    struct request_for_token r = {
        .world = w,
        .grant = { .kind = kind,
                   .user_id = strtoull(owner->id, NULL, 10),
                   .scopes = str_of(scopes),
                   .expires_at = seconds > 0 ? clock_us() + (int64_t)(seconds * 1e6) : 0 },
        .client = add_client(w, owner->name, ""),
    };

    snprintf(r.client->id, sizeof r.client->id, "%s", owner->id);
    if (store_run_transaction_and_wait(guildhall_get_store(w->server), STORE_WRITE, w->arena, issue,
                                       &r))
        fail_test(__FILE__, __LINE__, "cannot issue a token for %s", owner->name);
    return r.client;
}

/* --- beginning and end ---------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

/* Creates the folder in memory if scripts/test says so: tests of disk behaviour run elsewhere. */
static bool make_folder(struct world *w)
{
    const char *parent = getenv("TMPDIR");
    int n = snprintf(w->folder, sizeof w->folder, "%s/guildhall-test-XXXXXX",
                     parent && *parent ? parent : "/tmp");

    return n < (int)sizeof w->folder && mkdtemp(w->folder);
}

static bool world_begin(struct world *w, const struct test *t, const char *store)
{
    char *none[] = { NULL }, *rest[1];
    const char *problem;

    *w = (struct world){ .test = t->name, .arena = arena_new(), .received_end = &w->arrivals };
    pthread_mutex_init(&w->lock, NULL);
    if (!make_folder(w))
        return false;
    struct option_source nowhere = { .program = "test", .prefix = "GUILDHALL_NO_TEST_" };
    if (!options_read(config_option_rows, &nowhere, w->arena, none, &w->config, rest, &problem))
        return false;
    w->config.listen = "127.0.0.1:0";
    w->config.registration = "open";
    w->config.data = w->folder;
    w->config.loops = 2;
    w->config.store_workers = 3;
    w->config.rate_limits = false;
    w->config.password_memory_mib = 1;
    w->config.password_passes = 1;
    w->config.shutdown_seconds = 5;
    w->config.log_level = "error";
    if (strcmp(store, "postgres") == 0)
        w->config.store = w->schema = test_postgres_take();
    else if (!test_sqlite_put(w->folder))
        return false;
    w->domains = t->domains;
    /* Only tests advance the clock (waits.h): results must not depend on the load of the
     * machine. */
    clock_stop_wall_and_monotonic();
    stall_records_clear();
    if (t->configure)
        t->configure(&w->config);
    return world_try_start(w);
}

static bool world_end(struct world *w)
{
    world_stop(w);
    if (w->log)
        world_log_end(w);
    for (struct client *c = w->clients, *next; c; c = next) {
        next = c->next;
        mem_free(c);
    }
    bool ok = free_recorded_events(w);
    if (w->schema)
        test_postgres_give(w->schema);
    nftw(w->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    pthread_mutex_destroy(&w->lock);
    arena_free(w->arena);
    clock_restore_real_time();
    snowflake_set_node(0); /* ids with later timestamps belong to an earlier world */
    return ok;
}

enum outcome { TEST_PASSED, TEST_HELD, TEST_FAILED };

static enum outcome try_test(const struct test *t, const char *store)
{
    static struct world w; /* survives longjmp */
    volatile bool ok = false;

    running = &w;
    if (!world_begin(&w, t, store)) {
        printf("the server does not start\n");
    } else if (setjmp(w.failed) == 0) {
        t->run(&w);
        ok = true;
    }
    ok = world_end(&w) && ok;
    bool free_of_holds = held_nobody_up();
    return !ok ? TEST_FAILED : free_of_holds ? TEST_PASSED : TEST_HELD;
}

/* Repeats a test whose loop was blocked: a busy machine causes long iterations only sometimes, a
 * fault of the server every time. */
static bool run_test(const struct test *t, const char *store)
{
    const int64_t since = clock_monotonic_ns();
    enum outcome o = TEST_HELD;

    printf("[ RUN      ] %s (%s)\n", t->name, store);
    fflush(stdout);
    for (int tries = 0; tries < 3 && o == TEST_HELD; tries++)
        o = try_test(t, store);
    printf("[  %s ] %s (%s) (%lld ms)\n", o == TEST_PASSED ? "     OK" : "FAILED ", t->name, store,
           (long long)((clock_monotonic_ns() - since) / 1000000));
    fflush(stdout);
    return o == TEST_PASSED;
}

/* --- which tests ---------------------------------------------------------------------- */

static const char print_usage_error[] =
    "usage: %s [sqlite|postgres] [WORD...] [N/M]\n"
    "       %s --list\n"
    "\n"
    "Runs the tests that have one of the words in their name or their suite's, or all of\n"
    "them; 2/3 runs the second third of the suites. On PostgreSQL: scripts/with-postgres %s\n"
    "postgres WORD.\n";

/* "2/3": every third suite, starting with the second. */
struct share {
    unsigned nth, of;
};

static struct share share_of(int argc, char **argv)
{
    struct share p = { 1, 1 };

    for (int i = 2; i < argc; i++)
        if (sscanf(argv[i], "%u/%u", &p.nth, &p.of) == 2)
            return p;
    return (struct share){ 1, 1 };
}

static bool text_is_original_or_localized_name(const struct suite *suite, const struct test *test,
                                               const char *word)
{
    return strstr(suite->name, word) || strstr(test->name, word);
}

static bool is_wanted(int argc, char **argv, const struct suite *suite, const struct test *test)
{
    bool any = true;

    for (int i = 2; i < argc; i++) {
        if (strchr(argv[i], '/'))
            continue;
        if (text_is_original_or_localized_name(suite, test, argv[i]))
            return true;
        any = false;
    }
    return any;
}

static bool names_something(const struct suite *suites, const char *word)
{
    for (const struct suite *s = suites; s->name; s++)
        for (const struct test *t = s->tests; t->name; t++)
            if (text_is_original_or_localized_name(s, t, word))
                return true;
    return false;
}

static void list_tests(const struct suite *suites)
{
    for (const struct suite *s = suites; s->name; s++)
        for (const struct test *t = s->tests; t->name; t++)
            printf("%s %s\n", s->name, t->name);
}

/* Parses the arguments; returns a status for main, or -1 to continue. */
static int read_arguments(int argc, char **argv, const struct suite *suites)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        list_tests(suites);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "sqlite") != 0 && strcmp(argv[1], "postgres") != 0) {
        bool help = strcmp(argv[1], "--help") == 0;

        fprintf(help ? stdout : stderr, print_usage_error, argv[0], argv[0], argv[0]);
        return help ? 0 : 2;
    }
    for (int i = 2; i < argc; i++)
        if (!strchr(argv[i], '/') && !names_something(suites, argv[i])) {
            fprintf(stderr, "no test and no suite has '%s' in its name; --list names them all\n",
                    argv[i]);
            return 2;
        }
    return -1;
}

int run_tests(int argc, char **argv, const struct suite *suites)
{
    const char *store = argc > 1 ? argv[1] : "sqlite";
    struct share share = share_of(argc, argv);
    int status = read_arguments(argc, argv, suites), failed = 0;

    if (status >= 0)
        return status;
    if (strcmp(store, "postgres") == 0 && !getenv("GUILDHALL_TEST_POSTGRES")) {
        printf("SKIP: no PostgreSQL (GUILDHALL_TEST_POSTGRES is not set)\n");
        return 77;
    }
    struct config defaults = { .log_level = "error", .log_format = "text" };
    guildhall_init(&defaults);
    stall_meter_set_test_mode(SLOWNESS, record_hold);
    for (unsigned i = 0; suites[i].name; i++)
        for (const struct test *t = suites[i].tests; t->name && i % share.of == share.nth - 1; t++)
            if (is_wanted(argc, argv, &suites[i], t))
                failed += !run_test(t, store);
    test_postgres_end();
    test_sqlite_end();
    return failed ? 1 : 0;
}
