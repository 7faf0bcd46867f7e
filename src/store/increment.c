/* increment.c - backups in a folder, of which each writes only what the ones before it have not. */
#include "store/increment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/internal.h"

enum {
    SUM = crypto_generichash_BYTES,
    SUM_TEXT = 2 * SUM + 1,
    MOST = 1024 * 1024,
    ROWS = 64 * 1024
};
enum { FORMAT = 1 };

struct increment {
    char folder[PATH_MAX];
    int lock;
    sqlite3 *db;
    sqlite3_stmt *find, *stay, *add, *walk;
    int64_t number;
    int64_t files, bytes, written;
    char *piece;
    struct buf parts; /* sums of the pieces of one file */
};

/* --- what can go wrong ---------------------------------------------------------------- */

static enum err increment_failed(const char *verb, const char *path)
{
    int code = errno;

    log_error("backup: cannot %s '%s': %s", verb, path, strerror(code));
    return code == ENOSPC || code == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static enum err catalogue_failed(struct increment *i)
{
    int code = sqlite3_errcode(i->db);

    log_error("backup: the catalogue of '%s': %s", i->folder, sqlite3_errmsg(i->db));
    return (code & 0xff) == SQLITE_FULL ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static enum err increment_damaged(const struct increment *i, const char *what, const char *name)
{
    log_error("backup: '%s' is not whole: %s '%s'", i->folder, what, name);
    return ERR_BAD_REQUEST;
}

static enum err catalogue_do(struct increment *i, const char *sql)
{
    return sqlite3_exec(i->db, sql, NULL, NULL, NULL) == SQLITE_OK ? OK : catalogue_failed(i);
}

/* One statement with numbers; *ret (may be NULL): its first column. */
static enum err catalogue_ask(struct increment *i, const char *sql, int64_t a, int64_t b,
                              int64_t *ret)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(i->db, sql, -1, &stmt, NULL);

    if (code == SQLITE_OK) {
        /* A statement need not have both. */
        sqlite3_bind_int64(stmt, 1, a);
        sqlite3_bind_int64(stmt, 2, b);
        code = sqlite3_step(stmt);
    }
    if (ret)
        *ret = code == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    enum err e = code == SQLITE_ROW || code == SQLITE_DONE ? OK : catalogue_failed(i);
    sqlite3_finalize(stmt);
    return e;
}

static enum err catalogue_prepare(struct increment *i, const char *sql, sqlite3_stmt **ret)
{
    return sqlite3_prepare_v2(i->db, sql, -1, ret, NULL) == SQLITE_OK ? OK : catalogue_failed(i);
}

/* --- opening -------------------------------------------------------------------------- */

static enum err increment_new(const char *folder, struct increment **ret)
{
    struct increment *i = mem_new(sizeof *i);

    *ret = i;
    i->lock = -1;
    i->piece = mem_new(MOST + 1); /* one more shows that something follows */
    buf_init(&i->parts, SIZE_MAX);
    return snprintf(i->folder, sizeof i->folder, "%s", folder) < (int)sizeof i->folder - 128
               ? OK
               : ERR_UNAVAILABLE;
}

static enum err increment_lock(struct increment *i, int how)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/lock", i->folder);
    i->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (i->lock < 0)
        return increment_failed("open", path);
    if (flock(i->lock, how | LOCK_NB) == 0)
        return OK;
    log_error("backup: another backup is at work in '%s'", i->folder);
    return ERR_UNAVAILABLE;
}

static enum err open_catalogue(struct increment *i, int flags)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/catalogue.db", i->folder);
    if (flags & SQLITE_OPEN_CREATE) {
        /* SQLite would let everybody read it. */
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        if (fd < 0)
            return increment_failed("make", path);
        close(fd);
    }
    return sqlite3_open_v2(path, &i->db, flags, NULL) == SQLITE_OK ? OK : catalogue_failed(i);
}

static enum err check_format(struct increment *i, bool may_be_new)
{
    int64_t format = 0;
    enum err e = catalogue_ask(i, "pragma user_version", 0, 0, &format);

    if (!e && format != FORMAT && !(may_be_new && format == 0)) {
        log_error("backup: '%s' is no backup that this program knows", i->folder);
        e = ERR_BAD_REQUEST;
    }
    return e;
}

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
        e = check_format(i, true);
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
        e = open_catalogue(*ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    return e ? e : begin_writing(*ret);
}

void increment_close(struct increment *i)
{
    if (!i)
        return;
    sqlite3_finalize(i->find);
    sqlite3_finalize(i->stay);
    sqlite3_finalize(i->add);
    sqlite3_finalize(i->walk);
    sqlite3_close(i->db);
    if (i->lock >= 0)
        close(i->lock);
    buf_clear(&i->parts);
    mem_free(i->piece);
    mem_free(i);
}

int64_t increment_number(const struct increment *i)
{
    return i->number;
}

void increment_count(const struct increment *i, int64_t *files, int64_t *bytes, int64_t *written)
{
    *files = i->files;
    *bytes = i->bytes;
    *written = i->written;
}

/* --- pieces --------------------------------------------------------------------------- */

