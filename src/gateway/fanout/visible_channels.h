/* visible_channels.h - channels that a session gains or loses while it moves to another loop. */
#ifndef GATEWAY_FANOUT_VISIBLE_CHANNELS_H
#define GATEWAY_FANOUT_VISIBLE_CHANNELS_H

#include "gateway/gateway.h"

struct topic_subscription;
struct session;

struct visible_channel {
    snowflake guild_id, id;
    int64_t type;
    /* In a list of changes: true if the session gained the channel, false if it lost it. */
    bool gained;
    struct str payload; /* JSON of a gained channel; p is NULL if the channel was deleted */
};

struct visible_channels {
    struct visible_channel *items;
    uint32_t count, cap;
};

/* Adds all channels that the subscribed session can view to the list, sorted by id. */
void visible_channels_add_viewable(struct visible_channels *c,
                                   const struct topic_subscription *seat);
/* Adds to `ret` the channels that the session gained or lost since the list `before` was made. */
void visible_channels_add_differences(const struct visible_channels *before,
                                      const struct topic_subscription *seat,
                                      struct visible_channels *ret);
/* Reads the JSON of the gained channels into tx_arena. */
enum err visible_channels_read_payloads(struct visible_channels *changes,
                                        const struct gateway_source *source, struct tx *tx);
/* Sends the gained and lost channels to the session as CHANNEL_CREATE and CHANNEL_DELETE. */
void visible_channels_send_changes(const struct visible_channels *changes, struct session *s);
void visible_channels_clear(struct visible_channels *c);

#endif
