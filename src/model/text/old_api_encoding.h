/* old_api_encoding.h - encodes permissions and overwrites as API versions 6 and 7 do. */
#ifndef MODEL_OLD_API_ENCODING_H
#define MODEL_OLD_API_ENCODING_H

#include "base/buf.h"
#include "base/str.h"

/* Oldest supported API version, last version with the old encoding, default, newest version. */
enum { VERSION_OLDEST = 6, VERSION_OLD_ENCODING = 7, VERSION_DEFAULT = 9, VERSION_NEWEST = 10 };

/* Parses "v6" to "v10"; returns false for other texts. */
bool parse_api_version(struct str segment, int *ret);

/* Copies JSON of the current API version in the encoding of versions 6 and 7, in one pass. A
 * permission set becomes a number (its lowest 31 bits); the whole set follows as a string in a
 * field "…_new". Overwrite types become "role" and "member". */
void encode_json_for_old_api(struct str json, struct buf *out);

#endif
