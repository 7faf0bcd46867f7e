/* dynlib.h - shared libraries that are loaded on first use.
 *
 * libpq and libcurl depend on about thirty libraries (5 MB) that an installation with SQLite never
 * uses. The static build (GUILDHALL_STATIC) contains libcurl and has no libpq. */
#ifndef BASE_DYNLIB_H
#define BASE_DYNLIB_H

#include <stdbool.h>
#include <stddef.h>

struct dynlib_symbol {
    const char *name;     /* name of the function; NULL ends the list */
    void *pointer;        /* address of the function pointer that dynlib_load_functions sets */
    void (*linked)(void); /* the function itself, which is linked statically; only in the static
                           * build */
};

#ifdef GUILDHALL_STATIC
#define DYNLIB_SYMBOL(function, location)                 \
    {                                                     \
#function, (location), (void (*)(void))(function) \
    }
#else
#define DYNLIB_SYMBOL(function, location) \
    {                                     \
#function, (location), NULL       \
    }
#endif

/* Loads a shared library, which stays loaded, and sets the function pointers of all symbols.
 * Returns false and logs if the library or a symbol is missing. */
bool dynlib_load_functions(const char *file, const struct dynlib_symbol *symbols);

/* Loads one function of a shared library. If the function is missing, returns false without
 * logging. */
bool dynlib_load_optional_function(const char *file, const struct dynlib_symbol *symbol);

#endif
