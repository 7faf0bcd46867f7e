/* world.h - a whole server for one test, and people who use it.
 *
 * A world is a server in this process on a free port, with an empty store and a
 * clock that the test moves; where calls are limited, only the test moves it. Clients speak real
 * HTTP to it. JSON in tests is written with single quotes to be readable. An expectation that fails
 * ends the test with a message. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "dom.h"
#include "server/guildhall.h"

struct world;

/* The smallest PNG, one transparent pixel, as bodies bring pictures. */
#define PNG                                                                                        \
    "data:image/png;base64,"                                                                       \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJg" \
    "gg=="

struct test {
    const char *name; /* NULL ends a list */
    void (*run)(struct world *w);
    /* May be NULL: changes the configuration before the server starts. */
    void (*configure)(struct config *config);
    /* May be NULL: served instead of the whole interface. */
    const struct domain *const *domains;
};

#define TEST(function)            \
    {                             \
#function, function, NULL \
    }
#define TEST_WITH(function, configure) \
    {                                  \
#function, function, configure \
    }

#define TEST_ON(function, configure, domains)   \
    {                                           \
#function, function, configure, domains \
    }

struct suite {
    const char *name; /* NULL ends a list */
    const struct test *tests;
};

/* Arguments: the store, then any of: words (a test runs when it or its suite has one of
 * them in its name), and "2/3" for the second third of the suites. Returns main's status. */
int run_tests(int argc, char **argv, const struct suite *suites);

struct config *world_config(struct world *w);
struct guildhall *world_server(struct world *w);
const char *world_folder(const struct world *w);
int world_port(const struct world *w);
struct arena *world_arena(struct world *w);
/* Stops the server and starts it again on the same data. */
void world_restart(struct world *w);
/* The same, and from now on the gateway asks this instead of the platform. */
void world_use_source(struct world *w, const struct gateway_source *source);
void world_stop(struct world *w);
bool world_try_start(struct world *w);
/* Moves the clock; what waits for that time on a loop has happened then, and jobs that are due
 * are begun. */
void world_wait(struct world *w, double seconds);
/* The announcement that was made as the i-th of all, or EVENT_NONE: not yet. */
enum event world_event(struct world *w, size_t i);
/* How many of this kind have been made. */
size_t world_count_events(struct world *w, enum event event);
/* What the server logs from now on goes to a file; the second call gives its text
 * and turns back. */
void world_log_begin(struct world *w);
const char *world_log_end(struct world *w);

/* --- clients -------------------------------------------------------------------------- */

struct client {
    struct world *world;
    char id[24];
    char name[40];
    char authorization[300]; /* empty: none is sent */
    char address[40];        /* where it calls from; empty: 127.0.0.1 */
    int fd;
    size_t heard;              /* announcements already looked at */
    struct gateway_conn *gate; /* NULL: what is announced is looked at, not what is told */
    struct arena *arena;       /* of its calls; NULL: the world's, which is for one thread */
    struct client *next;
};

/* An account of that name (made directly in the store), or the client made before. */
struct client *world_client(struct world *w, const char *name);
struct client *world_bot(struct world *w, const char *name);
/* Nobody: no credential. */
struct client *world_stranger(struct world *w);
/* A token of an account: "Bot ", "Bearer " or none in front as its kind asks. It ends
 * after that many seconds, or never (0). */
struct client *world_token(struct world *w, const struct client *owner, enum caller_kind kind,
                           const char *scopes, double seconds);
/* Another connection with any Authorization header. */
struct client *world_client_with(struct world *w, const char *authorization);

struct answer {
    struct client *client;
    int status;
    struct str head, body;
    const struct dom *json; /* NULL: the body is not JSON */
    const char *call;       /* "GET /users/@me" for messages */
};

struct answer client_get(struct client *c, const char *path, ...)
    __attribute__((format(printf, 2, 3)));
struct answer client_delete(struct client *c, const char *path, ...)
    __attribute__((format(printf, 2, 3)));
struct answer client_post(struct client *c, const char *json, const char *path, ...)
    __attribute__((format(printf, 3, 4)));
struct answer client_patch(struct client *c, const char *json, const char *path, ...)
    __attribute__((format(printf, 3, 4)));
struct answer client_put(struct client *c, const char *json, const char *path, ...)
    __attribute__((format(printf, 3, 4)));
/* Everything by hand; the path is absolute ("/healthz"), headers are lines with
 * CRLF, the body goes as it is. */
struct answer client_request(struct client *c, const char *method, const char *path,
                             const char *headers, struct str body);
/* Any bytes on a new connection; all that comes back until it is closed or quiet for
 * wait_ms. */
struct str client_raw(struct client *c, struct str bytes, int wait_ms);
/* A new connection, for tests that speak for themselves; the caller closes it. */
int client_dial(struct client *c);

/* The value of a header of an answer, or a str with p == NULL. */
struct str answer_header(struct answer a, const char *name);
/* Text at a path of the body ("user.id"); fails the test when it is not there. */
const char *answer_text(struct answer a, const char *path);

/* --- expectations --------------------------------------------------------------------- */

void fail_test(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), noreturn));

#define expect(condition)                                    \
    do {                                                     \
        if (!(condition))                                    \
            fail_test(__FILE__, __LINE__, "%s", #condition); \
    } while (0)

#define expect_status(a, code)  expect_status_at(__FILE__, __LINE__, (a), (code))
#define expect_json(a, ...)     expect_json_at(__FILE__, __LINE__, (a), __VA_ARGS__)
#define expect_error(a, st, c)  expect_error_at(__FILE__, __LINE__, (a), (st), (c))
#define expect_invalid(a, p, c) expect_invalid_at(__FILE__, __LINE__, (a), (p), (c))
#define expect_absent(a, p)     expect_absent_at(__FILE__, __LINE__, (a), (p))
#define expect_event(c, e, ...) expect_event_at(__FILE__, __LINE__, (c), (e), __VA_ARGS__)
#define expect_silence(c)       expect_silence_at(__FILE__, __LINE__, (c))

void expect_status_at(const char *file, int line, struct answer a, int status);
/* The body holds at least this. */
void expect_json_at(const char *file, int line, struct answer a, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A coded error. */
void expect_error_at(const char *file, int line, struct answer a, int status, int code);
/* 400, 50035, and this leaf code at this path ("options.0.name"; "" for the root). */
void expect_invalid_at(const char *file, int line, struct answer a, const char *path,
                       const char *code);
void expect_absent_at(const char *file, int line, struct answer a, const char *path);
/* The next announcement for this client's account, or, when it is connected (gate.h),
 * the next thing it is told by the gateway. */
void expect_event_at(const char *file, int line, struct client *c, const char *event,
                     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void expect_silence_at(const char *file, int line, struct client *c);

#endif
