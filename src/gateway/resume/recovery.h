/* recovery.h - a session whose server was killed, taken up from its ledger and the log. */
#ifndef GATEWAY_RESUME_RECOVERY_H
#define GATEWAY_RESUME_RECOVERY_H

#include "gateway/resume/handover.h"
#include "gateway/resume/journal/journal.h"

/* In a write transaction. LEDGER_FOUND: the session's home is this server now, and *ret has it as
 * bytes, as it was for a client that has read up to its seq. LEDGER_GONE: it is over. Any other:
 * nothing has changed, its server is to be asked. silent: that server does not answer, so what is
 * kept here of its sessions counts, too. */
enum err recovery_take(const struct gateway *g, struct tx *tx, const struct resumption *r,
                       uint32_t identity, bool silent, enum ledger_answer *ret_answer,
                       struct str *ret);

/* Whether what a session missed says all that it has to be told, and nothing that it saw
 * otherwise has changed. Its seats are taken. */
bool recovery_is_exact(const struct handover *h, const struct session *s);

#endif
