/* frames.c - builds a dispatch as a WebSocket frame that many sockets share. */
#include "gateway/wire/frames.h"

#include "gateway/wire/compressor.h"
#include "gateway/wire/protocol.h"
#include "net/websocket/websocket.h"

enum {
    FRAME_PREFIX_SPACE = WS_MAX_HEAD + FRAME_PREFIX_MAX,
    /* A shared buffer with a larger capacity is freed after its frame was sent. */
    FRAME_MAX_IDLE_CAPACITY = 1024 * 1024,
};

/* Writes the bytes of a frame that all sockets share: payload and closing brace. */
static void shared_frame_write_payload(struct shared_event_frame *f, struct gateway_event *n,
                                       unsigned form, struct compressor *packer,
                                       struct arena *arena)
{
    gateway_event_unref(f->event);
    f->event = gateway_event_ref(n);
    f->digits = 0;
    f->bytes.max = FRAME_PREFIX_SPACE + MAX_ENCODED_MESSAGE;
    buf_reset(&f->bytes);
    if (buf_reserve(&f->bytes, FRAME_PREFIX_SPACE))
        f->bytes.n = FRAME_PREFIX_SPACE;
    buf_add_str(&f->bytes, gateway_event_get_payload_in_form(n, form, packer, arena));
    if (!(form & (PAYLOAD_ETF | PAYLOAD_DEFLATED)))
        buf_add_char(&f->bytes, '}');
}

static unsigned count_digits(uint64_t number)
{
    unsigned n = 1;

    while (number /= 10)
        n++;
    return n;
}

/* Writes the bytes between a frame's WebSocket header and payload: event name and sequence number.
 */
static struct str write_dispatch_prefix(enum event event, uint64_t seq, unsigned form,
                                        char room[FRAME_PREFIX_MAX])
{
    char prefix[DISPATCH_PREFIX_MAX];
    struct buf text = { prefix, 0, sizeof prefix, sizeof prefix, false };
    struct buf front = { room, 0, FRAME_PREFIX_MAX, FRAME_PREFIX_MAX, false };

    encode_dispatch_prefix(form & PAYLOAD_DEFLATED ? &text : &front, form & PAYLOAD_ETF, event,
                           seq);
    if (form & PAYLOAD_DEFLATED)
        deflate_append_stored_block(buf_as_str(&text), &front);
    return buf_as_str(&front);
}

void build_dispatch_frame_parts(uint64_t seq, struct gateway_event *n, unsigned form,
                                struct compressor *packer, struct arena *arena,
                                char room[FRAME_PREFIX_MAX], struct str ret[FRAME_PARTS])
{
    ret[0] = write_dispatch_prefix(n->type, seq, form, room);
    ret[1] = gateway_event_get_payload_in_form(n, form, packer, arena);
    ret[2] = form & (PAYLOAD_ETF | PAYLOAD_DEFLATED) ? STR("") : STR("}");
}

static void shared_frame_write_prefix(struct shared_event_frame *f, uint64_t seq, unsigned form)
{
    char room[FRAME_PREFIX_MAX], head[WS_MAX_HEAD];
    enum ws_opcode opcode = form & (PAYLOAD_ETF | PAYLOAD_DEFLATED) ? WS_BINARY : WS_TEXT;
    struct str front = write_dispatch_prefix(f->event->type, seq, form, room);
    size_t n = ws_encode_frame_head(head, opcode, front.n + f->bytes.n - FRAME_PREFIX_SPACE);
    char *at = f->bytes.p + FRAME_PREFIX_SPACE - front.n;

    memcpy(at, front.p, front.n);
    memcpy(at - n, head, n);
    f->from = FRAME_PREFIX_SPACE - front.n - n;
    f->digits = form & PAYLOAD_ETF ? 0 : count_digits(seq);
}

/* Overwrites the sequence number in a shared frame. Returns false if the new number has another
 * count of digits than the old number; then the prefix must be written again. */
static bool shared_frame_overwrite_seq(struct shared_event_frame *f, uint64_t seq)
{
    char *end = f->bytes.p + FRAME_PREFIX_SPACE - (sizeof DISPATCH_JSON_AFTER_SEQ - 1);
    unsigned n = 0;

    do
        *--end = (char)('0' + seq % 10);
    while (++n < f->digits && (seq /= 10));
    return n == f->digits && seq < 10;
}

struct str get_shared_frame_for_seq(struct shared_event_frame frames[PAYLOAD_FORMS], uint64_t seq,
                                    struct gateway_event *n, unsigned form,
                                    struct compressor *packer, struct arena *arena)
{
    struct shared_event_frame *f = &frames[form];

    if (f->event != n)
        shared_frame_write_payload(f, n, form, packer, arena);
    if (buf_is_full(&f->bytes))
        return (struct str){ 0 };
    if (!f->digits || !shared_frame_overwrite_seq(f, seq))
        shared_frame_write_prefix(f, seq, form);
    return str_skip_bytes(buf_as_str(&f->bytes), f->from);
}

void shared_frames_release_events(struct shared_event_frame frames[PAYLOAD_FORMS])
{
    for (unsigned i = 0; i < PAYLOAD_FORMS; i++) {
        struct shared_event_frame *f = &frames[i];

        if (!f->event)
            continue;
        gateway_event_unref(f->event);
        f->event = NULL;
        if (f->bytes.cap > FRAME_MAX_IDLE_CAPACITY)
            buf_clear(&f->bytes);
    }
}

void shared_frames_free(struct shared_event_frame frames[PAYLOAD_FORMS])
{
    shared_frames_release_events(frames);
    for (unsigned i = 0; i < PAYLOAD_FORMS; i++)
        buf_clear(&frames[i].bytes);
}
