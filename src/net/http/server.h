/* server.h - connections: HTTP, TLS and WebSocket on one port.
 *
 * Every loop listens on the same address (SO_REUSEPORT) and keeps the
 * connections it accepted. With a certificate the first byte of a connection
 * tells TLS from plain HTTP. An idle connection holds a few hundred bytes: reads
 * go to a buffer that the loop owns, and only an incomplete request is kept. */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/errors.h"
#include "base/shared_text.h"
#include "net/http/http.h"
#include "net/loop.h"
#include "net/http/multipart.h"
#include "net/websocket/websocket.h"

struct server;
struct websocket;
struct websocket_handler;
struct tls_context; /* tls.h */
struct proxies;     /* proxies.h */

/* One request and its answer. Lives in its arena until http_answer; if the client
 * goes away first it stays until then, and the answer is dropped. */
struct exchange {
    struct arena *arena;
    struct loop *loop;
    const struct http_request *request; /* in the arena */
    struct str body;                    /* without chunks; empty for multipart */
    struct multipart *parts;            /* multipart/form-data, or NULL */
    struct str remote;                  /* "127.0.0.1" */
    uint64_t address;                   /* key of the address, by which limits count */
    struct str local;                   /* "127.0.0.1:8080", connected to; empty for GET and HEAD */
    bool secure;                        /* the client speaks TLS, to us or to its proxy */
    bool first;                         /* the first request of its connection */
    void *app;                          /* the application's own */
    struct connection *connection;      /* the server's own; NULL when it is gone */
    _Atomic bool abandoned;             /* set with that, for other threads */
};

/* Has the client gone, so that nobody will read the answer? From any thread. */
static inline bool exchange_abandoned(const struct exchange *x)
{
    return atomic_load_explicit(&x->abandoned, memory_order_relaxed);
}

struct answer_head {
    int status;
    struct str content_type; /* none for 204 */
    struct str headers;      /* further lines, each ended by CRLF */
    bool close;              /* end the connection after it */
    bool no_gzip;            /* the body is compressed already */
    bool zipped;             /* the body is gzip, which the client accepts: the head says so */
};

/* What the application tells before a body is read. */
struct intake {
    size_t max_body;      /* a longer body is refused with 413 */
    size_t max_multipart; /* 0: multipart is read as an ordinary body */
};

/* What is known of a request that the server itself refused. */
struct refused_request {
    struct str remote; /* where it came from */
    struct str target; /* p == NULL: its head was never understood */
    struct str bytes;  /* the beginning of the head, where it was not */
    enum http_method method;
};

struct server_app {
    void *arg;
    /* How much body may this request have? Called when the head is complete and
     * says that there is one. */
    struct intake (*intake)(void *arg, const struct http_request *r);
    /* The head of a request whose body is long, of unknown length or a form. Say with
     * http_admit, now or later, that the body may come, or refuse it with http_answer; until
     * then none of it is read. NULL: all may come. */
    void (*admit)(void *arg, struct exchange *x);
    /* A whole request; answer it now or later with http_answer. */
    void (*request)(void *arg, struct exchange *x);
    /* The server itself must refuse (malformed, too large, too slow): the body of
     * that answer, as JSON, for a status. */
    void (*refusal)(void *arg, int status, struct buf *out);
    struct str refusal_lines; /* of the head of such an answer; outlive the server */
    /* The same was done: to whom, and the first bytes of what they sent, or the target of a
     * request whose head was good. May be NULL. */
    void (*refused)(void *arg, int status, const struct refused_request *r);
    /* A good WebSocket handshake for this path: take it by filling *ret, or return
     * false to have it answered as an ordinary request. May be NULL. */
    bool (*upgrade)(void *arg, const struct http_request *r, struct websocket_handler *ret);
};

struct server_options {
    const char *host;
    int port;                      /* 0: any free one */
    int socket;                    /* one that listens already, which is taken; 0: none */
    struct tls_context *tls;       /* NULL: plain HTTP only */
    bool tls_only;                 /* refuse plain HTTP */
    int64_t head_timeout_ms;       /* for a whole head; the window of the least rate: 30 s */
    int64_t idle_timeout_ms;       /* between requests, and for a part of an answer: 75 s */
    size_t body_memory;            /* what bodies may take together; 0: without a bound */
    const struct proxies *proxies; /* whose word about clients counts; NULL: nobody's */
    bool proxy_protocol;           /* they may begin with a PROXY protocol header */
    const char *via;               /* the Via header */
};

/* Listens on every loop. Fails (with a sentence in the log) when the address is
 * taken or not ours. */
enum err server_start(struct loops *loops, const struct server_options *options,
                      const struct server_app *app, struct server **ret);
int server_port(const struct server *s);

/* The address that a socket listens on, as text; false when it is none of the network's. */
bool server_socket_host(int socket, char *host, size_t max);

/* Closes the listener and idle connections. Running calls go on, and so do WebSockets; a new
 * WebSocket handshake is answered with 503. Blocks; not from a loop. */
void server_drain(struct server *s);
/* Drains; tells WebSockets by their handler's shutdown and closes those that have not left 200 ms
 * later; lets running calls finish (at most patience_ms), and closes the rest. Blocks; not from a
 * loop. */
