/* main.c - runs all HTTP tests on the store named in the arguments. */
#include "world.h"

#define SUITE(name) extern const struct test name##_tests[];
#include "suites.def"
#undef SUITE

int main(int argc, char **argv)
{
    static const struct suite suites[] = {
#define SUITE(name) { #name, name##_tests },
#include "suites.def"
#undef SUITE
        { 0 },
    };

    return run_tests(argc, argv, suites);
}
