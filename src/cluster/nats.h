/* nats.h - NATS client: one connection with a thread that reconnects.
 *
 * Messages are not queued while there is no connection: receivers read the log instead. */
#ifndef CLUSTER_NATS_H
#define CLUSTER_NATS_H

#include "base/errors.h"
#include "cluster/nats_protocol.h"

struct nats;

enum { NATS_SUBJECTS_MAX = 4 };

struct nats_options {
    struct nats_servers servers;
    char name[64];  /* client name shown by the server */
    const char *ca; /* for tls://: trusted CA certificates (PEM file); NULL: the system's */
    const char *subjects[NATS_SUBJECTS_MAX];
    void *arg;
    /* Called on the connection's thread, for messages on `subjects` (unused entries are NULL). */
    void (*message)(void *arg, struct str subject, struct str payload);
    void (*changed)(void *arg, bool connected);
};

/* Fails if the certificates of ca cannot be read. */
enum err nats_new(const struct nats_options *options, struct nats **ret);
void nats_start(struct nats *n);
void nats_free(struct nats *n); /* accepts NULL */

/* Thread-safe. Returns false if the message is lost. */
bool nats_publish(struct nats *n, const char *subject, struct str payload);
/* Publishes a message that can be sent again later: it is dropped while many bytes wait, so that
 * it never causes the connection to be closed. */
bool nats_publish_droppable(struct nats *n, const char *subject, struct str payload);
/* Returns the number of bytes that the server has not accepted yet. */
size_t nats_unsent_bytes(const struct nats *n);
/* Whether the server accepts a payload of that size. */
bool nats_accepts_size(struct nats *n, size_t size);

#endif
