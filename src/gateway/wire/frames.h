/* frames.h - a dispatch as a WebSocket frame that many sockets share.
 *
 * The bytes after the sequence number are the same for all sockets with the same payload form
 * and are built once. The sequence number of each socket is written in front of these bytes. */
#ifndef GATEWAY_WIRE_FRAMES_H
#define GATEWAY_WIRE_FRAMES_H

#include "gateway/wire/codec.h"
#include "gateway/wire/gateway_event.h"

/* The last WebSocket frame that a loop built for one payload form. */
struct shared_event_frame {
    struct gateway_event *event; /* event of the frame; NULL if no frame was built */
    /* bytes of the frame: space for a prefix, then the bytes that all sockets share */
    struct buf bytes;
    size_t from; /* offset in `bytes` at which the frame begins */
    /* Number of digits of the sequence number in the prefix; 0 if it cannot be overwritten. */
    unsigned digits;
};

/* Returns a WebSocket frame with a dispatch. `form` has PAYLOAD_ETF and PAYLOAD_DEFLATED if the
 * connection requires them. The bytes are valid until the next call for the same form; p is NULL if
 * the frame is too large. */
struct str get_shared_frame_for_seq(struct shared_event_frame frames[PAYLOAD_FORMS], uint64_t seq,
                                    struct gateway_event *n, unsigned form,
                                    struct compressor *packer, struct arena *arena);
/* build_dispatch_frame_parts builds the parts of a WebSocket frame for an event that only one
 * socket gets. The first part is written to `room`. */
enum { FRAME_PREFIX_MAX = 5 + DISPATCH_PREFIX_MAX, FRAME_PARTS = 3 };
void build_dispatch_frame_parts(uint64_t seq, struct gateway_event *n, unsigned form,
                                struct compressor *packer, struct arena *arena,
                                char room[FRAME_PREFIX_MAX], struct str ret[FRAME_PARTS]);
/* Releases the events of all shared frames, and frees their buffers above 1 MiB. */
void shared_frames_release_events(struct shared_event_frame frames[PAYLOAD_FORMS]);
void shared_frames_free(struct shared_event_frame frames[PAYLOAD_FORMS]);

#endif
