/* transport_feedback.h - transport-wide congestion control feedback for browsers
 * (draft-holmer-rmcat-transport-wide-cc-extensions-01).
 *
 * A browser numbers all its packets in a header extension. The relay sends the arrival time of each
 * packet to the browser, which computes how much video it may send. These functions work on bytes,
 * without sockets. */
#ifndef RELAY_TRANSPORT_FEEDBACK_H
#define RELAY_TRANSPORT_FEEDBACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "relay/media/encryption.h"

enum {
    FEEDBACK_PACKETS = 128,       /* packets of one feedback */
    FEEDBACK_INTERVAL_US = 100000 /* time between two feedbacks */
};

struct transport_feedback {
    bool begun;
    /* Number of the first packet that feedback has not reported yet. */
    uint16_t first;
    /* How many packet numbers from `first` on the feedback covers, including missing packets. */
    unsigned count;
    int64_t sent_us;                      /* when the last feedback was sent */
    unsigned char index;                  /* number of the next feedback */
    int64_t arrived_us[FEEDBACK_PACKETS]; /* 0: not arrived */
};

/* Reads the packet number from the header extension with number `id`. Returns false if the packet
 * has no such extension. */
bool transport_feedback_read_packet_number(const struct decrypted_rtp_packet *p, unsigned id,
                                           uint16_t *ret);
/* Records the arrival of a packet. Returns whether feedback must be sent to the browser now. */
bool transport_feedback_record_arrival(struct transport_feedback *f, uint16_t number,
                                       int64_t now_us);
/* Writes feedback about the recorded packets and removes them. Returns its length. */
size_t transport_feedback_write(struct transport_feedback *f, uint32_t sender, uint32_t media,
                                int64_t now_us, unsigned char out[PACKET_MAX]);

#endif
