/* exports.h - what is kept about one person, as a file for that person.
 *
 * A job reads page after page and appends each to a tar in <data>/exports, so that nobody waits
 * for it; a process that dies goes on where the job's row says. The file is its owner's alone
 * and goes after a week, wherever it lies. */
#ifndef PLATFORM_EXPORTS_EXPORTS_H
#define PLATFORM_EXPORTS_EXPORTS_H

#include "api/api.h"

extern const struct domain exports_domain; /* /users/@me/harvest */

struct export_row {
    snowflake user_id, id; /* id 0: there is none */
    bool ready;
    int64_t bytes, expires_at;
};

/* In a transaction. There is one a person: it is begun unless it is there already. */
enum err export_begin(struct call *call, snowflake user_id, struct export_row *ret);
enum err export_find(struct call *call, snowflake user_id, struct export_row *ret);
/* Where its file lies, and the files of all, in the call's arena. */
const char *export_path(const struct call *call, snowflake id);
const char *export_folder(const struct call *call);

#endif
