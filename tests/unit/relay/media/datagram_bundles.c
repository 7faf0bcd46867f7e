/* datagram_bundles.c - tests which datagrams are sent in one call, and that they arrive separately.
 */
#include "unit/unit.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "relay/media/datagram_bundles.h"

static struct sockaddr_in positions[2] = { { .sin_family = AF_INET, .sin_port = 1 },
                                           { .sin_family = AF_INET, .sin_port = 2 } };
static char bytes[BUNDLES_MAX][1500];

struct batch {
    struct mmsghdr messages[BUNDLES_MAX];
    struct iovec parts[BUNDLES_MAX];
    unsigned count;
};

/* Adds a datagram that contains its number. */
static void batch_add(struct batch *b, unsigned location, size_t size)
{
    unsigned i = b->count++;

    memset(bytes[i], (int)i, size);
    b->parts[i] = (struct iovec){ bytes[i], size };
    b->messages[i].msg_hdr = (struct msghdr){
        .msg_name = &positions[location],
        .msg_namelen = sizeof positions[location],
        .msg_iov = &b->parts[i],
        .msg_iovlen = 1,
    };
}

static void batch_mix(struct batch *b)
{
    batch_add(b, 0, 100);
    batch_add(b, 1, 100);
    batch_add(b, 0, 100);
    batch_add(b, 0, 50);
    batch_add(b, 0, 100);
    batch_add(b, 1, 200);
}

static void expect_bundle_datagrams(const struct datagram_bundles *b, unsigned at,
                                    const char *numbers)
{
    const struct msghdr *m = &b->messages[at].msg_hdr;

    assert_int_equal(m->msg_iovlen, strlen(numbers));
    assert_int_equal(m->msg_controllen != 0, m->msg_iovlen > 1);
    for (size_t i = 0; i < m->msg_iovlen; i++)
        assert_int_equal(*(const char *)m->msg_iov[i].iov_base, numbers[i] - '0');
}

/* The last datagram of a bundle may be shorter; datagrams to one address keep their order. */
static void datagrams_of_one_size_to_one_address_are_bundled(void **state)
{
    static struct datagram_bundles b;
    struct batch batch = { .count = 0 }, again = { .count = 0 };

    (void)state;
    batch_mix(&batch);
    datagram_bundles_build(&b, batch.messages, batch.count);
    assert_int_equal(b.count, 4);
    expect_bundle_datagrams(&b, 0, "023");
    expect_bundle_datagrams(&b, 1, "1");
    expect_bundle_datagrams(&b, 2, "4");
    expect_bundle_datagrams(&b, 3, "5");
    again.count = datagram_bundles_split(&b, 1, again.messages, again.parts);
    assert_int_equal(again.count, 3);
    datagram_bundles_build(&b, batch.messages, batch.count);
    again.count = datagram_bundles_split(&b, 0, again.messages, again.parts);
    assert_int_equal(again.count, 6);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(again.messages[i].msg_hdr.msg_iovlen, 1);
        assert_int_equal(again.messages[i].msg_hdr.msg_controllen, 0);
        assert_int_equal(*(const char *)again.parts[i].iov_base, "023145"[i] - '0');
    }
}

static void bundle_is_no_longer_than_a_udp_packet(void **state)
{
    static struct datagram_bundles b;
    struct batch batch = { .count = 0 };

    (void)state;
    for (int i = 0; i < BUNDLES_MAX; i++)
        batch_add(&batch, 0, 1400);
    datagram_bundles_build(&b, batch.messages, batch.count);
    assert_int_equal(b.count, 2);
    assert_int_equal(b.messages[0].msg_hdr.msg_iovlen, BUNDLE_BYTES / 1400);
    assert_int_equal(b.messages[1].msg_hdr.msg_iovlen, BUNDLES_MAX - BUNDLE_BYTES / 1400);
}

static int bound_socket(struct sockaddr_in *ret)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t n = sizeof *ret;

    *ret = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(bind(fd, (const struct sockaddr *)ret, n), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &n), 0);
    return fd;
}

static void bundled_datagrams_arrive_separately(void **state)
{
    static struct datagram_bundles b;
    int fds[] = { bound_socket(&positions[0]), bound_socket(&positions[1]) };
    struct batch batch = { .count = 0 };
    static const char *const expected[] = { "0234", "15" };
    char got[1500];

    (void)state;
    if (!datagram_bundles_are_supported(fds[0]))
        skip();
    batch_mix(&batch);
    datagram_bundles_build(&b, batch.messages, batch.count);
    assert_int_equal(sendmmsg(fds[0], b.messages, b.count, 0), 4);
    for (int i = 0; i < 2; i++) {
        for (const char *number = expected[i]; *number; number++) {
            ssize_t n = recv(fds[i], got, sizeof got, 0);

            assert_int_equal(n, batch.parts[*number - '0'].iov_len);
            assert_int_equal(got[0], *number - '0');
            assert_int_equal(got[n - 1], *number - '0');
        }
        close(fds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_of_one_size_to_one_address_are_bundled),
        cmocka_unit_test(bundle_is_no_longer_than_a_udp_packet),
        cmocka_unit_test(bundled_datagrams_arrive_separately),
    };

    return cmocka_run_group_tests_name("relay/media_bundles", tests, NULL, NULL);
}
