/* instance.h - server discovery for web clients that know only the server's address.
 *
 * The routes are public and reveal no user data. The table announcements has at most one row, the
 * operator's announcement to everybody. Start with routes.c. */
#ifndef PLATFORM_INSTANCE_INSTANCE_H
#define PLATFORM_INSTANCE_INSTANCE_H

#include "api/api.h"

extern const struct domain instance_domain;       /* routes below /api */
extern const struct domain instance_pages_domain; /* routes below /.well-known */

/* The operator's announcement, which the web pages show to everybody. */
struct operator_announcement {
    snowflake id;
    struct str content;
    int64_t expires_at; /* microseconds */
};
enum { ANNOUNCEMENT_MAX_BYTES = 2000 };

/* Reads the current announcement. Returns ERR_NOT_FOUND if there is none or it has expired. */
enum err operator_announcement_read(struct tx *tx, struct operator_announcement *ret);
/* Inserts an announcement and deletes the previous one. */
enum err operator_announcement_replace(struct tx *tx, const struct operator_announcement *a);
enum err operator_announcement_delete(struct tx *tx);

#endif
