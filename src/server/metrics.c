/* metrics.c - metrics of the gateway, the voice relay and the cluster for /metrics. */
#include "net/tls.h"
#include "server/guildhall_internal.h"

static void append_relay_metrics(const struct relay *r, struct buf *out)
{
    struct relay_stats s;

    relay_read_stats(r, &s);
    api_append_metric(out, "guildhall_voice_connections", "gauge",
                      "Open voice gateway connections.", s.sockets);
    api_append_metric(out, "guildhall_voice_seats", "gauge",
                      "Voice sessions, including disconnected ones.", s.participants);
    api_append_metric(out, "guildhall_voice_rooms", "gauge",
                      "Voice channels and streams with at least one participant.", s.rooms);
    api_append_metric(out, "guildhall_voice_packets_missing_total", "counter",
                      "Audio packets that had not arrived when later ones did.", s.missing);
    api_append_metric(out, "guildhall_voice_packets_late_total", "counter",
                      "Audio packets that arrived after later ones.", s.late);
    api_append_metric(out, "guildhall_voice_jitter_microseconds", "gauge",
                      "Jitter of audio, summed over all sessions.", s.jitter_us);
    api_append_metric(out, "guildhall_voice_crypto_microseconds_total", "counter",
                      "CPU time for encryption of media, estimated from samples.", s.crypto_us);
    api_append_metric(out, "guildhall_voice_packets_received_total", "counter",
                      "Voice datagrams received.", s.packets_in);
    api_append_metric(out, "guildhall_voice_packets_sent_total", "counter", "Voice datagrams sent.",
                      s.packets_out);
    api_append_metric(out, "guildhall_voice_bytes_received_total", "counter",
                      "Bytes of received voice datagrams.", s.bytes_in);
    api_append_metric(out, "guildhall_voice_bytes_sent_total", "counter",
                      "Bytes of sent voice datagrams.", s.bytes_out);
    api_append_metric(out, "guildhall_voice_packets_dropped_total", "counter",
                      "Voice datagrams that were dropped.", s.dropped);
    api_append_metric(out, "guildhall_voice_packets_unsent_total", "counter",
                      "Voice datagrams that the kernel did not accept.", s.unsent);
    api_append_metric(out, "guildhall_voice_packets_bundled_total", "counter",
                      "Video datagrams that were sent together with others to the same client.",
                      s.bundled);
    api_append_metric(out, "guildhall_voice_encrypted_rooms", "gauge",
                      "Voice channels and streams with end-to-end encryption (DAVE version 1); the "
                      "others of guildhall_voice_rooms have version 0.",
                      s.encrypted_rooms);
    api_append_metric(out, "guildhall_voice_dave_epochs_total", "counter",
                      "Changes of the keys of encrypted voice rooms.", s.epochs);
    api_append_metric(out, "guildhall_voice_dave_transitions_total", "counter",
                      "Transitions of voice rooms to another key or protocol version.",
                      s.transitions);
    api_append_metric(out, "guildhall_voice_dave_refused_commits_total", "counter",
                      "Invalid MLS commits of clients.", s.refused_commits);
    api_append_metric(out, "guildhall_voice_dave_refused_key_packages_total", "counter",
                      "Invalid or too many MLS key packages of clients.", s.refused_key_packages);
    api_append_metric(out, "guildhall_voice_dave_downgrades_total", "counter",
                      "Voice rooms that lost end-to-end encryption, because a client without it "
                      "joined or the room became too large.",
                      s.downgrades);
    api_append_metric(out, "guildhall_voice_dave_resets_total", "counter",
                      "New groups of encrypted voice rooms, because no member could commit.",
                      s.resets);
    api_append_metric(out, "guildhall_voice_browsers", "gauge", "Voice sessions that use WebRTC.",
                      s.browsers);
    api_append_metric(out, "guildhall_voice_handshakes_total", "counter",
                      "Finished DTLS handshakes of browsers.", s.handshakes);
    api_append_metric(out, "guildhall_voice_handshakes_failed_total", "counter",
                      "DTLS handshakes of browsers that failed or timed out.", s.handshakes_failed);
    api_append_metric(out, "guildhall_voice_stun_refused_total", "counter",
                      "STUN requests without a valid password.", s.checks_refused);
    api_append_metric(out, "guildhall_voice_packets_overrun_total", "counter",
                      "Voice datagrams lost because the receive buffer was full.", s.overruns);
}

void append_server_metrics(void *arg, struct buf *out)
{
    struct guildhall *g = arg;
    struct gateway_stats s;

    if (g->tls)
        api_append_metric(out, "guildhall_tls_certificate_expires_timestamp_seconds", "gauge",
                          "Expiry of the TLS certificate, in seconds since 1970.",
                          (uint64_t)tls_certificate_expiry(g->tls));
    gateway_read_stats(g->gateway, &s);
    api_append_metric(out, "guildhall_sessions", "gauge",
                      "Gateway sessions, including disconnected ones.", s.sessions);
    api_append_metric(out, "guildhall_gateway_connections", "gauge", "Open gateway connections.",
                      s.connected);
    api_append_metric(out, "guildhall_identified_total", "counter", "Sessions started.",
                      s.identified);
    api_append_metric(out, "guildhall_resumed_total", "counter", "Sessions that were resumed.",
                      s.resumed);
    api_append_metric(out, "guildhall_recovered_total", "counter",
                      "Sessions of crashed nodes that were resumed from their journals.",
                      s.recovered);
    api_append_metric(out, "guildhall_missed_log_rows_total", "counter",
                      "Rows of the event log that were decoded for sessions that resumed.",
                      s.missed_log_rows);
    api_append_metric(
        out, "guildhall_log_unread_entries_total", "counter",
        "Entries of the event log that this node had not received, and read because a "
        "session needed them after all.",
        s.unread_entries);
    api_append_metric(
        out, "guildhall_kept_sessions", "gauge",
        "Sessions of other nodes that this node could resume from a replica of their journal.",
        s.replica_sessions);
    api_append_metric(out, "guildhall_keeper_identity", "gauge",
                      "Identity of the node that has a replica of this node's journal; 0: none.",
                      s.replica_node);
    api_append_metric(out, "guildhall_events_total", "counter", "Events published.", s.published);
    api_append_metric(out, "guildhall_dispatches_total", "counter", "Events delivered to sessions.",
                      s.delivered);
    api_append_metric(out, "guildhall_gateway_cut_total", "counter",
                      "Gateway connections closed because the client read too slowly.",
                      s.disconnected_slow);
    api_append_metric(out, "guildhall_gateway_closed_total", "counter",
                      "Gateway connections closed by the server.", s.closed);
    if (g->relay)
        append_relay_metrics(g->relay, out);
    append_cluster_metrics(g, out);
    append_row_count_metrics(g, out);
}
