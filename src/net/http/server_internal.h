/* server_internal.h - state and functions shared by the files of the HTTP server.
 *
 *   server.c             start, stop, statistics
 *   server_listen.c      listening sockets, new connections
 *   server_connection.c  timeouts, sending, receiving and closing of a connection
 *   server_request.c     parses input into requests
 *   server_body.c        request bodies that did not arrive with the head
 *   server_response.c    encodes responses
 *   server_long_response.c   responses from files, and long responses
 *   server_gzip.c        compression of responses
 *   server_websocket.c   connections that became WebSockets
 *
 * A connection handles one request at a time. While the connection's input is handled, it is
 * server_loop->current: responses are collected in server_loop->buffers.out and sent in one write.
 * A closed connection is freed in a later loop iteration, so callers may still read its state.
 */
#ifndef NET_SERVER_INTERNAL_H
#define NET_SERVER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/links.h"
#include "net/address.h"
#include "net/http/body_budget.h"
#include "net/proxies.h"
#include "net/http/server.h"
#include "net/tls.h"

enum {
    READ_BUFFER_BYTES = 64 * 1024, /* size in bytes of a loop's read buffer */
    HEAD_READ_BYTES = 16 * 1024,   /* number of bytes of the read buffer that are used while no body
                                    * is expected */
    MAX_UNHANDLED_INPUT = 16 * 1024,   /* unhandled input at which reading pauses */
    MAX_UNSENT_OUTPUT = 32 * 1024,     /* if more output than this is unsent, no further request is
                                        * read */
    MAX_RETAINED_SCRATCH = 256 * 1024, /* larger buffers are freed after use */
    MAX_COPIED_PAYLOAD = 16 * 1024,    /* payloads longer than this are sent without a copy */
    MAX_RETAINED_ARENAS = 64,
    READS_PER_CLOCK_CHECK = 4,        /* number of reads between two checks of the clock */
    MAX_READING_NS = 8 * 1000 * 1000, /* time limit per loop iteration for reading all sockets, in
                                       * ns */
    ACCEPT_PAUSE_MS = 100, /* pause before connections are accepted again if no file descriptors are
                            * left, in ms */
    LINGER_MS = 1000,
    CLOSE_HANDSHAKE_MS = 5000,     /* timeout for the peer's close frame */
    STOP_CLOSE_HANDSHAKE_MS = 200, /* timeout for the peer's close frame while the server stops, in
                                    * ms */
    CLOSED_PER_ITERATION = 256,    /* connections closed in one loop iteration */
    MIN_BODY_RATE = 8 * 1024,      /* minimum rate at which a peer must send a body, in bytes per
                                    * second */
    /* Minimum rate of sending a response, bytes per second. Low, because kernels of slow peers
     * accept bytes in bursts. */
    MIN_RESPONSE_RATE = 2 * 1024,
};

struct http_server_counters {
    _Atomic uint64_t accepted, open, requests, refused, bytes_in, bytes_out, websockets;
};

/* The listening socket of one event loop. */
struct listening_socket {
    uv_poll_t listener;
    int listen_fd;
    bool listening;
    struct deadline pause; /* pause in accepting connections after EMFILE (too many open files) */
    uint64_t logged_at;    /* time of the last log line about failed accepts */
};

/* Limits how much one loop iteration reads, so that the iteration also has time for sending. */
struct connection_read_time_budget {
    unsigned reads;      /* number of reads in this iteration */
    int64_t reads_until; /* time at which reading ends in this iteration, in ns; 0 if not set yet;
                          * negative if the time is up */
    struct list_link postponed; /* connections whose stored input will be handled in the next
                                 * iteration */
    struct loop_message continue_message; /* message that resumes the postponed connections */
    bool continue_posted;                 /* whether continue_message was posted */
};

struct http_connection_timers {
    struct deadline_list *reading, *sending, *idle, *lingering, *goodbyes, *pauses;
    uint64_t least_read, least_sent; /* minimum number of bytes that a peer must send or read per
                                      * timeout interval */
};

/* Buffers that all connections of a loop share. */
struct server_io_buffers {
    struct buf out;           /* responses of the current connection */
    struct buf plain, cipher; /* decrypted input; TLS output */
    struct buf pieces;        /* decoded chunks of a body; or the body of an error response */
    char *bytes; /* READ_BUFFER_BYTES; not zeroed, so that pages without input take no memory */
};

