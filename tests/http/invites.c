/* invites.c */
#include "world.h"
const struct test invites_tests[] = { { 0 } };
