/* main.c - all tests that speak HTTP, on the store named in the arguments. */
#include "world.h"

extern const struct test accounts_tests[], every_route_tests[], limits_tests[], protocol_tests[],
    service_tests[], worlds_tests[];

int main(int argc, char **argv)
{
    static const struct test *const lists[] = {
        accounts_tests, every_route_tests, limits_tests, protocol_tests,
        service_tests,  worlds_tests,      NULL
    };

    return run_tests(argc, argv, lists);
}
