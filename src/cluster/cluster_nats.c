/* cluster_nats.c - publishes log entries through NATS right after their commit, and receives the
 * entries of other nodes.
 *
 * The event log is authoritative: entries that NATS loses, or that are too large for NATS, are read
 * from the log. Messages are encrypted with a key that only nodes with the same pepper have
 * (message_cipher.h). The subject contains a digest of the database's identity, so several clusters
 * can share one NATS server.
 *
 * Subjects: an entry is first published to the parts of its guilds or users (`part.N`). The nodes
 * that have sessions of these guilds or users are subscribed to these parts. Then the entry's
 * address is published to all nodes (`addresses`). Entries without an address are sent to all nodes
 * (`log`). While an older version that does not understand addresses runs on a node, all entries
 * are sent to `log`. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/serial.h"
#include "base/test_faults.h"
#include "cluster/internal.h"

_Static_assert((int)NATS_PARTS_MAX >= (int)LOG_PARTS, "each part needs a subscription");

enum {
    REJECTED_LOG_INTERVAL_MS = 60 * 1000, /* minimum interval of log lines */
    ADDRESS_VERSION = 1,
    ANNOUNCEMENT_BYTES = 2 * 8,
};

/* Returns whether a message of a topic has this position: INT64_MAX minus the topic's number, which
 * is not a log position. */
static bool position_encodes_topic(int64_t position)
{
    return position > INT64_MAX - CLUSTER_TOPICS;
}

static const char *nats_subject_for_position(const struct cluster_nats_connection *w,
                                             int64_t position)
{
    return position_encodes_topic(position) ? w->to_all : position ? w->log : w->brief;
}

static void publish_to_subject(struct cluster_nats_connection *w, const char *subject,
                               int64_t position, struct str bytes)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    message_cipher_encrypt(&w->cipher, str_of(subject), position, bytes, &out);
    nats_publish(w->nats, subject, buf_as_str(&out));
    buf_clear(&out);
}

static bool nats_is_connected_and_accepts(struct cluster_nats_connection *w, size_t bytes)
{
    return atomic_load(&w->connected) &&
           nats_server_accepts_payload_size(w->nats, CIPHER_OVERHEAD + bytes);
}

/* Publishes an entry to the parts of its address, then the address to all nodes, because nodes that
 * need the entry should receive it first. Transient events are published to one part only, because
 * a node would deliver them twice if it received them twice. Returns false if all nodes need the
 * entry. */
static bool send_entry_by_address(struct cluster_nats_connection *w, int64_t position,
                                  struct str bytes, const struct log_entry *f)
{
    unsigned parts[LOG_ADDRESS_KEYS_MAX];
    char subject[80];
    struct log_entry_address a;
    struct buf message;

    if (!atomic_load(&w->all_use_addresses) || !log_address_from_entry(f, bytes, &a))
        return false;
    unsigned count = log_address_list_nats_parts(&a, parts);
    if (!position && count > 1)
        return false;
    buf_init(&message, SIZE_MAX);
    log_address_append(&a, &message);
    size_t address_bytes = message.n;
    buf_add_str(&message, bytes);
    for (unsigned i = 0; i < count; i++) {
        snprintf(subject, sizeof subject, "%s%u", w->part_prefix, parts[i]);
        publish_to_subject(w, subject, position, buf_as_str(&message));
    }
    if (position)
        publish_to_subject(w, w->addresses, position, str_slice(message.p, address_bytes));
    buf_clear(&message);
    return true;
}

void cluster_nats_publish_log_entry(struct cluster *c, int64_t position, struct str bytes,
                                    const struct log_entry *f)
{
    struct cluster_nats_connection *w = &c->nats;

    if (!atomic_load(&w->connected))
        return;
    if (!nats_is_connected_and_accepts(w, LOG_ADDRESS_MAX_BYTES + bytes.n)) {
        if (!position)
            return;
        /* Publish only the position of an entry that is too large for NATS; nodes read the entry
         * from the log. */
        bytes = STR("");
    } else if (send_entry_by_address(w, position, bytes, f)) {
        return;
    }
    publish_to_subject(w, position ? w->log : w->brief, position, bytes);
}

void cluster_send_message_to_all_nodes(struct cluster *c, enum cluster_message_topic topic,
                                       struct str message)
{
    struct cluster_nats_connection *w = &c->nats;

