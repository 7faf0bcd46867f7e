/* serial.h - numbers and texts as bytes that another process reads: little endian, 64 bits each,
 * texts with their length before them. */
#ifndef BASE_SERIAL_H
#define BASE_SERIAL_H

#include "base/arena.h"
#include "base/buf.h"

void serial_put(struct buf *b, uint64_t v);
void serial_put_bytes(struct buf *b, struct str s);

/* After the first thing that is not there everything is zero or empty, and bad is set. */
struct serial_reader {
    struct str rest;
    bool bad;
};

uint64_t serial_get(struct serial_reader *r);
struct str serial_get_raw(struct serial_reader *r, uint64_t n); /* refers to what is read */
struct str serial_get_bytes(struct serial_reader *r);
/* A count of things that have at least so many bytes each: no more than are left. */
size_t serial_get_count(struct serial_reader *r, size_t least);

#endif
