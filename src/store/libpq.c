/* libpq.c - PostgreSQL's client library, loaded when it is first needed. */
#include "store/libpq.h"

#include <stddef.h>

#include "base/dynlib.h"

struct libpq pq;

bool libpq_load(void)
{
    static const struct dynlib_symbol symbols[] = {
#define X(name) { "PQ" #name, &pq.name },
        LIBPQ_FUNCTIONS(X)
#undef X
            { NULL, NULL },
    };

    return pq.finish || dynlib_load("libpq.so.5", symbols);
}
