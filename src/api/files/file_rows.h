/* file_rows.h - rows of stored files. */
#ifndef API_FILES_FILE_ROWS_H
#define API_FILES_FILE_ROWS_H

#include "store/store.h"

struct new_file_row {
    snowflake id, owner_id; /* id of the file, and of the account that owns it; owner_id is 0 for
                             * files of the server itself */
    const char *name, *digest;
    int64_t size;
};
/* Inserts the row of a file. Replaces a row with the same name. */
enum err file_insert_row(struct tx *tx, const struct new_file_row *f);

#endif
