#include "world.h"
const struct test service_tests[] = { { 0 } };
