/* server_internal.h - what the files of the server share.
 *
 *   server.c            start, stop, figures
 *   server_listen.c     sockets that listen, new connections
 *   server_connection.c a connection's life: deadlines, sending, closing
 *   server_read.c       from bytes to requests
 *   server_body.c       the bodies of requests that did not come in one piece
 *   server_answer.c     from answers to bytes
 *   server_file.c       answers from files, and long ones
 *   server_gzip.c       smaller answers
 *   server_websocket.c  connections that became WebSockets
 *
 * A connection has one request at a time. While its bytes are handled it is the
 * home's current connection: answers gather in home->out and leave in one write
 * at the end. Closing is the last thing that happens to a connection, but its
 * memory stays until the loop's next turn, so callers may still look at it. */
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
    READ_SIZE = 64 * 1024,      /* the loop's buffer for reads */
    HEAD_READ = 16 * 1024,      /* of which this is used while nothing long is expected */
    WAITING_INPUT = 16 * 1024,  /* unhandled bytes at which reading pauses */
    WAITING_OUTPUT = 32 * 1024, /* unsent bytes at which no further request is taken */
    SCRATCH_KEPT = 256 * 1024,  /* a scratch buffer above it is given back */
    COPY_LIMIT = 16 * 1024,     /* longer payloads are sent from where they lie */
    ARENAS_KEPT = 64,
    READS_BETWEEN_LOOKS = 4,      /* at the clock */
    READING_NS = 8 * 1000 * 1000, /* of a turn, for what comes from sockets */
    PAUSE_MS = 100,               /* without descriptors */
    LINGER_MS = 1000,
    GOODBYE_MS = 5000,     /* for the peer's close frame */
    PARTING_MS = 200,      /* the same while the server stops */
    PARTED_AT_ONCE = 256,  /* connections closed in one loop iteration */
    LEAST_RATE = 8 * 1024, /* bytes a second of a body */
    /* The same of an answer, and less: a peer's kernel takes a slow reader's bytes in leaps. */
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
    struct deadline pause; /* until the next try, when there was no file descriptor left */
    uint64_t told_at;      /* when that was last logged */
};

/* How much one loop iteration reads, so that sending gets its share. */
struct input_budget {
    unsigned reads;        /* in this iteration */
    int64_t reads_until;   /* nanoseconds; 0: not set yet, below 0: no more in this iteration */
    struct link postponed; /* connections whose input waits for the next iteration */
    struct post go_on;     /* continues with these */
    bool goes_on;          /* go_on was posted */
};

struct connection_timers {
    struct deadlines *reading, *sending, *idle, *lingering, *goodbyes, *pauses;
    uint64_t least_read, least_sent; /* bytes that must move while such a deadline runs */
};

/* Scratch memory that all connections of a loop share. */
struct io_buffers {
    struct buf out;           /* answers of the current connection */
    struct buf plain, cipher; /* input and output of TLS */
    struct buf pieces;        /* contents of chunks; bodies of refusals */
    char bytes[READ_SIZE];
};

/* Header lines that all answers share, ready to copy. */
struct common_headers {
    bool dated;   /* the clock was read in this iteration */
    int64_t date; /* the second that `common` is of */
    char common[256];
    size_t common_n;
    const char *via;
};

/* What the server has on each event loop. */
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
    size_t handles; /* the listener and connections that are not closed yet */
    bool stopping, reported;
    struct link connections;
    struct link dirty; /* WebSockets with something to do at the end of the iteration */
    struct turn_end turn_end;
    struct input_budget input;
    struct connection_timers timers;
    struct server_figures figures;

    size_t calls;  /* not answered yet */
    bool orphaned; /* the server is gone: the last call frees this */
    struct arena *arenas[ARENAS_KEPT];
    size_t arena_count;

    struct connection *current;  /* whose bytes are being handled */
    struct http_request request; /* being read */
    struct common_headers head;
    struct gzip *gzip;
    struct kept_handler *handlers; /* of WebSockets */
    char remote[ADDRESS_TEXT];     /* of the WebSocket that was last asked for it */
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
    unsigned busy; /* homes with open handles */
    bool draining, stopped;
};

/* A request with the server's side of it; lives in its arena. */
struct serving {
    struct exchange x;
    struct home *home;
    bool head, keep_alive, old; /* HEAD; HTTP/1.0 */

