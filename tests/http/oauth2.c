#include "world.h"
extern const struct test oauth2_tests[];
const struct test oauth2_tests[] = { { 0 } };
