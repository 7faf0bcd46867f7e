/* endpoint.h - the interactions endpoint of an app, for tests: a thread that listens and
 * verifies signatures. */
#ifndef TESTS_ENDPOINT_H
#define TESTS_ENDPOINT_H

#include "world.h"

/* How the endpoint reacts to PING; requests with a wrong signature get 401 if it verifies them. */
enum endpoint_manner {
    ENDPOINT_GOOD,
    ENDPOINT_TRUSTS,       /* never verifies signatures */
    ENDPOINT_NO_JSON,      /* replies with another content type */
    ENDPOINT_NO_PONG,      /* replies with another type number */
    ENDPOINT_TEAPOT,       /* replies with another status */
    ENDPOINT_ELSEWHERE,    /* redirects to a correct endpoint */
    ENDPOINT_PUSH_SERVICE, /* treats no request as a PING */
};

struct endpoint;

/* Listens on a free port. verify_key: the application's public key, in hex. */
struct endpoint *endpoint_open(struct world *w, const char *verify_key);
void endpoint_close(struct endpoint *e);
const char *endpoint_url(const struct endpoint *e);

void endpoint_behave(struct endpoint *e, enum endpoint_manner manner);
/* Sets the response to everything but PING, after that many milliseconds; waiting requests get
 * the new response immediately. */
void endpoint_answer(struct endpoint *e, int status, const char *content_type, const char *body,
                     int after_ms);

/* Waits for the n-th request, counted from 1, and returns its body. */
const char *interactions_endpoint_request(struct endpoint *e, int n);
/* Waits for the n-th request and returns its body, which may be other than text. */
struct str endpoint_body(struct endpoint *e, int n);
/* Returns the head of the n-th request. */
const char *endpoint_head(struct endpoint *e, int n);
/* Returns whether the application signed the n-th request. */
bool endpoint_signed(struct endpoint *e, int n);
int endpoint_count(struct endpoint *e);

#endif
