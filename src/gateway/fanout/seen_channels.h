/* seen_channels.h - channels that a session gains or loses while it moves to another loop. */
#ifndef GATEWAY_FANOUT_SEEN_CHANNELS_H
#define GATEWAY_FANOUT_SEEN_CHANNELS_H

#include "gateway/gateway.h"

struct seat;
struct session;

struct seen_channel {
    snowflake guild_id, id;
    int64_t type;
    bool shown;         /* only in a list of changes: true: gained, false: lost */
    struct str payload; /* p == NULL: the channel is deleted */
};

struct seen_channels {
    struct seen_channel *items;
    uint32_t count, cap;
};

/* Adds the channels that the subscribed session can view, sorted by id. */
void seen_channels_add(struct seen_channels *c, const struct seat *seat);
/* Adds to `ret` the channels that the session gained or lost since `before`. */
void seen_channels_compare(const struct seen_channels *before, const struct seat *seat,
                           struct seen_channels *ret);
/* Reads the payloads of the changed channels into tx_arena. */
enum err seen_channels_read(struct seen_channels *changes, const struct gateway_source *source,
                            struct tx *tx);
/* Sends the changes as CHANNEL_CREATE and CHANNEL_DELETE. */
void seen_channels_tell(const struct seen_channels *changes, struct session *s);
void seen_channels_clear(struct seen_channels *c);

#endif
