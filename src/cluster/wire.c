/* wire.c - frames that travel through NATS as soon as they are committed.
 *
 * The log is the truth: what is lost on the way, or too large for it, is read there. A
 * message is sealed with a key that only servers with the same pepper have, and its subject names
 * the database, so that what others publish on the same NATS is not taken for ours. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "base/log.h"
#include "cluster/internal.h"

enum { SEAL = 16, HEAD = SEAL + 8 };

/* --- sealed messages ------------------------------------------------------------------ */

/* A head is the seal, then the position; the seal covers all that follows it. */
static void cluster_wire_seal(const struct cluster_wire *w, const unsigned char position[8],
                              struct str bytes, unsigned char seal[SEAL])
{
    crypto_generichash_state state;

    crypto_generichash_init(&state, w->key, sizeof w->key, SEAL);
    crypto_generichash_update(&state, position, 8);
    crypto_generichash_update(&state, (const unsigned char *)bytes.p, bytes.n);
    crypto_generichash_final(&state, seal, SEAL);
}

static void cluster_wire_head(const struct cluster_wire *w, int64_t position, struct str bytes,
                              unsigned char head[HEAD])
{
    for (int i = 0; i < 8; i++)
        head[SEAL + i] = (unsigned char)((uint64_t)position >> 8 * i);
    cluster_wire_seal(w, head + SEAL, bytes, head);
}

static bool cluster_wire_unseal(const struct cluster_wire *w, struct str message,
                                int64_t *ret_position, struct str *ret_bytes)
{
    const unsigned char *p = (const unsigned char *)message.p;
    unsigned char seal[SEAL];
    uint64_t position = 0;

    if (message.n < HEAD)
        return false;
    *ret_bytes = str_from(message, HEAD);
    cluster_wire_seal(w, p + SEAL, *ret_bytes, seal);
    for (int i = 0; i < 8; i++)
        position |= (uint64_t)p[SEAL + i] << 8 * i;
    *ret_position = (int64_t)position;
    return sodium_memcmp(seal, p, SEAL) == 0 && *ret_position >= 0;
}

/* --- both ways ------------------------------------------------------------------------ */

/* What is told has a topic, which stands in the place of a position: the last ones are these. */
static bool is_topic(int64_t position)
{
    return position > INT64_MAX - CLUSTER_TOPICS;
}

static const char *wire_subject(const struct cluster_wire *w, int64_t position)
{
    return is_topic(position) ? w->told : position ? w->log : w->brief;
}

void cluster_wire_send(struct cluster *c, int64_t position, struct str bytes)
{
    struct cluster_wire *w = &c->wire;
    unsigned char head[HEAD];

    if (!atomic_load(&w->connected))
        return;
    if (!nats_fits(w->nats, HEAD + bytes.n)) {
        if (!position || is_topic(position))
            return;
        bytes = STR(""); /* only that it is there: the others read it */
    }
    cluster_wire_head(w, position, bytes, head);
    nats_publish(w->nats, wire_subject(w, position), str_slice((char *)head, HEAD), bytes);
}

void cluster_tell(struct cluster *c, enum cluster_topic topic, struct str message)
{
    cluster_wire_send(c, INT64_MAX - topic, message);
}

static void name_server(const struct cluster_wire *w, uint32_t identity, char out[80])
{
    snprintf(out, 80, "%s.%" PRIu32, w->told, identity);
}

void cluster_tell_one(struct cluster *c, uint32_t identity, enum cluster_topic topic,
                      struct str message)
{
    struct cluster_wire *w = &c->wire;
    unsigned char head[HEAD];
    char subject[80];

    if (!atomic_load(&w->connected) || !nats_fits(w->nats, HEAD + message.n))
        return;
    name_server(w, identity, subject);
    cluster_wire_head(w, INT64_MAX - topic, message, head);
    nats_offer(w->nats, subject, str_slice((char *)head, HEAD), message);
}

size_t cluster_unsent(const struct cluster *c)
{
    return c->wire.nats ? nats_unsent(c->wire.nats) : 0;
}

