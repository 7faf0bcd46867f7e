/* identification.h - data of an IDENTIFY in progress, until READY is sent. */
#ifndef GATEWAY_IDENTIFY_IDENTIFICATION_H
#define GATEWAY_IDENTIFY_IDENTIFICATION_H

#include "gateway/identify/authentication.h"
#include "gateway/identify/guilds.h"
#include "gateway/wire/gateway_event.h"

struct identify_message;

struct parsed_identify_fields {
    /* first store read: finds the account of the token */
    struct gateway_authentication authentication;
    struct session_store_read store_read; /* second store read: reads all data of READY */
    struct session *session;
    int64_t shard[2], intents;
    bool has_shard, bad_shard, has_intents, bad_intents, compress;
    int64_t large_threshold, capabilities;
    unsigned char status;
    struct buf activities; /* JSON, as the client sent it */
    char client[64];

    struct payload_recipient viewer;
    /* Array with the data for the session's subscription to each guild of a user. */
    struct guild_subscription_data *guild_setups;
    size_t guild_setup_count;
    struct list guilds, friends, calls;
    /* ids of a user's guilds that do not fit into READY; they are sent after it */
    struct list late_guilds;
    /* JSON of the READY fields that need no store read, written on the loop. */
    struct buf own_fields;
    struct gateway_event *ready, *more; /* READY, and READY_SUPPLEMENTAL or NULL */
};

/* Parses the fields of IDENTIFY. Invalid fields are marked, for identify_fields_get_close_code. */
void identify_fields_parse(struct parsed_identify_fields *i, struct arena *arena,
                           const struct identify_message *d);
/* Returns the close code for invalid fields, checked in Discord's order; 0 if all are valid. */
enum gateway_close_code identify_fields_get_close_code(const struct parsed_identify_fields *i);
/* Returns the intents of the session; call it after identify_fields_get_close_code. */
uint32_t identify_fields_get_intents(const struct parsed_identify_fields *i);
const char *get_reason_of_identify_close_code(enum gateway_close_code code);
/* Returns a sentence for the traffic log: why the socket is closed, how to fix the client. */
struct str identify_fields_explain_close_code(const struct parsed_identify_fields *i,
                                              enum gateway_close_code code, struct arena *arena);
void identify_fields_free(struct parsed_identify_fields *i);

/* Reads the data of READY from the store and sends READY. */
void begin_sending_ready(struct parsed_identify_fields *i, struct gateway_loop *h);

#endif
