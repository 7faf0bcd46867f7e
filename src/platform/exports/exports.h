/* exports.h - export of a user's stored data as a file for that user.
 *
 * A background job appends page after page to a tar in <data>/exports. After a crash it continues
 * from the position in the job's row. Only its owner can download the file, which is deleted after
 * a week on every node. Start with job.c. */
#ifndef PLATFORM_EXPORTS_EXPORTS_H
#define PLATFORM_EXPORTS_EXPORTS_H

#include "api/api.h"

extern const struct domain exports_domain; /* /users/@me/harvest */

struct export_row {
    snowflake user_id, id; /* id 0: no export */
    bool ready;
    int64_t bytes, expires_at;
};

/* Call in a transaction. A user has at most one export: returns the existing one or creates it. */
enum err export_begin(struct call *call, snowflake user_id, struct export_row *ret);
enum err export_find(struct call *call, snowflake user_id, struct export_row *ret);
/* Returns the path of its file, and the folder of all files, in the call's arena. */
const char *export_path(const struct call *call, snowflake id);
const char *export_folder(const struct call *call);

#endif
