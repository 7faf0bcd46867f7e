/* frames.h - an event in its WebSocket frame, for many sockets.
 *
 * What follows the sequence number is the same for all of a form and stands there once; for each
 * socket the number is written in front of it. */
#ifndef GATEWAY_WIRE_FRAMES_H
#define GATEWAY_WIRE_FRAMES_H

#include "gateway/wire/codec.h"
#include "gateway/wire/news.h"

/* The last one of a form, by one loop. */
struct event_frame {
    struct news *news; /* NULL: none */
    struct buf bytes;  /* room for what is in front, and what all share */
    size_t from;       /* where the frame begins */
    unsigned digits;   /* of the number in front; 0: it cannot be written over */
};

/* A frame with a dispatch; form: NEWS_ETF and NEWS_DEFLATED as the socket wants it. The bytes stay
 * until the next call for this form. p == NULL: it would be too large. */
struct str frame_of(struct event_frame frames[NEWS_FORMS], uint64_t seq, struct news *n,
                    unsigned form, struct packer *packer, struct arena *arena);
/* The same in parts, for a socket that nobody shares it with: the first of them lies in room. */
enum { FRAME_ROOM = 5 + PREFIX_MAX, FRAME_PARTS = 3 };
void frame_parts(uint64_t seq, struct news *n, unsigned form, struct packer *packer,
                 struct arena *arena, char room[FRAME_ROOM], struct str ret[FRAME_PARTS]);
/* Lets go of the events, and of much memory. */
void frames_forget(struct event_frame frames[NEWS_FORMS]);
void frames_clear(struct event_frame frames[NEWS_FORMS]);

#endif
