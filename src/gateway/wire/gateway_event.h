/* gateway_event.h - a reference-counted event with its payload in every requested encoding.
 *
 * The payload exists once for all sessions and loops. When a loop needs the payload in another form
 * (compressed, ETF, without message content), it creates that form for all loops. Events are shared
 * between threads. */
#ifndef GATEWAY_WIRE_GATEWAY_EVENT_H
#define GATEWAY_WIRE_GATEWAY_EVENT_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/events/event_routing.h"

struct compressor;

/* Bits that describe an encoding of an event's payload; 0 is plain JSON. */
enum payload_form {
    /* the message has no content, for bots without the intent MESSAGE_CONTENT */
    PAYLOAD_WITHOUT_CONTENT = 1,
    PAYLOAD_OLD_PERMISSIONS = 2, /* permissions are written as in API versions 6 and 7 */
    PAYLOAD_ETF = 4,
    PAYLOAD_DEFLATED =
        8, /* compressed by deflate_shared_payload, with the closing brace of the envelope */
    PAYLOAD_SPACEBAR = 16, /* members as Spacebar's servers write them; alone or compressed */
    PAYLOAD_FORMS = (PAYLOAD_SPACEBAR | PAYLOAD_DEFLATED) + 1,
};

struct length_prefixed_bytes {
    size_t n;
    char p[];
};

/* In a cluster the event numbers of an event log position begin at position << 22. Events that a
 * node creates itself before the next position (presences) continue the same range. 2^22 numbers
 * are enough for forty thousand accounts that reconnect to a hundred guilds each while nobody
 * writes; further events share the last number. The remaining 42 bits are the position
 * (LOG_POSITION_MAX in cluster/cluster.h). */
enum { EVENT_NUMBER_BITS = 22 };

struct gateway_event {
    _Atomic unsigned refs;
    enum event type;
    struct audience to;
    /* if the audience is one user: id of the guild that the event is about, or 0 */
    snowflake guild_id;
    uint64_t except; /* number of a session that must not receive the event, or 0 */
    /* Number of the event in publishing order, the same on all loops; 0 if not published. */
    uint64_t number;
    bool payload_on_heap; /* forms[0] is a separate allocation */
    _Atomic(struct length_prefixed_bytes *) forms[PAYLOAD_FORMS];
    /* Must be the last member, because lists of the routing fields, the user ids of the audience
     * and forms[0] follow it in the same allocation. */
    struct event_routing routing;
};

/* Creates an event with one reference and a copy of the payload, without routing fields. */
struct gateway_event *gateway_event_new(enum event event, struct audience to, struct str payload);
/* Creates an event that takes over the memory of `payload`, so that long payloads are not copied.
 * The buffer must have been prepared by event_payload_buffer_init. */
struct gateway_event *gateway_event_from_buf(enum event event, struct audience to,
                                             struct buf *payload);
/* Initializes an empty buffer with space for a header in front of the payload. */
void event_payload_buffer_init(struct buf *payload, size_t max);
/* Creates the event of an announcement for one of the announcement's audiences. */
struct gateway_event *gateway_event_from_announcement(const struct emitted_event *a,
                                                      struct audience to);

/* Creates an unread entry, which stands for the events of a log entry that this node has not
 * received. Its number is the number of the last of these events. It has the log address keys of
 * the log entry (cluster/log_address.h). */
struct gateway_event *unread_log_entry_new(int64_t position, uint64_t events, const uint64_t *keys,
                                           size_t key_count);

static inline bool event_is_unread_log_entry(const struct gateway_event *n)
{
    return n->type == EVENT_NONE;
}

static inline int64_t unread_entry_position(const struct gateway_event *n)
{
    return (int64_t)n->to.id;
}

/* Returns how many events an unread entry stands for. */
static inline uint64_t unread_entry_events(const struct gateway_event *n)
{
    return n->guild_id;
}

struct gateway_event *gateway_event_ref(struct gateway_event *n);
void gateway_event_unref(struct gateway_event *n); /* accepts NULL */

struct str gateway_event_get_payload(const struct gateway_event *n);

/* Returns the payload in the given form; the bytes live as long as the event. The arena is for
 * temporary data. */
struct str gateway_event_get_payload_in_form(struct gateway_event *n, unsigned form,
                                             struct compressor *packer, struct arena *arena);

#endif