    /* While the body comes in. */
    bool form, expects; /* multipart; waits for 100 Continue */
    bool charged;       /* its bytes count against the budget */
    size_t max_parts;   /* the longest contents of a form */
    uint64_t max;       /* the longest that is taken */
    uint64_t left;      /* of a body with a length */
    struct body_owner owner;
    size_t received, paid; /* bytes of head and body; of those, taken from the budget */
    struct http_chunks chunks;
    struct buf data;
};

enum connection_state {
    CONN_HEAD,      /* waits for a request, or for the rest of its head */
    CONN_ASKED,     /* the application decides whether the body may come */
    CONN_BODY,      /* waits for the rest of a body */
    CONN_CALL,      /* the application works on it */
    CONN_FILE,      /* a file or a long text is being sent */
    CONN_WEBSOCKET, /* not HTTP any more */
    CONN_LAST,      /* ends once all is sent */
    CONN_LINGER,    /* said goodbye, waits for the peer to notice */
    CONN_CLOSED,    /* only its memory is left */
};

/* A connection that became a WebSocket. */
struct websocket {
    /* What sending needs stands together. */
    struct buf out;
    struct link dirty;
    bool open : 1;                      /* the handshake was sent and open called */
    bool close_sent : 1;                /* nothing more leaves */
    bool ending : 1;                    /* nothing more is read: finish at the end of the turn */
    bool cut : 1;                       /* the peer is too slow */
    bool over : 1;                      /* closed was called */
    bool awaited : 1;                   /* drained is to be called */
    uint16_t code;                      /* what the peer said, or 1006 */
    uint16_t controls;                  /* frames in their window */
    const struct websocket_handler *on; /* the home's: without arg and max_waiting */
    void *data;                         /* before it is open: for open */
    struct ws_reader *reader;           /* NULL: it is between two messages */
    struct owed_pong *pong;             /* NULL: none is owed */
    struct long_message *long_message;  /* NULL: none is under way */
    struct address remote;              /* of the client, as of an exchange */
    uint32_t minute; /* when the window of control frames began: the loop's clock, modulo 2^32 */
};

enum connection_timing { TIMING_NONE, TIMING_READING, TIMING_SENDING, TIMING_IDLE };

struct connection {
    uv_tcp_t tcp;
    /* What sending needs stands together, behind what libuv needs for it. */
    struct home *home;
    struct tls *tls;
    uint8_t state, timing;
    bool sniffed : 1;  /* TLS or not is known */
    bool paused : 1;   /* not reading for now */
    bool ended : 1;    /* the peer sends nothing more */
    bool linger : 1;   /* unread bytes are likely: do not reset the peer */
    bool trusted : 1;  /* a proxy whose word about its clients counts */
    bool preamble : 1; /* a PROXY protocol header may come */
    bool secure : 1;   /* of a WebSocket: as of an exchange */
    bool upgraded : 1; /* it is one, or was one before its end */
    bool used : 1;     /* a request has come */
    struct link link;  /* in home->connections */
    struct link later; /* in home->postponed, with something in `in` */
    struct deadline deadline;
    struct buf in;    /* not handled yet */
    uint64_t handed;  /* bytes that had to wait for the peer */
    uint64_t mark;    /* what had moved when the deadline was set */
    uint64_t address; /* its key */
    union {
        struct {               /* before it is upgraded */
            size_t looked_at;  /* bytes of an incomplete head already checked */
            uint64_t skip;     /* bytes of a refused body still to come */
            uint64_t received; /* bytes of bodies */
            struct serving *call;
            struct file_sending *file;
            uint8_t remote_n;
            char remote[ADDRESS_TEXT];
        };
        struct websocket websocket; /* from then on */
    };
};

static inline struct connection *websocket_connection(const struct websocket *ws)
{
    return (struct connection *)(void *)((char *)(uintptr_t)ws -
                                         offsetof(struct connection, websocket));
}

static inline void figure_add(_Atomic uint64_t *figure, uint64_t n)
{
    /* One writer: no locked instruction needed. */
    uint64_t v = atomic_load_explicit(figure, memory_order_relaxed);

    atomic_store_explicit(figure, v + n, memory_order_relaxed);
}

static inline size_t connection_unsent(const struct connection *c)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&c->tcp);
}

