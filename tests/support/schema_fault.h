/* schema_fault.h - checks the fields of a schema against its struct. */
#ifndef SUPPORT_SCHEMA_FAULT_H
#define SUPPORT_SCHEMA_FAULT_H

#include "json/schema.h"

/* Returns NULL or the first fault: a member that cannot hold its type, an OPTIONAL plain member
 * of a type without default, overlapping or unnamed fields, too many fields, too long names, a
 * too small size. Nested unnamed schemas are checked too. */
const char *schema_fault(const struct schema *schema, struct arena *arena);

#endif
