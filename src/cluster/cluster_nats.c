/* cluster_nats.c - publishes log entries through NATS right after their commit, and receives those
 * of other nodes.
 *
 * The event log is authoritative: entries that are lost or too large are read from it. Messages are
 * encrypted with a key that only nodes with the same pepper have (message_cipher.h). The subject
 * contains a digest of the database's identity, so several clusters can share one NATS server.
 *  */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/internal.h"

enum { REJECTED_LOG_INTERVAL_MS = 60 * 1000 }; /* minimum interval of log lines */

/* A message with a topic has the number INT64_MAX - topic in place of a log position. */
static bool position_encodes_topic(int64_t position)
{
    return position > INT64_MAX - CLUSTER_TOPICS;
}

static const char *nats_subject_for_position(const struct cluster_nats *w, int64_t position)
{
    return position_encodes_topic(position) ? w->to_all : position ? w->log : w->brief;
}

void cluster_nats_send(struct cluster *c, int64_t position, struct str bytes)
{
    struct cluster_nats *w = &c->nats;
    struct buf out;

    if (!atomic_load(&w->connected))
        return;
    if (!nats_accepts_size(w->nats, CIPHER_OVERHEAD + bytes.n)) {
        if (!position || position_encodes_topic(position))
            return;
        bytes = STR(""); /* too large for NATS: publish only the position; nodes read the log */
    }
    const char *subject = nats_subject_for_position(w, position);
    buf_init(&out, SIZE_MAX);
    cipher_encrypt(&w->cipher, str_of(subject), position, bytes, &out);
    nats_publish(w->nats, subject, buf_str(&out));
    buf_clear(&out);
}

void cluster_send_to_all(struct cluster *c, enum cluster_topic topic, struct str message)
{
    cluster_nats_send(c, INT64_MAX - topic, message);
}

static void format_node_subject(const struct cluster_nats *w, uint32_t identity, char out[80])
{
    snprintf(out, 80, "%s.%" PRIu32, w->to_all, identity);
}

void cluster_send_to_node(struct cluster *c, uint32_t identity, enum cluster_topic topic,
                          struct str message)
{
    struct cluster_nats *w = &c->nats;
    char subject[80];
    struct buf out;

    if (!atomic_load(&w->connected) || !nats_accepts_size(w->nats, CIPHER_OVERHEAD + message.n))
        return;
    format_node_subject(w, identity, subject);
    buf_init(&out, SIZE_MAX);
    cipher_encrypt(&w->cipher, str_of(subject), INT64_MAX - topic, message, &out);
    nats_publish_droppable(w->nats, subject, buf_str(&out));
    buf_clear(&out);
}

size_t cluster_unsent_bytes(const struct cluster *c)
{
    return c->nats.nats ? nats_unsent_bytes(c->nats.nats) : 0;
}

bool cluster_has_nats(const struct cluster *c)
{
    return c->nats.nats;
}

static void handle_nats_log_entry(struct cluster *c, int64_t position, struct str bytes)
{
    if (!bytes.n) {
        log_follower_wake(c);
        return;
    }
    log_sequencer_offer_from_nats(c->sequencer, position, bytes);
    if (log_sequencer_next_position(c->sequencer) <= position)
        log_follower_wake_soon(c);
}

static void handle_transient_events(struct cluster *c, struct str bytes)
{
    struct arena *arena = arena_new();
    struct log_entry f;

    if (log_entry_decode(bytes, arena, &f) && f.announced)
        c->options.publish_events(c->options.arg, 0, f.announced);
    arena_free(arena);
}

/* Logs why a message was rejected. Called on the NATS thread only. */
static void warn_of_rejected_message(struct cluster_nats *w, enum cipher_result why)
{
    static const char *const reasons[] = {
        [CIPHER_FORGED] = "was not encrypted with this cluster's key, or was changed",
        [CIPHER_LATE] = "is more than 60 seconds old by this server's clock: do the clocks agree?",
        [CIPHER_REPEATED] = "was received before: somebody replays messages",
    };
    int64_t now = clock_monotonic_ns();

    atomic_fetch_add(&w->refused, 1);
    if (w->refusal_logged_at && now - w->refusal_logged_at < ms_to_ns(REJECTED_LOG_INTERVAL_MS))
        return;
    w->refusal_logged_at = now;
    log_warn("cluster: ignored a message from NATS, because it %s", reasons[why]);
}

