/* load.h - what the parts of the load generator share.
 *
 * Each mode runs from one thread, ends by itself and prints one line of JSON
 * (register prints tokens instead, a line each). */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stdint.h>

struct options {
    uint16_t port;
    const char *path;
    const char *token;       /* get: sent as Authorization */
    const char *tokens_file; /* write, sessions: a user's token a line, a connection each */
    const char *script_file; /* play: lines of METHOD PATH TOKEN BODY, a part a connection */
    const char *post;        /* sessions: what makes an event */
    const char *bot;         /* rounds: the bot's token, without its word */
    const char *body;        /* write: what is POSTed to the path, # being another number each time;
                              * rounds: what is asked, with NONCE in it */
    const char *prefix;      /* register: names are the prefix and a number */
    uint64_t connections;
    uint64_t count;   /* stop after so many answers; 0: no limit */
    double seconds;   /* stop after so long */
    bool tls;         /* sessions: over TLS, but for the POSTs */
    uint64_t rate;    /* rounds, write: so many a second; 0: as many as go */
    uint64_t message; /* fanout: bytes of one event */
};

/* Closed loops: each connection sends its next request when the last one was
 * answered. With a rate requests leave when they are due, SIGTERM ends the run. */
void load_get(const struct options *o);
void load_write(const struct options *o);
void load_play(const struct options *o);
void load_register(const struct options *o);

/* Opens connections, one request each, and holds them until standard input
 * ends or the time is over. */
void load_idle(const struct options *o);
/* Listeners that GET the path, and one poster: the next POST leaves when all
 * listeners have the event of the one before. */
void load_fanout(const struct options *o);
/* Interactions: asked, answered by a bot, and heard of. */
void load_rounds(const struct options *o);
/* Sessions of the gateway; what they do comes from standard input. */
void load_sessions(const struct options *o);

#endif
