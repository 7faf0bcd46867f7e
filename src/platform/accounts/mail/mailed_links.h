/* mailed_links.h - mailed links, to verify an email address or to reset a password.
 *
 * A link is valid for one account, purpose and email address, until it expires or is used. The
 * link's token is derived from the server's key, so the database alone does not reveal it. */
#ifndef PLATFORM_ACCOUNTS_MAIL_MAILED_LINKS_H
#define PLATFORM_ACCOUNTS_MAIL_MAILED_LINKS_H

#include "api/call.h"
#include "model/user.h"

enum mailed_link_purpose { LINK_VERIFY = 1, LINK_RESET };

bool mail_is_configured(const struct call *call);

/* Schedules a mail with a link for the account. If an earlier link is still valid, the mail
 * contains that link. *ret_wait_ms is 0 if the mail was scheduled, else the milliseconds until the
 * limits per address, account and client allow another mail. Call it in a transaction. */
enum err mailed_link_send(struct call *call, const struct user *u, enum mailed_link_purpose purpose,
                          int64_t *ret_wait_ms);

/* Counts a mail request of the client's IP address, in a transaction. *ret_wait_ms is 0 if the
 * request is allowed, else the milliseconds until the next one is. */
enum err count_mail_request_of_client(struct call *call, int64_t *ret_wait_ms);

/* Finds the account of a link. Returns ERR_INVALID_FORM_BODY (at "token") if the token is invalid,
 * used or expired. mailed_link_consume also deletes the link. */
enum err mailed_link_find_user(struct call *call, struct str token,
                               enum mailed_link_purpose purpose, struct user *ret);
enum err mailed_link_consume(struct call *call, struct str token, enum mailed_link_purpose purpose,
                             struct user *ret);
/* Invalidates all links of this purpose that were sent to the account. */
enum err mailed_links_invalidate(struct call *call, snowflake user_id,
                                 enum mailed_link_purpose purpose);

/* A link as read from the store, for the job that sends the mail. */
struct mailed_link {
    snowflake user_id;
    enum mailed_link_purpose purpose;
    struct str address, salt;
    int64_t expires_at;
    bool is_valid; /* true if unused, not expired, and sent to the account's current address */
};
enum err mailed_link_read(struct call *call, snowflake user_id, enum mailed_link_purpose purpose,
                          struct mailed_link *ret);
struct str mailed_link_derive_token(const struct call *call, const struct mailed_link *l);

extern const struct job_kind mail_verify_job, mail_reset_job;

#endif
