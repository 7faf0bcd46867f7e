/* media_bundles.h - datagrams to one place, of one size, as one message: the kernel takes them
 * apart again (generic segmentation offload).
 *
 * Audio goes to as many places as it has packets. A picture is many packets to each who watches. */
#ifndef RELAY_MEDIA_BUNDLES_H
#define RELAY_MEDIA_BUNDLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
    BUNDLES_MAX = 64,         /* datagrams, and so messages */
    BUNDLE_BYTES = 60 * 1024, /* of a message: what an IP packet could carry */
};

/* A size, as the kernel is told it. */
union bundle_size {
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
    struct cmsghdr aligned;
};

struct media_bundles {
    unsigned count;
    struct mmsghdr messages[BUNDLES_MAX];
    struct iovec parts[BUNDLES_MAX]; /* of all messages, one after the other */
    union bundle_size sizes[BUNDLES_MAX];
};

/* Whether the kernel can do this with the socket. */
bool bundles_known(int fd);
/* Of messages that have one part each. What goes to one place keeps its order. */
void bundles_make(struct media_bundles *b, const struct mmsghdr *messages, unsigned count);
/* The other way, from one of them on: messages of one part each; returns how many. */
unsigned bundles_undo(const struct media_bundles *b, unsigned from, struct mmsghdr *ret,
                      struct iovec *ret_parts);

#endif
