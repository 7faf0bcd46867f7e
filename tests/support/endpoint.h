/* endpoint.h - an app's own address, for tests: a thread that listens and checks signatures. */
#ifndef TESTS_ENDPOINT_H
#define TESTS_ENDPOINT_H

#include "world.h"

/* How it behaves towards PING; what is signed by somebody else gets 401, if it looks. */
enum endpoint_manner {
    ENDPOINT_GOOD,
    ENDPOINT_TRUSTS,   /* never looks at signatures */
    ENDPOINT_NO_JSON,  /* answers with another type */
    ENDPOINT_NO_PONG,  /* answers with another number */
    ENDPOINT_TEAPOT,   /* answers with another status */
    ENDPOINT_ELSEWHERE /* points to where it would be good */
};

struct endpoint;

/* Listens on a port of its own. verify_key: the application's, in hex. */
struct endpoint *endpoint_open(struct world *w, const char *verify_key);
void endpoint_close(struct endpoint *e);
const char *endpoint_url(const struct endpoint *e);

void endpoint_behave(struct endpoint *e, enum endpoint_manner manner);
/* What it says to everything but PING, after that many milliseconds; who waits for an answer
 * then gets the new one at once. */
void endpoint_answer(struct endpoint *e, int status, const char *content_type, const char *body,
                     int after_ms);

/* The n-th request so far, from 1: waits for it a while. Its body, as it came. */
const char *endpoint_request(struct endpoint *e, int n);
/* Its head, as it came. */
const char *endpoint_head(struct endpoint *e, int n);
/* Was it signed by the application? */
bool endpoint_signed(struct endpoint *e, int n);
int endpoint_count(struct endpoint *e);

#endif
