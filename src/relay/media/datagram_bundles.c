/* datagram_bundles.c - groups datagrams into bundles for UDP generic segmentation offload. */
#include "relay/media/datagram_bundles.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

bool datagram_bundles_are_supported(int fd)
{
    int none = 0;

    return setsockopt(fd, SOL_UDP, UDP_SEGMENT, &none, sizeof none) == 0;
}

static bool has_same_destination(const struct msghdr *a, const struct msghdr *b)
{
    return a->msg_namelen == b->msg_namelen &&
           memcmp(a->msg_name, b->msg_name, a->msg_namelen) == 0;
}

static void set_segment_size(struct msghdr *m, union bundle_segment_size *room, size_t size)
{
    uint16_t value = (uint16_t)size;

    memset(room, 0, sizeof *room);
    m->msg_control = room->bytes;
    m->msg_controllen = sizeof room->bytes;
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    c->cmsg_level = SOL_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof value);
    memcpy(CMSG_DATA(c), &value, sizeof value);
}

/* Adds datagrams to a bundle. All datagrams of a bundle except the last have the same size. The
 * first datagram that does not fit ends the bundle, so that the order per destination does not
 * change. `taken` has a bit for each bundled message. */
static void add_datagrams_to_bundle(struct msghdr *m, const struct mmsghdr *messages, unsigned at,
                                    unsigned count, uint64_t *bundled)
{
    size_t size = messages[at].msg_hdr.msg_iov->iov_len, bytes = size, last = size;

    for (unsigned i = at + 1; i < count && last == size; i++) {
        const struct msghdr *other = &messages[i].msg_hdr;

        if (*bundled >> i & 1 || !has_same_destination(m, other))
            continue;
        last = other->msg_iov->iov_len;
        if (last > size || bytes + last > BUNDLE_BYTES)
            return;
        m->msg_iov[m->msg_iovlen++] = *other->msg_iov;
        bytes += last;
        *bundled |= UINT64_C(1) << i;
    }
}

void datagram_bundles_build(struct datagram_bundles *b, const struct mmsghdr *messages,
                            unsigned count)
{
    struct iovec *next = b->parts;
    uint64_t bundled = 0;

    b->count = 0;
    for (unsigned i = 0; i < count; i++) {
        if (bundled >> i & 1)
            continue;
        struct msghdr *m = &b->messages[b->count].msg_hdr;

        *m = messages[i].msg_hdr;
        *next = *m->msg_iov;
        m->msg_iov = next;
        add_datagrams_to_bundle(m, messages, i, count, &bundled);
        if (m->msg_iovlen > 1)
            set_segment_size(m, &b->sizes[b->count], next->iov_len);
        next += m->msg_iovlen;
        b->count++;
    }
}

unsigned datagram_bundles_split(const struct datagram_bundles *b, unsigned from,
                                struct mmsghdr *ret, struct iovec *ret_parts)
{
    unsigned count = 0;

    for (unsigned i = from; i < b->count; i++)
        for (size_t k = 0; k < b->messages[i].msg_hdr.msg_iovlen; k++) {
            struct msghdr *m = &ret[count].msg_hdr;

            *m = b->messages[i].msg_hdr;
            ret_parts[count] = m->msg_iov[k];
            m->msg_iov = &ret_parts[count++];
            m->msg_iovlen = 1;
            m->msg_control = NULL;
            m->msg_controllen = 0;
        }
    return count;
}
