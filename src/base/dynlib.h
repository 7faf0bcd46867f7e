/* dynlib.h - libraries that are loaded when they are first needed.
 *
 * libpq and libcurl bring some thirty libraries with them, five megabytes that
 * a laptop with embedded storage never uses. They are opened on demand. The static program
 * (GUILDHALL_STATIC) cannot open libraries: it has libcurl in it, and does without libpq. */
#ifndef BASE_DYNLIB_H
#define BASE_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

struct dynlib_symbol {
    const char *name;     /* NULL ends the list */
    void *place;          /* address of the function pointer to fill */
    void (*linked)(void); /* the function itself, in the static program */
};

#ifdef GUILDHALL_STATIC
#define DYNLIB_SYMBOL(function, place)                 \
    {                                                  \
#function, (place), (void (*)(void))(function) \
    }
#else
#define DYNLIB_SYMBOL(function, place) \
    {                                  \
#function, (place), NULL       \
    }
#endif

/* Opens the library (it stays open) and fills all places; logs and returns
 * false when it or one of the symbols is missing. */
bool dynlib_load(const char *file, const struct dynlib_symbol *symbols);

/* The same for one function that the library, or one of those that it brings along, may lack. */
bool dynlib_find(const char *file, const struct dynlib_symbol *symbol);

#endif
