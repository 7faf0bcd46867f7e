/* recorded_delivery.h - finds what the traffic log recorded about the delivery of a message to an
 * account. */
#ifndef ADMIN_CONSOLE_RECORDED_DELIVERY_H
#define ADMIN_CONSOLE_RECORDED_DELIVERY_H

#include "admin/console/traffic_records.h"
#include "gateway/gateway.h"

enum { DELIVERY_SESSIONS_MAX = 64 };

struct recorded_message_delivery_search {
    snowflake user_id, message_id;
    const struct gateway_session_options *sessions; /* at most DELIVERY_SESSIONS_MAX */
    size_t session_count;
};
/* Times of the delivery of a message, in microseconds since 1970; 0 without a record. */
struct recorded_message_delivery {
    int64_t began_us[DELIVERY_SESSIONS_MAX]; /* READY of each session */
    int64_t sent_us;                         /* MESSAGE_CREATE with the message */
};

/* Searches the newest records of the traffic log. Do not call this function on an event loop. */
enum err find_recorded_message_delivery(struct tx *tx, struct traffic_ring *t,
                                        const struct recorded_message_delivery_search *wanted,
                                        struct recorded_message_delivery *ret);

#endif
