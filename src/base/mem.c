/* mem.c - heap allocation; running out of memory ends the process. */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static _Noreturn void abort_out_of_memory(size_t size)
{
    fprintf(stderr, "guildhall: cannot allocate %zu bytes: out of memory\n", size);
    abort();
}

/* Configures malloc of glibc. Does nothing with other C libraries. */
void mem_configure_malloc(unsigned loops)
{
#ifdef __GLIBC__
    enum { ARENAS_OF_OTHER_THREADS = 2 };
    enum { RETAINED = 8 * 1024 * 1024, LARGE = 4 * 1024 * 1024 }; /* LARGE: mmapped */

    mallopt(M_TRIM_THRESHOLD, RETAINED);
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_ARENA_MAX, (int)(loops + ARENAS_OF_OTHER_THREADS));
#else
    (void)loops;
#endif
}

void mem_release_free_pages(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void *mem_new(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p)
        abort_out_of_memory(size);
    return p;
}

void *mem_resize(void *p, size_t size)
{
    void *q = realloc(p, size ? size : 1);

    if (!q)
        abort_out_of_memory(size);
    return q;
}

void mem_free(void *p)
{
    free(p);
}

char *mem_dup_cstring(const char *z)
{
    size_t n = strlen(z) + 1;

    return memcpy(mem_new(n), z, n);
}
