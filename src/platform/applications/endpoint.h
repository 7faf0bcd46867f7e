/* endpoint.h - an app's own address, and what is sent there.
 *
 * Requests are signed: X-Signature-Ed25519 over X-Signature-Timestamp and the exact bytes
 * of the body, with the key whose public half is the application's verify_key. */
#ifndef PLATFORM_APPLICATIONS_ENDPOINT_H
#define PLATFORM_APPLICATIONS_ENDPOINT_H

#include "net/client/client.h"
#include "platform/applications/applications.h"

struct endpoint_request {
    const struct application *application; /* whose key signs */
    struct str url, body;
    int64_t timeout_ms;
    size_t max_answer;
    bool wrong_signature; /* the signature is wrong: a probe */
    /* As struct fetch has them. */
    void (*done)(void *arg, enum fetch_result result, int status, struct str content_type,
                 struct buf *body);
    void *arg;
};

/* On the call's loop. Copies all it is given; done is called later. */
void endpoint_post(const struct call *call, const struct endpoint_request *r);

/* For call->await when a new address is set (call->body is a struct application_patch): does it
 * answer PING and refuse what is signed by somebody else? A form error otherwise. */
void endpoint_probe(struct call *call);

#endif
