/* internal.h - what the files of the harness share. */
#ifndef TESTS_SUPPORT_INTERNAL_H
#define TESTS_SUPPORT_INTERNAL_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include "world.h"

/* An announcement that was made. */
struct heard {
    struct heard *next;
    enum event event;
    struct subject to;
    char *payload;
    struct facts *facts; /* or NULL */
};

struct world {
    struct arena *arena;
    struct config config;
    struct guildhall *server;
    char folder[64];
    char *schema; /* PostgreSQL */
    struct client *clients;
    pthread_mutex_t lock;
    struct heard *heard, **heard_end;
    const struct domain *const *domains;
    const struct gateway_source *source; /* NULL: the platform's */
    FILE *log;                           /* between world_log_begin and world_log_end */
    size_t told; /* announcements already looked at, by whoever is not one account */
    jmp_buf failed;
};

void client_hang_up(struct client *c);

/* Times that this build is slower than a release. */
unsigned build_slowness(void);
/* Somebody was held up: the test is tried again, and fails when that comes again. */
void note_hold(const char *kind, const char *part, double ms);

/* Single quotes become double; the text must be JSON. */
const struct dom *parse_expected(struct arena *a, const char *fmt, va_list args);

/* The next announcement that somebody hears; NULL when none comes for a long time. Rows that a
 * job has written can be seen a moment before they are announced, so whoever saw the rows
 * waits for the announcement. */
const struct heard *heard_soon(const struct heard *(*next)(void *of), void *of);

#endif
