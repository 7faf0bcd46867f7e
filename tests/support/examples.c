/* examples.c - records requests and their answers for the examples in the documentation.
 *
 * If the environment variable EXAMPLES names a folder, the requests of a test are appended to a
 * file there; scripts/make-examples selects one per route. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

enum {
    MAX_REQUEST_BYTES = 2000,
    MAX_ANSWER_BYTES = 12000,
    MAX_SHAPES = 4096, /* a power of two */
    MAX_OK_OF_SHAPE = 2,
    MAX_REFUSED_OF_SHAPE = 1,
};

/* Returns whether few requests with this method, result and path, without its digits, were recorded
 * in this test. */
static bool is_rare_shape(const char *test, const char *method, const char *path, bool refused)
{
    static const char *counted_test;
    static unsigned char counts[MAX_SHAPES];
    uint32_t hash = 2166136261u + refused;

    if (test != counted_test)
        memset(counts, 0, sizeof counts);
    counted_test = test;
    for (const char *p = method; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    for (const char *p = path; *p && *p != '?'; p++)
        if (*p < '0' || *p > '9')
            hash = (hash ^ (unsigned char)*p) * 16777619u;
    unsigned char *count = &counts[hash & (MAX_SHAPES - 1)];
    return *count < (refused ? MAX_REFUSED_OF_SHAPE : MAX_OK_OF_SHAPE) && ++*count;
}

static FILE *open_record_file(void)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%ld.examples", getenv("EXAMPLES"), (long)getpid());
    return fopen(path, "a");
}

static struct str request_type(const char *headers)
{
    const char *at = headers ? strstr(headers, "Content-Type: ") : NULL;

    return at ? str_slice(at + 14, strcspn(at + 14, ";\r\n")) : STR("");
}

/* A record is a line of fields, separated by tabs, and the bytes of both bodies. A body that is too
 * long, or not a text, is left out. */
static void write_documentation_example(FILE *out, const char *test, const char *method,
                                        const char *path, const char *kind, struct str type,
                                        struct str body, struct answer a)
{
    bool text =
        str_is(type, "application/json") || str_is(type, "application/x-www-form-urlencoded");
    size_t sent = text && body.n <= MAX_REQUEST_BYTES ? body.n : 0;
    size_t received = a.body.n <= MAX_ANSWER_BYTES ? a.body.n : 0;

    fprintf(out, "%s\t%s\t%s\t%s\t%.*s\t%d\t%.*s\t%zu\t%zu\t%zu\n", test, method, path, kind,
            STR_ARGS(type), a.status, STR_ARGS(answer_header(a, "Content-Type")), a.body.n, sent,
            received);
    if (sent)
        fwrite(body.p, 1, sent, out);
    if (received)
        fwrite(a.body.p, 1, received, out);
    fclose(out);
}

void example_record(const struct client *c, const char *method, const char *path,
                    const char *headers, struct str body, struct answer a)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* some tests have several threads */
    const char *kind = strncmp(c->authorization, "Bot ", 4) == 0      ? "bot"
                       : strncmp(c->authorization, "Bearer ", 7) == 0 ? "bearer"
                       : *c->authorization                            ? "user"
                                                                      : "anonymous";
    FILE *out;

    if (!getenv("EXAMPLES") || a.status < 200 || a.status > 499 || strpbrk(path, "\t\n"))
        return;
    pthread_mutex_lock(&lock);
    if (is_rare_shape(c->world->test, method, path, a.status > 399) && (out = open_record_file()))
        write_documentation_example(out, c->world->test, method, path, kind, request_type(headers),
                                    body, a);
    pthread_mutex_unlock(&lock);
}
