/* internal.h - declarations shared by the files of the test harness. */
#ifndef TESTS_SUPPORT_INTERNAL_H
#define TESTS_SUPPORT_INTERNAL_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "world.h"

/* An event that the server emitted. */
struct arrivals {
    struct arrivals *next;
    enum event event;
    struct audience to;
    char *payload;
    struct event_routing *facts; /* or NULL */
};

struct world {
    const char *test; /* name of the running test */
    struct arena *arena;
    struct config config;
    struct guildhall *server;
    char folder[64];
    char *schema; /* PostgreSQL */
    struct client *clients;
    pthread_mutex_t lock;
    struct arrivals *arrivals, **received_end;
    const struct domain *const *domains;
    const struct gateway_source *source; /* NULL: the platform's */
    FILE *log;                           /* between world_log_begin and world_log_end */
    size_t delivered_to; /* number of events already checked that are not for one account */
    jmp_buf failed;
};

/* Records a request for the documentation, if the environment asks for it (examples.c). */
void example_record(const struct client *c, const char *method, const char *path,
                    const char *headers, struct str body, struct answer a);

void client_hang_up(struct client *c);

/* Returns the factor by which this build is slower than a release build. */
unsigned build_slowness(void);
/* Records that a loop or the writer was blocked too long: the test is repeated once. */
void note_hold(const char *kind, const char *part, double ms);

/* Parses expected JSON; single quotes become double quotes. */
const struct dom *parse_expected(struct arena *a, const char *fmt, va_list args);

/* Waits for the next event; returns NULL after a long time. Rows of a job may be visible shortly
 * before their event, so a test that saw the rows waits for the event. */
const struct arrivals *received_soon(const struct arrivals *(*next)(void *of), void *of);

#endif
