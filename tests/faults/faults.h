/* faults.h - a store that fails on demand. */
#ifndef TESTS_FAULTS_FAULTS_H
#define TESTS_FAULTS_FAULTS_H

#include "world.h"

enum fault { FAULT_NONE, FAULT_FULL, FAULT_WRITE, FAULT_SYNC };

/* SQLite: the n-th write or sync from now on and all later ones fail, until FAULT_NONE. */
void disk_fails(enum fault fault, int after);
/* Must be called once, before any store is opened. */
void disk_prepare(void);

#endif
