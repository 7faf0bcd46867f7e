/* endpoint.h - signed requests to an app's interactions endpoint.
 *
 * X-Signature-Ed25519 signs X-Signature-Timestamp and the exact bytes of the body; the
 * application's verify_key is the public key. */
#ifndef PLATFORM_APPLICATIONS_ENDPOINT_H
#define PLATFORM_APPLICATIONS_ENDPOINT_H

#include "net/client/fetcher.h"
#include "platform/applications/applications.h"

struct endpoint_request {
    const struct application *application; /* application whose key signs the request */
    struct str url, body;
    int64_t timeout_ms;
    size_t max_reply_bytes;
    bool wrong_signature; /* send a wrong signature, for the probe */
    /* Called with the result; parameters as in struct fetch_request. */
    void (*done)(void *arg, enum fetch_result result, int status, struct str content_type,
                 struct buf *body);
    void *arg;
};

/* Call on the call's event loop. Copies the request; done is called later. */
void endpoint_send_request(const struct call *call, const struct endpoint_request *r);

/* For call->await when a new endpoint URL is set (call->body is a struct application_patch): sends
 * a PING, then one with a wrong signature, which must be refused; else the call fails. */
void endpoint_verify_with_pings(struct call *call);

#endif