    if (nats_is_connected_and_accepts(w, message.n))
        publish_to_subject(w, w->to_all, INT64_MAX - topic, message);
}

static void format_node_subject(const struct cluster_nats_connection *w, uint32_t identity,
                                char out[80])
{
    snprintf(out, 80, "%s.%" PRIu32, w->to_all, identity);
}

void cluster_send_message_to_node(struct cluster *c, uint32_t identity,
                                  enum cluster_message_topic topic, struct str message)
{
    struct cluster_nats_connection *w = &c->nats;
    char subject[80];
    struct buf out;

    if (!atomic_load(&w->connected) ||
        !nats_server_accepts_payload_size(w->nats, CIPHER_OVERHEAD + message.n))
        return;
    format_node_subject(w, identity, subject);
    buf_init(&out, SIZE_MAX);
    message_cipher_encrypt(&w->cipher, str_of(subject), INT64_MAX - topic, message, &out);
    nats_publish_or_drop_message(w->nats, subject, buf_as_str(&out));
    buf_clear(&out);
}

size_t cluster_count_unsent_nats_bytes(const struct cluster *c)
{
    return c->nats.nats ? nats_count_unsent_bytes(c->nats.nats) : 0;
}

bool cluster_has_nats(const struct cluster *c)
{
    return c->nats.nats;
}

static void count_received_log_entry(struct cluster_nats_connection *w, struct str bytes)
{
    atomic_fetch_add(&w->entries_received, 1);
    atomic_fetch_add(&w->entry_bytes_received, bytes.n);
}

static void handle_nats_log_entry(struct cluster *c, int64_t position, struct str bytes)
{
    if (!bytes.n) {
        log_follower_wake(c);
        return;
    }
    count_received_log_entry(&c->nats, bytes);
    log_sequencer_offer_entry_from_nats(c->sequencer, position, bytes);
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

void cluster_nats_announce_log_address_support(struct cluster *c)
{
    struct cluster_nats_connection *w = &c->nats;
    struct buf message;

    if (!atomic_load(&w->connected) || test_fault_is_enabled(TEST_FAULT_NO_ADDRESSES))
        return;
    buf_init(&message, ANNOUNCEMENT_BYTES);
    serialize_u64(&message, ADDRESS_VERSION);
    serialize_u64(&message, c->identity);
    publish_to_subject(w, w->addresses, 0, buf_as_str(&message));
    buf_clear(&message);
}

static void handle_address_support_announcement(struct cluster *c, struct str bytes)
{
    struct serialized_data_reader in = { .rest = bytes };
    uint64_t version = deserialize_u64(&in), identity = deserialize_u64(&in);

    if (in.bad || version < ADDRESS_VERSION || !identity || identity > UINT32_MAX)
        return;
    pthread_mutex_lock(&c->lock);
    map_set_value(&c->nats.address_nodes, identity, (void *)(uintptr_t)identity);
    pthread_mutex_unlock(&c->lock);
}

void cluster_nats_check_log_address_support(struct cluster *c, const uint32_t *identities,
                                            size_t count)
{
    struct map announced;
    bool all = true;

    if (!c->nats.nats)
        return;
    map_init(&announced);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < count; i++) {
        void *known = map_find_value(&c->nats.address_nodes, identities[i]);

        if (known)
            map_set_value(&announced, identities[i], known);
        all = all && (known || identities[i] == c->identity);
    }
    map_clear(&c->nats.address_nodes); /* identities are never used again */
    c->nats.address_nodes = announced;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->nats.all_use_addresses,
                 all && !test_fault_is_enabled(TEST_FAULT_NO_ADDRESSES));
    interest_set_end_unused_subscriptions(c->interest, clock_steady_ms());
}

/* Handles a message with the address of a log entry. The message may also contain the entry itself,
 * or transient events. */
static void handle_addressed_message(struct cluster *c, int64_t position, struct str bytes)
{
    struct log_entry_address a;

    if (!log_address_decode(&bytes, &a)) {
        log_follower_wake(c);
        return;
    }
    if (bytes.n)
        count_received_log_entry(&c->nats, bytes);
    if (!position) {
        if (bytes.n && interest_set_matches_log_address(c->interest, &a))
            handle_transient_events(c, bytes);
        return;
    }
    log_sequencer_offer_address_of_entry(c->sequencer, position, &a, bytes);
    if (log_sequencer_next_position(c->sequencer) <= position)
        log_follower_wake_soon(c);
}

