/* database_check.c - compares the files of a backup with the rows of its database. */
#include "store/backup/database_check.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

struct backup_database {
    struct embedded_database *into;
    sqlite3 *db;
    sqlite3_stmt *find;
    struct map seen; /* hashes of the names of blobs that were compared with their rows */
};

/* SQL that reads size and digest of a blob; databases of older versions have no column `digest`. */
static const char *const find_file_sql[] = {
    "select size, digest from files where name = ?1 and gone = 0",
    "select size, '' from files where name = ?1 and gone = 0",
};

enum err backup_database_open(int fd, int64_t at, int64_t size, struct backup_database **ret)
{
    struct backup_database *r = *ret = mem_new(sizeof *r);
    enum err e = embedded_database_open(fd, at, size, &r->into, &r->db);

    map_init(&r->seen);
    if (e || !sqlite_run_integrity_pragma(r->db, "pragma integrity_check"))
        return ERR_FILE_DAMAGED;
    for (int i = 0; i < 2 && !r->find; i++)
        sqlite3_prepare_v2(r->db, find_file_sql[i], -1, &r->find, NULL);
    if (r->find)
        return OK;
    log_error("backup: cannot read the table 'files' of the database in the backup: %s",
              sqlite3_errmsg(r->db));
    return ERR_FILE_DAMAGED;
}

static bool blob_matches_row(sqlite3_stmt *row, int64_t size, const char *digest)
{
    int64_t expected = sqlite3_column_int64(row, 0);
    const char *sum = (const char *)sqlite3_column_text(row, 1);

    if (sum && *sum)
        return expected == size && strcmp(sum, digest) == 0;
    return expected == 0 || expected == size;
}

bool backup_database_compare_blob_with_row(struct backup_database *r, const char *blob,
                                           int64_t size, const char *digest)
{
    bool ok = true;

    map_set_value(&r->seen, hash_str(str_of(blob)), r);
    sqlite3_bind_text(r->find, 1, blob, -1, SQLITE_STATIC);
    if (sqlite3_step(r->find) == SQLITE_ROW && !blob_matches_row(r->find, size, digest)) {
        log_error("backup: the file 'blobs/%s' differs from the uploaded file", blob);
        ok = false;
    }
    sqlite3_reset(r->find);
    return ok;
}

bool backup_database_has_no_missing_blobs(struct backup_database *r)
{
    sqlite3_stmt *all = NULL;
    bool ok = sqlite3_prepare_v2(r->db, "select name from files where gone = 0", -1, &all, NULL) ==
              SQLITE_OK;

    while (sqlite3_step(all) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(all, 0);

        if (map_find_value(&r->seen, hash_str(str_of(name))))
            continue;
        log_error("backup: the file 'blobs/%s' is missing in the backup", name);
        ok = false;
    }
    sqlite3_finalize(all);
    return ok;
}

void backup_database_close(struct backup_database *r)
{
    if (!r)
        return;
    sqlite3_finalize(r->find);
    sqlite3_close(r->db);
    embedded_database_close(r->into);
    map_clear(&r->seen);
    mem_free(r);
}

/* Does nothing if the database is of an older version without tables for object storage. */
enum err backup_database_delete_object_storage_rows(const char *folder)
{
    char path[PATH_MAX];
    sqlite3 *db = NULL;

    if (snprintf(path, sizeof path, "%s/guildhall.db", folder) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    bool has_tables =
        code == SQLITE_OK && sqlite3_table_column_metadata(db, NULL, "object_location", NULL, NULL,
                                                           NULL, NULL, NULL, NULL) == SQLITE_OK;
    if (has_tables)
        code = sqlite3_exec(db, "delete from object_location; delete from object_uploads", NULL,
                            NULL, NULL);
    if (code != SQLITE_OK)
        log_error("backup: cannot write to the restored database: %s", sqlite3_errmsg(db));
    sqlite3_close(db);
    return code == SQLITE_OK ? OK : ERR_UNAVAILABLE;
}
