/* identification.h - the state of an IDENTIFY until READY is sent. */
#ifndef GATEWAY_IDENTIFY_IDENTIFICATION_H
#define GATEWAY_IDENTIFY_IDENTIFICATION_H

#include "gateway/identify/greeting.h"
#include "gateway/identify/guilds.h"
#include "gateway/wire/news.h"

struct identify;

struct identification {
    struct greeting greeting; /* first store read: the account */
    struct load load;         /* second store read: all data of READY */
    struct session *session;
    int64_t shard[2], intents;
    bool has_shard, bad_shard, has_intents, bad_intents, compress;
    int64_t large_threshold, capabilities;
    unsigned char status;
    struct buf activities; /* JSON, as the client sent it */
    char client[64];

    struct gateway_viewer viewer;
    struct guild_facts *facts; /* setup rows of a user's guilds */
    size_t fact_count;
    struct list guilds, friends, calls;
    struct list late;          /* ids of a user's guilds that do not fit into READY */
    struct buf own;            /* READY fields of this session, written on the loop */
    struct news *ready, *more; /* READY; READY_SUPPLEMENTAL or NULL */
};

/* Parses the fields of IDENTIFY; invalid ones are marked. */
void identification_read(struct identification *i, struct arena *arena, const struct identify *d);
/* Returns the close code for invalid fields, checked in Discord's order; 0: valid. */
enum close_code identification_check(const struct identification *i);
/* Returns the intents of the session; call it after the check. */
uint32_t identification_intents(const struct identification *i);
const char *identification_reason(enum close_code code);
void identification_free(struct identification *i);

/* Reads the data of READY and sends it. */
void ready_begin(struct identification *i, struct hub *h);

#endif
