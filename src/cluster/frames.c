/* frames.c - encodes and decodes frames (see frames.h). */
#include "cluster/frames.h"

#include <string.h>

#include "base/serial.h"

enum { MAX_FRAME = 256 * 1024 * 1024, ONE = 1, OF_APPS = 2, BANNED = 4, LIFTED = 8 };
/* Bits of one number; a node ignores bits that it does not know. */
enum {
    VOICE_SPEAKS = 1,
    VOICE_HEARS = 2,
    VOICE_FILMS = 4,
    VOICE_PRIORITY = 8,
    VOICE_HAS_FLAGS = 16,
    VOICE_HAS_PLATFORM = 32,
    VOICE_IS_MOBILE = 64,
    VOICE_FLAGS_AT = 8, /* first bit of the flags */
};

static const char MAGIC[] = { 'G', 'H', 'L', FRAME_VERSION };

bool frame_is_needed(const struct frame *f)
{
    if (f->forgotten || f->move || f->voices)
        return true;
    for (const struct announcement *a = f->announced; a; a = a->next)
        if (!(event_info(a->event)->flags & EVENT_FLEETING))
            return true;
    return false;
}

static void frame_put_ids(struct buf *b, const snowflake *ids, size_t count)
{
    serial_put(b, count);
    for (size_t i = 0; i < count; i++)
        serial_put(b, ids[i]);
}

static void put_subject(struct buf *b, const struct subject *to)
{
    const uint64_t numbers[] = { to->kind,      to->id,         to->channel_id,
                                 to->parent_id, to->starter_id, (uint64_t)to->thread_type,
                                 to->closed,    to->any_of,     to->hidden_id };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        serial_put(b, numbers[i]);
    frame_put_ids(b, to->people, to->people_count);
}

static void put_announcement(struct buf *b, const struct announcement *a)
{
    struct str name = str_of(event_name(a->event));

    serial_put_bytes(b, name);
    put_subject(b, &a->to);
    frame_put_ids(b, a->people.items, a->people.count);
    serial_put(b, a->guild_id);
    serial_put_bytes(b, str_slice((const char *)a->facts, a->facts ? facts_size(a->facts) : 0));
    serial_put_bytes(b, a->payload);
}

/* Encodes an address range: the halves of the address take the fields of the ids, the prefix
 * length that of the session. */
static void put_addresses(struct buf *b, const struct forgotten *f)
{
    uint64_t halves[2] = { 0 };
    unsigned char bits[sizeof f->session] = { (unsigned char)f->network.bits };

    for (int i = 0; i < 16; i++)
        halves[i / 8] = halves[i / 8] << 8 | f->network.address.bytes[i];
    serial_put(b, halves[0]);
    serial_put(b, halves[1]);
    serial_put(b, (f->addresses == ADDRESSES_BANNED ? BANNED : LIFTED) | OF_APPS);
    buf_add(b, bits, sizeof bits);
}

static void put_forgotten(struct buf *b, const struct forgotten *f)
{
    if (f->addresses) {
        put_addresses(b, f);
        return;
    }
    serial_put(b, f->account);
    serial_put(b, f->application);
    serial_put(b, (f->one ? ONE : 0) | (f->of_apps ? OF_APPS : 0));
    buf_add(b, f->session, sizeof f->session);
}

static void put_move(struct buf *b, const struct session_move *m)
{
    serial_put(b, m->kind);
    serial_put(b, m->from);
    serial_put(b, m->to);
    serial_put(b, m->number);
    serial_put_bytes(b, str_of(m->id));
}

static uint64_t voice_client_bits(const struct voice_fact *v)
{
    uint64_t bits = 0;

    if (v->flags.given == GIVEN)
        bits |= VOICE_HAS_FLAGS | (uint64_t)(v->flags.value & VOICE_FLAGS) << VOICE_FLAGS_AT;
    if (v->platform.given == GIVEN)
        bits |= VOICE_HAS_PLATFORM | (v->platform.value == VOICE_MOBILE ? VOICE_IS_MOBILE : 0);
    return bits;
}

