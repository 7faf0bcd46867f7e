/* endpoint.h - signed requests to an app's interactions endpoint.
 *
 * X-Signature-Ed25519 signs X-Signature-Timestamp and the exact bytes of the body; the
 * application's verify_key is the public key. */
#ifndef PLATFORM_APPLICATIONS_ENDPOINT_H
#define PLATFORM_APPLICATIONS_ENDPOINT_H

#include "net/client/fetcher.h"
#include "platform/applications/applications.h"

struct interactions_endpoint_request {
    const struct application *application; /* application whose key signs the request */
    struct str url, body;
    int64_t timeout_ms;
    size_t max_reply_bytes;
    bool wrong_signature; /* whether to send a wrong signature, as a test of the endpoint */
    /* Called with the result of the request. The parameters are those of .done in struct
     * fetch_request. */
    void (*done)(void *arg, enum fetch_result result, int status, struct str content_type,
                 struct buf *body);
    void *arg;
};

/* Copies the request and sends it; calls r->done with the result later. Call it on the event
 * loop of the call. */
void interactions_endpoint_send_request(const struct call *call,
                                        const struct interactions_endpoint_request *r);

/* Await stage of a call whose body (struct application_patch) sets an endpoint URL. Sends a PING
 * with a right and then one with a wrong signature. The call fails unless the endpoint accepts the
 * first and refuses the second. */
void interactions_endpoint_verify_with_pings(struct call *call);

#endif
