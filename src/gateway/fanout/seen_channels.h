/* seen_channels.h - channels that a session saw on one loop, and sees on another. */
#ifndef GATEWAY_FANOUT_SEEN_CHANNELS_H
#define GATEWAY_FANOUT_SEEN_CHANNELS_H

#include "gateway/gateway.h"

struct seat;
struct session;

struct seen_channel {
    snowflake guild_id, id;
    int64_t type;
    bool shown;         /* when it is a change: or hidden */
    struct str payload; /* p == NULL: the channel is gone */
};

struct seen_channels {
    struct seen_channel *items;
    uint32_t count, cap;
};

/* Adds those that can be seen from a seat, by id. */
void seen_channels_add(struct seen_channels *c, const struct seat *seat);
/* Adds to ret what is seen from the seat but is not in before, and the other way round. */
void seen_channels_compare(const struct seen_channels *before, const struct seat *seat,
                           struct seen_channels *ret);
/* Reads what changes are like; in tx_arena. */
enum err seen_channels_read(struct seen_channels *changes, const struct gateway_source *source,
                            struct tx *tx);
/* Tells of changes as CHANNEL_CREATE and CHANNEL_DELETE. */
void seen_channels_tell(const struct seen_channels *changes, struct session *s);
void seen_channels_clear(struct seen_channels *c);

#endif
