/* accounts_more.c */
#include "world.h"
const struct test accounts_more_tests[] = { { 0 } };
