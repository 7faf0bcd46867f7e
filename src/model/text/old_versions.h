/* old_versions.h - how versions 6 and 7 of the interface spell permissions and overwrites. */
#ifndef MODEL_OLD_VERSIONS_H
#define MODEL_OLD_VERSIONS_H

#include "base/buf.h"
#include "base/str.h"

/* The oldest version that is served, and the last one with the old spellings. */
enum { VERSION_OLDEST = 6, VERSION_OLD_SPELLING = 7, VERSION_DEFAULT = 9, VERSION_NEWEST = 10 };

/* "v6" to "v10"; false: no version, or one that is not served. */
bool version_read(struct str segment, int *ret);

/* Copies JSON as our encoder writes it, in the old spelling: permission sets are numbers (their
 * lowest 31 bits) with the whole set as text under "…_new"; an overwrite's type is "role" or
 * "member". One pass over the text. */
void old_spelling(struct str json, struct buf *out);

#endif
