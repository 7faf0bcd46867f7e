/* dynlib.c - shared libraries that are loaded on first use. */
#include "base/dynlib.h"

#ifndef GUILDHALL_STATIC
#include <dlfcn.h>
#endif
#include <string.h>

#include "base/log.h"

#ifdef GUILDHALL_STATIC

bool dynlib_load_functions(const char *file, const struct dynlib_symbol *symbols)
{
    (void)file;
    for (const struct dynlib_symbol *s = symbols; s->name; s++)
        memcpy(s->pointer, &s->linked, sizeof s->linked);
    return true;
}

bool dynlib_load_optional_function(const char *file, const struct dynlib_symbol *symbol)
{
    return dynlib_load_functions(file,
                                 (const struct dynlib_symbol[]){ *symbol, { NULL, NULL, NULL } });
}

#else

static bool resolve_library_symbol(void *lib, const struct dynlib_symbol *s)
{
    void *address = dlsym(lib, s->name);

    /* ISO C has no cast from object to function pointers. So copy the bytes of the pointer, which
     * POSIX allows. */
    if (address)
        memcpy(s->pointer, &address, sizeof address);
    return address;
}

bool dynlib_load_functions(const char *file, const struct dynlib_symbol *symbols)
{
    void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (!lib) {
        log_error("cannot load the library %s: %s", file, dlerror());
        return false;
    }
    for (const struct dynlib_symbol *s = symbols; s->name; s++)
        if (!resolve_library_symbol(lib, s)) {
            log_error("the library %s has no function %s; install a newer version of it", file,
                      s->name);
            return false;
        }
    return true;
}

bool dynlib_load_optional_function(const char *file, const struct dynlib_symbol *symbol)
{
    void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    return lib && resolve_library_symbol(lib, symbol);
}

#endif
