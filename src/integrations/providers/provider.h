/* provider.h - where another platform is asked about its accounts.
 *
 * A question is asked on a loop and answered there, later; it never runs in a
 * transaction and never keeps anybody else waiting. A platform is local (its accounts
 * are in our own store, docs/integrations.md) or answered by an HTTP server that the
 * operator names. Whatever such a server does, the answer is one of four results. */
#ifndef INTEGRATIONS_PROVIDER_H
#define INTEGRATIONS_PROVIDER_H

#include "api/api.h"
#include "model/configured/platforms.h"

enum provider_result {
    PROVIDER_OK,
    PROVIDER_UNAUTHORISED, /* the account's owner no longer lets us */
    PROVIDER_NOT_FOUND,    /* no such account, code or subscriber */
    PROVIDER_TEMPORARY,    /* no answer, or none that makes sense */
};

enum question_kind {
    ASK_EXCHANGE,      /* code: whose account is it? */
    ASK_ACCOUNT,       /* account_id */
    ASK_SUBSCRIBERS,   /* account_id, cursor: a page of who subscribes */
    ASK_IS_SUBSCRIBER, /* account_id, subscriber_id: OK or NOT_FOUND */
    ASK_FRIENDS,       /* account_id, cursor: a page of whom it knows */
};

/* The longest are in characters: as bytes they may need four times that. */
enum {
    PROVIDER_PAGE = 500,
    PROVIDER_MAX_PAGES = 1000,
    LONGEST_ACCOUNT_ID = 128,
    LONGEST_SECRET = 512,
};

struct provider_account {
    struct str id, name, secret; /* secret: of ASK_EXCHANGE only; may be empty */
    bool has_programme, is_partner;
};

/* Valid during the call of done. */
struct provider_answer {
    enum provider_result result;
    struct provider_account account;
    struct list ids; /* struct str, at most PROVIDER_PAGE */
    struct str next; /* the next page's cursor; empty: there is none */
};

struct provider_question {
    enum question_kind kind;
    enum platform platform;
    struct str account_id, subscriber_id, code, cursor;
    struct str secret; /* the account's, as it came with ASK_EXCHANGE; may be empty */
    void (*done)(void *arg, const struct provider_answer *a);
    void *arg;
};

/* Copies all it is given. On that loop's thread; may be answered before it returns. */
void provider_ask(struct api *api, struct loop *loop, const struct provider_question *q);

/* Where somebody goes to prove that an account is theirs. */
struct str provider_authorize_url(struct call *call, enum platform p, struct str state);

/* --- its two kinds -------------------------------------------------------------------- */

void provider_ask_local(struct api *api, struct loop *loop, const struct provider_question *q);
void provider_ask_http(struct api *api, struct loop *loop, const struct provider_question *q);

#endif