/* Preformatted headers that all responses share. */
struct common_response_headers {
    bool dated;   /* whether the Date header is known to be up to date in this loop iteration */
    int64_t date; /* second for which `common` was formatted */
    char common[256];
    size_t common_n;
    const char *via;
};

/* State of the HTTP server on one event loop. */
struct server_loop {
    struct http_server *server;
    struct loop *loop;
    struct http_server_callbacks app;
    struct tls_context *tls;
    bool tls_only;
    struct body_budget *budget; /* shared by all loops */
    const struct trusted_proxy_networks *proxies;
    bool proxy_protocol;

    struct listening_socket accept;
    size_t handles; /* number of open libuv handles: the listener and the connections */
    bool stopping, reported;
    struct list_link connections;
    /* WebSockets that have output to send at the end of the loop iteration. */
    struct list_link dirty;
    struct loop_iteration_callback iteration_end;
    struct connection_read_time_budget input;
    struct http_connection_timers timers;
    struct http_server_counters counters;

    size_t requests_in_progress; /* requests that have no response yet */
    bool orphaned; /* whether the server was freed while requests ran; then the last request frees
                    * this struct */
    struct arena *arenas[MAX_RETAINED_ARENAS];
    size_t arena_count;

    struct http_connection *current; /* connection whose input is being handled */
    struct http_request request;     /* memory that the parser reuses for each request */
    struct common_response_headers head;
    struct gzip_state *gzip;
    struct stored_handler *handlers; /* WebSocket handlers; connections with the same callbacks
                                      * share one */
    char remote[ADDRESS_TEXT_SIZE];  /* result of the last websocket_get_client_address */
    struct server_io_buffers buffers;
};

struct http_server {
    struct loops *loops;
    struct server_loop **server_loops;
    int port;
    char *via;
    struct body_budget *budget;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned busy; /* number of loops that still have open handles */
    bool draining, stopped;
};

/* A request, together with the server's own state for it. Allocated in the request's arena. */
struct http_server_request {
    struct http_exchange x;
    struct server_loop *server_loop;
    bool head, keep_alive, old; /* head: the method is HEAD; keep_alive: the connection stays open
                                 * after the response; old: the client uses HTTP/1.0 */

    /* The following members are used while the body is received. */
    /* form: the body is multipart; expects: the client expects "100 Continue". */
    bool form, expects;
    bool counts_against_budget; /* whether the body counts against the body budget */
    size_t max_parts;           /* limit for the contents of all parts of a form, in bytes */
    uint64_t max;               /* limit for the body, in bytes */
    uint64_t left;              /* remaining bytes of the body, if its length is known */
    struct body_budget_owner owner;
    size_t received, reserved; /* received bytes of head and body, and how many of them are reserved
                                * in the budget */
    struct http_chunk_decoder chunks;
    struct buf data;
};

enum http_connection_state {
    CONN_HEAD,             /* the connection waits for a request or for the rest of its head */
    CONN_AUTHORIZING_BODY, /* waits until the application has decided whether to accept the body
                            * (authorize_body) */
    CONN_BODY,             /* the connection waits for the rest of a body */
    CONN_HANDLING,         /* the application handles the request */
    CONN_FILE,             /* the connection sends a file or a long text */
    CONN_WEBSOCKET,        /* the connection is a WebSocket */
    CONN_LAST,             /* closes after all output is sent */
    CONN_LINGER, /* the connection is shut down for writing, and waits for the peer to close */
    CONN_CLOSED, /* the connection is closed; only its memory is not freed yet */
};

/* A connection that was upgraded to a WebSocket. */
struct websocket {
    /* The members that are used for sending come first, so that they share cache lines. */
    struct buf out;
    struct list_link dirty;
    bool open : 1;       /* whether the handshake was sent and `open` called */
    bool close_sent : 1; /* whether a close frame was sent; no more frames may follow */
    bool ending : 1; /* whether input is ignored and the connection closes at the iteration's end */
    bool cut : 1;    /* whether the peer reads too slowly and will be disconnected */
    bool over : 1;   /* whether the handler's `closed` was called */
    bool awaited : 1; /* whether websocket_notify_when_all_is_sent was called, so that the handler's
                       * `drained` must be called */
    uint16_t code;    /* close code that the peer has sent, or 1006 */
    uint16_t controls;                  /* control frames in the current minute */
    const struct websocket_handler *on; /* handler, shared by many sockets; its members arg and
                                         * max_unsent are not used */
    void *data; /* pointer for the application; before `open` was called, the argument for `open` */
    struct ws_reader *reader;          /* decoder with an incomplete message; NULL if no message is
                                        * incomplete */
    struct pending_pong *pong;         /* NULL if no pong is pending */
    struct long_message *long_message; /* message that is being sent in pieces, or NULL */
    struct ip_address remote;          /* client address, as in struct http_exchange */
    uint32_t minute; /* start of the minute in which `controls` counts; time of the loop's clock
                      * modulo 2^32 */
};