static void object_path(const struct increment *i, const unsigned char *sum, char *out, size_t size)
{
    char text[SUM_TEXT];

    sodium_bin2hex(text, sizeof text, sum, SUM);
    snprintf(out, size, "%s/objects/%.2s/%s", i->folder, text, text + 2);
}

static bool put_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static int64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* The disk is left to others for as long as it was kept from them: the server's commits have at
 * least half of it. */
static bool sync_and_rest(int fd)
{
    int64_t began = monotonic_ns();
    bool ok = fdatasync(fd) == 0;
    int64_t took = monotonic_ns() - began;

    nanosleep(&(struct timespec){ took / 1000000000, took % 1000000000 }, NULL);
    return ok;
}

static enum err write_object(struct increment *i, const char *path, size_t n)
{
    char part[PATH_MAX + 32];

    snprintf(part, sizeof part, "%s/objects/.part", i->folder);
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && put_all(fd, i->piece, n) && sync_and_rest(fd);
    if (fd >= 0)
        ok &= close(fd) == 0;
    if (!ok || rename(part, path) != 0)
        return increment_failed("write", path);
    i->written += (int64_t)n;
    return OK;
}

/* A piece that is there under its name was whole before it got it. */
static enum err keep_piece(struct increment *i, size_t n)
{
    unsigned char sum[SUM];
    char path[PATH_MAX + SUM_TEXT + 32];

    crypto_generichash(sum, sizeof sum, (const unsigned char *)i->piece, n, NULL, 0);
    buf_add(&i->parts, sum, sizeof sum);
    object_path(i, sum, path, sizeof path);
    return access(path, F_OK) == 0 ? OK : write_object(i, path, n);
}

/* Files never change, but a few pages of the database do in many places. */
static size_t piece_size(const char *name)
{
    return strcmp(name, "guildhall.db") == 0 ? ROWS : MOST;
}

