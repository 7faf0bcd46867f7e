/* main.c - all tests that speak HTTP, on the store named in the arguments. */
#include "world.h"

extern const struct test accounts_tests[], accounts_more_tests[], attachments_tests[], bans_tests[],
    documents_tests[], every_route_tests[], invites_tests[], limits_tests[], members_tests[],
    message_parts_tests[], messages_tests[], order_tests[], protocol_tests[], routing_tests[],
    service_tests[], starting_tests[], tls_tests[], webhooks_tests[];

int main(int argc, char **argv)
{
    static const struct test *const lists[] = {
        accounts_tests,
        accounts_more_tests,
        attachments_tests,
        bans_tests,
        documents_tests,
        every_route_tests,
        invites_tests,
        limits_tests,
        members_tests,
        message_parts_tests,
        messages_tests,
        order_tests,
        protocol_tests,
        routing_tests,
        service_tests,
        starting_tests,
        tls_tests,
        webhooks_tests,
        NULL,
    };

    return run_tests(argc, argv, lists);
}
