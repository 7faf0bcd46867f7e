/* main.c - all tests that speak HTTP, on the store named in the arguments. */
#include "world.h"

#define SUITE(name) extern const struct test name##_tests[];
#include "suites.def"
#undef SUITE

int main(int argc, char **argv)
{
    static const struct test *const lists[] = {
#define SUITE(name) name##_tests,
#include "suites.def"
#undef SUITE
        NULL,
    };

    return run_tests(argc, argv, lists);
}
