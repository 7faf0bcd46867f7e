/* nats_protocol.h - parses and writes the NATS client protocol: text lines, some followed by bytes.
 *
 * Only the commands that a client needs are implemented
 * (docs.nats.io/reference/reference-protocols). */
#ifndef CLUSTER_NATS_PROTOCOL_H
#define CLUSTER_NATS_PROTOCOL_H

#include "base/buf.h"

enum {
    /* Maximum length of a line in bytes; the longest line is INFO of a large NATS cluster. */
    NATS_LINE_MAX = 32 * 1024,
    NATS_PAYLOAD_MAX = 8 * 1024 * 1024, /* messages of this program are smaller */
    NATS_SERVERS_MAX = 8,
};

/* Address of a NATS server, and the credentials of this client. */
struct nats_server {
    char host[256], port[8];
    char user[128], password[256]; /* if the password is empty, `user` is a token */
    bool tls;
};

struct nats_servers {
    struct nats_server items[NATS_SERVERS_MAX];
    size_t count;
};

/* Parses "nats://[user:password@]host[:port],tls://…". Returns false if the text is invalid. */
bool nats_servers_parse(struct str text, struct nats_servers *ret);

enum nats_command_kind { NATS_INFO, NATS_MESSAGE, NATS_PING, NATS_PONG, NATS_OK, NATS_ERR };

/* A command from the NATS server. */
struct nats_command {
    enum nats_command_kind kind;
    struct str subject; /* only set for NATS_MESSAGE */
    struct str body;    /* payload of MSG, JSON of INFO, or text of -ERR */
};

/* Parses one command. Returns the command's length in bytes, 0 if the command is incomplete, or -1
 * if the bytes are not the NATS protocol. */
long nats_parse_command(struct str bytes, struct nats_command *ret);
/* Returns the maximum payload size in bytes that INFO contains. */
size_t nats_parse_max_payload(struct str info);

void nats_write_connect_command(struct buf *b, const struct nats_server *s, const char *name);
void nats_write_subscribe_command(struct buf *b, const char *subject, unsigned id);
void nats_write_unsubscribe_command(struct buf *b, unsigned id);
void nats_write_publish_command(struct buf *b, const char *subject, struct str payload);

#endif
