/* shared_text.c - immutable text with an atomic reference count. */
#include "base/shared_text.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"

struct shared_text {
    atomic_uint references;
    size_t n;
    char bytes[];
};

struct shared_text *shared_text_new(struct str s)
{
    struct shared_text *t = mem_new(sizeof *t + s.n);

    atomic_init(&t->references, 1);
    t->n = s.n;
    if (s.n)
        memcpy(t->bytes, s.p, s.n);
    return t;
}

struct shared_text *shared_text_ref(struct shared_text *t)
{
    atomic_fetch_add_explicit(&t->references, 1, memory_order_relaxed);
    return t;
}

void shared_text_unref(struct shared_text *t)
{
    if (t && atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) == 1)
        mem_free(t);
}

struct str shared_text_get(const struct shared_text *t)
{
    return str_slice(t->bytes, t->n);
}
