/* faults.h - a store that fails on demand. */
#ifndef TESTS_FAULTS_FAULTS_H
#define TESTS_FAULTS_FAULTS_H

#include "world.h"

enum fault { FAULT_NONE, FAULT_FULL, FAULT_WRITE, FAULT_SYNC };

/* SQLite: the n-th write or sync from now on fails, and all after it, until FAULT_NONE. */
void disk_fails(enum fault fault, int after);
/* Once, before any store is opened. */
void disk_prepare(void);

#endif
