/* frames.c - builds a dispatch as a WebSocket frame that many sockets share. */
#include "gateway/wire/frames.h"

#include "gateway/wire/pack.h"
#include "gateway/wire/protocol.h"
#include "net/websocket/websocket.h"

enum {
    FRAME_FRONT = WS_MAX_HEAD + FRAME_ROOM,
    /* A buffer above this capacity is freed after its payload was sent. */
    FRAME_KEPT = 1024 * 1024,
};

/* Writes the bytes of the frame that all sockets share: payload and closing brace. */
static void frame_begin(struct event_frame *f, struct news *n, unsigned form, struct packer *packer,
                        struct arena *arena)
{
    news_unref(f->news);
    f->news = news_ref(n);
    f->digits = 0;
    f->bytes.max = FRAME_FRONT + MAX_SENT;
    buf_reset(&f->bytes);
    if (buf_room(&f->bytes, FRAME_FRONT))
        f->bytes.n = FRAME_FRONT;
    buf_add_str(&f->bytes, news_bytes(n, form, packer, arena));
    if (!(form & (NEWS_ETF | NEWS_DEFLATED)))
        buf_add_char(&f->bytes, '}');
}

static unsigned digits_of(uint64_t number)
{
    unsigned n = 1;

    while (number /= 10)
        n++;
    return n;
}

/* Writes the bytes between the WebSocket header and the payload: event name and sequence number. */
static struct str frame_front(enum event event, uint64_t seq, unsigned form, char room[FRAME_ROOM])
{
    char prefix[PREFIX_MAX];
    struct buf text = { prefix, 0, sizeof prefix, sizeof prefix, false };
    struct buf front = { room, 0, FRAME_ROOM, FRAME_ROOM, false };

    encode_prefix(form & NEWS_DEFLATED ? &text : &front, form & NEWS_ETF, event, seq);
    if (form & NEWS_DEFLATED)
        pack_stored(buf_str(&text), &front);
    return buf_str(&front);
}

void frame_parts(uint64_t seq, struct news *n, unsigned form, struct packer *packer,
                 struct arena *arena, char room[FRAME_ROOM], struct str ret[FRAME_PARTS])
{
    ret[0] = frame_front(n->event, seq, form, room);
    ret[1] = news_bytes(n, form, packer, arena);
    ret[2] = form & (NEWS_ETF | NEWS_DEFLATED) ? STR("") : STR("}");
}

static void frame_number(struct event_frame *f, uint64_t seq, unsigned form)
{
    char room[FRAME_ROOM], head[WS_MAX_HEAD];
    enum ws_opcode opcode = form & (NEWS_ETF | NEWS_DEFLATED) ? WS_BINARY : WS_TEXT;
    struct str front = frame_front(f->news->event, seq, form, room);
    size_t n = ws_write_head(head, opcode, front.n + f->bytes.n - FRAME_FRONT);
    char *at = f->bytes.p + FRAME_FRONT - front.n;

    memcpy(at, front.p, front.n);
    memcpy(at - n, head, n);
    f->from = FRAME_FRONT - front.n - n;
    f->digits = form & NEWS_ETF ? 0 : digits_of(seq);
}

/* Overwrites the sequence number in the frame. Returns false if the new number has another count
 * of digits; then the prefix must be written again. */
static bool frame_write_over(struct event_frame *f, uint64_t seq)
{
    char *end = f->bytes.p + FRAME_FRONT - (sizeof AFTER_NUMBER - 1);
    unsigned n = 0;

    do
        *--end = (char)('0' + seq % 10);
    while (++n < f->digits && (seq /= 10));
    return n == f->digits && seq < 10;
}

struct str frame_of(struct event_frame frames[NEWS_FORMS], uint64_t seq, struct news *n,
                    unsigned form, struct packer *packer, struct arena *arena)
{
    struct event_frame *f = &frames[form];

    if (f->news != n)
        frame_begin(f, n, form, packer, arena);
    if (buf_full(&f->bytes))
        return (struct str){ 0 };
    if (!f->digits || !frame_write_over(f, seq))
        frame_number(f, seq, form);
    return str_from(buf_str(&f->bytes), f->from);
}

void frames_forget(struct event_frame frames[NEWS_FORMS])
{
    for (unsigned i = 0; i < NEWS_FORMS; i++) {
        struct event_frame *f = &frames[i];

        if (!f->news)
            continue;
        news_unref(f->news);
        f->news = NULL;
        if (f->bytes.cap > FRAME_KEPT)
            buf_clear(&f->bytes);
    }
}

void frames_clear(struct event_frame frames[NEWS_FORMS])
{
    frames_forget(frames);
    for (unsigned i = 0; i < NEWS_FORMS; i++)
        buf_clear(&frames[i].bytes);
}
