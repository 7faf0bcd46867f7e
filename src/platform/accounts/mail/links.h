/* links.h - links that people are mailed: to verify an address, to get a new password.
 *
 * A link is good for its account and purpose, for the address that it was sent to, until its
 * time is over or it was used. Its token follows from the server's key, so the database alone
 * tells nobody what it is. */
#ifndef PLATFORM_ACCOUNTS_MAIL_LINKS_H
#define PLATFORM_ACCOUNTS_MAIL_LINKS_H

#include "api/call.h"
#include "model/user.h"

enum link_purpose { LINK_VERIFY = 1, LINK_RESET };

/* Can mail be sent at all? */
bool mail_is_on(const struct call *call);

/* In a transaction: the account is mailed its link, soon; one that is still good is sent once
 * more. *ret_wait_ms: how long nothing more is sent to that mailbox, for that account or
 * for this client; 0: it is sent. */
enum err link_send(struct call *call, const struct user *u, enum link_purpose purpose,
                   int64_t *ret_wait_ms);

/* In a transaction: counts a mail that the calling client asks for. *ret_wait_ms as above. */
enum err mail_count_client(struct call *call, int64_t *ret_wait_ms);

/* Whose link is it? ERR_INVALID_FORM_BODY (said of "token") when it is none, or none any more.
 * link_use takes it away besides. */
enum err link_find(struct call *call, struct str token, enum link_purpose purpose,
                   struct user *ret);
enum err link_use(struct call *call, struct str token, enum link_purpose purpose, struct user *ret);
/* Those that were sent so far are good for nothing any more. */
enum err links_void(struct call *call, snowflake user_id, enum link_purpose purpose);

/* What the job that sends it needs. */
struct link_row {
    snowflake user_id;
    enum link_purpose purpose;
    struct str address, salt;
    int64_t expires_at;
    bool is_good; /* neither used nor over, and the address is still the account's */
};
enum err link_row_find(struct call *call, snowflake user_id, enum link_purpose purpose,
                       struct link_row *ret);
struct str link_token(const struct call *call, const struct link_row *l);

extern const struct job_kind mail_verify_job, mail_reset_job;

#endif
