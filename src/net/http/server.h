/* server.h - the HTTP server: connections with HTTP, TLS and WebSocket on one port.
 *
 * Every loop listens on the same address (SO_REUSEPORT) and owns the connections that it accepts.
 * If there is a certificate, the first byte of a connection distinguishes TLS from plain HTTP. An
 * idle connection uses a few hundred bytes: reads go to a buffer shared by the loop, and only
 * incomplete requests are stored per connection.
 *
 * src/net/http uses base/ and the rest of net/. Start with server_internal.h, which lists the
 * files; http_parser.h is the parser of requests and multipart.h the parser of forms. */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/errors.h"
#include "base/shared_text.h"
#include "net/http/http_parser.h"
#include "net/loop.h"
#include "net/http/multipart.h"
#include "net/websocket/websocket.h"

struct http_server;
struct websocket;
struct websocket_handler;
struct tls_context;            /* tls.h */
struct trusted_proxy_networks; /* proxies.h */

/* A request and its response. Allocated in its arena and valid until http_respond. If the client
 * disconnects earlier, the exchange stays valid and its response is dropped. */
struct http_exchange {
    struct arena *arena;
    struct loop *loop;
    const struct http_request *request; /* the parsed request, in the arena */
    struct str body;                    /* decoded body; empty for multipart */
    struct multipart *parts;            /* parts of a multipart/form-data body, or NULL */
    struct str remote;                  /* client address: "127.0.0.1" */
    uint64_t address; /* key of the client address (address_rate_limit_key), for rate limits */
    struct str local; /* address that the client connected to: "127.0.0.1:8080"; empty for GET and
                       * HEAD */
    bool secure;      /* whether the client uses TLS, to this server or to its proxy */
    bool first;       /* whether this is the first request on the client's connection */
    void *app;        /* pointer for the application */
    struct http_connection *connection; /* connection of the client, for the server; NULL after the
                                         * client has disconnected */
    _Atomic bool abandoned; /* whether the client has disconnected; readable by all threads */
};

/* Returns true if the client has disconnected, so the response would be dropped. Thread-safe. */
static inline bool http_exchange_is_abandoned(const struct http_exchange *x)
{
    return atomic_load_explicit(&x->abandoned, memory_order_relaxed);
}

struct response_head {
    int status;
    struct str content_type; /* empty if the status is 204 */
    struct str headers;      /* further headers, each with its CRLF */
    bool close;              /* close the connection after the response */
    bool no_gzip;            /* whether the body is already compressed */
    bool gzipped; /* whether the body is already compressed with gzip, which the client accepts;
                   * adds Content-Encoding */
};

/* Limits of a request body, which the application sets before the body is read. */
struct body_limits {
    size_t max_body; /* maximum length of the body in bytes; a longer one is refused with status
                      * 413 */
    size_t max_multipart; /* limit of a multipart body in bytes; 0 if multipart is read as an
                           * ordinary body */
};

/* A request that the server refused without calling the callback `request` of the application. */
struct refused_request {
    struct str remote; /* client address */
    struct str target; /* request target; a NULL pointer if the head could not be parsed */
    struct str bytes;  /* first bytes of a malformed head */
    enum http_method method;
};

struct http_server_callbacks {
    void *arg;
    /* Returns the body limits. Called when the head is complete and the request has a body. */
    struct body_limits (*body_limits)(void *arg, const struct http_request *r);
    /* Called with the head of a request whose body is long, of unknown length, or a form. To accept
     * the body, call http_accept_request_body; the body is then read. To refuse the body, call
     * http_respond. If authorize_body is NULL, all bodies are accepted. */
    void (*authorize_body)(void *arg, struct http_exchange *x);
    /* Called with a complete request. Respond with http_respond, in this call or later. */
    void (*request)(void *arg, struct http_exchange *x);
    /* Writes the JSON body of an error that the server itself sends (malformed, too large). */
    void (*refusal)(void *arg, int status, struct buf *out);
    struct str refusal_lines; /* headers of the error responses that the server itself sends; must
                               * outlive the server */
    /* Called after the server refused a request without calling the application. May be NULL. */
    void (*refused)(void *arg, int status, const struct refused_request *r);
    /* Called for a valid WebSocket handshake. To accept it, fills *ret and returns true. If it
     * returns false, the request is handled as an ordinary request. May be NULL. */
    bool (*upgrade)(void *arg, const struct http_request *r, struct websocket_handler *ret);
};

