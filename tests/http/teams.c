#include "world.h"
extern const struct test teams_tests[];
const struct test teams_tests[] = { { 0 } };