static void on_nats_message(void *arg, struct str subject, struct str payload)
{
    struct cluster *c = arg;
    struct cluster_nats *w = &c->nats;
    struct str bytes;
    int64_t position;
    enum cipher_result v =
        cipher_decrypt(&w->cipher, subject, payload, &w->plain, &position, &bytes);

    if (v == CIPHER_GOOD &&
        !(str_is(subject, nats_subject_for_position(w, position)) ||
          (position_encodes_topic(position) && str_is(subject, w->to_this_node))))
        v = CIPHER_FORGED;
    if (v != CIPHER_GOOD) {
        warn_of_rejected_message(w, v);
        return;
    }
    atomic_fetch_add(&c->nats.received, 1);
    if (position_encodes_topic(position))
        c->options.message(c->options.arg, (enum cluster_topic)(INT64_MAX - position), bytes);
    else if (position)
        handle_nats_log_entry(c, position, bytes);
    else
        handle_transient_events(c, bytes);
}

/* Wakes the log thread, which then reads missed entries from the event log. */
static void on_nats_connection_changed(void *arg, bool connected)
{
    struct cluster *c = arg;

    atomic_store(&c->nats.connected, connected);
    log_follower_wake(c);
    if (connected)
        c->options.connected(c->options.arg);
}

static const char SELECT_DATABASE_ID[] =
    "select concat_ws('.', (select system_identifier from pg_control_system()), "
    "(select oid from pg_database where datname = current_database()), "
    "cast(cast('log' as regclass) as oid))";

static enum err read_subject_names(struct tx *tx, void *arg)
{
    struct cluster *c = arg;
    struct cluster_nats *w = &c->nats;
    unsigned char digest[16];
    char hex[2 * sizeof digest + 1];
    struct rows r;
    bool found;
    enum err e = tx_one(tx, SELECT_DATABASE_ID, NO_BIND, &r, &found);

    if (e)
        return e;
    struct str name = row_text(&r, 0);
    crypto_generichash(digest, sizeof digest, (const unsigned char *)name.p, name.n, w->cipher.key,
                       sizeof w->cipher.key);
    sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    snprintf(w->log, sizeof w->log, "guildhall.%s.log", hex);
    snprintf(w->brief, sizeof w->brief, "guildhall.%s.brief", hex);
    snprintf(w->to_all, sizeof w->to_all, "guildhall.%s.told", hex);
    format_node_subject(w, c->identity, w->to_this_node);
    return OK;
}

enum err cluster_nats_open(struct cluster *c)
{
    struct cluster_nats *w = &c->nats;
    struct nats_options options = {
        .subjects = { w->log, w->brief, w->to_all, w->to_this_node },
        .arg = c,
        .message = on_nats_message,
        .changed = on_nats_connection_changed,
    };

    if (!c->options.bus.n)
        return OK;
    if (!nats_servers_parse(c->options.bus, &options.servers))
        return ERR_INTERNAL;
    options.ca = c->options.bus_ca;
    cipher_init(&w->cipher, c->options.bus_key, c->identity);
    buf_init(&w->plain, NATS_PAYLOAD_MAX);
    enum err e = cluster_run_transaction(c, STORE_READ, read_subject_names, c);
    if (e)
        return e;
    snprintf(options.name, sizeof options.name, "guildhall %u", c->node);
    return nats_new(&options, &w->nats);
}

void cluster_nats_start(struct cluster *c)
{
    if (c->nats.nats)
        nats_start(c->nats.nats);
}

void cluster_nats_close(struct cluster *c)
{
    atomic_store(&c->nats.connected, false);
    nats_free(c->nats.nats);
    c->nats.nats = NULL;
    cipher_clear(&c->nats.cipher);
    buf_clear(&c->nats.plain);
}
