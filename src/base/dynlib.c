/* dynlib.c - libraries that are loaded when they are first needed. */
#include "base/dynlib.h"

#ifndef GUILDHALL_STATIC
#include <dlfcn.h>
#endif
#include <string.h>

#include "base/log.h"

#ifdef GUILDHALL_STATIC

bool dynlib_load(const char *file, const struct dynlib_symbol *symbols)
{
    (void)file;
    for (const struct dynlib_symbol *s = symbols; s->name; s++)
        memcpy(s->place, &s->linked, sizeof s->linked);
    return true;
}

#else

bool dynlib_load(const char *file, const struct dynlib_symbol *symbols)
{
    void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (!lib) {
        log_error("cannot load %s: %s", file, dlerror());
        return false;
    }
    for (const struct dynlib_symbol *s = symbols; s->name; s++) {
        void *address = dlsym(lib, s->name);

        if (!address) {
            log_error("%s has no %s", file, s->name);
            return false;
        }
        /* ISO C has no cast from object to function pointer; POSIX has the bytes. */
        memcpy(s->place, &address, sizeof address);
    }
    return true;
}

#endif
