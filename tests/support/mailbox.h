/* mailbox.h - a mail server for tests: a thread that speaks as much SMTP as a mail needs. */
#ifndef TESTS_MAILBOX_H
#define TESTS_MAILBOX_H

#include "world.h"

enum mailbox_manner {
    MAILBOX_GOOD,
    MAILBOX_BUSY,    /* 451 to every receiver: come back later */
    MAILBOX_REFUSES, /* 550 to every receiver */
    MAILBOX_SILENT,  /* says nothing to the text of a mail until it behaves in another way */
};

/* For TEST_WITH: the server mails by a mail server of its own, at "http://chat.example", and
 * anybody may register. The test ends with mailbox_close. */
void with_mail(struct config *config);
void mailbox_close(void);

void mailbox_behave(enum mailbox_manner manner);
/* How often it was asked to take a mail, and how many it took. */
int mailbox_tries(void);
int mailbox_count(void);
/* The n-th that it took, from 1: waits for it. "to: ADDRESS", an empty line, the mail. */
const char *mailbox_mail(int n);
/* The token of the link in it, behind the page's path ("verify"). */
const char *mailbox_token(struct world *w, int n, const char *page);

#endif
