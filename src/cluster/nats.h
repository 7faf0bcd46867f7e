/* nats.h - a connection to NATS, by a thread of its own that comes back by itself.
 *
 * What is published while there is no connection is refused, not kept: who has to hear of it
 * reads it from the log. */
#ifndef CLUSTER_NATS_H
#define CLUSTER_NATS_H

#include "base/errors.h"
#include "cluster/nats_protocol.h"

struct nats;

enum { NATS_SUBJECTS_MAX = 4 };

struct nats_options {
    struct nats_servers servers;
    char name[64]; /* what the server calls us */
    const char
        *ca; /* for tls://: a file of certificates (PEM) that are trusted; NULL: the system's */
    const char *subjects[NATS_SUBJECTS_MAX];
    void *arg;
    /* On the connection's thread; NULL-terminated subjects are the only ones heard. */
    void (*message)(void *arg, struct str subject, struct str payload);
    void (*changed)(void *arg, bool connected);
};

/* An error: the certificates of ca cannot be read. */
enum err nats_new(const struct nats_options *options, struct nats **ret);
void nats_start(struct nats *n);
void nats_free(struct nats *n); /* accepts NULL */

/* From any thread; false: it will not be heard. */
bool nats_publish(struct nats *n, const char *subject, struct str payload);
/* The same for what can be told again later: refused while much waits, so that it is never the
 * reason for which the connection is given up. */
bool nats_offer(struct nats *n, const char *subject, struct str payload);
/* Bytes that the server has not taken yet. */
size_t nats_unsent(const struct nats *n);
/* Whether a payload of that size would be taken. */
bool nats_fits(struct nats *n, size_t size);

#endif
