/* sending.c - sends messages to a socket; queues them while another thread uses the zstd stream. */
#include "gateway/sessions/sending.h"

#include "base/log.h"
#include "base/mem.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/traffic_recording.h"
#include "gateway/wire/gateway_event.h"

enum { OUTPUT_MAX_IDLE_CAPACITY = 1024 * 1024 };

static struct message_encoder message_encoder_for_socket(const struct gateway_socket *p)
{
    return (struct message_encoder){
        .dialect = p->dialect,
        .compress = p->compress,
        .begins = !p->streaming,
        .packer = p->gateway_loop->packer,
        .arena = p->gateway_loop->arena,
        .zstd = p->zstd,
    };
}

static void close_socket_for_too_large_message(struct gateway_socket *p)
{
    log_warn("gateway: closed a connection because an event for the client exceeds the size limit");
    gateway_socket_close(p, CLOSE_UNKNOWN, "an event exceeds the message size limit");
}

static bool check_message_size_or_close_socket(struct gateway_socket *p, const struct buf *message)
{
    if (buf_is_full(message))
        close_socket_for_too_large_message(p);
    return !buf_is_full(message);
}

static void send_output_buffer(struct gateway_socket *p, bool text)
{
    struct gateway_loop *h = p->gateway_loop;

    if (check_message_size_or_close_socket(p, &h->out))
        websocket_send(p->ws, text ? WS_TEXT : WS_BINARY, buf_as_str(&h->out));
    /* Free the output buffer if a large message has grown it. */
    if (h->out.cap > OUTPUT_MAX_IDLE_CAPACITY)
        buf_clear(&h->out);
}

void send_encoded_message_to_client(struct gateway_socket *p, struct buf *message, bool text)
{
    if (check_message_size_or_close_socket(p, message))
        websocket_send_buf(p->ws, text ? WS_TEXT : WS_BINARY, message);
}

static void delay_opcode_message(struct gateway_socket *p, enum gateway_opcode op, struct str d);

void send_opcode_to_client(struct gateway_socket *p, enum gateway_opcode op, struct str d)
{
    struct gateway_loop *h = p->gateway_loop;
    struct message_encoder c = message_encoder_for_socket(p);

    if (p->lent) {
        delay_opcode_message(p, op, d);
        return;
    }
    record_opcode_as_traffic(p, TRAFFIC_SENT, op, d);
    buf_reset(&h->out);
    bool text = encode_opcode_message(&c, op, d, &h->out);
    p->zstd = c.zstd;
    p->streaming = true;
    send_output_buffer(p, text);
}

/* Returns whether the socket can send frames that sockets share. A connection with its own
 * compression state cannot. */
static bool socket_can_use_shared_frames(const struct gateway_socket *p)
{
    return !p->compress && p->dialect->compression != COMPRESS_ZSTD;
}

/* Sends an event that only one session gets, such as READY. Copies it once, because it may be
 * large. */
static void send_unshared_frame(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                                unsigned form)
{
    struct gateway_loop *h = p->gateway_loop;
    char room[FRAME_PREFIX_MAX];
    struct str parts[FRAME_PARTS];

    build_dispatch_frame_parts(seq, n, form, h->packer, h->arena, room, parts);
    websocket_send_parts(p->ws, form & (PAYLOAD_ETF | PAYLOAD_DEFLATED) ? WS_BINARY : WS_TEXT,
                         parts, FRAME_PARTS);
}

static void send_shared_frame(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                              unsigned form)
{
    struct gateway_loop *h = p->gateway_loop;

    form = wire_format_add_payload_form_bits(p->dialect, form);
    if (n->to.kind == AUDIENCE_SESSION && !h->at_once) {
        send_unshared_frame(p, seq, n, form);
        return;
    }
    h->framed = true;
    struct str frame = get_shared_frame_for_seq(h->frames, seq, n, form, h->packer, h->arena);
    if (frame.p)
        websocket_send_frame(p->ws, frame, h->at_once);
    else
        close_socket_for_too_large_message(p);
}

void send_dispatch_to_client(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                             unsigned form)
{
    struct gateway_loop *h = p->gateway_loop;

    if (socket_can_use_shared_frames(p)) {
        send_shared_frame(p, seq, n, form);
        return;
    }
    struct message_encoder c = message_encoder_for_socket(p);
    buf_reset(&h->out);
    bool text = encode_dispatch(&c, seq, n, form, &h->out);
    p->zstd = c.zstd;
    send_output_buffer(p, text);
    if (h->at_once)
        websocket_flush(p->ws);
}

/* --- while the pool uses the zstd stream ---------------------------------------------- */

void message_encoder_lend_to_thread(struct gateway_socket *p, struct message_encoder *ret)
{
    *ret =
        (struct message_encoder){ .dialect = p->dialect, .compress = p->compress, .zstd = p->zstd };
    p->zstd = NULL;
    p->lent = p->dialect->compression == COMPRESS_ZSTD;
}

void message_encoder_return_from_thread(struct gateway_socket *p, struct message_encoder *c)
{
    p->zstd = c->zstd;
    p->lent = false;
    c->zstd = NULL;
}

struct delayed_op {
    struct delayed_op *next;
    enum gateway_opcode op;
    size_t n;
    char d[];
};

static void delay_opcode_message(struct gateway_socket *p, enum gateway_opcode op, struct str d)
{
    struct delayed_op *late = mem_resize(NULL, sizeof *late + d.n);
    struct delayed_op **end = &p->delayed_ops;

    while (*end)
        end = &(*end)->next;
    *late = (struct delayed_op){ .op = op, .n = d.n };
    memcpy(late->d, d.p, d.n);
    *end = late;
}

void send_delayed_opcode_messages(struct gateway_socket *p)
{
    struct delayed_op *next;

    for (struct delayed_op *late = p->delayed_ops; late; late = next) {
        next = late->next;
        send_opcode_to_client(p, late->op, str_slice(late->d, late->n));
        mem_free(late);
    }
    p->delayed_ops = NULL;
}

void delayed_opcode_messages_free(struct gateway_socket *p)
{
    while (p->delayed_ops) {
        struct delayed_op *next = p->delayed_ops->next;

        mem_free(p->delayed_ops);
        p->delayed_ops = next;
    }
}
