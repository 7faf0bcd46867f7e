/* schema_fault.h - checks the rows of a schema against its struct. */
#ifndef SUPPORT_SCHEMA_FAULT_H
#define SUPPORT_SCHEMA_FAULT_H

#include "json/schema.h"

/* NULL, or the first way in which rows and struct disagree: a member that cannot hold the kind, an
 * OPTIONAL plain member of a kind without fallback, overlapping or unnamed fields, too many of them
 * or with names that are too long, a size too small. Unnamed schemas inside it are checked too. */
const char *schema_fault(const struct schema *schema, struct arena *arena);

#endif