/* Whether the turn's share of reading is spent, by the clock. */
bool home_has_read_enough(struct home *h);
/* What is left in c->in is handled in the next turn. */
void connection_postpone(struct connection *c);
void home_go_on(struct post *post);

/* Has what sending looks at brought near. */
static inline void connection_fetch(const struct connection *c)
{
    __builtin_prefetch((const char *)c + 64);
    __builtin_prefetch((const char *)c + 128);
    __builtin_prefetch((const char *)c + 192);
    __builtin_prefetch(&c->home);
}

/* server_listen.c: a socket that listens on host and port; *ret_port is the port
 * it got. Logs and returns -1 when that fails. */
enum err listen_probe(const char *host, int port);
int listen_open(const char *host, int port, int *ret_port);
/* The same with a socket that all loops accept from. */
int listen_share(int socket, int *ret_port);
enum err home_listen(struct home *h, int fd);
void home_accept_again(struct deadline *d);

/* server.c */
void home_handle_closed(struct home *h);
void home_free(struct home *h);

/* server_connection.c */
void connection_expired_reading(struct deadline *d);
void connection_expired_sending(struct deadline *d);
void connection_expired(struct deadline *d);
/* Around everything that may produce answers outside of a read: makes c current
 * and returns who was; gives the turn back after sending what gathered. */
struct connection *connection_begin(struct connection *c);
void connection_end(struct connection *c, struct connection *before);
/* Sends pieces after what gathered; what the kernel does not take is kept. */
void connection_send(struct connection *c, const struct str *pieces, size_t count);
void connection_flush(struct connection *c);
/* The same as connection_send for one piece that is always queued: libuv tells when it is
 * written, in a later turn of the loop. */
void connection_send_queued(struct connection *c, struct str piece);
/* Writes what the kernel takes at once, when nothing is before it; how much that was. Under TLS
 * all of it is taken, and what the kernel leaves is kept. It never closes the connection. */
size_t connection_try(struct connection *c, struct str bytes);
/* Closes it when all is sent. */
void connection_finish(struct connection *c);
void connection_close(struct connection *c);
void connection_pause(struct connection *c, bool pause);
void connection_read_start(struct connection *c);
/* server_listen.c: it is somebody at this address. */
void connection_set_remote(struct connection *c, const struct address *a);
/* The address that the client connected to: "192.0.2.1:8080". */
void connection_add_own_host(const struct connection *c, struct buf *out);

/* server_read.c */
void connection_input(struct connection *c, char *bytes, size_t n);
/* Goes on with bytes that waited. */
void connection_resume(struct connection *c);
/* The server's own answer, after which the connection ends. */
void connection_refuse(struct connection *c, int status, struct str headers);
/* Tells the application of a refusal that is not its own. call: NULL when the head was wrong,
 * which bytes begins with. */
void refusal_note(const struct connection *c, const struct serving *call, int status,
                  struct str bytes);
/* Hands the call over: nothing of it may be touched afterwards. */
void connection_dispatch(struct connection *c, struct serving *call);

/* server_body.c */
size_t body_begin(struct connection *c, struct serving *call, struct str rest);
size_t body_read(struct connection *c, struct str bytes);
/* An answer comes instead of the body: can the connection go on after it? */
bool body_give_up(struct connection *c, struct serving *call, bool keep_alive);

/* server_answer.c */
struct serving *serving_new(struct home *h);
void serving_free(struct serving *call);
/* What an answer depends on besides its head and body. */
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

/* server_file.c: sends what the peer takes; true when the file is through. */
bool file_continue(struct connection *c);
void file_close(struct connection *c);

/* server_gzip.c: false when it would not get smaller. */
bool gzip_body(struct home *h, struct str body, struct str *ret);
void gzip_free(struct gzip *g);

/* server_websocket.c */
bool websocket_begin(struct connection *c, struct serving *call);
void websocket_input(struct connection *c, char *bytes, size_t n);
void websocket_resume(struct connection *c); /* with what was postponed */
void websocket_sent(struct connection *c);
void websocket_end(struct connection *c);
void websocket_clear(struct websocket *ws);
void websocket_tell_shutdown(struct connection *c);
void websockets_end_turn(struct home *h);
void handlers_free(struct home *h);

#endif
