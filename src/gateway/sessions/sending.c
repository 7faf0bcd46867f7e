/* sending.c - sends messages to a socket; queues them while the thread pool uses its zstd
 * stream. */
#include "gateway/sessions/sending.h"

#include "base/log.h"
#include "base/mem.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/recording.h"
#include "gateway/wire/news.h"

enum { OUT_KEPT = 1024 * 1024 };

static struct coder coder_of(const struct peer *p)
{
    return (struct coder){
        .dialect = p->dialect,
        .compress = p->compress,
        .begins = !p->streaming,
        .packer = p->hub->packer,
        .arena = p->hub->arena,
        .zstd = p->zstd,
    };
}

static void close_too_large(struct peer *p)
{
    log_warn("gateway: closed a connection because a message exceeds the size limit");
    peer_close(p, CLOSE_UNKNOWN, "message too large");
}

static bool codec_fits(struct peer *p, const struct buf *message)
{
    if (buf_full(message))
        close_too_large(p);
    return !buf_full(message);
}

static void send_all(struct peer *p, bool text)
{
    struct hub *h = p->hub;

    if (codec_fits(p, &h->out))
        websocket_send(p->ws, text ? WS_TEXT : WS_BINARY, buf_str(&h->out));
    /* Free the buffer after a large message. */
    if (h->out.cap > OUT_KEPT)
        buf_clear(&h->out);
}

void send_encoded(struct peer *p, struct buf *message, bool text)
{
    if (codec_fits(p, message))
        websocket_send_buf(p->ws, text ? WS_TEXT : WS_BINARY, message);
}

static void send_later(struct peer *p, enum opcode op, struct str d);

void send_op(struct peer *p, enum opcode op, struct str d)
{
    struct hub *h = p->hub;
    struct coder c = coder_of(p);

    if (p->lent) {
        send_later(p, op, d);
        return;
    }
    record_op(p, TRAFFIC_SENT, op, d);
    buf_reset(&h->out);
    bool text = encode_op(&c, op, d, &h->out);
    p->zstd = c.zstd;
    p->streaming = true;
    send_all(p, text);
}

/* Frames of connections with their own compression state cannot be shared. */
static bool shares_frames(const struct peer *p)
{
    return !p->compress && p->dialect->compression != COMPRESS_ZSTD;
}

/* An event for one session, such as READY, may be large: its parts are copied only once. */
static void send_alone(struct peer *p, uint64_t seq, struct news *n, unsigned form)
{
    struct hub *h = p->hub;
    char room[FRAME_ROOM];
    struct str parts[FRAME_PARTS];

    frame_parts(seq, n, form, h->packer, h->arena, room, parts);
    websocket_send_parts(p->ws, form & (NEWS_ETF | NEWS_DEFLATED) ? WS_BINARY : WS_TEXT, parts,
                         FRAME_PARTS);
}

static void send_shared(struct peer *p, uint64_t seq, struct news *n, unsigned form)
{
    struct hub *h = p->hub;

    form |= dialect_form(p->dialect);
    if (n->to.kind == SUBJECT_SESSION && !h->at_once) {
        send_alone(p, seq, n, form);
        return;
    }
    h->framed = true;
    struct str frame = frame_of(h->frames, seq, n, form, h->packer, h->arena);
    if (frame.p)
        websocket_send_frame(p->ws, frame, h->at_once);
    else
        close_too_large(p);
}

void send_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form)
{
    struct hub *h = p->hub;

    if (shares_frames(p)) {
        send_shared(p, seq, n, form);
        return;
    }
    struct coder c = coder_of(p);
    buf_reset(&h->out);
    bool text = encode_dispatch(&c, seq, n, form, &h->out);
    p->zstd = c.zstd;
    send_all(p, text);
    if (h->at_once)
        websocket_flush(p->ws);
}

/* --- while the pool uses the zstd stream ---------------------------------------------- */

void coder_lend(struct peer *p, struct coder *ret)
{
    *ret = (struct coder){ .dialect = p->dialect, .compress = p->compress, .zstd = p->zstd };
    p->zstd = NULL;
    p->lent = p->dialect->compression == COMPRESS_ZSTD;
}

void coder_return(struct peer *p, struct coder *c)
{
    p->zstd = c->zstd;
    p->lent = false;
    c->zstd = NULL;
}

struct late_op {
    struct late_op *next;
    enum opcode op;
    size_t n;
    char d[];
};

static void send_later(struct peer *p, enum opcode op, struct str d)
{
    struct late_op *late = mem_resize(NULL, sizeof *late + d.n);
    struct late_op **end = &p->late;

    while (*end)
        end = &(*end)->next;
    *late = (struct late_op){ .op = op, .n = d.n };
    memcpy(late->d, d.p, d.n);
    *end = late;
}

void send_late(struct peer *p)
{
    struct late_op *next;

    for (struct late_op *late = p->late; late; late = next) {
        next = late->next;
        send_op(p, late->op, str_slice(late->d, late->n));
        mem_free(late);
    }
    p->late = NULL;
}

void late_free(struct peer *p)
{
    while (p->late) {
        struct late_op *next = p->late->next;

        mem_free(p->late);
        p->late = next;
    }
}
