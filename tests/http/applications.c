#include "world.h"
extern const struct test applications_tests[];
const struct test applications_tests[] = { { 0 } };
