/* archive.c - the folder of an archive: lists of JSON lines, files, the journal and the report. */
#include "tools/copy/archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "json/write.h"
#include "tools/copy/archive/json_members.h"

enum { MAX_LINE = 64 * 1024 * 1024, TAIL_BYTES = 64 * 1024 };

/* --- paths ------------------------------------------------------------------------------- */

void guild_archive_format_path(const struct guild_archive *a, char ret[1200], const char *format,
                               ...)
{
    int n = snprintf(ret, 1200, "%s/", a->folder);
    va_list args;

    va_start(args, format);
    vsnprintf(ret + n, 1200 - (size_t)n, format, args);
    va_end(args);
}

bool guild_archive_make_folders(const char *path)
{
    char folder[1300];

    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

static int open_for_append(const struct guild_archive *a, const char *name, int flags)
{
    char path[1200];

    guild_archive_format_path(a, path, "%s", name);
    return guild_archive_make_folders(path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600)
                                            : -1;
}

/* --- journal ------------------------------------------------------------------------------ */

static void record_finished_archive_step(struct guild_archive *a, struct str step)
{
    struct str *name = arena_alloc(a->names, sizeof *name);

    *name = str_dup(a->names, step);
    map_set_value(&a->done, hash_str(*name), name);
}

static bool read_journal_line(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    (void)next_offset, (void)arena;
    record_finished_archive_step(arg, line);
    return true;
}

bool guild_archive_open(struct guild_archive *a, const char *folder)
{
    struct stat st;

    *a = (struct guild_archive){ .journal = -1, .not_taken = -1, .names = arena_new() };
    snprintf(a->folder, sizeof a->folder, "%s", folder);
    pthread_mutex_init(&a->lock, NULL);
    map_init(&a->done);
    a->journal = open_for_append(a, "journal", O_APPEND);
    if (a->journal < 0 || flock(a->journal, LOCK_EX | LOCK_NB) != 0) {
        fprintf(stderr, "guildhall: cannot use the archive '%s': %s\n", folder,
                errno == EWOULDBLOCK ? "another process uses it" : strerror(errno));
        return false;
    }
    a->resumed = fstat(a->journal, &st) == 0 && st.st_size > 0;
    a->not_taken = open_for_append(a, "not-taken.jsonl", O_APPEND | (a->resumed ? 0 : O_TRUNC));
    return a->not_taken >= 0 && guild_archive_for_each_line(a, "journal", 0, read_journal_line, a);
}

void guild_archive_close(struct guild_archive *a)
{
    if (a->journal >= 0)
        close(a->journal);
    if (a->not_taken >= 0)
        close(a->not_taken);
    map_clear(&a->done);
    pthread_mutex_destroy(&a->lock);
    arena_free(a->names);
}

bool guild_archive_clear_journal(struct guild_archive *a)
{
    pthread_mutex_lock(&a->lock);
    map_clear(&a->done);
    map_init(&a->done);
    bool ok = ftruncate(a->journal, 0) == 0 && fsync(a->journal) == 0;
    pthread_mutex_unlock(&a->lock);
    return ok;
}

bool guild_archive_download_step_is_done(struct guild_archive *a, const char *step)
{
    pthread_mutex_lock(&a->lock);
    const struct str *name = map_find_value(&a->done, hash_str(str_of(step)));
    bool is_done = name && str_is(*name, step);
    pthread_mutex_unlock(&a->lock);
    return is_done;
}

bool guild_archive_mark_download_step_done(struct guild_archive *a, const char *step)
{
    char line[400];
    int n = snprintf(line, sizeof line, "%s\n", step);

    pthread_mutex_lock(&a->lock);
    record_finished_archive_step(a, str_of(step));
    bool ok = write_all_bytes(a->journal, str_slice(line, (size_t)n));
    pthread_mutex_unlock(&a->lock);
    return ok;
}

void guild_archive_add_report_line(struct guild_archive *a, const char *what, const char *why)
{
    struct buf line;
    struct json_writer j = json_writer_to_buf(&line);

    buf_init(&line, 4096);
    json_begin_object(&j);
    json_write_name(&j, "what");
    json_write_text(&j, str_of(what));
    json_write_name(&j, "why");
    json_write_text(&j, str_of(why));
    json_end_object(&j);
    buf_add_char(&line, '\n');
    pthread_mutex_lock(&a->lock);
    write_all_bytes(a->not_taken, buf_as_str(&line));
    a->not_taken_count++;
    pthread_mutex_unlock(&a->lock);
    buf_clear(&line);
}

/* --- lists --------------------------------------------------------------------------------- */

bool guild_archive_write_lines(const struct guild_archive *a, const char *name, struct str lines)
{
    char path[1200], partial[1210];

    guild_archive_format_path(a, path, "%s", name);
    snprintf(partial, sizeof partial, "%s.part", path);
    int fd = guild_archive_make_folders(path)
                 ? open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                 : -1;
    bool ok = fd >= 0 && write_all_bytes(fd, lines);
    if (fd >= 0)
        close(fd);
    ok = ok && rename(partial, path) == 0;
    if (!ok)
        fprintf(stderr, "guildhall: cannot write '%s': %s\n", path, strerror(errno));
    return ok;
}

/* Returns the offset of the line that contains `end`: the offset after the last line break before
 * `end`, or 0. */
static off_t find_line_start(int fd, off_t end)
{
    char bytes[TAIL_BYTES];

    while (end > 0) {
        off_t from = end > TAIL_BYTES ? end - TAIL_BYTES : 0;
        ssize_t n = pread(fd, bytes, (size_t)(end - from), from);
        const char *at = n > 0 ? memrchr(bytes, '\n', (size_t)n) : NULL;

        if (at)
            return from + (at - bytes) + 1;
        end = from;
    }
    return 0;
}

/* Reads the id in the line from offset `start` to `end`. Returns 0 if the line has none. */
static snowflake read_line_id(int fd, off_t start, off_t end, const char *id)
{
    struct buf line;

    buf_init(&line, MAX_LINE);
    char *bytes = buf_reserve(&line, (size_t)(end - start));
    bool ok = bytes && pread(fd, bytes, (size_t)(end - start), start) == end - start;
    line.n = ok ? (size_t)(end - start) : 0;
    struct str object = buf_as_str(&line);
    if (str_is(str_of(id), "user"))
        object = json_member_get_raw_text(object, "user");
    snowflake found = json_member_get_id(object, "id");
    buf_clear(&line);
    return found;
}

/* Removes an incomplete last line and reads the id of the last complete line. */
static bool read_id_of_last_complete_line(struct guild_archive_line_file *l, const char *id)
{
    struct stat st;

    if (fstat(l->fd, &st) != 0)
        return false;
    off_t end = find_line_start(l->fd, st.st_size);
    if (ftruncate(l->fd, end) != 0 || lseek(l->fd, end, SEEK_SET) != end)
        return false;
    if (end == 0)
        return true;
    l->last = read_line_id(l->fd, find_line_start(l->fd, end - 1), end, id);
    return l->last;
}

bool guild_archive_line_file_find_offset_of_id(const struct guild_archive_line_file *l,
                                               snowflake since, off_t *ret_offset,
                                               snowflake *ret_before)
{
    struct stat st;

    if (fstat(l->fd, &st) != 0)
        return false;
    *ret_offset = st.st_size;
    *ret_before = 0;
    while (*ret_offset > 0) {
        off_t start = find_line_start(l->fd, *ret_offset - 1);

        *ret_before = read_line_id(l->fd, start, *ret_offset, "id");
        if (*ret_before < since)
            return true;
        *ret_offset = start;
        *ret_before = 0;
    }
    return true;
}

bool guild_archive_line_file_truncate(struct guild_archive_line_file *l, off_t offset)
{
    return ftruncate(l->fd, offset) == 0 && lseek(l->fd, offset, SEEK_SET) == offset;
}

bool guild_archive_line_file_open(const struct guild_archive *a, const char *name, const char *id,
                                  struct guild_archive_line_file *ret)
{
    *ret = (struct guild_archive_line_file){ .fd = open_for_append(a, name, 0) };
    bool ok = ret->fd >= 0 && read_id_of_last_complete_line(ret, id);

    if (!ok)
        fprintf(stderr, "guildhall: cannot use '%s/%s': %s\n", a->folder, name,
                errno ? strerror(errno) : "its last line has no id");
    return ok;
}

bool guild_archive_line_file_append(struct guild_archive_line_file *l, struct str lines)
{
    bool ok = write_all_bytes(l->fd, lines);

    if (!ok)
        fprintf(stderr, "guildhall: cannot write to the archive: %s\n", strerror(errno));
    return ok;
}

void guild_archive_line_file_close(struct guild_archive_line_file *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

/* --- reading --------------------------------------------------------------------------------- */

bool guild_archive_for_each_line(const struct guild_archive *a, const char *name, int64_t offset,
                                 guild_archive_line_callback *found, void *arg)
{
    char path[1200], *line = NULL;
    size_t capacity = 0;
    ssize_t n;

    guild_archive_format_path(a, path, "%s", name);
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT;
    struct arena *arena = arena_new();
    bool more = fseeko(f, (off_t)offset, SEEK_SET) == 0;
    while (more && (n = getline(&line, &capacity, f)) > 0 && line[n - 1] == '\n') {
        offset += n;
        more = found(arg, str_slice(line, (size_t)n - 1), offset, arena);
        arena_reset(arena);
    }
    bool ok = !ferror(f);
    arena_free(arena);
    free(line); // NOLINT: getline allocates it
    fclose(f);
    return ok;
}

static bool count_line_of_archive_file(void *arg, struct str line, int64_t next_offset,
                                       struct arena *arena)
{
    (void)line, (void)next_offset, (void)arena;
    ++*(int64_t *)arg;
    return true;
}

int64_t guild_archive_count_lines(const struct guild_archive *a, const char *name)
{
    int64_t count = 0;

    guild_archive_for_each_line(a, name, 0, count_line_of_archive_file, &count);
    return count;
}