/* As much as there is, up to a piece. */
static ssize_t read_piece(int fd, char *p, size_t most)
{
    size_t n = 0;

    while (n < most) {
        ssize_t got = read(fd, p + n, most - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : (ssize_t)n;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

static enum err keep_pieces(struct increment *i, const char *name, int fd, int64_t size)
{
    int64_t piece = (int64_t)piece_size(name);
    enum err e = OK;

    for (int64_t left = size; !e && left > 0;) {
        size_t most = (size_t)(left < piece ? left : piece);

        if (read_piece(fd, i->piece, most) != (ssize_t)most) {
            log_error("backup: cannot read all of '%s'", name);
            return ERR_UNAVAILABLE;
        }
        e = keep_piece(i, most);
        left -= (int64_t)most;
    }
    return e;
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

static enum err catalogue_step(struct increment *i, sqlite3_stmt *stmt)
{
    sqlite3_step(stmt);
    return sqlite3_reset(stmt) == SQLITE_OK ? OK : catalogue_failed(i);
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
    e = keep_pieces(i, name, fd, size);
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

typedef enum err object_found(struct increment *i, const char *path, const unsigned char *sum);

static enum err walk_objects_of(struct increment *i, const char *path, object_found *found)
{
    DIR *d = opendir(path);
    struct dirent *entry;
    enum err e = OK;

    if (!d)
        return increment_failed("read", path);
    while (!e && (entry = readdir(d))) {
        char object[PATH_MAX + 512], text[SUM_TEXT];
        unsigned char sum[SUM];
        size_t n = 0;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(object, sizeof object, "%s/%s", path, entry->d_name);
        snprintf(text, sizeof text, "%.2s%.62s", path + strlen(path) - 2, entry->d_name);
        if (sodium_hex2bin(sum, sizeof sum, text, strlen(text), NULL, &n, NULL) != 0 || n != SUM)
            e = increment_damaged(i, "there is something that is none of ours:", object);
        else
            e = found(i, object, sum);
    }
    closedir(d);
    return e;
}

static enum err walk_objects(struct increment *i, object_found *found)
{
    char path[PATH_MAX + 32];
    enum err e = OK;

    for (int n = 0; !e && n < 256; n++) {
        snprintf(path, sizeof path, "%s/objects/%02x", i->folder, n);
        e = walk_objects_of(i, path, found);
    }
    return e;
}

/* Each piece of each file of all backups. */
static enum err walk_parts(struct increment *i, object_found *found)
{
    sqlite3_stmt *stmt = NULL;
    enum err e = catalogue_prepare(i, "select name, parts, size from files", &stmt);
    int code = SQLITE_DONE;

    while (!e && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        const unsigned char *parts = sqlite3_column_blob(stmt, 1);
        int64_t size = sqlite3_column_int64(stmt, 2), piece = (int64_t)piece_size(name);
        int n = sqlite3_column_bytes(stmt, 1);

        if (n != (size + piece - 1) / piece * SUM)
            e = increment_damaged(i, "pieces are missing of", name);
        for (int at = 0; !e && at < n; at += SUM)
            e = found(i, name, parts + at);
    }
    if (!e && code != SQLITE_DONE)
        e = catalogue_failed(i);
    sqlite3_finalize(stmt);
    return e;
}

static enum err note_used(struct increment *i, const char *name, const unsigned char *sum)
{
    (void)name;
    sqlite3_bind_blob(i->walk, 1, sum, SUM, SQLITE_STATIC);
    return catalogue_step(i, i->walk);
}

static enum err drop_unused(struct increment *i, const char *path, const unsigned char *sum)
{
    sqlite3_bind_blob(i->find, 1, sum, SUM, SQLITE_STATIC);
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
        e = walk_parts(i, note_used);
    if (!e)
        e = walk_objects(i, drop_unused);
    return e ? e : catalogue_do(i, "commit");
}

enum err increment_finish(struct increment *i, int64_t keep)
{
    static const char done[] = "insert into backups (number, made_at, files, bytes) values "
                               "(?1, strftime('%s', 'now'), ?2, 0)";
    int64_t gone = keep && i->number > keep ? i->number - keep : 0;
    enum err e = sync_folder(i);

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

/* --- reading -------------------------------------------------------------------------- */

static enum err choose_number(struct increment *i, int64_t number)
{
    enum err e = catalogue_ask(i, "select max(number) from backups where ?1 = 0 or number = ?1",
                               number, 0, &i->number);

    if (!e && !i->number) {
        log_error("backup: '%s' has no backup%s", i->folder, number ? " of that number" : "");
        e = ERR_BAD_REQUEST;
    }
    return e;
}

enum err increment_open(const char *folder, int64_t number, struct increment **ret)
{
    enum err e = increment_new(folder, ret);

    if (!e)
        e = increment_lock(*ret, LOCK_SH);
    if (!e)
        e = open_catalogue(*ret, SQLITE_OPEN_READWRITE);
    if (!e)
        e = check_format(*ret, false);
    if (!e)
        e = choose_number(*ret, number);
    if (!e)
        e = catalogue_prepare(*ret,
                              "select name, size, parts from files where first <= ?1 and "
                              "last >= ?1 order by name",
                              &(*ret)->walk);
    if (!e)
        sqlite3_bind_int64((*ret)->walk, 1, (*ret)->number);
    return e;
}

enum err increment_next(struct increment *i, struct archive_entry *ret, bool *ret_more)
{
    int code = sqlite3_step(i->walk);

    *ret_more = code == SQLITE_ROW;
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? OK : catalogue_failed(i);
    const char *name = (const char *)sqlite3_column_text(i->walk, 0);
    ret->size = sqlite3_column_int64(i->walk, 1);
    if (!name || strlen(name) >= sizeof ret->name)
        return increment_damaged(i, "a name is too long:", name ? name : "");
    strcpy(ret->name, name);
    return OK;
}

/* Into i->piece; its length, or -1 after a line in the log. */
static ssize_t read_object(struct increment *i, const unsigned char *sum)
{
    char path[PATH_MAX + SUM_TEXT + 32];
    unsigned char got[SUM];

    object_path(i, sum, path, sizeof path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read_piece(fd, i->piece, MOST + 1);
    if (fd >= 0)
        close(fd);
    if (n >= 0)
        crypto_generichash(got, sizeof got, (const unsigned char *)i->piece, (size_t)n, NULL, 0);
    if (n >= 0 && memcmp(got, sum, SUM) == 0)
        return n;
    increment_damaged(i, n < 0 ? "it lacks" : "the bytes are not those that were saved in", path);
    return -1;
}

enum err increment_take(struct increment *i, const struct archive_entry *entry, int fd)
{
    const unsigned char *parts = sqlite3_column_blob(i->walk, 2);
    int n = sqlite3_column_bytes(i->walk, 2);
    int64_t size = 0;

    for (int at = 0; at + SUM <= n; at += SUM) {
        ssize_t got = read_object(i, parts + at);

        if (got < 0)
            return ERR_BAD_REQUEST;
        if (fd >= 0 && !put_all(fd, i->piece, (size_t)got))
            return increment_failed("write", entry->name);
        size += got;
    }
    if (size != entry->size)
        return increment_damaged(i, "pieces are missing of", entry->name);
    i->files++;
    i->bytes += size;
    return OK;
}

static enum err check_object(struct increment *i, const char *path, const unsigned char *sum)
{
    (void)path;
    return read_object(i, sum) < 0 ? ERR_BAD_REQUEST : OK;
}

static enum err check_part(struct increment *i, const char *name, const unsigned char *sum)
{
    char path[PATH_MAX + SUM_TEXT + 32];

    object_path(i, sum, path, sizeof path);
    return access(path, R_OK) == 0 ? OK : increment_damaged(i, "a piece is missing of", name);
}

enum err increment_check_all(struct increment *i)
{
    int64_t faults = 0;
    enum err e = catalogue_ask(i,
                               "select count(*) from pragma_integrity_check "
                               "where integrity_check <> 'ok'",
                               0, 0, &faults);

    if (!e && faults)
        e = increment_damaged(i, "it has faults:", "catalogue.db");
    if (!e)
        e = walk_objects(i, check_object);
    if (!e)
        e = walk_parts(i, check_part);
    return e;
}