struct http_server_options {
    const char *host;
    int port;   /* 0 means any free port */
    int socket; /* inherited listening socket, which the server will close; 0 if there is none */
    /* Certificate and key for TLS; NULL if the server offers plain HTTP only. */
    struct tls_context *tls;
    bool tls_only;           /* whether plain HTTP is refused */
    int64_t head_timeout_ms; /* time limit for receiving a request head, usually 30 s; also the
                              * interval in which the rate of a body is measured */
    int64_t idle_timeout_ms; /* time limit between two requests, usually 75 s; also the interval in
                              * which the rate of sending is measured */
    size_t body_memory; /* limit for the request bodies of all connections together, in bytes; 0
                         * means no limit */
    const struct trusted_proxy_networks *proxies; /* addresses of trusted proxies; NULL if there are
                                                   * none */
    bool proxy_protocol; /* whether trusted proxies may send a PROXY protocol header */
    const char *via;     /* value of the Via header */
};

/* Starts listening on every loop. If the address is in use or does not belong to this machine, logs
 * the reason and returns an error. */
enum err http_server_start(struct loops *loops, const struct http_server_options *options,
                           const struct http_server_callbacks *app, struct http_server **ret);
int http_server_get_port(const struct http_server *s);

/* Writes the address of a listening socket. Returns false if the socket is not a listening IP
 * socket. */
bool format_listening_socket_host(int socket, char *host, size_t max);

/* Closes the listener and idle connections. Running requests and WebSockets continue; a new
 * WebSocket handshake gets status 503. Blocks, so it must not be called on a loop. */
void http_server_drain(struct http_server *s);
/* Drains the server and calls each WebSocket's shutdown handler. Closes remaining WebSockets after
 * 200 ms, waits at most timeout_ms for running requests, then closes all connections. Blocks, so it
 * must not be called on a loop. */
void http_server_stop(struct http_server *s, int64_t timeout_ms);
void http_server_free(struct http_server *s);

struct http_server_stats {
    uint64_t accepted, open, requests, refused, bytes_in, bytes_out, websockets;
    uint64_t body_bytes; /* bytes of request bodies that are being received or processed */
};
void http_server_read_stats(const struct http_server *s, struct http_server_stats *ret);

/* Accepts the body for which `authorize_body` was called; account is the sender's id, or 0. Call on
 * the exchange's loop. Until `request` is called, the server may free the exchange without notice,
 * so the exchange must not own anything outside its arena. */
void http_accept_request_body(struct http_exchange *x, uint64_t account);
/* Sends the response. Call exactly once, on the exchange's loop, inside `request` or later. Frees
 * the exchange and its arena. The response to HEAD has no body. JSON and text of 1-128 KiB is
 * gzipped if the client accepts it. */
void http_respond(struct http_exchange *x, const struct response_head *head, struct str body);
/* Closes the connection without a response, as if the server had crashed. Must not be called while
 * the connection's input is handled; call it in a timer callback or a later loop iteration. */
void http_close_connection_without_response(struct http_exchange *x);
/* Responds with a body of `length` bytes of a file, from its current offset. Closes fd. The rules
 * of http_respond apply. */
void http_respond_file(struct http_exchange *x, const struct response_head *head, int fd,
                       int64_t length);

/* Responds with a long text, which is sent in pieces as the client reads it, and is not copied as a
 * whole. Takes over the contents of `owner`, the buffer of the text; if owner is NULL, the text
 * must outlive the server. The text is not compressed. */
void http_respond_long_text(struct http_exchange *x, const struct response_head *head,
                            struct str text, struct buf *owner);
/* Responds with a reference-counted long text, which is sent in pieces as the client reads it.
 * Takes a reference of its own to the text. */
void http_respond_shared_text(struct http_exchange *x, const struct response_head *head,
                              struct shared_text *text);
/* Minimum length in bytes of texts that should be sent with http_respond_long_text. */
enum { HTTP_LONG_TEXT_BYTES = 64 * 1024 };

