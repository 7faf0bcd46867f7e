/* mem.h - heap allocation; running out of memory ends the process.
 *
 * Input sizes are limited where bytes enter the server, so a failed allocation means that the
 * machine is out of memory.
 *
 * src/base is the lowest folder: text (str.h, utf8.h), memory (mem.h, arena.h, buf.h), containers
 * (map.h, links.h, cache.h), time and ids (clock.h, timestamp.h, snowflake.h), the list of API
 * errors (errors.def), options, logs and pictures. It uses no other folder. Start with str.h and
 * arena.h. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* Configures malloc at the start of a server. Each malloc arena retains up to 8 MiB of freed
 * memory, because pages that were returned to the kernel must be mapped and zeroed again.
 *
 * The number of malloc arenas is one per loop plus two. glibc's default is eight arenas per core.
 * With the default, a test with 800 people in a voice room used 97 MB at most and 78 MB at the end;
 * with this number, 70 MB and 62 MB. While the server has clients, malloc_trim is not used, because
 * it would lock an arena for 20 ms. */
void mem_configure_malloc(unsigned loops);
/* Returns the pages of freed memory to the kernel. For the start, before the server has clients:
 * takes about 1 ms with the heap of a new process. */
void mem_release_free_pages(void);

/* Returns zeroed memory. */
void *mem_new(size_t size);
/* Changes the size of a block; added bytes are not zeroed. */
void *mem_resize(void *p, size_t size);
void mem_free(void *p);
char *mem_dup_cstring(const char *z);

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define COUNT_OF(array)                 (sizeof(array) / sizeof *(array))

#endif
