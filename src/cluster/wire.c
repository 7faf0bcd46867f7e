/* wire.c - publishes frames through NATS right after their commit, and receives those of others.
 *
 * The log is authoritative: frames that are lost or too large are read from it. Messages are
 * encrypted with a key that only nodes with the same pepper have (cipher.h). The subject contains a
 * digest of the database's identity, so that several clusters can share one NATS server. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/internal.h"

enum { REFUSED_LOG_MS = 60 * 1000 }; /* interval of log lines about rejected messages */

/* Messages with a topic have INT64_MAX - topic instead of a position. */
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
    struct buf out;

    if (!atomic_load(&w->connected))
        return;
    if (!nats_fits(w->nats, CIPHER_OVERHEAD + bytes.n)) {
        if (!position || is_topic(position))
            return;
        bytes = STR(""); /* too large for NATS: publish only the position; nodes read the log */
    }
    const char *subject = wire_subject(w, position);
    buf_init(&out, SIZE_MAX);
    cipher_seal(&w->cipher, str_of(subject), position, bytes, &out);
    nats_publish(w->nats, subject, buf_str(&out));
    buf_clear(&out);
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
    char subject[80];
    struct buf out;

    if (!atomic_load(&w->connected) || !nats_fits(w->nats, CIPHER_OVERHEAD + message.n))
        return;
    name_server(w, identity, subject);
    buf_init(&out, SIZE_MAX);
    cipher_seal(&w->cipher, str_of(subject), INT64_MAX - topic, message, &out);
    nats_offer(w->nats, subject, buf_str(&out));
    buf_clear(&out);
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
    line_offer_published(c->line, position, bytes);
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

/* Called on the NATS thread only. */
static void wire_refuse(struct cluster_wire *w, enum cipher_verdict why)
{
    static const char *const reasons[] = {
        [CIPHER_FORGED] = "was not made with this server's key, or was changed",
        [CIPHER_LATE] = "is more than 60 seconds old by this server's clock: do the clocks agree?",
        [CIPHER_REPEATED] = "was received before: somebody sends messages again",
    };
    int64_t now = clock_mono();

    atomic_fetch_add(&w->refused, 1);
    if (w->refusal_logged_at && now - w->refusal_logged_at < ms_to_ns(REFUSED_LOG_MS))
        return;
    w->refusal_logged_at = now;
    log_warn("cluster: a message from NATS was refused, as it %s", reasons[why]);
}

static void cluster_wire_message(void *arg, struct str subject, struct str payload)
{
    struct cluster *c = arg;
    struct cluster_wire *w = &c->wire;
    struct str bytes;
    int64_t position;
    enum cipher_verdict v = cipher_open(&w->cipher, subject, payload, &w->plain, &position, &bytes);

    if (v == CIPHER_GOOD && !(str_is(subject, wire_subject(w, position)) ||
                              (is_topic(position) && str_is(subject, w->own))))
        v = CIPHER_FORGED;
    if (v != CIPHER_GOOD) {
        wire_refuse(w, v);
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

/* Wakes the log thread, which reads missed frames from the log. */
static void cluster_wire_changed(void *arg, bool connected)
{
    struct cluster *c = arg;

    atomic_store(&c->wire.connected, connected);
    tail_hurry(c);
    if (connected)
        c->options.hears(c->options.arg);
}

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
    crypto_generichash(digest, sizeof digest, (const unsigned char *)name.p, name.n, w->cipher.key,
                       sizeof w->cipher.key);
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
    options.ca = c->options.bus_ca;
    cipher_init(&w->cipher, c->options.bus_key, c->identity);
    buf_init(&w->plain, NATS_PAYLOAD_MAX);
    enum err e = cluster_run(c, STORE_READ, name_subjects, c);
    if (e)
        return e;
    snprintf(options.name, sizeof options.name, "guildhall %u", c->node);
    return nats_new(&options, &w->nats);
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
    cipher_clear(&c->wire.cipher);
    buf_clear(&c->wire.plain);
}
