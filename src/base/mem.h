/* mem.h - the heap, where running out ends the process.
 *
 * Sizes are limited where bytes enter the server, so a failed allocation means
 * the machine is out of memory and there is nothing sensible left to do. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* At the start of a server: memory that large answers and bodies needed stays for the next
 * ones, up to 8 MiB a thread. Given back to the kernel each time it would be zeroed and mapped
 * anew, page by page, at more than the cost of writing it.
 *
 * The heap has an arena for each loop and two for all other threads. glibc would make eight for each
 * core, and each arena keeps what was freed in it: 97 MB at most and 78 MB when 800 people had left a
 * voice room, instead of 70 and 62, of which 12 are in use. malloc_trim is no alternative: it holds
 * the lock of an arena for more than 20 ms. */
void mem_configure(unsigned loops);

/* Zeroed. */
void *mem_new(size_t size);
/* A bigger (or smaller) block with the old content; new bytes are not zeroed. */
void *mem_resize(void *p, size_t size);
/* Accepts NULL. */
void mem_free(void *p);
char *mem_dupz(const char *z);

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define COUNT_OF(array)                 (sizeof(array) / sizeof *(array))

#endif
