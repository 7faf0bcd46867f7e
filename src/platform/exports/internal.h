/* internal.h - what the files of exports/ share. */
#ifndef PLATFORM_EXPORTS_INTERNAL_H
#define PLATFORM_EXPORTS_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/exports/exports.h"

/* --- parts.c: what belongs to a person, part by part ---------------------------------- */

struct export_part {
    const char *name;
    /* Names with their kinds and a tab between them: & id, $ text, # number, ? yes or no, @ moment.
     * The first is what pages are told apart by. */
    const char *columns;
    struct sql sql;      /* $1 the account, $2 behind this number, $3 so many */
    const char *blob_of; /* NULL, or a kind of file that each row has: "attachment", "avatars" … */
};
extern const struct export_part export_parts[];
int export_part_count(void);

/* A page as lines of JSON: so many rows, or fewer when they are long. *ret_last: the number of
 * its last row; *ret_ended: there are no more. */
enum err export_page(struct call *call, const struct export_part *part, snowflake user_id,
                     int64_t after, int64_t limit, struct buf *out, int64_t *ret_last,
                     bool *ret_ended);

/* Files of the same page: names of blobs, and what they are called in the export. */
struct export_file {
    const char *blob, *name;
};
enum err export_files(struct call *call, const struct export_part *part, snowflake user_id,
                      int64_t after, int64_t limit, struct list *ret, int64_t *ret_last,
                      int64_t *ret_rows);

/* --- leftovers.c ---------------------------------------------------------------------- */

/* Deletes files in this server's folder that have no row, or one whose time is over. */
void exports_remove_leftovers(struct api *api, struct loop *loop);

/* --- job.c ---------------------------------------------------------------------------- */

extern const struct job_kind export_job, export_expiry_job;
/* What was gathered goes with the account. */
struct deletion_step;
enum err exports_end_with_account(struct call *call, snowflake user_id, struct deletion_step *step);

#endif
