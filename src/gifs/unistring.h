/* unistring.h - libunistring, loaded when text beyond ASCII is first seen. */
#ifndef GIFS_UNISTRING_H
#define GIFS_UNISTRING_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/* Case folded and normalised: composed compatibility forms (NFKC), or the same taken
 * apart (NFKD). The text itself, when the library is not there. */
struct str unistring_fold(struct arena *a, struct str text, bool composed);
/* Put together again (NFKC). */
struct str unistring_compose(struct arena *a, struct str text);

#endif