/* Maximum length in bytes of bodies that http_respond compresses. Compressing a longer body would
 * block the loop, so the caller compresses it in the background. */
enum { HTTP_GZIP_MAX_BYTES = 128 * 1024 };
bool http_response_is_worth_compressing(struct str content_type, size_t length);
/* Appends the body as gzip, for response_head.gzipped; level 1 is fastest, 9 smallest. Returns
 * false, with undefined contents of out, if the result would not be smaller. Thread-safe. */
bool http_compress_gzip(struct str body, int level, struct buf *out);

/* --- WebSockets ----------------------------------------------------------------------- */

struct websocket_handler {
    void *arg;
    size_t max_message; /* a longer message closes the connection */
    int too_large;      /* close code for a message that is too long; 0 means 1009 */
    size_t max_unsent;  /* limit of unsent bytes; if it is exceeded, the connection is closed */
    void (*open)(struct websocket *ws, void *arg); /* called after the handshake was sent */
    void (*message)(struct websocket *ws, enum ws_opcode opcode, struct str payload);
    /* Called exactly once, when the connection has ended, even if `open` was never called. code is
     * the peer's close code, or 1006. The websocket must not be used afterwards. Called from the
     * loop, never inside another callback of the handler. */
    void (*closed)(struct websocket *ws, int code);
    void (*shutdown)(struct websocket *ws); /* called when the server stops; if NULL, the server
                                             * closes with code 1001 */
    void (*drained)(struct websocket *ws);  /* called when all output is sent, if
                                             * websocket_notify_when_all_is_sent requested it */
};

void *websocket_get_data(const struct websocket *ws); /* the pointer of websocket_set_data */
void websocket_set_data(struct websocket *ws, void *data);
/* Replaces the handler's limit max_unsent for this WebSocket, for use after the peer is
 * authenticated. */
void websocket_set_max_unsent(struct websocket *ws, size_t max_waiting);
struct loop *websocket_get_loop(const struct websocket *ws);
struct str websocket_get_client_address(const struct websocket *ws); /* valid until the next call */
uint64_t websocket_address_key(const struct websocket *ws);          /* as exchange.address */
bool websocket_uses_tls(const struct websocket *ws);
/* Appends the address that the client connected to: "192.0.2.1:8080", "[2001:db8::1]:8080". */
void websocket_append_local_host(const struct websocket *ws, struct buf *out);

/* Queues one message. The messages that were queued in a loop iteration are sent with one write.
 * Call it on the loop. */
void websocket_send(struct websocket *ws, enum ws_opcode opcode, struct str payload);
/* Queues one message that consists of several parts. A long message is sent at once, as far as the
 * kernel accepts it, so that it need not be copied. */
enum { WEBSOCKET_PARTS_MAX = 4 };
void websocket_send_parts(struct websocket *ws, enum ws_opcode opcode, const struct str *parts,
                          size_t count);
/* Queues one message and takes over the contents of its buffer. A long message is sent in pieces as
 * the peer reads it; later messages are queued behind it. */
void websocket_send_buf(struct websocket *ws, enum ws_opcode opcode, struct buf *payload);
/* Queues a WebSocket frame that the caller has encoded. If `now` is set and no other data is
 * queued, writes at once as much as the kernel accepts. */
void websocket_send_frame(struct websocket *ws, struct str frame, bool now);
/* Writes the queued messages now, without waiting for the end of the loop iteration. */
void websocket_flush(struct websocket *ws);
/* The two prefetch functions load the memory that sending needs into the CPU cache, for callers
 * that send an event to thousands of sockets. Call websocket_prefetch_into_cpu_cache some time
 * before websocket_prefetch_connection_into_cpu_cache. */
void websocket_prefetch_into_cpu_cache(const struct websocket *ws);
void websocket_prefetch_connection_into_cpu_cache(const struct websocket *ws);
/* Returns the number of bytes that are queued but not yet sent. */
size_t websocket_count_unsent_bytes(const struct websocket *ws);
/* Requests that the handler's `drained` is called once, when all queued bytes are sent. */
void websocket_notify_when_all_is_sent(struct websocket *ws);
/* Sends a close frame, waits at most 5 s for the peer's close frame, then closes. */
void websocket_close(struct websocket *ws, int code, struct str reason);

#endif