/* Logs why a message was rejected. Called on the NATS thread only. */
static void warn_of_rejected_message(struct cluster_nats_connection *w,
                                     enum message_decrypt_result why)
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

static bool is_part_subject(const struct cluster_nats_connection *w, struct str subject)
{
    return str_starts_with(subject, str_of(w->part_prefix));
}

static void on_nats_message(void *arg, struct str subject, struct str payload)
{
    struct cluster *c = arg;
    struct cluster_nats_connection *w = &c->nats;
    struct str bytes;
    int64_t position;
    enum message_decrypt_result v =
        message_cipher_decrypt(&w->cipher, subject, payload, &w->plain, &position, &bytes);

    bool announced = str_is(subject, w->addresses), in_part = is_part_subject(w, subject);
    bool addressed = (announced || in_part) && !position_encodes_topic(position);
    if (v == CIPHER_GOOD && !addressed &&
        !(str_is(subject, nats_subject_for_position(w, position)) ||
          (position_encodes_topic(position) && str_is(subject, w->to_this_node))))
        v = CIPHER_FORGED;
    if (v != CIPHER_GOOD) {
        warn_of_rejected_message(w, v);
        return;
    }
    atomic_fetch_add(&c->nats.received, 1);
    if (announced && !position)
        handle_address_support_announcement(c, bytes);
    else if (addressed)
        handle_addressed_message(c, position, bytes);
    else if (position_encodes_topic(position))
        c->options.message(c->options.arg, (enum cluster_message_topic)(INT64_MAX - position),
                           bytes);
    else if (position)
        handle_nats_log_entry(c, position, bytes);
    else
        handle_transient_events(c, bytes);
}

/* Called when NATS was connected or disconnected: makes the log thread read missed entries. */
static void on_nats_connection_changed(void *arg, bool connected)
{
    struct cluster *c = arg;

    atomic_store(&c->nats.connected, connected);
    log_follower_wake(c);
    if (!connected)
        return;
    cluster_nats_announce_log_address_support(c);
    c->options.connected(c->options.arg);
}

static const char SELECT_DATABASE_ID[] =
    "select concat_ws('.', (select system_identifier from pg_control_system()), "
    "(select oid from pg_database where datname = current_database()), "
    "cast(cast('log' as regclass) as oid))";

static enum err read_subject_names(struct tx *tx, void *arg)
{
    struct cluster *c = arg;
    struct cluster_nats_connection *w = &c->nats;
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
    snprintf(w->addresses, sizeof w->addresses, "guildhall.%s.addresses", hex);
    snprintf(w->part_prefix, sizeof w->part_prefix, "guildhall.%s.part.", hex);
    format_node_subject(w, c->identity, w->to_this_node);
    return OK;
}

void cluster_nats_set_subscribed_to_part(void *arg, unsigned part, bool subscribed)
{
    const struct cluster *c = arg;

    if (c->nats.nats && !test_fault_is_enabled(TEST_FAULT_NO_SUBSCRIPTIONS))
        nats_set_subscribed_to_part(c->nats.nats, part, subscribed);
}

enum err cluster_nats_open(struct cluster *c)
{
    struct cluster_nats_connection *w = &c->nats;
    struct nats_options options = {
        .subjects = { w->log, w->brief, w->to_all, w->to_this_node, w->addresses },
        .part_prefix = w->part_prefix,
        .arg = c,
        .message = on_nats_message,
        .changed = on_nats_connection_changed,
    };

    if (!c->options.bus.n)
        return OK;
    if (test_fault_is_enabled(TEST_FAULT_NO_ADDRESSES))
        options.subjects[NATS_SUBJECTS_MAX - 1] = NULL;
    if (!nats_servers_parse(c->options.bus, &options.servers))
        return ERR_INTERNAL;
    options.ca = c->options.bus_ca;
    message_cipher_init(&w->cipher, c->options.bus_key, c->identity);
    buf_init(&w->plain, NATS_PAYLOAD_MAX);
    enum err e = cluster_run_log_transaction(c, STORE_READ, read_subject_names, c);
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
    map_clear(&c->nats.address_nodes);
    message_cipher_clear(&c->nats.cipher);
    buf_clear(&c->nats.plain);
}
