/* increment.c - a backup into a folder, which writes only what the ones before it have not. */
#include "store/increment.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/increment_internal.h"

/* --- the beginning -------------------------------------------------------------------- */

static const char TABLES[] =
    "begin immediate; create table if not exists backups (number integer primary key, made_at "
    "integer not null, files integer not null, bytes integer not null);"
    "create table if not exists files (name text not null, size integer not null, changed integer "
    "not null, first integer not null, last integer not null, parts blob not null);"
    "create index if not exists files_by_name on files (name, last);"
    "create index if not exists files_by_last on files (last); pragma user_version = 1; commit";

static enum err make_objects(const struct increment *i)
{
    char path[PATH_MAX + 32];

    for (int n = 0; n < 256; n++) {
        snprintf(path, sizeof path, "%s/objects/%02x", i->folder, n);
        enum err e = access(path, F_OK) == 0 ? OK : folder_make(path);
        if (e)
            return e;
    }
    return OK;
}

static enum err prepare_writing(struct increment *i)
{
    enum err e = catalogue_prepare(
        i,
        "select rowid from files where name = ?1 and last = ?2 and size = ?3 and changed = ?4 "
        "and changed > 0",
        &i->find);

    if (!e)
        e = catalogue_prepare(i, "update files set last = ?2 where rowid = ?1", &i->stay);
    return e ? e
             : catalogue_prepare(i,
                                 "insert into files (name, size, changed, first, last, parts) "
                                 "values (?1, ?2, ?3, ?4, ?4, ?5)",
                                 &i->add);
}

static enum err begin_writing(struct increment *i)
{
    int64_t last = 0;
    enum err e = catalogue_do(i, "pragma synchronous = full");

    if (!e)
        e = catalogue_check_format(i, true);
    if (!e)
        e = catalogue_do(i, TABLES);
    if (!e)
        e = make_objects(i);
    if (!e)
        e = prepare_writing(i);
    if (!e)
        e = catalogue_ask(i, "select max(number) from backups", 0, 0, &last);
    i->number = last + 1;
    return e ? e : catalogue_do(i, "begin immediate");
}

enum err increment_create(const char *folder, struct increment **ret)
{
    enum err e = folder_make(folder);

    if (!e)
        e = increment_new(folder, ret);
    if (!e)
        e = increment_lock(*ret, LOCK_EX);
    if (!e)
        e = catalogue_open(*ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    return e ? e : begin_writing(*ret);
}

/* --- files ---------------------------------------------------------------------------- */

/* The same file as in the backup before; *ret 0: there is none. */
static enum err find_unchanged(struct increment *i, const char *name, int64_t size, int64_t changed,
                               int64_t *ret)
{
    sqlite3_bind_text(i->find, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(i->find, 2, i->number - 1);
    sqlite3_bind_int64(i->find, 3, size);
    sqlite3_bind_int64(i->find, 4, changed);
    int code = sqlite3_step(i->find);
    *ret = code == SQLITE_ROW ? sqlite3_column_int64(i->find, 0) : 0;
    sqlite3_reset(i->find);
    return code == SQLITE_ROW || code == SQLITE_DONE ? OK : catalogue_failed(i);
}

static enum err note_file(struct increment *i, const char *name, int64_t size, int64_t changed)
{
    sqlite3_bind_text(i->add, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(i->add, 2, size);
    sqlite3_bind_int64(i->add, 3, changed);
    sqlite3_bind_int64(i->add, 4, i->number);
    sqlite3_bind_blob64(i->add, 5, i->parts.p ? i->parts.p : "", i->parts.n, SQLITE_STATIC);
    return catalogue_step(i, i->add);
}

enum err increment_add(struct increment *i, const char *name, int fd, int64_t size, int64_t changed)
{
    int64_t row = 0;
    enum err e = find_unchanged(i, name, size, changed, &row);

    if (e)
        return e;
    i->files++;
    i->bytes += size;
    if (row) {
        sqlite3_bind_int64(i->stay, 1, row);
        sqlite3_bind_int64(i->stay, 2, i->number);
        return catalogue_step(i, i->stay);
    }
    buf_reset(&i->parts);
    e = increment_keep_pieces(i, name, fd, size);
    return e ? e : note_file(i, name, size, changed);
}

/* --- the end, and what is not kept any longer ----------------------------------------- */

static enum err sync_folder(const struct increment *i)
{
    int fd = open(i->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum err e = fd >= 0 && syncfs(fd) == 0 ? OK : increment_failed("write to", i->folder);

    if (fd >= 0)
        close(fd);
    return e;
}

static enum err note_used(struct increment *i, const char *name, const unsigned char *sum)
{
    (void)name;
    sqlite3_bind_blob(i->walk, 1, sum, INCREMENT_SUM, SQLITE_STATIC);
    return catalogue_step(i, i->walk);
}

static enum err drop_unused(struct increment *i, const char *path, const unsigned char *sum)
{
    sqlite3_bind_blob(i->find, 1, sum, INCREMENT_SUM, SQLITE_STATIC);
    int code = sqlite3_step(i->find);
    sqlite3_reset(i->find);
    if (code == SQLITE_ROW)
        return OK;
    if (code != SQLITE_DONE)
        return catalogue_failed(i);
    return unlink(path) == 0 ? OK : increment_failed("delete", path);
}

/* After the catalogue has forgotten their files; whoever is killed here leaves some for the
 * next one. */
static enum err drop_objects(struct increment *i)
{
    enum err e = catalogue_do(i, "pragma temp_store = file; create temp table used "
                                 "(sum blob primary key) without rowid");

    sqlite3_finalize(i->find);
    i->find = NULL;
    if (!e)
        e = catalogue_prepare(i, "insert or ignore into used (sum) values (?1)", &i->walk);
    if (!e)
        e = catalogue_prepare(i, "select 1 from used where sum = ?1", &i->find);
    if (!e)
        e = catalogue_do(i, "begin");
    if (!e)
        e = increment_walk_parts(i, note_used);
    if (!e)
        e = increment_walk_objects(i, drop_unused);
    return e ? e : catalogue_do(i, "commit");
}

enum err increment_finish(struct increment *i, int64_t keep)
{
    static const char done[] = "insert into backups (number, made_at, files, bytes) values "
                               "(?1, strftime('%s', 'now'), ?2, 0)";
    int64_t gone = keep && i->number > keep ? i->number - keep : 0;
    enum err e = increment_name_pieces(i);

    if (!e)
        e = sync_folder(i);
    if (!e)
        e = catalogue_ask(i, done, i->number, i->files, NULL);
    if (!e)
        e = catalogue_ask(i, "update backups set bytes = ?2 where number = ?1", i->number, i->bytes,
                          NULL);
    if (!e && gone)
        e = catalogue_ask(i, "delete from files where last <= ?1", gone, 0, NULL);
    if (!e && gone)
        e = catalogue_ask(i, "delete from backups where number <= ?1", gone, 0, NULL);
    if (!e)
        e = catalogue_do(i, "commit");
    return e || !gone ? e : drop_objects(i);
}
