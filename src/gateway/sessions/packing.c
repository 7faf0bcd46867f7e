/* packing.c - compresses long dispatches on the thread pool.
 *
 * A guild with all its overwrites can have megabytes, and compressing them would block the loop.
 * Later events of the session get their sequence numbers meanwhile and wait in the replay
 * buffer. */
#include "gateway/sessions/packing.h"

#include "base/mem.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/session.h"
#include "gateway/wire/codec.h"
#include "gateway/wire/pack.h"

enum { LONG_NEWS = 256 * 1024 };

struct packing {
    uv_work_t work;
    struct hub *hub;
    struct peer *peer; /* NULL: the socket is closed */
    uint64_t session;
    uint64_t seq;
    struct news *news;
    unsigned form;
    struct coder coder;
    struct buf out;
    bool text;
};

bool is_long_news(const struct news *n)
{
    return news_payload(n).n > LONG_NEWS;
}

static void packing_pack(uv_work_t *w)
{
    struct packing *x = container_of(w, struct packing, work);

    x->coder.packer = packer_new();
    x->coder.arena = arena_new();
    x->text = encode_dispatch(&x->coder, x->seq, x->news, x->form, &x->out);
    packer_free(x->coder.packer);
    arena_free(x->coder.arena);
}

static void send_packed(struct packing *x)
{
    struct peer *p = x->peer;
    struct session *s = p->session;
    bool same = s && s->number == x->session;

    p->packing = NULL;
    /* The bytes of a zstd stream must be sent even if their session has ended, because later
     * bytes of the stream refer to them. */
    if (same || p->lent)
        send_encoded(p, &x->out, x->text);
    coder_return(p, &x->coder);
    send_late(p);
    if (same)
        session_send(s);
}

static void packing_done(uv_work_t *w, int status)
{
    struct packing *x = container_of(w, struct packing, work);

    (void)status;
    loop_part("sessions");
    x->hub->reads.count--;
    if (x->peer)
        send_packed(x);
    zstd_free(x->coder.zstd);
    buf_clear(&x->out);
    news_unref(x->news);
    mem_free(x);
}

void packing_begin(struct peer *p, uint64_t seq, struct news *n, unsigned form)
{
    struct packing *x = mem_new(sizeof *x);

    x->hub = p->hub;
    x->peer = p;
    x->session = p->session->number;
    x->seq = seq;
    x->news = news_ref(n);
    x->form = form;
    coder_lend(p, &x->coder);
    buf_init(&x->out, MAX_SENT);
    p->packing = x;
    x->hub->reads.count++;
    uv_queue_work(loop_uv(x->hub->loop), &x->work, packing_pack, packing_done);
}

void packing_abandon(struct packing *x)
{
    if (x)
        x->peer = NULL;
}
