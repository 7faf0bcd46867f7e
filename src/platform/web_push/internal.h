/* internal.h - declarations shared by the files of web_push/. */
#ifndef PLATFORM_WEB_PUSH_INTERNAL_H
#define PLATFORM_WEB_PUSH_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/messages/messages.h"
#include "platform/web_push/encryption.h"
#include "platform/web_push/web_push.h"

enum { PUSH_TOKEN_BYTES = 8 }; /* length of tokens.id */

struct web_push_subscription {
    unsigned char token_id[PUSH_TOKEN_BYTES];
    snowflake user_id;
    struct str endpoint;
    struct web_push_receiver_keys receiver;
    int64_t failures;
};

/* Returns the operator's contact, or NULL if web push is off. */
const char *web_push_contact(void);
/* Computes the key pair with which the server identifies itself to push services. It is derived
 * from the server's key file. */
bool web_push_get_server_key_pair(struct api *api, struct p256_key_pair *ret);

/* --- recipients.c ---------------------------------------------------------------------- */

/* A job of a message handles the recipients in steps, ordered by account id: first those of a
 * private channel or those mentioned by name, then members that a role or @everyone mentions. */
enum web_push_recipient_phase { PUSH_TO_NAMED = 0, PUSH_TO_GROUPS = 1, PUSH_DONE = 2 };
struct web_push_job_step {
    snowflake message_id;
    enum web_push_recipient_phase phase;
    snowflake after; /* highest account id whose subscriptions are already handled */
};
enum {
    PUSH_STEP_ACCOUNTS = 8,       /* maximum number of accounts whose settings one step reads */
    PUSH_STEP_SUBSCRIPTIONS = 12, /* number after which a step begins no further account */
    PUSH_STEP_SCANNED = 200,      /* maximum number of accounts whose membership one step checks */
    PUSH_ACCOUNT_SUBSCRIPTIONS = 5, /* maximum number of subscriptions per account */
};

/* The subscriptions of one job step, and the text that is sent to all of them. */
struct web_push_batch {
    struct str text;  /* JSON for the service worker */
    struct str topic; /* header Topic: replaces an undelivered message with the same topic */
    struct list subscriptions; /* struct web_push_subscription */
    struct web_push_job_step next;
};
/* Reads the subscriptions and the text of a job step, in a read transaction. There are none if the
 * message was deleted meanwhile. */
enum err web_push_batch_read(struct call *call, const struct web_push_job_step *step,
                             struct web_push_batch *ret);

/* --- delivery.c ------------------------------------------------------------------------- */

enum err web_push_on_message_create(struct call *call, const struct message_creation *made);
extern const struct job_kind web_push_job;

#endif