enum http_connection_running_timeout { TIMING_NONE, TIMING_READING, TIMING_SENDING, TIMING_IDLE };

struct http_connection {
    uv_tcp_t tcp;
    /* The members that are used for sending come first, directly after those of libuv, so that they
     * share cache lines. */
    struct server_loop *server_loop;
    struct tls_connection *tls;
    uint8_t state, timing;
    bool sniffed : 1; /* whether the first byte was examined, to distinguish TLS from plain HTTP */
    bool paused : 1;  /* whether reading is paused */
    bool ended : 1;   /* whether the peer sent EOF */
    bool linger : 1;  /* whether unread input may arrive, so that closing would cause a TCP reset */
    bool trusted : 1; /* the peer is a trusted proxy */
    bool preamble : 1; /* whether a PROXY protocol header may still arrive */
    bool secure : 1;   /* for WebSockets: whether the client uses TLS, as in struct http_exchange */
    bool upgraded : 1; /* whether the connection is or was a WebSocket */
    bool used : 1;     /* whether any request was received */
    struct list_link link;  /* in server_loop->connections */
    struct list_link later; /* link in server_loop->input.postponed while the input in `in` is
                             * postponed */
    struct deadline deadline;
    struct buf in;         /* received bytes that are not handled yet */
    uint64_t queued_bytes; /* number of bytes in libuv's queue, because the kernel did not accept
                            * them yet */
    uint64_t mark;    /* number of bytes transferred when the current timeout interval started */
    uint64_t address; /* key of the client address (address_rate_limit_key), for rate limits */
    union {
        struct {                  /* members in use before an upgrade */
            size_t checked_bytes; /* number of bytes of an incomplete head that were already
                                   * searched for its end */
            uint64_t skip;     /* number of bytes of a refused body that are still to be skipped */
            uint64_t received; /* body bytes received */
            struct http_server_request *call;
            struct long_response *file;
            uint8_t remote_n;
            char remote[ADDRESS_TEXT_SIZE];
        };
        struct websocket websocket; /* member in use after an upgrade */
    };
};

static inline struct http_connection *websocket_get_connection(const struct websocket *ws)
{
    return (struct http_connection *)(void *)((char *)(uintptr_t)ws -
                                              offsetof(struct http_connection, websocket));
}

static inline void server_counter_add(_Atomic uint64_t *figure, uint64_t n)
{
    /* Only the loop's thread writes counters, so no atomic addition is needed. */
    uint64_t v = atomic_load_explicit(figure, memory_order_relaxed);

    atomic_store_explicit(figure, v + n, memory_order_relaxed);
}

static inline size_t http_connection_count_unsent_bytes(const struct http_connection *c)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&c->tcp);
}

bool server_loop_read_time_is_used_up(struct server_loop *h);
/* Makes the loop handle the remaining input (c->in) in its next iteration. */
void http_connection_postpone_input(struct http_connection *c);
void on_continue_postponed_input(struct loop_message *post);

static inline void http_connection_prefetch_into_cpu_cache(const struct http_connection *c)
{
    __builtin_prefetch((const char *)c + 64);
    __builtin_prefetch((const char *)c + 128);
    __builtin_prefetch((const char *)c + 192);
    __builtin_prefetch(&c->server_loop);
}

/* check_port_is_free fails if another process uses the port. open_listening_socket opens a
 * listening socket and sets *ret_port to its port; on failure it returns -1 and logs the reason.
 * (server_listen.c) */
enum err check_port_is_free(const char *host, int port);
int open_listening_socket(const char *host, int port, int *ret_port);
/* Duplicates an inherited listening socket, so that all loops can accept connections from it. */
int duplicate_listening_socket(int socket, int *ret_port);
enum err server_loop_listen(struct server_loop *h, int fd);
void server_loop_resume_accepting(struct deadline *d);

void server_loop_count_closed_handle(struct server_loop *h);
void server_loop_free(struct server_loop *h);

void on_connection_read_timeout(struct deadline *d);
void on_connection_send_timeout(struct deadline *d);
void on_connection_closing_timeout(struct deadline *d);
/* http_connection_begin_collecting_output makes c the current connection and returns the previous
 * one. http_connection_send_collected_output sends the collected output of c and restores the
 * previous connection. Call the two functions around code that may respond when no input of c is
 * being handled. */
