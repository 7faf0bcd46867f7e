/* log_entry.c - encodes and decodes log entries (log_entry.h). */
#include "cluster/log_entry.h"

#include <string.h>

#include "base/serial.h"

enum {
    MAX_FRAME = 256 * 1024 * 1024,
    REVOKE_ONE_SESSION = 1,
    REVOKE_APPLICATIONS = 2,
    REVOKE_ADDRESSES_BANNED = 4,
    REVOKE_ADDRESSES_LIFTED = 8
};
/* Bits of the number that encodes a voice change. A node ignores bits that its version of the
 * program does not know. */
enum {
    VOICE_SPEAKS = 1,
    VOICE_RECEIVES = 2,
    VOICE_FILMS = 4,
    VOICE_PRIORITY = 8,
    VOICE_HAS_FLAGS = 16,
    VOICE_HAS_PLATFORM = 32,
    VOICE_IS_MOBILE = 64,
    VOICE_STAGE = 128,
    VOICE_FLAGS_AT = 8, /* index of the first bit of the voice state's flags */
};

static const char MAGIC[] = { 'G', 'H', 'L', LOG_ENTRY_VERSION };

bool log_entry_must_be_stored(const struct log_entry *f)
{
    if (f->revocations || f->move || f->voices)
        return true;
    for (const struct emitted_event *a = f->announced; a; a = a->next)
        if (!(get_properties_of_event_type(a->event)->flags & EVENT_FLEETING))
            return true;
    return false;
}

static void encode_id_list(struct buf *b, const snowflake *ids, size_t count)
{
    serialize_u64(b, count);
    for (size_t i = 0; i < count; i++)
        serialize_u64(b, ids[i]);
}

static void encode_audience(struct buf *b, const struct audience *to)
{
    const uint64_t numbers[] = { to->kind,           to->id,         to->channel_id,
                                 to->parent_id,      to->starter_id, (uint64_t)to->thread_type,
                                 to->private_thread, to->any_of,     to->hidden_id };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        serialize_u64(b, numbers[i]);
    encode_id_list(b, to->user_ids, to->user_count);
}

static void encode_emitted_event(struct buf *b, const struct emitted_event *a)
{
    struct str name = str_of(get_name_of_event_type(a->event));

    serialize_bytes(b, name);
    encode_audience(b, &a->to);
    encode_id_list(b, a->member_ids.items, a->member_ids.count);
    serialize_u64(b, a->guild_id);
    serialize_bytes(
        b, str_slice((const char *)a->routing, a->routing ? event_routing_size(a->routing) : 0));
    serialize_bytes(b, a->payload);
}

/* Encodes an address range in fields of a revocation: the two ids contain the halves of the
 * address, the session contains the prefix length. */
static void encode_address_range(struct buf *b, const struct revocation_record *f)
{
    uint64_t halves[2] = { 0 };
    unsigned char bits[sizeof f->session] = { (unsigned char)f->network.bits };

    for (int i = 0; i < 16; i++)
        halves[i / 8] = halves[i / 8] << 8 | f->network.address.bytes[i];
    serialize_u64(b, halves[0]);
    serialize_u64(b, halves[1]);
    serialize_u64(
        b, (f->addresses == ADDRESSES_BANNED ? REVOKE_ADDRESSES_BANNED : REVOKE_ADDRESSES_LIFTED) |
               REVOKE_APPLICATIONS);
    buf_add(b, bits, sizeof bits);
}

static void encode_revocation(struct buf *b, const struct revocation_record *f)
{
    if (f->addresses) {
        encode_address_range(b, f);
        return;
    }
    serialize_u64(b, f->account);
    serialize_u64(b, f->application);
    serialize_u64(b, (f->one ? REVOKE_ONE_SESSION : 0) |
                         (f->applications_only ? REVOKE_APPLICATIONS : 0));
    buf_add(b, f->session, sizeof f->session);
}

static void encode_session_move(struct buf *b, const struct session_move_message *m)
{
    serialize_u64(b, m->kind);
    serialize_u64(b, m->from);
    serialize_u64(b, m->to);
    serialize_u64(b, m->number);
    serialize_bytes(b, str_of(m->id));
}

static uint64_t encode_voice_client_bits(const struct relay_voice_state *v)
{
    uint64_t bits = 0;

    if (v->flags.given == GIVEN)
        bits |= VOICE_HAS_FLAGS | (uint64_t)(v->flags.value & VOICE_STATE_CLIENT_FLAGS)
                                      << VOICE_FLAGS_AT;
    if (v->platform.given == GIVEN)
        bits |=
            VOICE_HAS_PLATFORM | (v->platform.value == VOICE_PLATFORM_MOBILE ? VOICE_IS_MOBILE : 0);
    return bits;
}

