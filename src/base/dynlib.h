/* dynlib.h - libraries that are loaded when they are first needed.
 *
 * libpq and libcurl bring some thirty libraries with them, five megabytes that
 * a laptop with embedded storage never uses. They are opened on demand. */
#ifndef BASE_DYNLIB_H
#define BASE_DYNLIB_H

#include <stdbool.h>

struct dynlib_symbol {
    const char *name; /* NULL ends the list */
    void *place;      /* address of the function pointer to fill */
};

/* Opens the library (it stays open) and fills all places; logs and returns
 * false when it or one of the symbols is missing. */
bool dynlib_load(const char *file, const struct dynlib_symbol *symbols);

#endif
