/* gateway_event.c - a reference-counted event with its payload in every requested encoding. */
#include "gateway/wire/gateway_event.h"

#include "base/mem.h"
#include "gateway/wire/etf.h"
#include "gateway/wire/spacebar.h"
#include "gateway/wire/compressor.h"
#include "model/permissions/message_content.h"
#include "model/text/old_api_encoding.h"

/* A payload has at most 64 MiB as JSON. As ETF it is less than three times as long (an empty string
 * has five bytes in ETF and two in JSON), and deflate adds almost nothing. */
enum { MAX_PAYLOAD_FORM_BYTES = 4 * 64 * 1024 * 1024 };

static void sized_bytes_init(struct length_prefixed_bytes *b, struct str s)
{
    b->n = s.n;
    if (s.n)
        memcpy(b->p, s.p, s.n);
}

static struct length_prefixed_bytes *sized_bytes_new(struct str s)
{
    struct length_prefixed_bytes *b = mem_resize(NULL, sizeof *b + s.n);

    sized_bytes_init(b, s);
    return b;
}

static size_t align_to_word(size_t n)
{
    return (n + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

/* Creates an event in a single allocation, because the store's writer thread creates events. */
struct gateway_event *gateway_event_from_announcement(const struct emitted_event *a,
                                                      struct audience to)
{
    size_t facts = a->routing ? event_routing_size(a->routing) : sizeof *a->routing;
    size_t people_at = align_to_word(offsetof(struct gateway_event, routing) + facts);
    size_t people = to.user_count * sizeof *to.user_ids;
    size_t payload_at = people_at + people;
    struct gateway_event *n =
        mem_resize(NULL, payload_at + sizeof(struct length_prefixed_bytes) + a->payload.n);

    memset(n, 0, sizeof *n);
    n->refs = 1;
    n->type = a->event;
    n->to = to;
    n->guild_id = a->guild_id;
    if (a->routing)
        memcpy((char *)n + offsetof(struct gateway_event, routing), a->routing, facts);
    if (people)
        n->to.user_ids = memcpy((char *)n + people_at, to.user_ids, people);
    n->forms[0] = (struct length_prefixed_bytes *)(void *)((char *)n + payload_at);
    sized_bytes_init(n->forms[0], a->payload);
    return n;
}

struct gateway_event *gateway_event_new(enum event event, struct audience to, struct str payload)
{
    struct emitted_event a = { .event = event, .payload = payload };

    return gateway_event_from_announcement(&a, to);
}

struct gateway_event *unread_log_entry_new(int64_t position, uint64_t events, const uint64_t *keys,
                                           size_t key_count)
{
    struct gateway_event *n = gateway_event_new(EVENT_NONE,
                                                (struct audience){ .kind = AUDIENCE_SESSION,
                                                                   .id = (snowflake)position,
                                                                   .user_ids = keys,
                                                                   .user_count = key_count },
                                                STR(""));

    n->guild_id = events;
    return n;
}

void event_payload_buffer_init(struct buf *payload, size_t max)
{
    const struct length_prefixed_bytes head = { 0 };

    buf_init(payload, sizeof head + max);
    buf_add(payload, &head, sizeof head);
}

struct gateway_event *gateway_event_from_buf(enum event event, struct audience to,
                                             struct buf *payload)
{
    struct gateway_event *n = gateway_event_new(event, to, STR(""));
    struct length_prefixed_bytes *b = (struct length_prefixed_bytes *)(void *)payload->p;

    b->n = payload->n - sizeof *b;
    n->forms[0] = b;
    n->payload_on_heap = true;
    buf_init(payload, payload->max);
    return n;
}

struct gateway_event *gateway_event_ref(struct gateway_event *n)
{
    atomic_fetch_add_explicit(&n->refs, 1, memory_order_relaxed);
    return n;
}

void gateway_event_unref(struct gateway_event *n)
{
    if (!n || atomic_fetch_sub_explicit(&n->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (int i = n->payload_on_heap ? 0 : 1; i < PAYLOAD_FORMS; i++)
        mem_free(n->forms[i]);
    mem_free(n);
}

static struct str sized_bytes_to_str(const struct length_prefixed_bytes *b)
{
    return str_slice(b->p, b->n);
}

struct str gateway_event_get_payload(const struct gateway_event *n)
{
    return sized_bytes_to_str(n->forms[0]);
}

static void encode_payload_in_form(struct gateway_event *n, unsigned form,
                                   struct compressor *packer, struct arena *arena, struct buf *out)
{
    /* A form is derived from another form: the one with all bits except that of the last step. */
    unsigned step = form & PAYLOAD_DEFLATED          ? PAYLOAD_DEFLATED
                    : form & PAYLOAD_ETF             ? PAYLOAD_ETF
                    : form & PAYLOAD_OLD_PERMISSIONS ? PAYLOAD_OLD_PERMISSIONS
                                                     : form;
    struct str from = gateway_event_get_payload_in_form(n, form & ~step, packer, arena);

    if (step == PAYLOAD_WITHOUT_CONTENT) {
        append_message_without_content(from, arena, out);
    } else if (step == PAYLOAD_OLD_PERMISSIONS) {
        encode_json_for_old_api(from, out);
    } else if (step == PAYLOAD_SPACEBAR) {
        encode_json_for_spacebar(from, arena, out);
    } else if (step == PAYLOAD_ETF) {
        etf_from_json(from, arena, out);
    } else {
        struct str parts[] = { from, form & PAYLOAD_ETF ? STR("") : STR("}") };

        deflate_shared_payload(packer, parts, COUNT_OF(parts), out);
    }
}

struct str gateway_event_get_payload_in_form(struct gateway_event *n, unsigned form,
                                             struct compressor *packer, struct arena *arena)
{
    struct length_prefixed_bytes *b = atomic_load_explicit(&n->forms[form], memory_order_acquire);
    struct buf out;

    if (b)
        return sized_bytes_to_str(b);
    buf_init(&out, MAX_PAYLOAD_FORM_BYTES);
    encode_payload_in_form(n, form, packer, arena, &out);
    struct length_prefixed_bytes *made = sized_bytes_new(buf_as_str(&out));
    buf_clear(&out);
    if (atomic_compare_exchange_strong(&n->forms[form], &b, made))
        return sized_bytes_to_str(made);
    mem_free(made); /* another loop has stored this form meanwhile */
    return sized_bytes_to_str(b);
}
