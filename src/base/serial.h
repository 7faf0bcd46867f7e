/* serial.h - binary encoding for messages between processes. Numbers are little-endian with 64
 * bits; before each text is its length. */
#ifndef BASE_SERIAL_H
#define BASE_SERIAL_H

#include "base/arena.h"
#include "base/buf.h"

void serial_append_u64(struct buf *b, uint64_t v);
void serial_append_bytes(struct buf *b, struct str s);

/* State of the decoder. If the input ends before a value, bad is set, and all further results are
 * zero or empty. */
struct serial_reader {
    struct str rest;
    bool bad;
};

uint64_t serial_get_u64(struct serial_reader *r);
struct str serial_read_slice(struct serial_reader *r, uint64_t n); /* points into the input */
struct str serial_read_bytes(struct serial_reader *r);
/* Reads the number of elements that follow. Each element has at least `least` bytes; fails if the
 * input is too short for that many elements. */
size_t serial_read_count(struct serial_reader *r, size_t least);

#endif
