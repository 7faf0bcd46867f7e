/* nats.h - NATS client: one connection with a thread that reconnects.
 *
 * Without a connection, messages are dropped, and the receiving nodes read the event log. */
#ifndef CLUSTER_NATS_H
#define CLUSTER_NATS_H

#include "base/errors.h"
#include "cluster/nats_protocol.h"

struct nats;

enum { NATS_SUBJECTS_MAX = 5, NATS_PARTS_MAX = 512 };

struct nats_options {
    struct nats_servers servers;
    char name[64]; /* client name that the NATS server shows */
    /* CA certificates for tls:// servers (PEM file); NULL means the certificates of the system. */
    const char *ca;
    const char *subjects[NATS_SUBJECTS_MAX];
    /* Prefix of the NATS subjects of parts; the part's number follows it
     * (nats_set_subscribed_to_part). */
    const char *part_prefix;
    void *arg;
    /* Called on the connection's thread for each message on `subjects` and on subscribed parts.
     * Unused elements of `subjects` are NULL. */
    void (*message)(void *arg, struct str subject, struct str payload);
    void (*changed)(void *arg, bool connected);
};

/* Creates a client. Fails if the file options->ca cannot be read. */
enum err nats_new(const struct nats_options *options, struct nats **ret);
void nats_start(struct nats *n);
void nats_free(struct nats *n); /* accepts NULL */

/* Begins or ends the subscription to a part, a number from 0 to NATS_PARTS_MAX - 1. Also applies
 * after a reconnect. Thread-safe. */
void nats_set_subscribed_to_part(struct nats *n, unsigned part, bool subscribed);
/* Publishes a message. Returns whether the message was sent or queued. Thread-safe. */
bool nats_publish(struct nats *n, const char *subject, struct str payload);
/* Publishes a message that the caller can send again later. Drops the message if many bytes are
 * unsent, so that it never causes the connection to be closed. */
bool nats_publish_or_drop_message(struct nats *n, const char *subject, struct str payload);
/* Returns the number of bytes that are waiting to be sent to the NATS server. */
size_t nats_count_unsent_bytes(const struct nats *n);
/* Returns whether the NATS server accepts a payload of this size. */
bool nats_server_accepts_payload_size(struct nats *n, size_t size);

#endif
