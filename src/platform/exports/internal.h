/* internal.h - declarations shared by the files of exports/. */
#ifndef PLATFORM_EXPORTS_INTERNAL_H
#define PLATFORM_EXPORTS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/exports/exports.h"

/* --- exported_tables.c: the exported tables ------------------------------------------- */

struct exported_table {
    const char *name;
    /* Column names, separated by tabs. The first character of each gives its type: & id, $ text, #
     * number, ? bool, @ time. The first column is the page cursor. */
    const char *columns;
    struct sql sql;      /* query of a page: $1 account, $2 cursor, $3 limit */
    const char *blob_of; /* area of the stored files ("avatars" …); NULL if rows have no file */
};
extern const struct exported_table exported_table_list[];
int exported_table_count(void);

/* Writes a page of a table, one line of JSON per row: up to `limit` rows, fewer if they are long.
 * *ret_last is the cursor of the last row written. *ret_ended is true if the table has no more
 * rows. */
enum err data_export_write_table_page(struct call *call, const struct exported_table *part,
                                      snowflake user_id, int64_t after, int64_t limit,
                                      struct buf *out, int64_t *ret_last, bool *ret_ended);

/* A file that the export contains: its blob's name, and its name in the tar archive. */
struct exported_file {
    const char *blob, *name;
};
enum err data_export_list_files(struct call *call, const struct exported_table *part,
                                snowflake user_id, int64_t after, int64_t limit, struct list *ret,
                                int64_t *ret_last, int64_t *ret_rows);

/* --- stale_files.c -------------------------------------------------------------------- */

/* Deletes those files in this node's export folder that have no row in the table exports, or an
 * expired one. */
void data_exports_delete_stale_files(struct api *api, struct loop *loop);

/* --- job.c ---------------------------------------------------------------------------- */

extern const struct job_kind export_job, export_expiry_job;
/* Cancels the export of a deleted account. */
struct deletion_step_limits;
enum err data_exports_cancel_of_account(struct call *call, snowflake user_id,
                                        struct deletion_step_limits *step);

#endif
