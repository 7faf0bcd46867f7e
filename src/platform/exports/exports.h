/* exports.h - export of a user's stored data as a file for that user.
 *
 * A background job appends page after page to a tar file in <data>/exports. After a crash it
 * continues from the position in the job's row. Only the user can download the file, which every
 * node deletes after a week. Start with job.c. */
#ifndef PLATFORM_EXPORTS_EXPORTS_H
#define PLATFORM_EXPORTS_EXPORTS_H

#include "api/api.h"

extern const struct domain exports_domain; /* /users/@me/harvest */

struct export_row {
    snowflake user_id, id; /* id 0: no export */
    bool ready;
    int64_t bytes, expires_at;
};

/* Call in a transaction. Returns the user's existing export or creates one; at most one per
 * user. */
enum err export_find_or_create(struct call *call, snowflake user_id, struct export_row *ret);
enum err export_find(struct call *call, snowflake user_id, struct export_row *ret);
/* Return the path of an export's file, and the folder of all export files, in the call's arena. */
const char *export_path(const struct call *call, snowflake id);
const char *export_folder(const struct call *call);

#endif
