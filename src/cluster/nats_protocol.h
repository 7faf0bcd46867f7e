/* nats_protocol.h - parses and writes the NATS client protocol: text lines, some followed by bytes.
 *
 * Only what a client needs: docs.nats.io/reference/reference-protocols. */
#ifndef CLUSTER_NATS_PROTOCOL_H
#define CLUSTER_NATS_PROTOCOL_H

#include "base/buf.h"

enum {
    NATS_LINE_MAX = 32 * 1024,          /* INFO of a large cluster is the longest */
    NATS_PAYLOAD_MAX = 8 * 1024 * 1024, /* our messages are smaller */
    NATS_SERVERS_MAX = 8,
};

/* Address of a server, and our credentials. */
struct nats_server {
    char host[256], port[8];
    char user[128], password[256]; /* a user without a password is a token */
    bool tls;
};

struct nats_servers {
    struct nats_server items[NATS_SERVERS_MAX];
    size_t count;
};

/* Parses "nats://[user:password@]host[:port],tls://…"; false: invalid. */
bool nats_servers_parse(struct str text, struct nats_servers *ret);

enum nats_command_kind { NATS_INFO, NATS_MESSAGE, NATS_PING, NATS_PONG, NATS_OK, NATS_ERR };

/* A command from the server. */
struct nats_command {
    enum nats_command_kind kind;
    struct str subject; /* messages only */
    struct str body;    /* payload; JSON of INFO; text of -ERR */
};

/* Parses one command. Returns its length in bytes; 0: incomplete; -1: not the NATS protocol. */
long nats_parse_command(struct str bytes, struct nats_command *ret);
/* Returns the largest payload that INFO allows. */
size_t nats_info_max_payload(struct str info);

void nats_write_connect(struct buf *b, const struct nats_server *s, const char *name);
void nats_write_subscribe(struct buf *b, const char *subject, unsigned id);
void nats_write_publish(struct buf *b, const char *subject, struct str payload);

#endif