bool cluster_has_wire(const struct cluster *c)
{
    return c->wire.nats;
}

static void wire_hear_frame(struct cluster *c, int64_t position, struct str bytes)
{
    if (!bytes.n) {
        tail_hurry(c);
        return;
    }
    line_offer(c->line, position, bytes, NULL);
    if (line_next(c->line) <= position)
        tail_look_soon(c);
}

static void wire_hear_fleeting(struct cluster *c, struct str bytes)
{
    struct arena *arena = arena_new();
    struct frame f;

    if (frame_decode(bytes, arena, &f) && f.announced)
        c->options.announce(c->options.arg, 0, f.announced);
    arena_free(arena);
}

static void cluster_wire_message(void *arg, struct str subject, struct str payload)
{
    struct cluster *c = arg;
    struct str bytes;
    int64_t position;

    if (!cluster_wire_unseal(&c->wire, payload, &position, &bytes) ||
        !(str_is(subject, wire_subject(&c->wire, position)) ||
          (is_topic(position) && str_is(subject, c->wire.own)))) {
        atomic_fetch_add(&c->wire.refused, 1);
        return;
    }
    atomic_fetch_add(&c->wire.heard, 1);
    if (is_topic(position))
        c->options.told(c->options.arg, (enum cluster_topic)(INT64_MAX - position), bytes);
    else if (position)
        wire_hear_frame(c, position, bytes);
    else
        wire_hear_fleeting(c, bytes);
}

/* Whatever went by in between is in the log. */
static void cluster_wire_changed(void *arg, bool connected)
{
    struct cluster *c = arg;

    atomic_store(&c->wire.connected, connected);
    tail_hurry(c);
    if (connected)
        c->options.hears(c->options.arg);
}

/* --- from the start to the end -------------------------------------------------------- */

static const char FIND_DATABASE[] =
    "select concat_ws('.', (select system_identifier from pg_control_system()), "
    "(select oid from pg_database where datname = current_database()), "
    "cast(cast('log' as regclass) as oid))";

static enum err name_subjects(struct tx *tx, void *arg)
{
    struct cluster *c = arg;
    struct cluster_wire *w = &c->wire;
    unsigned char digest[16];
    char hex[2 * sizeof digest + 1];
    struct rows r;
    bool found;
    enum err e = tx_one(tx, FIND_DATABASE, NO_BIND, &r, &found);

    if (e)
        return e;
    struct str name = row_text(&r, 0);
    crypto_generichash(digest, sizeof digest, (const unsigned char *)name.p, name.n, w->key,
                       sizeof w->key);
    sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    snprintf(w->log, sizeof w->log, "guildhall.%s.log", hex);
    snprintf(w->brief, sizeof w->brief, "guildhall.%s.brief", hex);
    snprintf(w->told, sizeof w->told, "guildhall.%s.told", hex);
    name_server(w, c->identity, w->own);
    return OK;
}

enum err cluster_wire_open(struct cluster *c)
{
    struct cluster_wire *w = &c->wire;
    struct nats_options options = {
        .subjects = { w->log, w->brief, w->told, w->own },
        .arg = c,
        .message = cluster_wire_message,
        .changed = cluster_wire_changed,
    };

    if (!c->options.bus.n)
        return OK;
    if (!nats_servers_read(c->options.bus, &options.servers))
        return ERR_INTERNAL;
    memcpy(w->key, c->options.bus_key, sizeof w->key);
    enum err e = cluster_run(c, STORE_READ, name_subjects, c);
    if (e)
        return e;
    snprintf(options.name, sizeof options.name, "guildhall %u", c->node);
    w->nats = nats_new(&options);
    return OK;
}

void cluster_wire_start(struct cluster *c)
{
    if (c->wire.nats)
        nats_start(c->wire.nats);
}

void cluster_wire_close(struct cluster *c)
{
    atomic_store(&c->wire.connected, false);
    nats_free(c->wire.nats);
    c->wire.nats = NULL;
}
