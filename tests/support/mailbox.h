/* mailbox.h - an SMTP server for tests: a thread with the commands that a mail needs. */
#ifndef TESTS_MAILBOX_H
#define TESTS_MAILBOX_H

#include "world.h"

enum mailbox_manner {
    MAILBOX_GOOD,
    MAILBOX_BUSY,    /* replies 451 to every recipient: try again later */
    MAILBOX_REFUSES, /* replies 550 to every recipient */
    MAILBOX_SILENT,  /* sends no reply to the text of a mail until its behaviour changes */
};

/* For TEST_WITH: the server sends mail through this SMTP server, has the address
 * "http://chat.example", and registration is open. The test ends with mailbox_close. */
void with_mail(struct config *config);
void mailbox_close(void);

void mailbox_behave(enum mailbox_manner manner);
/* Returns the number of attempted mails, and of accepted mails. */
int mailbox_tries(void);
int mailbox_count(void);
/* Waits for the n-th accepted mail, counted from 1. Format: "to: ADDRESS", an empty line, the
 * mail. */
const char *mailbox_mail(int n);
/* Returns the token of the link in a mail, after the page's path ("verify"). */
const char *mailbox_token(struct world *w, int n, const char *page);

#endif
