/* directory.c - tests how often a node sends its session list to the other nodes. */
#include "unit/unit.h"

#include "cluster/cluster.h"
#include "gateway/presence/directory_internal.h"
#include "gateway/sessions/registry.h"

/* The linker replaces the real functions by these (see meson.build). */
static int64_t fake_now_ns;
static unsigned sent_all, sent_heads;

int64_t __wrap_clock_monotonic_ns(void);
uint32_t __wrap_cluster_node_identity(const struct cluster *c);
void __wrap_cluster_send_message_to_all_nodes(struct cluster *c, enum cluster_message_topic topic,
                                              struct str message);

int64_t __wrap_clock_monotonic_ns(void)
{
    return fake_now_ns;
}

uint32_t __wrap_cluster_node_identity(const struct cluster *c)
{
    (void)c;
    return 1;
}

void __wrap_cluster_send_message_to_all_nodes(struct cluster *c, enum cluster_message_topic topic,
                                              struct str message)
{
    struct serialized_data_reader in = { .rest = message };
    uint64_t kind = deserialize_u64(&in);

    (void)c;
    assert_int_equal(topic, CLUSTER_SESSIONS);
    sent_all += kind == DIRECTORY_ALL;
    sent_heads += kind == DIRECTORY_CHANGE_NUMBER;
}

static void assert_sent(unsigned all, unsigned heads)
{
    assert_int_equal(sent_all, all);
    assert_int_equal(sent_heads, heads);
}

/* When NATS restarts, every node requests the list of every other node: one reply serves all
 * requests. */
static void node_sends_its_session_list_at_most_once_per_250_ms(void **state)
{
    const int64_t ms = 1000 * 1000, start = 5000 * ms;
    static struct gateway gateway;
    struct session_directory d = { .gateway = &gateway };

    (void)state;
    pthread_mutex_init(&d.lock, NULL);
    fake_now_ns = start;
    session_directory_run_every_second(&d); /* no request yet */
    assert_sent(0, 1);
    for (int i = 0; i < 10; i++)
        session_directory_send_all_to_nodes(&d);
    assert_sent(1, 1);

    /* Requests of the meantime are answered together after 250 ms. */
    fake_now_ns = start + 250 * ms - 1;
    session_directory_send_all_to_nodes(&d);
    session_directory_run_every_second(&d);
    assert_sent(1, 2);
    fake_now_ns = start + 250 * ms;
    session_directory_run_every_second(&d);
    assert_sent(2, 3);

    /* A request after a pause is answered immediately. */
    fake_now_ns = start + 1000 * ms;
    session_directory_run_every_second(&d);
    assert_sent(2, 4);
    session_directory_send_all_to_nodes(&d);
    assert_sent(3, 4);
    pthread_mutex_destroy(&d.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(node_sends_its_session_list_at_most_once_per_250_ms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
