/* frames.c - what one transaction tells other servers, as bytes. */
#include "cluster/frames.h"

#include <string.h>

#include "base/buf.h"
#include "model/facts.h"

enum { VERSION = 1, MAX_FRAME = 256 * 1024 * 1024, ONE = 1, OF_APPS = 2 };

static const char MAGIC[] = { 'G', 'H', 'L', VERSION };

bool frame_is_needed(const struct frame *f)
{
    if (f->forgotten)
        return true;
    for (const struct announcement *a = f->announced; a; a = a->next)
        if (!(event_info(a->event)->flags & EVENT_FLEETING))
            return true;
    return false;
}

/* --- writing -------------------------------------------------------------------------- */

static void frame_put(struct buf *b, uint64_t v)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(v >> 8 * i);
    buf_add(b, bytes, sizeof bytes);
}

static void frame_put_bytes(struct buf *b, const void *p, size_t n)
{
    frame_put(b, n);
    buf_add(b, p, n);
}

static void frame_put_ids(struct buf *b, const snowflake *ids, size_t count)
{
    frame_put(b, count);
    for (size_t i = 0; i < count; i++)
        frame_put(b, ids[i]);
}

static void put_subject(struct buf *b, const struct subject *to)
{
    const uint64_t numbers[] = { to->kind,      to->id,         to->channel_id,
                                 to->parent_id, to->starter_id, (uint64_t)to->thread_type,
                                 to->closed,    to->any_of,     to->hidden_id };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        frame_put(b, numbers[i]);
    frame_put_ids(b, to->people, to->people_count);
}

static void put_announcement(struct buf *b, const struct announcement *a)
{
    struct str name = str_of(event_name(a->event));

    frame_put_bytes(b, name.p, name.n);
    put_subject(b, &a->to);
    frame_put_ids(b, a->people.items, a->people.count);
    frame_put(b, a->guild_id);
    frame_put_bytes(b, a->facts, a->facts ? facts_size(a->facts) : 0);
    frame_put_bytes(b, a->payload.p, a->payload.n);
}

static void put_forgotten(struct buf *b, const struct forgotten *f)
{
    frame_put(b, f->account);
    frame_put(b, f->application);
    frame_put(b, (f->one ? ONE : 0) | (f->of_apps ? OF_APPS : 0));
    buf_add(b, f->session, sizeof f->session);
}

struct str frame_encode(const struct frame *f, struct arena *arena)
{
    uint64_t announced = 0, forgotten = 0;
    struct buf b;

    for (const struct announcement *a = f->announced; a; a = a->next)
        announced++;
    for (const struct forgotten *o = f->forgotten; o; o = o->next)
        forgotten++;
    buf_init(&b, MAX_FRAME);
    buf_add(&b, MAGIC, sizeof MAGIC);
    frame_put(&b, f->origin);
    frame_put(&b, forgotten);
    frame_put(&b, announced);
    for (const struct forgotten *o = f->forgotten; o; o = o->next)
        put_forgotten(&b, o);
    for (const struct announcement *a = f->announced; a; a = a->next)
        put_announcement(&b, a);
    return buf_take(&b, arena);
}

/* --- reading -------------------------------------------------------------------------- */

struct frame_reader {
    struct str rest;
    struct arena *arena;
    bool bad;
};

static struct str frame_get_raw(struct frame_reader *r, uint64_t n)
{
    if (r->bad || n > r->rest.n) {
        r->bad = true;
        return (struct str){ 0 };
    }
    struct str s = str_slice(r->rest.p, (size_t)n);
    r->rest = str_from(r->rest, (size_t)n);
    return s;
}

static uint64_t frame_get(struct frame_reader *r)
{
    struct str s = frame_get_raw(r, 8);
    uint64_t v = 0;

    for (int i = 0; i < 8 && s.n; i++)
        v |= (uint64_t)(unsigned char)s.p[i] << 8 * i;
    return v;
}

static struct str frame_get_bytes(struct frame_reader *r)
{
    return frame_get_raw(r, frame_get(r));
}

