/* frames.h - a dispatch as a WebSocket frame that many sockets share.
 *
 * The bytes after the sequence number are the same for all sockets of a form and are built once;
 * the number is written in front of them for each socket. */
#ifndef GATEWAY_WIRE_FRAMES_H
#define GATEWAY_WIRE_FRAMES_H

#include "gateway/wire/codec.h"
#include "gateway/wire/news.h"

/* The last frame of a form on one loop. */
struct event_frame {
    struct news *news; /* NULL: none */
    struct buf bytes;  /* free space for the front, then the shared bytes */
    size_t from;       /* offset at which the frame begins */
    unsigned digits;   /* digits of the number; 0: it cannot be overwritten */
};

/* Returns a frame with a dispatch; form: NEWS_ETF and NEWS_DEFLATED as the connection requires. The
 * bytes are valid until the next call for this form. p == NULL: the frame is too large. */
struct str frame_of(struct event_frame frames[NEWS_FORMS], uint64_t seq, struct news *n,
                    unsigned form, struct packer *packer, struct arena *arena);
/* The same as separate parts, for an event that only one socket gets; the first is in `room`. */
enum { FRAME_ROOM = 5 + PREFIX_MAX, FRAME_PARTS = 3 };
void frame_parts(uint64_t seq, struct news *n, unsigned form, struct packer *packer,
                 struct arena *arena, char room[FRAME_ROOM], struct str ret[FRAME_PARTS]);
/* Releases the events, and buffers over 1 MiB. */
void frames_forget(struct event_frame frames[NEWS_FORMS]);
void frames_clear(struct event_frame frames[NEWS_FORMS]);

#endif
