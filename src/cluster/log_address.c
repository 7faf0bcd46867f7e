/* log_address.c - computes, encodes and decodes addresses of log entries (log_address.h). */
#include "cluster/log_address.h"

#include "base/hash.h"
#include "base/serial.h"

/* Adds a key to the address. Returns false if the address has too many keys. */
static bool add_key_to_log_address(struct log_entry_address *a, enum audience_kind kind,
                                   snowflake id)
{
    uint64_t key = log_address_key(kind, id);

    for (unsigned i = 0; i < a->count; i++)
        if (a->keys[i] == key)
            return true;
    if (a->count == LOG_ADDRESS_KEYS_MAX)
        return false;
    a->keys[a->count++] = key;
    return true;
}

/* Adds the audiences of an event for which for_each_announced_event creates gateway events. */
static bool add_audiences_of_event(struct log_entry_address *a, const struct emitted_event *e)
{
    const snowflake *people = e->member_ids.items;
    bool fits = e->to.kind != AUDIENCE_SESSION;

    if (e->to.kind != AUDIENCE_CHANNEL) {
        fits = fits && add_key_to_log_address(a, e->to.kind, e->to.id);
        a->events++;
    }
    for (size_t i = 0; i < e->member_ids.count && fits; i++, a->events++)
        fits = add_key_to_log_address(a, AUDIENCE_USER, people[i]);
    return fits;
}

bool log_address_from_entry(const struct log_entry *f, struct str bytes,
                            struct log_entry_address *ret)
{
    *ret = (struct log_entry_address){ 0 };
    if (f->revocations || f->move || f->voices)
        return false;
    for (const struct emitted_event *e = f->announced; e; e = e->next)
        if (!add_audiences_of_event(ret, e))
            return false;
    if (ret->count)
        ret->hash = hash_str(bytes);
    return ret->count > 0;
}

unsigned log_address_get_nats_part_of_key(uint64_t key)
{
    return (unsigned)(hash_u64(key) % LOG_PARTS);
}

static unsigned add_parts_of_kind(const struct log_entry_address *a, enum audience_kind kind,
                                  unsigned out[LOG_ADDRESS_KEYS_MAX])
{
    unsigned count = 0;

    for (unsigned i = 0; i < a->count; i++) {
        unsigned part = log_address_get_nats_part_of_key(a->keys[i]), at = 0;

        if (log_address_get_kind_of_key(a->keys[i]) != kind)
            continue;
        while (at < count && out[at] != part)
            at++;
        out[at] = part;
        count += at == count;
    }
    return count;
}

unsigned log_address_list_nats_parts(const struct log_entry_address *a,
                                     unsigned out[LOG_ADDRESS_KEYS_MAX])
{
    unsigned count = add_parts_of_kind(a, AUDIENCE_GUILD, out);

    return count ? count : add_parts_of_kind(a, AUDIENCE_USER, out);
}

void log_address_append(const struct log_entry_address *a, struct buf *out)
{
    serialize_u64(out, a->count);
    for (unsigned i = 0; i < a->count; i++)
        serialize_u64(out, a->keys[i]);
    serialize_u64(out, a->events);
    serialize_u64(out, a->hash);
}

bool log_address_decode(struct str *bytes, struct log_entry_address *ret)
{
    struct serialized_data_reader in = { .rest = *bytes };
    uint64_t count = deserialize_u64(&in);

    *ret = (struct log_entry_address){ 0 };
    if (in.bad || !count || count > LOG_ADDRESS_KEYS_MAX)
        return false;
    ret->count = (unsigned)count;
    for (unsigned i = 0; i < ret->count; i++) {
        ret->keys[i] = deserialize_u64(&in);
        in.bad |= log_address_get_kind_of_key(ret->keys[i]) > AUDIENCE_GUILD;
    }
    ret->events = deserialize_u64(&in);
    ret->hash = deserialize_u64(&in);
    /* Limit the number of events, because all their numbers must belong to the position of the
     * entry (EVENT_NUMBER_BITS). */
    in.bad |= !ret->events || ret->events > 1 << 20;
    *bytes = in.rest;
    return !in.bad;
}

/* The parts of an address with few keys are repeated. */
struct str log_recipients_encode(const struct log_entry_address *a, struct arena *arena)
{
    struct buf out;

    buf_init(&out, LOG_RECIPIENTS_MAX_BYTES);
    for (unsigned i = 0; i < LOG_RECIPIENTS_PARTS; i++) {
        unsigned part = log_address_get_nats_part_of_key(a->keys[i % a->count]);
        const char bytes[] = { (char)(part >> 8), (char)part };

        buf_add(&out, bytes, sizeof bytes);
    }
    log_address_append(a, &out);
    return buf_move_to_arena(&out, arena);
}

bool log_recipients_decode(struct str bytes, struct log_entry_address *ret)
{
    if (bytes.n < 2 * LOG_RECIPIENTS_PARTS)
        return false;
    struct str address =
        str_slice(bytes.p + 2 * LOG_RECIPIENTS_PARTS, bytes.n - 2 * LOG_RECIPIENTS_PARTS);
    return log_address_decode(&address, ret) && !address.n;
}