static void put_voice(struct buf *b, const struct voice_fact *v)
{
    const uint64_t numbers[] = { v->guild_id, v->user_id, v->channel_id, v->room_id, v->claim };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        serial_put(b, numbers[i]);
    serial_put(b, (v->speaks ? VOICE_SPEAKS : 0) | (v->hears ? VOICE_HEARS : 0) |
                      (v->films ? VOICE_FILMS : 0) | (v->priority ? VOICE_PRIORITY : 0) |
                      voice_client_bits(v));
    buf_add(b, v->salt, sizeof v->salt);
}

struct str frame_encode(const struct frame *f, struct arena *arena)
{
    uint64_t announced = 0, forgotten = 0, voices = 0;
    struct buf b;

    for (const struct announcement *a = f->announced; a; a = a->next)
        announced++;
    for (const struct forgotten *o = f->forgotten; o; o = o->next)
        forgotten++;
    for (const struct noted_voice *v = f->voices; v; v = v->next)
        voices++;
    buf_init(&b, MAX_FRAME);
    buf_add(&b, MAGIC, sizeof MAGIC);
    serial_put(&b, f->origin);
    serial_put(&b, forgotten);
    serial_put(&b, announced);
    serial_put(&b, f->move != NULL);
    serial_put(&b, voices);
    for (const struct forgotten *o = f->forgotten; o; o = o->next)
        put_forgotten(&b, o);
    for (const struct announcement *a = f->announced; a; a = a->next)
        put_announcement(&b, a);
    if (f->move)
        put_move(&b, f->move);
    for (const struct noted_voice *v = f->voices; v; v = v->next)
        put_voice(&b, &v->fact);
    return buf_take(&b, arena);
}

struct frame_reader {
    struct serial_reader in;
    struct arena *arena;
};

static struct list frame_get_ids(struct frame_reader *r)
{
    size_t n = serial_get_count(&r->in, 8);
    snowflake *ids = n ? arena_array(r->arena, snowflake, n) : NULL;

    for (size_t i = 0; i < n; i++)
        ids[i] = serial_get(&r->in);
    return (struct list){ .items = ids, .count = n };
}

static struct subject get_subject(struct frame_reader *r)
{
    struct subject to = { 0 };

    uint64_t kind = serial_get(&r->in);
    r->in.bad |= kind > SUBJECT_SESSION;
    to.kind = r->in.bad ? SUBJECT_USER : (enum subject_kind)kind;
    to.id = serial_get(&r->in);
    to.channel_id = serial_get(&r->in);
    to.parent_id = serial_get(&r->in);
    to.starter_id = serial_get(&r->in);
    to.thread_type = (int64_t)serial_get(&r->in);
    to.closed = serial_get(&r->in) != 0;
    to.any_of = serial_get(&r->in);
    to.hidden_id = serial_get(&r->in);
    struct list people = frame_get_ids(r);
    to.people = people.items;
    to.people_count = people.count;
    return to;
}

/* The routing fields are copied, because bytes in a frame are not aligned for a struct. */
static const struct facts *get_facts(struct frame_reader *r, enum event event)
{
    struct str bytes = serial_get_bytes(&r->in);

    if (!bytes.n || event == EVENT_NONE)
        return NULL;
    struct facts *f = arena_alloc(r->arena, bytes.n < sizeof *f ? sizeof *f : bytes.n);
    memcpy(f, bytes.p, bytes.n);
    if (bytes.n < sizeof *f || f->kind != (uint32_t)facts_kind(event) || facts_size(f) != bytes.n)
        r->in.bad = true;
    return f;
}

/* The event is EVENT_NONE if only a newer version knows it. */
static struct announcement *get_announcement(struct frame_reader *r)
{
    struct announcement *a = arena_alloc(r->arena, sizeof *a);

    a->event = event_named(serial_get_bytes(&r->in));
    a->to = get_subject(r);
    a->people = frame_get_ids(r);
    a->guild_id = serial_get(&r->in);
    a->facts = get_facts(r, a->event);
    a->payload = serial_get_bytes(&r->in);
    return a;
}

static void read_addresses(struct forgotten *f, bool banned)
{
    uint64_t halves[2] = { f->account, f->application };
    struct network n = { .bits = f->session[0] };

    for (int i = 0; i < 16; i++)
        n.address.bytes[i] = (unsigned char)(halves[i / 8] >> 8 * (7 - i % 8));
    *f = (struct forgotten){ .addresses = banned ? ADDRESSES_BANNED : ADDRESSES_LIFTED,
                             .network = n };
}