static void encode_voice_change(struct buf *b, const struct relay_voice_state *v)
{
    const uint64_t numbers[] = { v->guild_id, v->user_id, v->channel_id, v->room_id, v->claim };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        serialize_u64(b, numbers[i]);
    serialize_u64(
        b, (v->may_send_audio ? VOICE_SPEAKS : 0) | (v->may_receive_audio ? VOICE_RECEIVES : 0) |
               (v->may_send_video ? VOICE_FILMS : 0) | (v->priority ? VOICE_PRIORITY : 0) |
               (v->stage ? VOICE_STAGE : 0) | encode_voice_client_bits(v));
    buf_add(b, v->salt, sizeof v->salt);
}

struct str log_entry_encode(const struct log_entry *f, struct arena *arena)
{
    uint64_t announced = 0, forgotten = 0, voices = 0;
    struct buf b;

    for (const struct emitted_event *a = f->announced; a; a = a->next)
        announced++;
    for (const struct revocation_record *o = f->revocations; o; o = o->next)
        forgotten++;
    for (const struct voice_state_change *v = f->voices; v; v = v->next)
        voices++;
    buf_init(&b, MAX_FRAME);
    buf_add(&b, MAGIC, sizeof MAGIC);
    serialize_u64(&b, f->origin);
    serialize_u64(&b, forgotten);
    serialize_u64(&b, announced);
    serialize_u64(&b, f->move != NULL);
    serialize_u64(&b, voices);
    for (const struct revocation_record *o = f->revocations; o; o = o->next)
        encode_revocation(&b, o);
    for (const struct emitted_event *a = f->announced; a; a = a->next)
        encode_emitted_event(&b, a);
    if (f->move)
        encode_session_move(&b, f->move);
    for (const struct voice_state_change *v = f->voices; v; v = v->next)
        encode_voice_change(&b, &v->state);
    return buf_move_to_arena(&b, arena);
}

struct log_entry_decoder {
    struct serialized_data_reader in;
    struct arena *arena;
};

static struct list decode_id_list(struct log_entry_decoder *r)
{
    size_t n = deserialize_element_count(&r->in, 8);
    snowflake *ids = n ? arena_array(r->arena, snowflake, n) : NULL;

    for (size_t i = 0; i < n; i++)
        ids[i] = deserialize_u64(&r->in);
    return (struct list){ .items = ids, .count = n };
}

static struct audience decode_audience(struct log_entry_decoder *r)
{
    struct audience to = { 0 };

    uint64_t kind = deserialize_u64(&r->in);
    r->in.bad |= kind > AUDIENCE_SESSION;
    to.kind = r->in.bad ? AUDIENCE_USER : (enum audience_kind)kind;
    to.id = deserialize_u64(&r->in);
    to.channel_id = deserialize_u64(&r->in);
    to.parent_id = deserialize_u64(&r->in);
    to.starter_id = deserialize_u64(&r->in);
    to.thread_type = (int64_t)deserialize_u64(&r->in);
    to.private_thread = deserialize_u64(&r->in) != 0;
    to.any_of = deserialize_u64(&r->in);
    to.hidden_id = deserialize_u64(&r->in);
    struct list people = decode_id_list(r);
    to.user_ids = people.items;
    to.user_count = people.count;
    return to;
}

/* Copies the routing fields to aligned memory, because the encoded bytes are not aligned. */
static const struct event_routing *decode_event_routing(struct log_entry_decoder *r,
                                                        enum event event)
{
    struct str bytes = deserialize_bytes(&r->in);

    if (!bytes.n || event == EVENT_NONE)
        return NULL;
    struct event_routing *f = arena_alloc(r->arena, bytes.n < sizeof *f ? sizeof *f : bytes.n);
    memcpy(f, bytes.p, bytes.n);
    if (bytes.n < sizeof *f || f->kind != (uint32_t)event_routing_kind(event) ||
        event_routing_size(f) != bytes.n)
        r->in.bad = true;
    return f;
}

/* Decodes an event. The type is EVENT_NONE if only newer versions of the program know the event. */
static struct emitted_event *decode_emitted_event(struct log_entry_decoder *r)
{
    struct emitted_event *a = arena_alloc(r->arena, sizeof *a);

    a->event = find_event_type_by_name(deserialize_bytes(&r->in));
    a->to = decode_audience(r);
    a->member_ids = decode_id_list(r);
    a->guild_id = deserialize_u64(&r->in);
    a->routing = decode_event_routing(r, a->event);
    a->payload = deserialize_bytes(&r->in);
    return a;
}

static void decode_address_range(struct revocation_record *f, bool banned)
{
    uint64_t halves[2] = { f->account, f->application };
    struct ip_network n = { .bits = f->session[0] };

    for (int i = 0; i < 16; i++)
        n.address.bytes[i] = (unsigned char)(halves[i / 8] >> 8 * (7 - i % 8));
    *f = (struct revocation_record){ .addresses = banned ? ADDRESSES_BANNED : ADDRESSES_LIFTED,
                                     .network = n };
}

