/* identification.h - what a client says when it begins a session, until it has begun. */
#ifndef GATEWAY_IDENTIFY_IDENTIFICATION_H
#define GATEWAY_IDENTIFY_IDENTIFICATION_H

#include "gateway/identify/greeting.h"
#include "gateway/identify/guilds.h"
#include "gateway/wire/news.h"

struct identify;

struct identification {
    struct greeting greeting; /* first look */
    struct load load;         /* second: everything READY holds */
    struct session *session;
    int64_t shard[2], intents;
    bool has_shard, bad_shard, has_intents, bad_intents, compress;
    int64_t large_threshold, capabilities;
    unsigned char status;
    struct buf activities; /* JSON, as the client says it */
    char client[64];

    struct gateway_viewer viewer;
    struct guild_facts *facts; /* of users' guilds; those the first look found */
    size_t fact_count;
    struct list guilds, friends, calls;
    struct list late;          /* snowflake: a user's guilds that READY has no room for */
    struct buf own;            /* what READY says of this session, written on the loop */
    struct news *ready, *more; /* READY, and READY_SUPPLEMENTAL or NULL */
};

/* What the client said, as far as it makes sense. */
void identification_read(struct identification *i, struct arena *arena, const struct identify *d);
/* What is wrong with it, in the order of the interface; 0: nothing. */
enum close_code identification_check(const struct identification *i);
/* The intents of the session, once it was checked. */
uint32_t identification_intents(const struct identification *i);
const char *identification_reason(enum close_code code);
void identification_free(struct identification *i);

/* The session is made: reads what READY holds, and tells it. */
void ready_begin(struct identification *i, struct hub *h);

#endif