struct http_connection *http_connection_begin_collecting_output(struct http_connection *c);
void http_connection_send_collected_output(struct http_connection *c,
                                           struct http_connection *before);
/* Sends the collected output, then the pieces; queues bytes that the kernel does not accept. */
void http_connection_send(struct http_connection *c, const struct str *pieces, size_t count);
void http_connection_flush(struct http_connection *c);
/* Sends a piece of output through libuv's queue, even if the kernel could accept it at once,
 * because libuv then reports in a later loop iteration that the piece was sent. */
void http_connection_send_through_libuv_queue(struct http_connection *c, struct str piece);
/* If no output is queued, writes as many bytes as the kernel accepts and returns their number. With
 * TLS, accepts all bytes and queues the rest. Never closes the connection. */
size_t http_connection_try_send(struct http_connection *c, struct str bytes);
/* Does the same with up to 8 pieces, without copying them; accepts no bytes with TLS. */
size_t http_connection_try_send_pieces(struct http_connection *c, const struct str *pieces,
                                       size_t count);
void http_connection_close_when_sent(struct http_connection *c);
void http_connection_close(struct http_connection *c);
void http_connection_set_read_paused(struct http_connection *c, bool pause);
void http_connection_start_reading(struct http_connection *c);
/* Sets the client address and whether the peer is a trusted proxy. (server_listen.c) */
void http_connection_set_client_address(struct http_connection *c, const struct ip_address *a);
/* Appends the address that the client connected to: "192.0.2.1:8080". */
void http_connection_append_local_host(const struct http_connection *c, struct buf *out);

void http_connection_parse_input(struct http_connection *c, char *bytes, size_t n);
/* Handles input that was stored because it could not be handled when it arrived. */
void http_connection_parse_stored_input(struct http_connection *c);
/* Sends an error response of the server itself and closes the connection. */
void http_connection_refuse_request(struct http_connection *c, int status, struct str headers);
/* Notifies the application that the server refused a request. If the head was malformed, call is
 * NULL. `bytes` is the start of the head. */
void report_refused_request(const struct http_connection *c, const struct http_server_request *call,
                            int status, struct str bytes);
/* Passes the request to the application, which may free the request: do not use it afterwards. */
void http_connection_pass_request_to_app(struct http_connection *c,
                                         struct http_server_request *call);

size_t http_request_body_start_reading(struct http_connection *c, struct http_server_request *call,
                                       struct str rest);
size_t http_request_body_read(struct http_connection *c, struct str bytes);
/* Skips the body of a request that was refused before its body was read. Returns whether the
 * connection can be used for further requests. */
bool http_request_body_skip(struct http_connection *c, struct http_server_request *call,
                            bool keep_alive);

struct http_server_request *http_server_request_new(struct server_loop *h);
void http_server_request_free(struct http_server_request *call);
/* Properties of a request that determine how its response is encoded. */
struct response_encoding_context {
    struct str accept_encoding;
    bool head, keep_alive, old;
};
void append_error_response(struct http_connection *c, const struct response_encoding_context *to,
                           int status, struct str headers);
bool http_status_has_body(int status);
void append_response_head(struct server_loop *h, const struct response_encoding_context *to,
                          const struct response_head *head, uint64_t length, bool zipped,
                          bool varies);
void http_connection_end_request(struct http_connection *c, struct http_server_request *call,
                                 bool keep_alive);

/* Sends as much of the response as the peer accepts; returns true when the whole response was sent.
 * (server_long_response.c) */
bool long_response_send_more(struct http_connection *c);
void long_response_free(struct http_connection *c);

/* Compresses a body. Returns false if the compressed body would not be smaller. (server_gzip.c) */
bool compress_response_body(struct server_loop *h, struct str body, struct str *ret);
void gzip_state_free(struct gzip_state *g);

bool websocket_accept_upgrade(struct http_connection *c, struct http_server_request *call);
void websocket_decode_input(struct http_connection *c, char *bytes, size_t n);
void websocket_resume_input(struct http_connection *c); /* handles postponed input */
void on_websocket_output_sent(struct http_connection *c);
void websocket_call_closed_handler(struct http_connection *c);
void websocket_free_buffers(struct websocket *ws);
void websocket_close_for_server_shutdown(struct http_connection *c);
void websockets_send_queued_output(struct server_loop *h);
void websocket_handlers_free(struct server_loop *h);

#endif
