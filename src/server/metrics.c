/* metrics.c - metrics of the gateway, the voice relay and the cluster for /metrics. */
#include "net/tls.h"
#include "server/parts.h"

static void relay_metrics(const struct relay *r, struct buf *out)
{
    struct relay_stats s;

    relay_stats(r, &s);
    api_metric(out, "guildhall_voice_connections", "gauge", "Voice sockets open now.", s.sockets);
    api_metric(out, "guildhall_voice_seats", "gauge", "Voice sessions, also those away.", s.seats);
    api_metric(out, "guildhall_voice_rooms", "gauge", "Channels and streams with somebody in them.",
               s.rooms);
    api_metric(out, "guildhall_voice_packets_missing_total", "counter",
               "Packets of audio that did not come when their successors did.", s.missing);
    api_metric(out, "guildhall_voice_packets_late_total", "counter",
               "Packets of audio that came after their successors.", s.late);
    api_metric(out, "guildhall_voice_jitter_microseconds", "gauge",
               "How unevenly audio comes, summed over all sessions.", s.jitter_us);
    api_metric(out, "guildhall_voice_crypto_microseconds_total", "counter",
               "Processor time for encryption of media, estimated from samples.", s.crypto_us);
    api_metric(out, "guildhall_voice_packets_received_total", "counter",
               "Datagrams of voice that came.", s.packets_in);
    api_metric(out, "guildhall_voice_packets_sent_total", "counter",
               "Datagrams of voice that were sent.", s.packets_out);
    api_metric(out, "guildhall_voice_bytes_received_total", "counter", "Bytes of those that came.",
               s.bytes_in);
    api_metric(out, "guildhall_voice_bytes_sent_total", "counter", "Bytes of those that were sent.",
               s.bytes_out);
    api_metric(out, "guildhall_voice_packets_dropped_total", "counter",
               "Datagrams that were not passed on.", s.dropped);
    api_metric(out, "guildhall_voice_packets_unsent_total", "counter",
               "Datagrams that the system did not take.", s.unsent);
    api_metric(out, "guildhall_voice_packets_bundled_total", "counter",
               "Datagrams of pictures that left with others to the same place.", s.bundled);
    api_metric(out, "guildhall_voice_packets_overrun_total", "counter",
               "Datagrams that came faster than they were read.", s.overruns);
}

void parts_metrics(void *arg, struct buf *out)
{
    struct guildhall *g = arg;
    struct gateway_stats s;

    if (g->tls)
        api_metric(out, "guildhall_tls_certificate_expires_timestamp_seconds", "gauge",
                   "When the TLS certificate expires, in seconds since 1970.",
                   (uint64_t)tls_expires(g->tls));
    gateway_stats(g->gateway, &s);
    api_metric(out, "guildhall_sessions", "gauge", "Gateway sessions, also those away.",
               s.sessions);
    api_metric(out, "guildhall_gateway_connections", "gauge", "Gateway sockets open now.",
               s.connected);
    api_metric(out, "guildhall_identified_total", "counter", "Sessions begun.", s.identified);
    api_metric(out, "guildhall_resumed_total", "counter", "Sessions that came back.", s.resumed);
    api_metric(out, "guildhall_recovered_total", "counter",
               "Sessions of servers that were killed, taken up from their ledgers.", s.recovered);
    api_metric(out, "guildhall_kept_sessions", "gauge",
               "Sessions of other servers that could go on here if their machine went.", s.kept);
    api_metric(out, "guildhall_keeper_identity", "gauge",
               "Identity of the server that would know this one's sessions; 0: none.", s.kept_by);
    api_metric(out, "guildhall_events_total", "counter", "Events published.", s.published);
    api_metric(out, "guildhall_dispatches_total", "counter", "Events given to sessions.",
               s.delivered);
    api_metric(out, "guildhall_gateway_cut_total", "counter", "Sockets cut as too slow.", s.cut);
    api_metric(out, "guildhall_gateway_closed_total", "counter", "Sockets closed by the server.",
               s.closed);
    if (g->relay)
        relay_metrics(g->relay, out);
    parts_cluster_metrics(g, out);
    parts_inventory_metrics(g, out);
}
