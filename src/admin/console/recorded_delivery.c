/* recorded_delivery.c - finds what the traffic log recorded about the delivery of a message to an
 * account. */
#include "admin/console/recorded_delivery.h"

#include "base/str.h"

enum { RECORDS_MAX = 200 };

struct record_search {
    struct recorded_message_delivery *found;
    const struct gateway_session_options *sessions;
    size_t session_count;
};

static void record_session_start_time(const struct displayed_traffic_record *s, void *arg)
{
    const struct record_search *search = arg;

    for (size_t i = 0; i < search->session_count; i++)
        if (search->sessions[i].number == s->r.session)
            search->found->began_us[i] = s->r.at_us;
}

static void record_time_of_sent_message(const struct displayed_traffic_record *s, void *arg)
{
    const struct record_search *search = arg;

    if (s->r.kind == TRAFFIC_SENT)
        search->found->sent_us = s->r.at_us;
}

/* Searches the newest records of the traffic log. Older records are not searched. */
static enum err search_traffic_log_for_delivery(
    struct tx *tx, struct traffic_ring *t, struct traffic_filter filter,
    void (*note)(const struct displayed_traffic_record *s, void *arg), struct record_search *search)
{
    struct traffic_record_page page = { .filter = filter, .from_end = true, .limit = RECORDS_MAX };

    return traffic_for_each_record(tx, t, &page, note, search);
}

enum err find_recorded_message_delivery(struct tx *tx, struct traffic_ring *t,
                                        const struct recorded_message_delivery_search *wanted,
                                        struct recorded_message_delivery *ret)
{
    struct record_search search = { ret, wanted->sessions, wanted->session_count };
    struct str user = str_printf(tx_arena(tx), "%llu", (unsigned long long)wanted->user_id);
    struct str message =
        str_printf(tx_arena(tx), "\"%llu\"", (unsigned long long)wanted->message_id);

    *ret = (struct recorded_message_delivery){ 0 };
    enum err e = search_traffic_log_for_delivery(
        tx, t, (struct traffic_filter){ .user = user, .event = STR("READY") },
        record_session_start_time, &search);
    if (!e)
        e = search_traffic_log_for_delivery(tx, t,
                                            (struct traffic_filter){ .user = user,
                                                                     .event = STR("MESSAGE_CREATE"),
                                                                     .text = message },
                                            record_time_of_sent_message, &search);
    return e;
}
