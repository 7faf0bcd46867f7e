/* links.h - mailed links, to verify an email address or to reset a password.
 *
 * A link is valid for one account, purpose and email address, until it expires or is used. The
 * link's token is derived from the server's key, so the database alone does not reveal it. */
#ifndef PLATFORM_ACCOUNTS_MAIL_LINKS_H
#define PLATFORM_ACCOUNTS_MAIL_LINKS_H

#include "api/call.h"
#include "model/user.h"

enum link_purpose { LINK_VERIFY = 1, LINK_RESET };

/* True if a mail server is configured. */
bool mail_is_on(const struct call *call);

/* In a transaction: schedules the mail with the account's link; a valid link is sent again.
 * *ret_wait_ms: time until this address, account or client may get another mail; 0: mail is
 * sent. */
enum err link_send(struct call *call, const struct user *u, enum link_purpose purpose,
                   int64_t *ret_wait_ms);

/* In a transaction: counts a mail request of the client. *ret_wait_ms: time to wait; 0: none. */
enum err mail_count_client(struct call *call, int64_t *ret_wait_ms);

/* Finds the account of a link. ERR_INVALID_FORM_BODY (at "token") if the token is invalid, used or
 * expired. link_use also deletes the link. */
enum err link_find(struct call *call, struct str token, enum link_purpose purpose,
                   struct user *ret);
enum err link_use(struct call *call, struct str token, enum link_purpose purpose, struct user *ret);
/* Invalidates all links of this purpose that were sent to the account. */
enum err links_void(struct call *call, snowflake user_id, enum link_purpose purpose);

/* A stored link, as the mail job needs it. */
struct link_row {
    snowflake user_id;
    enum link_purpose purpose;
    struct str address, salt;
    int64_t expires_at;
    bool is_good; /* not used, not expired, and the address is still that of the account */
};
enum err link_row_find(struct call *call, snowflake user_id, enum link_purpose purpose,
                       struct link_row *ret);
struct str link_token(const struct call *call, const struct link_row *l);

extern const struct job_kind mail_verify_job, mail_reset_job;

#endif
