/* provider.h - asynchronous requests to other platforms about their accounts. A request is sent and
 * completed on an event loop, never in a transaction, and blocks no OS thread. The accounts of a
 * local platform are in the server's database (docs/integrations.md); those of other platforms are
 * at an HTTP server that the operator configures. Every response is mapped to one of four
 * results. */
#ifndef INTEGRATIONS_PROVIDER_H
#define INTEGRATIONS_PROVIDER_H

#include "api/api.h"
#include "model/configured/platforms.h"

enum platform_provider_result {
    PROVIDER_OK,
    /* The owner of the platform account has revoked the server's access to it. */
    PROVIDER_UNAUTHORISED,
    PROVIDER_NOT_FOUND, /* no such account, code or subscriber */
    PROVIDER_TEMPORARY, /* no valid answer */
};

enum platform_provider_request_kind {
    ASK_EXCHANGE,    /* exchanges a code for an account */
    ASK_ACCOUNT,     /* reads an account; needs account_id */
    ASK_SUBSCRIBERS, /* request for a page of subscribers; needs account_id and cursor */
    /* Request whether an account subscribes; the result is OK or NOT_FOUND; needs account_id and
     * subscriber_id. */
    ASK_IS_SUBSCRIBER,
    ASK_FRIENDS, /* request for a page of friends; needs account_id and cursor */
};

/* The LONGEST_ limits count characters; a character has up to four bytes. */
enum {
    PROVIDER_PAGE = 500,
    PROVIDER_MAX_PAGES = 1000,
    LONGEST_ACCOUNT_ID = 128,
    LONGEST_SECRET = 512,
};

struct platform_provider_account {
    /* Secret is set only in the response to ASK_EXCHANGE, and may be empty. */
    struct str id, name, secret;
    bool has_programme, is_partner;
};

/* The response of a provider; valid only during the callback `done`. */
struct platform_provider_response {
    enum platform_provider_result result;
    struct platform_provider_account account;
    struct list ids; /* struct str, at most PROVIDER_PAGE */
    /* Cursor with which the next page of ids is requested; empty on the last page. */
    struct str next;
};

struct platform_provider_request {
    enum platform_provider_request_kind kind;
    enum platform platform;
    struct str account_id, subscriber_id, code, cursor;
    struct str secret; /* secret that ASK_EXCHANGE returned, or empty */
    void (*done)(void *arg, const struct platform_provider_response *a);
    void *arg;
};

/* Sends a request to the provider of a platform and copies the arguments. Call this function on the
 * event loop's OS thread. `done` may run before this function returns. */
void platform_provider_send_request(struct api *api, struct loop *loop,
                                    const struct platform_provider_request *q);

/* Returns the URL where a user proves ownership of a platform account. */
struct str platform_provider_get_authorize_url(struct call *call, enum platform p,
                                               struct str state);

/* --- implementations ------------------------------------------------------------------ */

void platform_provider_send_local_request(struct api *api, struct loop *loop,
                                          const struct platform_provider_request *q);
void platform_provider_send_http_request(struct api *api, struct loop *loop,
                                         const struct platform_provider_request *q);

#endif