static struct forgotten *get_forgotten(struct frame_reader *r)
{
    struct forgotten *f = arena_alloc(r->arena, sizeof *f);

    f->account = serial_get(&r->in);
    f->application = serial_get(&r->in);
    uint64_t bits = serial_get(&r->in);
    f->one = bits & ONE;
    f->of_apps = bits & OF_APPS;
    struct str session = serial_get_raw(&r->in, sizeof f->session);
    if (session.n)
        memcpy(f->session, session.p, sizeof f->session);
    if (bits & (BANNED | LIFTED)) {
        r->in.bad |= f->session[0] > 128;
        read_addresses(f, bits & BANNED);
    }
    return f;
}

static const struct session_move *get_move(struct frame_reader *r)
{
    struct session_move *m = arena_alloc(r->arena, sizeof *m);
    uint64_t kind = serial_get(&r->in);

    r->in.bad |= kind > MOVE_GONE;
    m->kind = r->in.bad ? MOVE_GONE : (enum session_move_kind)kind;
    m->from = (uint32_t)serial_get(&r->in);
    m->to = (uint32_t)serial_get(&r->in);
    m->number = serial_get(&r->in);
    struct str id = serial_get_bytes(&r->in);
    r->in.bad |= id.n >= sizeof m->id;
    *m->id = 0;
    if (id.n && !r->in.bad)
        memcpy(m->id, id.p, id.n);
    m->id[r->in.bad ? 0 : id.n] = 0;
    return m;
}

static struct noted_voice *get_voice(struct frame_reader *r)
{
    struct noted_voice *v = arena_alloc(r->arena, sizeof *v);
    struct voice_fact *f = &v->fact;

    v->next = NULL;
    *f = (struct voice_fact){ 0 };
    f->guild_id = serial_get(&r->in);
    f->user_id = serial_get(&r->in);
    f->channel_id = serial_get(&r->in);
    f->room_id = serial_get(&r->in);
    f->claim = serial_get(&r->in);
    uint64_t bits = serial_get(&r->in);
    f->speaks = bits & VOICE_SPEAKS;
    f->hears = bits & VOICE_HEARS;
    f->films = bits & VOICE_FILMS;
    f->priority = bits & VOICE_PRIORITY;
    if (bits & VOICE_HAS_FLAGS)
        f->flags = given_int((int64_t)(bits >> VOICE_FLAGS_AT & VOICE_FLAGS));
    if (bits & VOICE_HAS_PLATFORM)
        f->platform = given_int(bits & VOICE_IS_MOBILE ? VOICE_MOBILE : VOICE_DESKTOP);
    struct str salt = serial_get_raw(&r->in, sizeof f->salt);
    if (salt.n)
        memcpy(f->salt, salt.p, sizeof f->salt);
    return v;
}

bool frame_decode(struct str bytes, struct arena *arena, struct frame *ret)
{
    struct frame_reader r = { .in = { .rest = bytes }, .arena = arena };
    struct str magic = serial_get_raw(&r.in, sizeof MAGIC);

    *ret = (struct frame){ 0 };
    if (r.in.bad || memcmp(magic.p, MAGIC, sizeof MAGIC) != 0)
        return false;
    ret->origin = (uint32_t)serial_get(&r.in);
    uint64_t forgotten = serial_get(&r.in), announced = serial_get(&r.in);
    bool moves = serial_get(&r.in) != 0;
    uint64_t voices = serial_get(&r.in);
    struct forgotten **f = &ret->forgotten;
    for (; forgotten && !r.in.bad; forgotten--, f = &(*f)->next)
        *f = get_forgotten(&r);
    struct announcement **a = &ret->announced;
    for (; announced && !r.in.bad; announced--) {
        struct announcement *one = get_announcement(&r);

        if (one->event == EVENT_NONE)
            continue;
        *a = one;
        a = &one->next;
    }
    if (moves)
        ret->move = get_move(&r);
    struct noted_voice *last = NULL;
    for (; voices && !r.in.bad; voices--) {
        struct noted_voice *v = get_voice(&r);

        if (last)
            last->next = v;
        else
            ret->voices = v;
        last = v;
    }
    return !r.in.bad && !r.in.rest.n;
}
