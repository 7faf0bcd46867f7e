/* server_internal.h - state and functions shared by the files of the HTTP server.
 *
 *   server.c             start, stop, statistics
 *   server_listen.c      listening sockets, new connections
 *   server_connection.c  timeouts, sending, receiving and closing of a connection
 *   server_read.c        parses input into requests
 *   server_body.c        request bodies that did not arrive with the head
 *   server_answer.c      encodes responses
 *   server_file.c        responses from files, and long responses
 *   server_gzip.c        compression of responses
 *   server_websocket.c   connections that became WebSockets
 *
 * A connection handles one request at a time. While its input is handled, it is home->current:
 * responses collect in home->buffers.out and leave in one write at the end. A closed connection is
 * freed in a later loop iteration, so callers may still read its state. */
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
    READ_SIZE = 64 * 1024,      /* size of the read buffer of a loop */
    HEAD_READ = 16 * 1024,      /* part of the read buffer used while no body is expected */
    WAITING_INPUT = 16 * 1024,  /* unhandled input at which reading pauses */
    WAITING_OUTPUT = 32 * 1024, /* unsent output at which no further request is read */
    SCRATCH_KEPT = 256 * 1024,  /* larger scratch buffers are freed */
    COPY_LIMIT = 16 * 1024,     /* longer payloads are sent without a copy */
    ARENAS_KEPT = 64,
    READS_BETWEEN_LOOKS = 4,      /* number of reads between two checks of the clock */
    READING_NS = 8 * 1000 * 1000, /* time limit for socket input per loop iteration */
    PAUSE_MS = 100,               /* accept pause when no file descriptors are left */
    LINGER_MS = 1000,
    GOODBYE_MS = 5000,     /* timeout for the peer's close frame */
    PARTING_MS = 200,      /* timeout for the peer's close frame while the server stops */
    PARTED_AT_ONCE = 256,  /* connections closed in one loop iteration */
    LEAST_RATE = 8 * 1024, /* minimum rate of a body, bytes per second */
    /* Minimum rate of a response; low, because kernels of slow readers accept bytes in bursts. */
    LEAST_TAKEN = 2 * 1024,
};

struct server_figures {
    _Atomic uint64_t accepted, open, requests, refused, bytes_in, bytes_out, websockets;
};

/* The listening socket of one event loop. */
struct accepting {
    uv_poll_t listener;
    int listen_fd;
    bool listening;
    struct deadline pause; /* delay before the next accept after EMFILE */
    uint64_t told_at;      /* time of the last log line about failed accepts */
};

/* Limits how much one loop iteration reads, so that it also has time for sending. */
struct input_budget {
    unsigned reads;        /* number of reads in this iteration */
    int64_t reads_until;   /* time limit in ns; 0: not set yet; negative: no more reads */
    struct link postponed; /* connections whose input waits for the next iteration */
    struct post go_on;     /* message that continues with postponed connections */
    bool goes_on;          /* whether go_on was posted */
};

struct connection_timers {
    struct deadlines *reading, *sending, *idle, *lingering, *goodbyes, *pauses;
    uint64_t least_read, least_sent; /* minimum bytes per timeout window */
};

/* Scratch memory that all connections of a loop share. */
struct io_buffers {
    struct buf out;           /* responses of the current connection */
    struct buf plain, cipher; /* decrypted input; TLS output */
    struct buf pieces;        /* decoded chunks; bodies of errors */
    char bytes[READ_SIZE];
};

/* Preformatted headers that all responses share. */
struct common_headers {
    bool dated;   /* whether the clock was read in this iteration */
    int64_t date; /* second for which `common` was formatted */
    char common[256];
    size_t common_n;
    const char *via;
};

/* Per-loop state of the server. */
struct home {
    struct server *server;
    struct loop *loop;
    struct server_app app;
    struct tls_context *tls;
    bool tls_only;
    struct body_budget *budget; /* shared by all loops */
    const struct proxies *proxies;
    bool proxy_protocol;

    struct accepting accept;
    size_t handles; /* open libuv handles: the listener and connections */
    bool stopping, reported;
    struct link connections;
    struct link dirty; /* WebSockets with work at the end of the iteration */
    struct turn_end turn_end;
    struct input_budget input;
    struct connection_timers timers;
    struct server_figures figures;

    size_t calls;  /* requests that have no response yet */
    bool orphaned; /* the server was freed; the last request frees this struct */
    struct arena *arenas[ARENAS_KEPT];
    size_t arena_count;

    struct connection *current;  /* connection whose input is being handled */
    struct http_request request; /* scratch for the parser */
    struct common_headers head;
    struct gzip *gzip;
    struct kept_handler *handlers; /* WebSocket handlers, one per distinct set of callbacks */
    char remote[ADDRESS_TEXT];     /* text of the last websocket_remote */
    struct io_buffers buffers;
};

