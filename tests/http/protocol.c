#include "world.h"
const struct test protocol_tests[] = { { 0 } };
