/* news.c - a reference-counted event with its payload in every requested encoding. */
#include "gateway/wire/news.h"

#include "base/mem.h"
#include "gateway/wire/etf.h"
#include "gateway/wire/pack.h"
#include "model/permissions/message_content.h"
#include "model/text/old_versions.h"

/* A payload has at most 64 MiB. As ETF it is less than three times as long (an empty string has
 * five bytes in ETF and two in JSON), and deflate adds almost nothing. */
enum { LARGEST = 4 * 64 * 1024 * 1024 };

static void bytes_fill(struct bytes *b, struct str s)
{
    b->n = s.n;
    if (s.n)
        memcpy(b->p, s.p, s.n);
}

static struct bytes *bytes_new(struct str s)
{
    struct bytes *b = mem_resize(NULL, sizeof *b + s.n);

    bytes_fill(b, s);
    return b;
}

static size_t news_align(size_t n)
{
    return (n + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

/* An event is a single allocation, because events are created on the writer thread. */
struct news *news_announced(const struct announcement *a, struct subject to)
{
    size_t facts = a->facts ? facts_size(a->facts) : sizeof *a->facts;
    size_t people_at = news_align(offsetof(struct news, facts) + facts);
    size_t people = to.people_count * sizeof *to.people;
    size_t payload_at = people_at + people;
    struct news *n = mem_resize(NULL, payload_at + sizeof(struct bytes) + a->payload.n);

    memset(n, 0, sizeof *n);
    n->refs = 1;
    n->event = a->event;
    n->to = to;
    n->guild_id = a->guild_id;
    if (a->facts)
        memcpy((char *)n + offsetof(struct news, facts), a->facts, facts);
    if (people)
        n->to.people = memcpy((char *)n + people_at, to.people, people);
    n->forms[0] = (struct bytes *)(void *)((char *)n + payload_at);
    bytes_fill(n->forms[0], a->payload);
    return n;
}

struct news *news_new(enum event event, struct subject to, struct str payload)
{
    struct announcement a = { .event = event, .payload = payload };

    return news_announced(&a, to);
}

void news_write_begin(struct buf *payload, size_t max)
{
    const struct bytes head = { 0 };

    buf_init(payload, sizeof head + max);
    buf_add(payload, &head, sizeof head);
}

struct news *news_taking(enum event event, struct subject to, struct buf *payload)
{
    struct news *n = news_new(event, to, STR(""));
    struct bytes *b = (struct bytes *)(void *)payload->p;

    b->n = payload->n - sizeof *b;
    n->forms[0] = b;
    n->taken = true;
    buf_init(payload, payload->max);
    return n;
}

struct news *news_ref(struct news *n)
{
    atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
    return n;
}

void news_unref(struct news *n)
{
    if (!n || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = n->taken ? 0 : 1; i < NEWS_FORMS; i++)
        mem_free(n->forms[i]);
    mem_free(n);
}

static struct str text_of(const struct bytes *b)
{
    return str_slice(b->p, b->n);
}

struct str news_payload(const struct news *n)
{
    return text_of(n->forms[0]);
}

static void news_make(struct news *n, unsigned form, struct packer *packer, struct arena *arena,
                      struct buf *out)
{
    /* A form is derived from the form without its highest bit. */
    unsigned step = form & NEWS_DEFLATED       ? NEWS_DEFLATED
                    : form & NEWS_ETF          ? NEWS_ETF
                    : form & NEWS_OLD_SPELLING ? NEWS_OLD_SPELLING
                                               : form;
    struct str from = news_bytes(n, form & ~step, packer, arena);

    if (step == NEWS_EMPTIED) {
        message_emptied(from, arena, out);
    } else if (step == NEWS_OLD_SPELLING) {
        old_spelling(from, out);
    } else if (step == NEWS_ETF) {
        etf_from_json(from, arena, out);
    } else {
        struct str parts[] = { from, form & NEWS_ETF ? STR("") : STR("}") };

        pack_shared(packer, parts, COUNT_OF(parts), out);
    }
}

struct str news_bytes(struct news *n, unsigned form, struct packer *packer, struct arena *arena)
{
    struct bytes *b = atomic_load_explicit(&n->forms[form], memory_order_acquire);
    struct buf out;

    if (b)
        return text_of(b);
    buf_init(&out, LARGEST);
    news_make(n, form, packer, arena, &out);
    struct bytes *made = bytes_new(buf_str(&out));
    buf_clear(&out);
    if (atomic_compare_exchange_strong(&n->forms[form], &b, made))
        return text_of(made);
    mem_free(made); /* another loop stored the same form first */
    return text_of(b);
}