struct server {
    struct loops *loops;
    struct home **homes;
    int port;
    char *via;
    struct body_budget *budget;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned busy; /* number of loops with open handles */
    bool draining, stopped;
};

/* A request with the server's state; allocated in its arena. */
struct serving {
    struct exchange x;
    struct home *home;
    bool head, keep_alive, old; /* method is HEAD; keep-alive; HTTP/1.0 */

    /* The following members are used while the body is received. */
    bool form, expects; /* body is multipart; client waits for 100 Continue */
    bool charged;       /* whether the body counts against the body budget */
    size_t max_parts;   /* limit for the content of a form */
    uint64_t max;       /* limit for the body */
    uint64_t left;      /* remaining bytes, if the length is known */
    struct body_owner owner;
    size_t received, paid; /* bytes of head and body; bytes reserved in the budget */
    struct http_chunks chunks;
    struct buf data;
};

enum connection_state {
    CONN_HEAD,      /* waiting for a request or the rest of its head */
    CONN_ASKED,     /* the application authorises the body (admit) */
    CONN_BODY,      /* waiting for the rest of a body */
    CONN_CALL,      /* the application handles the request */
    CONN_FILE,      /* sending a file or a long text */
    CONN_WEBSOCKET, /* upgraded to a WebSocket */
    CONN_LAST,      /* closes when all output is sent */
    CONN_LINGER,    /* shut down for writing; waits for the peer to close */
    CONN_CLOSED,    /* only its memory is left */
};

/* A connection that became a WebSocket. */
struct websocket {
    /* Members used for sending come first, to share cache lines. */
    struct buf out;
    struct link dirty;
    bool open : 1;                      /* the handshake was sent and open called */
    bool close_sent : 1;                /* a close frame was sent; no more frames may follow */
    bool ending : 1;                    /* input ignored; closes at the end of the iteration */
    bool cut : 1;                       /* the peer reads too slowly and will be disconnected */
    bool over : 1;                      /* whether closed was called */
    bool awaited : 1;                   /* whether drained must be called */
    uint16_t code;                      /* close code of the peer, or 1006 */
    uint16_t controls;                  /* control frames in the current minute */
    const struct websocket_handler *on; /* shared by sockets; its arg and max_waiting are unused */
    void *data;                         /* application data; before open: the argument for open */
    struct ws_reader *reader;           /* decoder of an incomplete message; NULL: none */
    struct owed_pong *pong;             /* NULL: no pong is pending */
    struct long_message *long_message;  /* message being sent in pieces; NULL: none */
    struct address remote;              /* client address, as in struct exchange */
    uint32_t minute; /* start of the minute of `controls`; loop's clock modulo 2^32 */
};

enum connection_timing { TIMING_NONE, TIMING_READING, TIMING_SENDING, TIMING_IDLE };

struct connection {
    uv_tcp_t tcp;
    /* Members used for sending come first, directly after those of libuv. */
    struct home *home;
    struct tls *tls;
    uint8_t state, timing;
    bool sniffed : 1;  /* whether TLS or plain HTTP was detected */
    bool paused : 1;   /* whether reading is paused */
    bool ended : 1;    /* the peer sent EOF */
    bool linger : 1;   /* input may be unread, so closing at once would reset the connection */
    bool trusted : 1;  /* the peer is a trusted proxy */
    bool preamble : 1; /* a PROXY protocol header may follow */
    bool secure : 1;   /* WebSockets: as in struct exchange */
    bool upgraded : 1; /* whether the connection is or was a WebSocket */
    bool used : 1;     /* whether a request was received */
    struct link link;  /* in home->connections */
    struct link later; /* in home->input.postponed, if `in` has postponed input */
    struct deadline deadline;
    struct buf in;    /* input not handled yet */
    uint64_t handed;  /* bytes queued because the kernel did not accept them */
    uint64_t mark;    /* bytes transferred when the timeout started */
    uint64_t address; /* address key */
    union {
        struct {               /* members before an upgrade */
            size_t looked_at;  /* bytes of an incomplete head already checked */
            uint64_t skip;     /* bytes of a rejected body still to skip */
            uint64_t received; /* body bytes received */
            struct serving *call;
            struct file_sending *file;
            uint8_t remote_n;
            char remote[ADDRESS_TEXT];
        };
        struct websocket websocket; /* member after an upgrade */
    };
};

static inline struct connection *websocket_connection(const struct websocket *ws)
{
    return (struct connection *)(void *)((char *)(uintptr_t)ws -
                                         offsetof(struct connection, websocket));
}

static inline void figure_add(_Atomic uint64_t *figure, uint64_t n)
{
    /* Only the loop's thread writes counters, so no atomic addition is needed. */
    uint64_t v = atomic_load_explicit(figure, memory_order_relaxed);

    atomic_store_explicit(figure, v + n, memory_order_relaxed);
}

