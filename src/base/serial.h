/* serial.h - binary encoding for messages between processes. Numbers are little-endian with 64
 * bits; before each text is its length. */
#ifndef BASE_SERIAL_H
#define BASE_SERIAL_H

#include "base/arena.h"
#include "base/buf.h"

void serialize_u64(struct buf *b, uint64_t v);
void serialize_bytes(struct buf *b, struct str s);

/* State of the decoder. If the input ends before a value, bad is set, and all further results are
 * zero or empty. */
struct serialized_data_reader {
    struct str rest;
    bool bad;
};

uint64_t deserialize_u64(struct serialized_data_reader *r);
struct str deserialize_slice_of_bytes(struct serialized_data_reader *r,
                                      uint64_t n); /* points into the input */
struct str deserialize_bytes(struct serialized_data_reader *r);
/* Reads the number of elements that follow. Each element has at least `least` bytes; fails if the
 * input is too short for that many elements. */
size_t deserialize_element_count(struct serialized_data_reader *r, size_t least);

#endif
