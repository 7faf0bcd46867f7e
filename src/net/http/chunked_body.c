/* chunked_body.c - decodes chunked bodies incrementally, split at any byte. */
#include "net/http/http_parser.h"

#include "net/http/syntax.h"

/* The initial state must be 0. */
enum chunk_state {
    SIZE_FIRST, /* the next byte is the first digit of the chunk size */
    SIZE,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER_FIRST, /* the next byte begins a trailer or the final empty line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    LAST_LF,
    DONE,
};

static int set_chunk_decoder_state(struct http_chunk_decoder *c, enum chunk_state next)
{
    c->state = next;
    return 0;
}

static int parse_chunk_size_byte(struct http_chunk_decoder *c, char byte)
{
    int digit = hex_digit_to_int(byte);

    if (digit >= 0) {
        if (c->left > UINT64_MAX >> 4)
            return -400;
        c->left = c->left << 4 | (unsigned)digit;
        return set_chunk_decoder_state(c, SIZE);
    }
    if (c->state == SIZE_FIRST)
        return -400;
    return byte == ';'    ? set_chunk_decoder_state(c, EXTENSION)
           : byte == '\r' ? set_chunk_decoder_state(c, SIZE_LF)
                          : -400;
}

static int parse_chunk_line_byte(struct http_chunk_decoder *c, char byte)
{
    if (c->state == SIZE_LF) {
        if (byte != '\n')
            return -400;
        c->line = 0;
        return set_chunk_decoder_state(c, c->left ? DATA : TRAILER_FIRST);
    }
    if (byte != '\r' && ++c->line > HTTP_MAX_CHUNK_LINE)
        return -400;
    if (c->state != EXTENSION)
        return parse_chunk_size_byte(c, byte);
    return byte == '\r'                           ? set_chunk_decoder_state(c, SIZE_LF)
           : octet_is_in_class(byte, OCTET_VALUE) ? 0
                                                  : -400;
}

/* Validates trailers (header lines after the last chunk) and drops them. The server needs none, and
 * merging them into the headers would enable request smuggling. */
static int parse_trailer_byte(struct http_chunk_decoder *c, char byte)
{
    if (++c->trailers > HTTP_MAX_TRAILERS)
        return -431;
    switch (c->state) {
    case TRAILER_FIRST:
        if (byte == '\r')
            return set_chunk_decoder_state(c, LAST_LF);
        return octet_is_in_class(byte, OCTET_TOKEN) ? set_chunk_decoder_state(c, TRAILER_NAME)
                                                    : -400;
    case TRAILER_NAME:
        if (byte == ':')
            return set_chunk_decoder_state(c, TRAILER_VALUE);
        return octet_is_in_class(byte, OCTET_TOKEN) ? 0 : -400;
    case TRAILER_VALUE:
        if (byte == '\r')
            return set_chunk_decoder_state(c, TRAILER_LF);
        return octet_is_in_class(byte, OCTET_VALUE) ? 0 : -400;
    case TRAILER_LF:
        return byte == '\n' ? set_chunk_decoder_state(c, TRAILER_FIRST) : -400;
    default: /* LAST_LF */
        return byte == '\n' ? set_chunk_decoder_state(c, DONE) : -400;
    }
}

static int parse_chunk_byte(struct http_chunk_decoder *c, char byte)
{
    if (c->state < DATA)
        return parse_chunk_line_byte(c, byte);
    if (c->state >= TRAILER_FIRST)
        return parse_trailer_byte(c, byte);
    if (c->state == DATA_CR)
        return byte == '\r' ? set_chunk_decoder_state(c, DATA_LF) : -400;
    return byte == '\n' ? set_chunk_decoder_state(c, SIZE_FIRST) : -400;
}

long http_decode_chunks(struct http_chunk_decoder *c, struct str bytes, struct buf *out,
                        bool *ret_done)
{
    size_t at = 0;

    while (at < bytes.n && c->state != DONE) {
        if (c->state != DATA) {
            int status = parse_chunk_byte(c, bytes.p[at++]);
            if (status < 0)
                return status;
            continue;
        }
        size_t n = bytes.n - at < c->left ? bytes.n - at : (size_t)c->left;
        buf_add(out, bytes.p + at, n);
        if (buf_is_full(out))
            return -413;
        at += n;
        c->left -= n;
        if (c->left == 0)
            c->state = DATA_CR;
    }
    *ret_done = c->state == DONE;
    return (long)at;
}
