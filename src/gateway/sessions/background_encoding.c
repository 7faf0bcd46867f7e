/* background_encoding.c - compresses long dispatches on the thread pool.
 *
 * The payload of a guild with all its overwrites can have megabytes, and compressing it would block
 * the loop. Later events of the session get their sequence numbers immediately and wait in the
 * replay buffer until the long dispatch was sent. */
#include "gateway/sessions/background_encoding.h"

#include "base/mem.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/codec.h"
#include "gateway/wire/compressor.h"

enum { LONG_PAYLOAD_BYTES = 256 * 1024 };

struct background_encoding {
    uv_work_t work;
    struct gateway_loop *gateway_loop;
    struct gateway_socket *socket; /* NULL if the socket is closed */
    uint64_t session;
    uint64_t seq;
    struct gateway_event *event;
    unsigned form;
    struct message_encoder coder;
    struct buf out;
    bool text;
};

bool event_payload_is_too_long_for_loop(const struct gateway_event *n)
{
    return gateway_event_get_payload(n).n > LONG_PAYLOAD_BYTES;
}

static void encode_on_thread_pool(uv_work_t *w)
{
    struct background_encoding *x = container_of(w, struct background_encoding, work);

    x->coder.packer = deflate_compressor_new();
    x->coder.arena = arena_new();
    x->text = encode_dispatch(&x->coder, x->seq, x->event, x->form, &x->out);
    deflate_compressor_free(x->coder.packer);
    arena_free(x->coder.arena);
}

static void send_encoded_dispatch(struct background_encoding *x)
{
    struct gateway_socket *p = x->socket;
    struct session *s = p->session;
    bool same = s && s->number == x->session;

    p->encoding = NULL;
    /* Even if the session has ended, send the bytes of a zstd stream, because later bytes of the
     * stream refer to them. */
    if (same || p->lent)
        send_encoded_message_to_client(p, &x->out, x->text);
    message_encoder_return_from_thread(p, &x->coder);
    send_delayed_opcode_messages(p);
    if (same)
        session_send_events_from_replay_buffer(s);
}

static void on_encoding_done(uv_work_t *w, int status)
{
    struct background_encoding *x = container_of(w, struct background_encoding, work);

    (void)status;
    loop_set_measured_activity("sessions");
    x->gateway_loop->reads.count--;
    if (x->socket)
        send_encoded_dispatch(x);
    zstd_stream_free(x->coder.zstd);
    buf_clear(&x->out);
    gateway_event_unref(x->event);
    mem_free(x);
}

void background_encoding_begin(struct gateway_socket *p, uint64_t seq, struct gateway_event *n,
                               unsigned form)
{
    struct background_encoding *x = mem_new(sizeof *x);

    x->gateway_loop = p->gateway_loop;
    x->socket = p;
    x->session = p->session->number;
    x->seq = seq;
    x->event = gateway_event_ref(n);
    x->form = form;
    message_encoder_lend_to_thread(p, &x->coder);
    buf_init(&x->out, MAX_ENCODED_MESSAGE);
    p->encoding = x;
    x->gateway_loop->reads.count++;
    uv_queue_work(loop_get_uv_loop(x->gateway_loop->loop), &x->work, encode_on_thread_pool,
                  on_encoding_done);
}

void background_encoding_cancel(struct background_encoding *x)
{
    if (x)
        x->socket = NULL;
}
