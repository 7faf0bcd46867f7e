/* planted_none.c - what people run has no planted faults. */
#include "base/planted.h"

bool planted(enum planted_fault fault)
{
    (void)fault;
    return false;
}
