/* channel_visibility.h - sends CHANNEL_CREATE and CHANNEL_DELETE for channels that become visible
 * or invisible to users. */
#ifndef GATEWAY_FANOUT_CHANNEL_VISIBILITY_H
#define GATEWAY_FANOUT_CHANNEL_VISIBILITY_H

#include "gateway/fanout/delivery.h"
#include "model/permissions/member_permissions.h"

struct changed_channel;
struct channel_overwrites;
struct visibility_changes;

/* Called before an event changes the guild view: finds out which channels members gain or lose.
 * Returns NULL if the event cannot change which channels members can view. */
struct visibility_changes *channel_visibility_changes_new(const struct event_delivery *d);
/* Sends CHANNEL_CREATE and CHANNEL_DELETE for channels that the session gained or lost, after the
 * session received the event itself. Returns false if more must be sent, in a later loop iteration
 * or after a store read. */
bool channel_visibility_changes_send(struct visibility_changes *s, const struct event_delivery *d,
                                     struct topic_subscription *seat);
/* Returns whether channel_visibility_changes_send has more to send to this session. */
bool session_has_unsent_visibility_changes(const struct visibility_changes *s,
                                           const struct topic_subscription *seat);
void channel_visibility_changes_free(struct visibility_changes *s); /* accepts NULL */

/* subscription_get_permissions_ignoring_timeout returns the current roles and permissions of the
 * subscribed session in the guild. member_can_view_channel says whether they allow to view a
 * channel. */
struct permission_computation_input subscription_get_permissions_ignoring_timeout(
    const struct topic_subscription *seat);
bool member_can_view_channel(const struct permission_computation_input *who,
                             const struct channel_overwrites *p);
/* Returns whether channels of this type can have Discord threads. */
bool channel_type_has_threads(int64_t type);

/* --- changed_channel.c ---------------------------------------------------------------- */

/* Called before a CHANNEL_UPDATE changes the channel in the guild view. Returns NULL if the event
 * does not change who can view the channel. */
struct changed_channel *channel_viewer_change_new(const struct event_delivery *d);
/* Sends CHANNEL_CREATE to a session that gains the channel, or CHANNEL_DELETE to a session that
 * loses it. Returns false if the session neither gains nor loses the channel. */
bool channel_viewer_change_send_to_subscriber(struct changed_channel *c,
                                              const struct event_delivery *d,
                                              struct topic_subscription *seat);
void channel_viewer_change_free(struct changed_channel *c); /* accepts NULL */

#endif
