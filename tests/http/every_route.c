#include "world.h"
const struct test every_route_tests[] = { { 0 } };
