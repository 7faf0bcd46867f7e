/* mailer.h - mail to people, handed to the operator's mail server.
 *
 * One thread speaks SMTP (libcurl), because a mail server may take seconds for each mail. The
 * line before it is short: what waits for longer waits in the store, as a job. */
#ifndef NET_MAILER_H
#define NET_MAILER_H

#include <stdbool.h>

#include "base/str.h"
#include "net/loop.h"

enum mail_result {
    MAIL_SENT,
    MAIL_FAILED,  /* may work later */
    MAIL_REFUSED, /* that mailbox, or this mail, is not taken: it never will be */
    MAIL_STOPPED, /* not tried to its end: the server stops */
};

struct mailer_options {
    const char *url;  /* "smtps://user:password@mail.example", "smtp://127.0.0.1:25" */
    const char *from; /* "a@b", or "Name <a@b>" */
};

struct mailer;

/* NULL, and *ret_problem says why, when the options cannot be so. */
struct mailer *mailer_new(const struct mailer_options *options, const char **ret_problem);
/* The mail under way is given up; from now on each one ends as MAIL_STOPPED at once. */
void mailer_stop(struct mailer *m);
void mailer_free(struct mailer *m);

/* What stands after "From:", and the part behind its last '@'. */
struct str mailer_from(const struct mailer *m);
struct str mailer_domain(const struct mailer *m);

/* Can SMTP carry it? Printable ASCII without the marks that addresses are quoted with. */
bool mail_address_fits(struct str address);

/* Embedded in what it is about, and there until posted. */
struct mail {
    const char *to;
    struct str text;    /* head and body, lines end with CRLF */
    struct loop *loop;  /* where … */
    struct post posted; /* … its run is called in the end */
    enum mail_result result;

    struct mail *next;
};
/* From any thread. False: so many wait already, and it is not taken. */
bool mailer_send(struct mailer *m, struct mail *mail);

#endif
