/* libpq.c - loads libpq, the PostgreSQL client library, at its first use. */
#include "store/postgres/libpq.h"

#include <stddef.h>

#include "base/dynlib.h"
#include "base/log.h"

struct libpq pq;

#ifdef GUILDHALL_STATIC

bool load_libpq(void)
{
    log_error("store: the static program supports SQLite only; for PostgreSQL use the "
              "Debian package or a dynamic build");
    return false;
}

#else

bool load_libpq(void)
{
    static const struct dynlib_symbol symbols[] = {
#define X(name) DYNLIB_SYMBOL(PQ##name, &pq.name),
        LIBPQ_FUNCTIONS(X)
#undef X
            { NULL, NULL, NULL },
    };
    static const struct dynlib_symbol pending = { "SSL_pending", &pq.ssl_pending, NULL };

    if (pq.finish)
        return true;
    dynlib_load_optional_function("libpq.so.5", &pending); /* from libpq's OpenSSL library */
    return dynlib_load_functions("libpq.so.5", symbols);
}

#endif
