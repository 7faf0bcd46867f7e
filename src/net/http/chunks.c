/* chunks.c - decodes chunked bodies incrementally, split at any byte. */
#include "net/http/http.h"

#include "net/http/syntax.h"

/* The initial state must be 0. */
enum state {
    SIZE_FIRST, /* the first digit of the chunk size follows */
    SIZE,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER_FIRST, /* a trailer or the final empty line follows */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    LAST_LF,
    DONE,
};

static int chunk_step(struct http_chunks *c, enum state next)
{
    c->state = next;
    return 0;
}

static int step_size(struct http_chunks *c, char byte)
{
    int digit = octet_hex(byte);

    if (digit >= 0) {
        if (c->left > UINT64_MAX >> 4)
            return -400;
        c->left = c->left << 4 | (unsigned)digit;
        return chunk_step(c, SIZE);
    }
    if (c->state == SIZE_FIRST)
        return -400;
    return byte == ';' ? chunk_step(c, EXTENSION) : byte == '\r' ? chunk_step(c, SIZE_LF) : -400;
}

static int step_size_line(struct http_chunks *c, char byte)
{
    if (c->state == SIZE_LF) {
        if (byte != '\n')
            return -400;
        c->line = 0;
        return chunk_step(c, c->left ? DATA : TRAILER_FIRST);
    }
    if (byte != '\r' && ++c->line > HTTP_MAX_CHUNK_LINE)
        return -400;
    if (c->state != EXTENSION)
        return step_size(c, byte);
    return byte == '\r' ? chunk_step(c, SIZE_LF) : octet_is(byte, OCTET_VALUE) ? 0 : -400;
}

/* Validates and drops trailers. No trailer is needed, and merging them into the headers enables
 * request smuggling. */
static int step_trailer(struct http_chunks *c, char byte)
{
    if (++c->trailers > HTTP_MAX_TRAILERS)
        return -431;
    switch (c->state) {
    case TRAILER_FIRST:
        if (byte == '\r')
            return chunk_step(c, LAST_LF);
        return octet_is(byte, OCTET_TOKEN) ? chunk_step(c, TRAILER_NAME) : -400;
    case TRAILER_NAME:
        if (byte == ':')
            return chunk_step(c, TRAILER_VALUE);
        return octet_is(byte, OCTET_TOKEN) ? 0 : -400;
    case TRAILER_VALUE:
        if (byte == '\r')
            return chunk_step(c, TRAILER_LF);
        return octet_is(byte, OCTET_VALUE) ? 0 : -400;
    case TRAILER_LF:
        return byte == '\n' ? chunk_step(c, TRAILER_FIRST) : -400;
    default: /* LAST_LF */
        return byte == '\n' ? chunk_step(c, DONE) : -400;
    }
}

static int step_byte(struct http_chunks *c, char byte)
{
    if (c->state < DATA)
        return step_size_line(c, byte);
    if (c->state >= TRAILER_FIRST)
        return step_trailer(c, byte);
    if (c->state == DATA_CR)
        return byte == '\r' ? chunk_step(c, DATA_LF) : -400;
    return byte == '\n' ? chunk_step(c, SIZE_FIRST) : -400;
}

long http_read_chunks(struct http_chunks *c, struct str bytes, struct buf *out, bool *ret_done)
{
    size_t at = 0;

    while (at < bytes.n && c->state != DONE) {
        if (c->state != DATA) {
            int status = step_byte(c, bytes.p[at++]);
            if (status < 0)
                return status;
            continue;
        }
        size_t n = bytes.n - at < c->left ? bytes.n - at : (size_t)c->left;
        buf_add(out, bytes.p + at, n);
        if (buf_full(out))
            return -413;
        at += n;
        c->left -= n;
        if (c->left == 0)
            c->state = DATA_CR;
    }
    *ret_done = c->state == DONE;
    return (long)at;
}
