/* datagram_bundles.h - UDP generic segmentation offload: datagrams of one size to one destination
 * are sent as one message, which the kernel splits. This saves time for video, where one frame
 * consists of many packets to each viewer. */
#ifndef RELAY_MEDIA_BUNDLES_H
#define RELAY_MEDIA_BUNDLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    /* maximum number of datagrams in a list, and of messages made from them */
    BUNDLES_MAX = 64,
    BUNDLE_BYTES = 60 * 1024, /* maximum bytes of a message: the payload of an IP packet */
};

/* Buffer for the UDP_SEGMENT control message. */
union bundle_segment_size {
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
    struct cmsghdr aligned;
};

struct datagram_bundles {
    unsigned count;
    struct mmsghdr messages[BUNDLES_MAX];
    struct iovec parts[BUNDLES_MAX]; /* parts of all messages, consecutively */
    union bundle_segment_size sizes[BUNDLES_MAX];
};

/* Returns whether the kernel supports UDP_SEGMENT on the socket. */
bool datagram_bundles_are_supported(int fd);
/* Groups messages of one datagram each into bundles, without changing the order per destination. */
void datagram_bundles_build(struct datagram_bundles *b, const struct mmsghdr *messages,
                            unsigned count);
/* Splits the bundles with an index of at least `from` into messages of one datagram each. Returns
 * the number of these messages. */
unsigned datagram_bundles_split(const struct datagram_bundles *b, unsigned from,
                                struct mmsghdr *ret, struct iovec *ret_parts);

#endif
