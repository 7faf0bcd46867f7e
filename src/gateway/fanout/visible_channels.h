/* visible_channels.h - channels that a session gains or loses while it moves to another loop. */
#ifndef GATEWAY_FANOUT_VISIBLE_CHANNELS_H
#define GATEWAY_FANOUT_VISIBLE_CHANNELS_H

#include "gateway/gateway.h"

struct topic_subscription;
struct session;

struct visible_channel {
    snowflake guild_id, id;
    int64_t type;
    /* In a list of changes: true if the channel became visible, false if it became invisible. */
    bool gained;
    /* JSON of a channel that became visible; p is NULL if the channel was deleted */
    struct str payload;
};

struct visible_channels {
    struct visible_channel *items;
    uint32_t count, cap;
};

/* Adds all channels that the subscribed session can view to the list, sorted by id. */
void visible_channels_add_all_of_subscription(struct visible_channels *c,
                                              const struct topic_subscription *seat);
/* Adds to `ret` the channels that became visible or invisible to the session since the list
 * `before` was made. */
void visible_channels_add_differences(const struct visible_channels *before,
                                      const struct topic_subscription *seat,
                                      struct visible_channels *ret);
/* Reads the JSON of the channels that became visible into tx_arena. */
enum err visible_channels_read_channel_json(struct visible_channels *changes,
                                            const struct gateway_source *source, struct tx *tx);
/* Sends CHANNEL_CREATE for channels that became visible to the session, and CHANNEL_DELETE for
 * channels that became invisible. */
void visible_channels_send_changes(const struct visible_channels *changes, struct session *s);
void visible_channels_clear(struct visible_channels *c);

#endif