void server_stop(struct server *s, int64_t patience_ms);
void server_free(struct server *s);

struct server_stats {
    uint64_t accepted, open, requests, refused, bytes_in, bytes_out, websockets;
    uint64_t body_bytes; /* of bodies that are coming in or worked on */
};
void server_stats(const struct server *s, struct server_stats *ret);

/* Lets the body of an exchange come that admit was asked about; account is who sends it, or 0.
 * On the exchange's loop, which may drop the exchange without a word from then until request is
 * called: it must hold nothing outside its arena. */
void http_admit(struct exchange *x, uint64_t account);
/* Answers on the exchange's loop, exactly once; from inside request or later; the exchange and its
 * arena are gone afterwards. HEAD gets no body; large bodies are gzipped when offered. */
void http_answer(struct exchange *x, const struct answer_head *head, struct str body);
/* Ends the connection without an answer, as a machine that dies would. Not while its bytes are
 * being read: from a timer, or another turn. */
void http_drop(struct exchange *x);
/* The same with a file, from its current place, length bytes; closes the fd. */
void http_answer_file(struct exchange *x, const struct answer_head *head, int fd, int64_t length);

/* The same with a long text, which leaves in pieces as the peer takes them and is never copied
 * whole. owner is the buffer it lies in, and is taken; NULL: the text outlasts the server. It is
 * sent as it is: whoever wants it compressed does it before. */
void http_answer_long(struct exchange *x, const struct answer_head *head, struct str text,
                      struct buf *owner);
/* The same with one that others hold too; takes a hold of its own. */
void http_answer_shared(struct exchange *x, const struct answer_head *head,
                        struct shared_text *text);
/* A text is long from here on. */
enum { HTTP_LONG = 64 * 1024 };

/* Longer bodies are not compressed by http_answer, because that would hold the loop: whoever
 * answers does it elsewhere before. */
enum { HTTP_GZIP_LONGEST = 128 * 1024 };
/* Is this worth compressing? */
bool http_gzip_fits(struct str content_type, size_t length);
/* Appends a body as gzip, for answer_head.zipped; level 1 is fast, 9 small. False, and what
 * out holds is of no use, when it would not get smaller. On any thread. */
bool http_gzip(struct str body, int level, struct buf *out);

/* --- WebSockets ----------------------------------------------------------------------- */

struct websocket_handler {
    void *arg;
    size_t max_message;                            /* larger: close 1009 */
    int too_large;                                 /* or with this code; 0: with 1009 */
    size_t max_waiting;                            /* bytes not yet taken by the peer; more: cut */
    void (*open)(struct websocket *ws, void *arg); /* handshake sent */
    void (*message)(struct websocket *ws, enum ws_opcode opcode, struct str payload);
    /* The connection is over; code is the peer's close code, or 1006. The
     * websocket may not be used any more. Comes once, from the loop and never
     * from inside a call of the handler, also when open never came. */
    void (*closed)(struct websocket *ws, int code);
    void (*shutdown)(struct websocket *ws); /* the server is going; NULL: close 1001 */
    void (*drained)(struct websocket *ws);  /* after websocket_await; from the loop */
};

void *websocket_data(const struct websocket *ws); /* what open stored */
void websocket_set_data(struct websocket *ws, void *data);
/* Another max_waiting than the handler began with, once it is known who the peer is. */
void websocket_set_max_waiting(struct websocket *ws, size_t max_waiting);
struct loop *websocket_loop(const struct websocket *ws);
struct str websocket_remote(const struct websocket *ws); /* until the next is asked for its own */
uint64_t websocket_address(const struct websocket *ws);  /* the key, as of an exchange */
bool websocket_secure(const struct websocket *ws);
/* Where the client reached this process: "192.0.2.1:8080", "[2001:db8::1]:8080". */
void websocket_add_own_host(const struct websocket *ws, struct buf *out);

/* Sends one message; those of a turn leave together, in one write. On the
 * websocket's loop only. */
void websocket_send(struct websocket *ws, enum ws_opcode opcode, struct str payload);
/* The same in parts, which are joined. */
void websocket_send_parts(struct websocket *ws, enum ws_opcode opcode, const struct str *parts,
                          size_t count);
/* The same from a buffer, which is taken: a long message leaves in pieces, as the peer takes
 * them, and what is sent later follows it. */
void websocket_send_buf(struct websocket *ws, enum ws_opcode opcode, struct buf *payload);
/* The same with a frame that the caller has written; now: it leaves at once, as far as the peer
 * takes it, unless something is before it. */
void websocket_send_frame(struct websocket *ws, struct str frame, bool now);
/* What was sent leaves now, as far as the peer takes it, and not at the end of the turn. */
void websocket_flush(struct websocket *ws);
/* For one that is sent to soon, among thousands: its memory is fetched, in two steps with
 * some time between them. */
void websocket_fetch(const struct websocket *ws);
void websocket_fetch_more(const struct websocket *ws);
/* Bytes that were sent and that the peer has not taken yet. */
size_t websocket_waiting(const struct websocket *ws);
/* Calls drained, once, when the peer has taken all that was sent. */
void websocket_await(struct websocket *ws);
/* Sends a close frame and waits for the peer's (5 s), then closes. */
void websocket_close(struct websocket *ws, int code, struct str reason);

#endif