static inline size_t connection_unsent(const struct connection *c)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&c->tcp);
}

bool home_has_read_enough(struct home *h);
/* Handles the rest of c->in in the next loop iteration. */
void connection_postpone(struct connection *c);
void home_go_on(struct post *post);

/* Prefetches the cache lines that sending needs. */
static inline void connection_fetch(const struct connection *c)
{
    __builtin_prefetch((const char *)c + 64);
    __builtin_prefetch((const char *)c + 128);
    __builtin_prefetch((const char *)c + 192);
    __builtin_prefetch(&c->home);
}

/* listen_probe fails if the port is in use. listen_open opens a listening socket; *ret_port is the
 * actual port; returns -1 and logs on failure. (server_listen.c) */
enum err listen_probe(const char *host, int port);
int listen_open(const char *host, int port, int *ret_port);
/* Duplicates an inherited listening socket, from which all loops accept. */
int listen_share(int socket, int *ret_port);
enum err home_listen(struct home *h, int fd);
void home_accept_again(struct deadline *d);

void home_handle_closed(struct home *h);
void home_free(struct home *h);

void connection_expired_reading(struct deadline *d);
void connection_expired_sending(struct deadline *d);
void connection_expired(struct deadline *d);
/* Bracket code that may produce responses outside of a read: connection_begin makes c current and
 * returns the previous current connection; connection_end sends the collected output and restores
 * the previous one. */
struct connection *connection_begin(struct connection *c);
void connection_end(struct connection *c, struct connection *before);
/* Sends the collected output, then the pieces; queues bytes that the kernel does not accept. */
void connection_send(struct connection *c, const struct str *pieces, size_t count);
void connection_flush(struct connection *c);
/* Like connection_send, but always queues the piece, so that libuv reports its end in a later loop
 * iteration. */
void connection_send_queued(struct connection *c, struct str piece);
/* If no output is queued, writes as many bytes as the kernel accepts and returns their number. With
 * TLS, accepts all bytes and queues the rest. Never closes the connection. */
size_t connection_try(struct connection *c, struct str bytes);
void connection_finish(struct connection *c);
void connection_close(struct connection *c);
void connection_pause(struct connection *c, bool pause);
void connection_read_start(struct connection *c);
/* Sets the client address and whether the peer is a trusted proxy. (server_listen.c) */
void connection_set_remote(struct connection *c, const struct address *a);
/* Appends the address that the client connected to: "192.0.2.1:8080". */
void connection_add_own_host(const struct connection *c, struct buf *out);

void connection_input(struct connection *c, char *bytes, size_t n);
/* Handles input that was stored because it could not be handled before. */
void connection_resume(struct connection *c);
/* Sends an error response generated by the server and closes the connection. */
void connection_refuse(struct connection *c, int status, struct str headers);
/* Tells the application that the server refused a request. call is NULL if the head was malformed;
 * `bytes` is the start of the head. */
void refusal_note(const struct connection *c, const struct serving *call, int status,
                  struct str bytes);
/* Passes the request to the application, which may free it: do not use it afterwards. */
void connection_dispatch(struct connection *c, struct serving *call);

size_t body_begin(struct connection *c, struct serving *call, struct str rest);
size_t body_read(struct connection *c, struct str bytes);
/* Skips the body, because a response is sent without it; whether the connection can be reused. */
bool body_give_up(struct connection *c, struct serving *call, bool keep_alive);

struct serving *serving_new(struct home *h);
void serving_free(struct serving *call);
/* Properties of the request that determine how its response is encoded. */
struct answer_to {
    struct str accept_encoding;
    bool head, keep_alive, old;
};
void answer_add(struct connection *c, const struct answer_to *to, const struct answer_head *head,
                struct str body);
void answer_add_refusal(struct connection *c, const struct answer_to *to, int status,
                        struct str headers);
bool answer_has_body(int status);
void answer_add_head(struct home *h, const struct answer_to *to, const struct answer_head *head,
                     uint64_t length, bool zipped, bool varies);
void serving_answered(struct connection *c, struct serving *call, bool keep_alive);

/* Sends as much as the peer accepts; returns true when all is sent. (server_file.c) */
bool file_continue(struct connection *c);
void file_close(struct connection *c);

/* Compresses a body; returns false if the result would not be smaller. (server_gzip.c) */
bool gzip_body(struct home *h, struct str body, struct str *ret);
void gzip_free(struct gzip *g);

bool websocket_begin(struct connection *c, struct serving *call);
void websocket_input(struct connection *c, char *bytes, size_t n);
void websocket_resume(struct connection *c); /* handles postponed input */
void websocket_sent(struct connection *c);
void websocket_end(struct connection *c);
void websocket_clear(struct websocket *ws);
void websocket_tell_shutdown(struct connection *c);
void websockets_end_turn(struct home *h);
void handlers_free(struct home *h);

#endif
