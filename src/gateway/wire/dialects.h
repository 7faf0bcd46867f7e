/* dialects.h - protocol version, encoding and compression of a connection. */
#ifndef GATEWAY_WIRE_DIALECTS_H
#define GATEWAY_WIRE_DIALECTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "gateway/wire/protocol.h"

struct gateway;
struct http_request;

enum gateway_compression { COMPRESS_NONE, COMPRESS_ZLIB, COMPRESS_ZSTD };

/* Parameters of a connection. Connections with the same parameters share one struct dialect. */
struct dialect {
    struct gateway *gateway; /* gateway that accepted the connection */
    struct dialect *next;
    enum close_code fault; /* 0, or the close code for invalid parameters */
    int version;
    bool etf;
    bool spacebar; /* the client found the gateway by Spacebar's discovery */
    enum gateway_compression compression;
    size_t host_n;
    char host[]; /* Host header of the upgrade request */
};

/* All combinations of parameters that clients requested since the process started. */
struct dialects {
    pthread_mutex_t lock;
    struct dialect *first;
    unsigned count;
};

/* Returns whether this is the path of the gateway for clients that find it by Spacebar's discovery
 * (/.well-known/spacebar). Their READY has the form of Spacebar's servers. */
bool gateway_path_is_spacebar(struct str path);

void dialects_init(struct dialects *all);
void dialects_clear(struct dialects *all);
/* Returns the dialect of an upgrade request, which lives as long as `all`. Thread-safe. */
const struct dialect *dialect_for_request(struct dialects *all, struct gateway *g,
                                          const struct http_request *r);

#endif
