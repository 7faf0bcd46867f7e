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

/* Parameters of gateway connections (a dialect). Connections with the same parameters share one
 * struct wire_format. */
struct wire_format {
    struct gateway *gateway; /* gateway that accepted the connection */
    struct wire_format *next;
    enum gateway_close_code fault; /* close code for invalid parameters; 0 if they are valid */
    int version;
    bool etf;
    bool spacebar; /* the client found the gateway by Spacebar's discovery */
    enum gateway_compression compression;
    size_t host_n;
    char host[]; /* Host header of the upgrade request */
};

/* All combinations of parameters that clients requested since the process started. */
struct wire_formats {
    pthread_mutex_t lock;
    struct wire_format *first;
    unsigned count;
};

/* Returns whether this is the gateway path that Spacebar's discovery (/.well-known/spacebar) gives
 * to clients. READY on this path has the form of Spacebar's servers. */
bool gateway_path_is_spacebar(struct str path);

void wire_formats_init(struct wire_formats *all);
void wire_formats_clear(struct wire_formats *all);
/* Returns a connection's parameters from its upgrade request, valid as long as `all`. Thread-safe.
 */
const struct wire_format *wire_format_of_request(struct wire_formats *all, struct gateway *g,
                                                 const struct http_request *r);

#endif
