#include "world.h"
const struct test limits_tests[] = { { 0 } };
