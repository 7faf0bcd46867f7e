/* world.h - a complete server for one test, and its clients. A world is a server in this process
 * on a free port, with an empty store and a clock that the test advances. Clients use real HTTP.
 * JSON in tests has single quotes to be readable. A failed expectation ends the test with a
 * message. */
#ifndef TESTS_WORLD_H
#define TESTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "dom.h"
#include "server/guildhall.h"

struct world;

/* The smallest PNG, one transparent pixel, as a data URI. */
#define PNG                                                                                        \
    "data:image/png;base64,"                                                                       \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJg" \
    "gg=="

struct test {
    const char *name; /* NULL ends a list */
    void (*run)(struct world *w);
    /* May be NULL: changes the configuration before the server starts. */
    void (*configure)(struct config *config);
    /* May be NULL: domains that are served instead of the whole API. */
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

/* Arguments: the store, then words (a test runs if its name or its suite's name contains one of
 * them) and "2/3" for the second third of the suites. Returns main's status. */
int run_tests(int argc, char **argv, const struct suite *suites);

struct config *world_config(struct world *w);
struct guildhall *world_server(struct world *w);
const char *world_folder(const struct world *w);
int world_port(const struct world *w);
struct arena *world_arena(struct world *w);
/* Stops the server and starts it again on the same data. */
void world_restart(struct world *w);
/* Restarts the server with this data source for the gateway instead of the platform. */
void world_use_source(struct world *w, const struct gateway_source *source);
void world_stop(struct world *w);
bool world_try_start(struct world *w);
/* Advances the clock; due timers on loops have run and due jobs have started when it returns. */
void world_wait(struct world *w, double seconds);
/* Returns the i-th emitted event, or EVENT_NONE if there is none yet. */
enum event world_event(struct world *w, size_t i);
/* Returns the number of emitted events of this kind. */
size_t world_count_events(struct world *w, enum event event);
/* Redirects the server's log to a file; the second call returns its text and restores the log. */
void world_log_begin(struct world *w);
const char *world_log_end(struct world *w);

/* --- clients -------------------------------------------------------------------------- */

struct client {
    struct world *world;
    char id[24];
    char name[40];
    char authorization[300]; /* empty: no header is sent */
    char address[40];        /* source address; empty: 127.0.0.1 */
    int fd;
    size_t arrivals;           /* number of events already checked */
    struct gateway_conn *gate; /* NULL: emitted events are checked instead of delivered ones */
    struct arena *arena; /* arena of its requests; NULL: the world's, which is for one thread */
    struct client *next;
};

/* Returns the client of the account with that name, which is created directly in the store on
 * the first call. */
struct client *world_client(struct world *w, const char *name);
struct client *world_bot(struct world *w, const char *name);
/* A client without credentials. */
struct client *world_anonymous(struct world *w);
/* Creates a client with a token of an account: "Bot ", "Bearer " or no prefix, depending on its
 * kind. The token expires after that many seconds, or never (0). */
struct client *world_token(struct world *w, const struct client *owner, enum caller_kind kind,
                           const char *scopes, double seconds);
/* A client with any Authorization header. */
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
/* Sends a request; the path is absolute ("/healthz"), headers are lines with CRLF, the body is
 * sent unchanged. */
struct answer client_request(struct client *c, const char *method, const char *path,
                             const char *headers, struct str body);
/* Sends bytes on a new connection; returns all received bytes until it is closed or silent for
 * wait_ms. */
struct str client_raw(struct client *c, struct str bytes, int wait_ms);
/* Opens a connection for tests with their own protocol code; the caller closes it. */
int client_dial(struct client *c);

/* Returns the value of a reply's header, or a str with p == NULL. */
struct str answer_header(struct answer a, const char *name);
/* Returns the text at a path of the body ("user.id"); fails the test if it does not exist. */
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
/* Expects that the body contains at least this JSON. */
void expect_json_at(const char *file, int line, struct answer a, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Expects an error with this code. */
void expect_error_at(const char *file, int line, struct answer a, int status, int code);
/* Expects status 400 with code 50035 and this leaf code at this path ("options.0.name"; "" for
 * the root). */
void expect_invalid_at(const char *file, int line, struct answer a, const char *path,
                       const char *code);
void expect_absent_at(const char *file, int line, struct answer a, const char *path);
/* Expects the next event for this client's account or, if it has a gateway connection, the next
 * event delivered there. */
void expect_event_at(const char *file, int line, struct client *c, const char *event,
                     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void expect_silence_at(const char *file, int line, struct client *c);

#endif
