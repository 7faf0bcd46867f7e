/* exports.h - export of a user's stored data as a file for that user.
 *
 * A background job appends the data in pages to a tar file in <data>/exports. After a crash the job
 * continues from the position in its row. Only the user can download the file, which every node
 * deletes after a week. The folder owns the table exports and may use invites/ and the folders
 * below it. Start with job.c. */
#ifndef PLATFORM_EXPORTS_EXPORTS_H
#define PLATFORM_EXPORTS_EXPORTS_H

#include "api/api.h"

extern const struct domain exports_domain; /* route /users/@me/harvest */

struct data_export {
    snowflake user_id, id; /* id is 0 if the user has no export */
    bool ready;
    int64_t bytes, expires_at;
};

/* Returns the user's export. If there is none, creates one. Call it in a transaction. */
enum err data_export_find_or_create(struct call *call, snowflake user_id, struct data_export *ret);
enum err data_export_find(struct call *call, snowflake user_id, struct data_export *ret);
/* Return the path of an export's file, and the path of the folder with all export files. */
const char *data_export_path(const struct call *call, snowflake id);
const char *data_export_folder(const struct call *call);

#endif
