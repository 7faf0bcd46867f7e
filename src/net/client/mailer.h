/* mailer.h - sends mail through the operator's SMTP server.
 *
 * One background thread speaks SMTP (libcurl), because a server may take seconds per mail. The
 * queue is short; if it is full, mails wait as jobs in the store. */
#ifndef NET_MAILER_H
#define NET_MAILER_H

#include <stdbool.h>

#include "base/str.h"
#include "net/loop.h"

enum mail_result {
    MAIL_SENT,
    MAIL_FAILED,  /* temporary failure: retry later */
    MAIL_REFUSED, /* permanent failure: the mailbox or the mail was rejected */
    MAIL_STOPPED, /* aborted because the server is stopping */
};

struct mailer_options {
    const char *url;  /* "smtps://user:password@mail.example", "smtp://127.0.0.1:25" */
    const char *from; /* sender: "a@b" or "Name <a@b>" */
};

struct mailer;

/* Creates the mailer. If the options are invalid, returns NULL and the reason in *ret_problem. */
struct mailer *mailer_new(const struct mailer_options *options, const char **ret_problem);
/* Aborts the mail that is being sent. Later mails fail at once with MAIL_STOPPED. */
void mailer_stop(struct mailer *m);
void mailer_free(struct mailer *m);

/* mailer_get_from_header returns the value of the "From:" header; mailer_get_sender_domain returns
 * the domain of the sender's address. */
struct str mailer_get_from_header(const struct mailer *m);
struct str mailer_get_sender_domain(const struct mailer *m);

/* Returns true if SMTP can carry the address: printable ASCII without quoting characters. */
bool mail_address_is_sendable(struct str address);

/* A mail to send. The caller embeds it in a struct and must not free it before `posted` runs. */
struct outgoing_mail {
    const char *to;
    struct str text;            /* headers and body of the mail; lines end with CRLF */
    struct loop *loop;          /* loop on which `posted` runs */
    struct loop_message posted; /* message that the mailer posts to the loop after the mail was sent
                                 * or has failed */
    enum mail_result result;

    struct outgoing_mail *next;
};
/* Queues a mail; thread-safe. Returns false if the queue is full or the mailer is stopping. */
bool mailer_send(struct mailer *m, struct outgoing_mail *mail);

#endif
