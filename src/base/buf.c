/* buf.c - byte buffers that grow up to a limit. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/mem.h"

/* Most texts are shorter, and malloc of glibc has a free list per thread for blocks of this size.
 */
enum { FIRST_CAPACITY = 1024 };

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){ .max = max };
}

void buf_clear(struct buf *b)
{
    mem_free(b->p);
    buf_init(b, b->max);
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->full = false;
}

char *buf_reserve_and_grow(struct buf *b, size_t n)
{
    if (b->full)
        return NULL;
    if (b->cap - b->n >= n)
        return b->p + b->n;
    if (n > b->max || b->n > b->max - n) {
        b->full = true;
        b->cap = b->n; /* makes shorter appends fail, too */
        return NULL;
    }

    size_t cap = b->cap ? b->cap * 2 : FIRST_CAPACITY;
    if (cap < b->n + n)
        cap = b->n + n;
    if (cap > b->max)
        cap = b->max;
    b->p = mem_resize(b->p, cap);
    b->cap = cap;
    return b->p + b->n;
}

void buf_add_u64(struct buf *b, uint64_t v)
{
    char digits[20];
    size_t i = sizeof digits;

    do {
        digits[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    buf_add(b, digits + i, sizeof digits - i);
}

void buf_add_i64(struct buf *b, int64_t v)
{
    if (v < 0)
        buf_add_char(b, '-');
    buf_add_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args, again;
    char small[256];

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, fmt, args);
    if (n >= (int)sizeof small) {
        /* vsnprintf adds a NUL, for which the buffer may have no space. So format into a new block
         * and copy it. */
        char *big = mem_new((size_t)n + 1);

        vsnprintf(big, (size_t)n + 1, fmt, again);
        buf_add(b, big, (size_t)n);
        mem_free(big);
    } else if (n > 0) {
        buf_add(b, small, (size_t)n);
    }
    va_end(again);
    va_end(args);
}

void buf_add_html_escaped(struct buf *b, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        switch (text.p[i]) {
        case '<':
            buf_add_lit(b, "&lt;");
            break;
        case '>':
            buf_add_lit(b, "&gt;");
            break;
        case '&':
            buf_add_lit(b, "&amp;");
            break;
        case '"':
            buf_add_lit(b, "&quot;");
            break;
        default:
            buf_add_char(b, text.p[i]);
        }
    }
}

void buf_drop_first_bytes(struct buf *b, size_t n)
{
    if (n >= b->n) {
        b->n = 0;
        return;
    }
    memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
}

void buf_truncate(struct buf *b, size_t n)
{
    b->n = n;
    b->full = false;
}

struct str buf_move_to_arena(struct buf *b, struct arena *a)
{
    struct str text = b->full ? STR("") : str_dup(a, buf_as_str(b));

    if (b->full)
        arena_record_lost_data(a);
    buf_clear(b);
    return text;
}
