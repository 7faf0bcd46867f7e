/* roles.c - roles: rights, order, and who may touch them. */
#include "world.h"
const struct test roles_tests[] = { { 0 } };
