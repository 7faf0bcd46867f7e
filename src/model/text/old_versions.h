/* old_versions.h - encodes permissions and overwrites as API versions 6 and 7 do. */
#ifndef MODEL_OLD_VERSIONS_H
#define MODEL_OLD_VERSIONS_H

#include "base/buf.h"
#include "base/str.h"

/* Oldest supported API version, last one with the old encoding, default, and newest. */
enum { VERSION_OLDEST = 6, VERSION_OLD_SPELLING = 7, VERSION_DEFAULT = 9, VERSION_NEWEST = 10 };

/* Parses "v6" to "v10"; returns false for other texts. */
bool version_read(struct str segment, int *ret);

/* Copies JSON of this server in the encoding of API versions 6 and 7, in one pass: permission sets
 * are numbers (their lowest 31 bits), with the whole set as a string under "…_new"; overwrite types
 * are "role" and "member". */
void old_spelling(struct str json, struct buf *out);

#endif