static struct revocation_record *decode_revocation(struct log_entry_decoder *r)
{
    struct revocation_record *f = arena_alloc(r->arena, sizeof *f);

    f->account = deserialize_u64(&r->in);
    f->application = deserialize_u64(&r->in);
    uint64_t bits = deserialize_u64(&r->in);
    f->one = bits & REVOKE_ONE_SESSION;
    f->applications_only = bits & REVOKE_APPLICATIONS;
    struct str session = deserialize_slice_of_bytes(&r->in, sizeof f->session);
    if (session.n)
        memcpy(f->session, session.p, sizeof f->session);
    if (bits & (REVOKE_ADDRESSES_BANNED | REVOKE_ADDRESSES_LIFTED)) {
        r->in.bad |= f->session[0] > 128;
        decode_address_range(f, bits & REVOKE_ADDRESSES_BANNED);
    }
    return f;
}

static const struct session_move_message *decode_session_move(struct log_entry_decoder *r)
{
    struct session_move_message *m = arena_alloc(r->arena, sizeof *m);
    uint64_t kind = deserialize_u64(&r->in);

    r->in.bad |= kind > MOVE_REFUSED;
    m->kind = r->in.bad ? MOVE_REFUSED : (enum session_move_kind)kind;
    m->from = (uint32_t)deserialize_u64(&r->in);
    m->to = (uint32_t)deserialize_u64(&r->in);
    m->number = deserialize_u64(&r->in);
    struct str id = deserialize_bytes(&r->in);
    r->in.bad |= id.n >= sizeof m->id;
    *m->id = 0;
    if (id.n && !r->in.bad)
        memcpy(m->id, id.p, id.n);
    m->id[r->in.bad ? 0 : id.n] = 0;
    return m;
}

static struct voice_state_change *decode_voice_change(struct log_entry_decoder *r)
{
    struct voice_state_change *v = arena_alloc(r->arena, sizeof *v);
    struct relay_voice_state *f = &v->state;

    v->next = NULL;
    *f = (struct relay_voice_state){ 0 };
    f->guild_id = deserialize_u64(&r->in);
    f->user_id = deserialize_u64(&r->in);
    f->channel_id = deserialize_u64(&r->in);
    f->room_id = deserialize_u64(&r->in);
    f->claim = deserialize_u64(&r->in);
    uint64_t bits = deserialize_u64(&r->in);
    f->may_send_audio = bits & VOICE_SPEAKS;
    f->may_receive_audio = bits & VOICE_RECEIVES;
    f->may_send_video = bits & VOICE_FILMS;
    f->priority = bits & VOICE_PRIORITY;
    f->stage = bits & VOICE_STAGE;
    if (bits & VOICE_HAS_FLAGS)
        f->flags = opt_int_present((int64_t)(bits >> VOICE_FLAGS_AT & VOICE_STATE_CLIENT_FLAGS));
    if (bits & VOICE_HAS_PLATFORM)
        f->platform = opt_int_present(bits & VOICE_IS_MOBILE ? VOICE_PLATFORM_MOBILE
                                                             : VOICE_PLATFORM_DESKTOP);
    struct str salt = deserialize_slice_of_bytes(&r->in, sizeof f->salt);
    if (salt.n)
        memcpy(f->salt, salt.p, sizeof f->salt);
    return v;
}

bool log_entry_decode(struct str bytes, struct arena *arena, struct log_entry *ret)
{
    struct log_entry_decoder r = { .in = { .rest = bytes }, .arena = arena };
    struct str magic = deserialize_slice_of_bytes(&r.in, sizeof MAGIC);

    *ret = (struct log_entry){ 0 };
    if (r.in.bad || memcmp(magic.p, MAGIC, sizeof MAGIC) != 0)
        return false;
    ret->origin = (uint32_t)deserialize_u64(&r.in);
    uint64_t forgotten = deserialize_u64(&r.in), announced = deserialize_u64(&r.in);
    bool moves = deserialize_u64(&r.in) != 0;
    uint64_t voices = deserialize_u64(&r.in);
    struct revocation_record **f = &ret->revocations;
    for (; forgotten && !r.in.bad; forgotten--, f = &(*f)->next)
        *f = decode_revocation(&r);
    struct emitted_event **a = &ret->announced;
    for (; announced && !r.in.bad; announced--) {
        struct emitted_event *one = decode_emitted_event(&r);

        if (one->event == EVENT_NONE)
            continue;
        *a = one;
        a = &one->next;
    }
    if (moves)
        ret->move = decode_session_move(&r);
    struct voice_state_change *last = NULL;
    for (; voices && !r.in.bad; voices--) {
        struct voice_state_change *v = decode_voice_change(&r);

        if (last)
            last->next = v;
        else
            ret->voices = v;
        last = v;
    }
    return !r.in.bad && !r.in.rest.n;
}
