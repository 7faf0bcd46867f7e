/* load.h - declarations shared by the parts of the load generator.
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
    const char *tokens_file; /* write, sessions: one token per line, one connection each */
    const char *script_file; /* play: lines of METHOD PATH TOKEN BODY, one part per connection */
    const char *post;        /* sessions: the body of the POST that causes an event */
    const char *bot;         /* rounds: the bot's token, without its prefix */
    const char *body; /* write: the body that is POSTed, # is replaced by another number each time;
                         rounds: the interaction, with NONCE in it */
    const char *prefix; /* register: names are the prefix and a number */
    uint64_t connections;
    uint64_t count;   /* stop after this many responses; 0: no limit */
    double seconds;   /* stop after this time */
    bool tls;         /* sessions: over TLS, but for the POSTs */
    uint64_t rate;    /* rounds, write: requests per second; 0: unlimited */
    uint64_t message; /* fanout: bytes of one event */
};

/* Closed loops: each connection sends its next request after the last response. With a rate,
 * requests are sent when they are due; SIGTERM ends the run. */
void load_get(const struct options *o);
void load_write(const struct options *o);
void load_play(const struct options *o);
void load_register(const struct options *o);

/* Opens connections with one request each, and keeps them until standard input ends or the time
 * is over. */
void load_idle(const struct options *o);
/* Listeners that GET the path, and one poster: the next POST is sent when all listeners have the
 * event of the last one. */
void load_fanout(const struct options *o);
/* Runs interactions: invoked by a user, answered by a bot, received by the user. */
void load_rounds(const struct options *o);
/* Runs gateway sessions, controlled by standard input. */
void load_sessions(const struct options *o);

#endif
