/* crash_recovery.h - rebuilds the session of a crashed node, from its journal and the event log. */
#ifndef GATEWAY_RESUME_CRASH_RECOVERY_H
#define GATEWAY_RESUME_CRASH_RECOVERY_H

#include "gateway/resume/session_transfer.h"
#include "gateway/resume/journal/journal.h"

/* Takes over the session of a crashed node, in a write transaction. After JOURNAL_FOUND this node
 * owns the session, and *ret is the serialised session, whose client has received the events up to
 * the seq in its RESUME. After JOURNAL_INSUFFICIENT the session has ended. After every other result
 * nothing has changed, and the session must be requested from its owner. If `silent` is true, the
 * owner does not reply, so a replica of the owner's journal may be used. */
enum err take_over_crashed_session(const struct gateway *g, struct tx *tx,
                                   const struct resume_request *r, uint32_t identity, bool silent,
                                   enum journal_find_result *ret_answer, struct str *ret);

/* Returns whether the session can continue with its missed events. This requires that no missed
 * event changes the session's guilds or the channels that its user can view. The session must be
 * subscribed to its guilds. */
bool recovered_session_can_continue(const struct session_transfer *h, const struct session *s);

#endif
