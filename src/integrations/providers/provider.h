/* provider.h - asynchronous requests to other platforms about their accounts. A request is sent and
 * completed on a loop, never in a transaction, and blocks no thread. The accounts of a local
 * platform are in our database (docs/integrations.md); those of other platforms are at an HTTP
 * server that the operator configures. Every response is mapped to one of four results. */
#ifndef INTEGRATIONS_PROVIDER_H
#define INTEGRATIONS_PROVIDER_H

#include "api/api.h"
#include "model/configured/platforms.h"

enum provider_result {
    PROVIDER_OK,
    PROVIDER_UNAUTHORISED, /* the owner of the account has revoked our access */
    PROVIDER_NOT_FOUND,    /* no such account, code or subscriber */
    PROVIDER_TEMPORARY,    /* no valid answer */
};

enum provider_request_kind {
    ASK_EXCHANGE,      /* exchanges a code for an account */
    ASK_ACCOUNT,       /* reads an account; needs account_id */
    ASK_SUBSCRIBERS,   /* reads a page of subscribers; needs account_id and cursor */
    ASK_IS_SUBSCRIBER, /* result OK or NOT_FOUND; needs account_id and subscriber_id */
    ASK_FRIENDS,       /* reads a page of friends; needs account_id and cursor */
};

/* The LONGEST_ limits are in characters; a character has up to four bytes. */
enum {
    PROVIDER_PAGE = 500,
    PROVIDER_MAX_PAGES = 1000,
    LONGEST_ACCOUNT_ID = 128,
    LONGEST_SECRET = 512,
};

struct provider_account {
    struct str id, name, secret; /* secret is set only for ASK_EXCHANGE; may be empty */
    bool has_programme, is_partner;
};

/* The response of a provider; valid only during the callback `done`. */
struct provider_response {
    enum provider_result result;
    struct provider_account account;
    struct list ids; /* struct str, at most PROVIDER_PAGE */
    struct str next; /* cursor of the next page of ids; empty on the last page */
};

struct provider_request {
    enum provider_request_kind kind;
    enum platform platform;
    struct str account_id, subscriber_id, code, cursor;
    struct str secret; /* secret that ASK_EXCHANGE returned, or empty */
    void (*done)(void *arg, const struct provider_response *a);
    void *arg;
};

/* Sends a request to the provider of a platform; copies the arguments. Call on the loop's thread.
 * `done` may run before this function returns. */
void provider_send_request(struct api *api, struct loop *loop, const struct provider_request *q);

/* Returns the URL where a user proves ownership of a platform account. */
struct str provider_authorize_url(struct call *call, enum platform p, struct str state);

/* --- implementations ------------------------------------------------------------------ */

void provider_send_local_request(struct api *api, struct loop *loop,
                                 const struct provider_request *q);
void provider_send_http_request(struct api *api, struct loop *loop,
                                const struct provider_request *q);

#endif