/* There are no more of them than bytes are left. */
static size_t frame_get_count(struct frame_reader *r)
{
    uint64_t n = frame_get(r);

    if (n > r->rest.n / 8)
        r->bad = true;
    return r->bad ? 0 : (size_t)n;
}

static struct list frame_get_ids(struct frame_reader *r)
{
    size_t n = frame_get_count(r);
    snowflake *ids = n ? arena_array(r->arena, snowflake, n) : NULL;

    for (size_t i = 0; i < n; i++)
        ids[i] = frame_get(r);
    return (struct list){ .items = ids, .count = n };
}

static struct subject get_subject(struct frame_reader *r)
{
    struct subject to = { 0 };

    uint64_t kind = frame_get(r);
    r->bad |= kind > SUBJECT_SESSION;
    to.kind = r->bad ? SUBJECT_USER : (enum subject_kind)kind;
    to.id = frame_get(r);
    to.channel_id = frame_get(r);
    to.parent_id = frame_get(r);
    to.starter_id = frame_get(r);
    to.thread_type = (int64_t)frame_get(r);
    to.closed = frame_get(r) != 0;
    to.any_of = frame_get(r);
    to.hidden_id = frame_get(r);
    struct list people = frame_get_ids(r);
    to.people = people.items;
    to.people_count = people.count;
    return to;
}

static enum event event_named(struct str name)
{
    for (int e = EVENT_NONE + 1; e < EVENT_COUNT; e++)
        if (str_is(name, event_name((enum event)e)))
            return (enum event)e;
    return EVENT_NONE;
}

/* Copied, because bytes of a frame lie anywhere and facts are structs. */
static const struct facts *get_facts(struct frame_reader *r, enum event event)
{
    struct str bytes = frame_get_bytes(r);

    if (!bytes.n)
        return NULL;
    struct facts *f = arena_alloc(r->arena, bytes.n < sizeof *f ? sizeof *f : bytes.n);
    memcpy(f, bytes.p, bytes.n);
    if (bytes.n < sizeof *f || f->kind != (uint32_t)facts_kind(event) || facts_size(f) != bytes.n)
        r->bad = true;
    return f;
}

static struct announcement *get_announcement(struct frame_reader *r)
{
    struct announcement *a = arena_alloc(r->arena, sizeof *a);

    a->event = event_named(frame_get_bytes(r));
    r->bad |= a->event == EVENT_NONE;
    a->to = get_subject(r);
    a->people = frame_get_ids(r);
    a->guild_id = frame_get(r);
    a->facts = get_facts(r, a->event);
    a->payload = frame_get_bytes(r);
    return a;
}

static struct forgotten *get_forgotten(struct frame_reader *r)
{
    struct forgotten *f = arena_alloc(r->arena, sizeof *f);

    f->account = frame_get(r);
    f->application = frame_get(r);
    uint64_t bits = frame_get(r);
    f->one = bits & ONE;
    f->of_apps = bits & OF_APPS;
    struct str session = frame_get_raw(r, sizeof f->session);
    if (session.n)
        memcpy(f->session, session.p, sizeof f->session);
    return f;
}

bool frame_decode(struct str bytes, struct arena *arena, struct frame *ret)
{
    struct frame_reader r = { .rest = bytes, .arena = arena };
    struct str magic = frame_get_raw(&r, sizeof MAGIC);

    *ret = (struct frame){ 0 };
    if (r.bad || memcmp(magic.p, MAGIC, sizeof MAGIC) != 0)
        return false;
    ret->origin = (uint32_t)frame_get(&r);
    uint64_t forgotten = frame_get(&r), announced = frame_get(&r);
    struct forgotten **f = &ret->forgotten;
    for (; forgotten && !r.bad; forgotten--, f = &(*f)->next)
        *f = get_forgotten(&r);
    struct announcement **a = &ret->announced;
    for (; announced && !r.bad; announced--, a = &(*a)->next)
        *a = get_announcement(&r);
    return !r.bad && !r.rest.n;
}
