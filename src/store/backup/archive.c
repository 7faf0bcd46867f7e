/* archive.c - reads and writes the file format of backups (see archive.h). */
#include "store/backup/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/backup/write_pacing.h"

enum {
    SUM = crypto_generichash_BYTES,
    SUM_TEXT = ARCHIVE_CHECKSUM_SIZE,
    LINE = ARCHIVE_NAME_MAX + 64
};

static const char FIRST_LINE[] = "guildhall backup 1\n";

static enum err log_io_error(const struct backup_archive *a, const char *verb)
{
    int code = errno;

    log_error("backup: cannot %s the backup file '%s': %s", verb, a->path, strerror(code));
    return code == ENOSPC || code == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static enum err log_damaged_archive(const struct backup_archive *a, const char *why)
{
    log_error("backup: the file '%s' is incomplete or damaged: %s (after %lld files, %lld bytes)",
              a->path, why, (long long)a->files, (long long)a->bytes);
    return ERR_BAD_REQUEST;
}

static void checksum_init(crypto_generichash_state *sum)
{
    crypto_generichash_init(sum, NULL, 0, SUM);
}

static void checksum_add(crypto_generichash_state *sum, const char *p, size_t n)
{
    crypto_generichash_update(sum, (const unsigned char *)p, n);
}

static void checksum_to_hex(crypto_generichash_state *sum, char text[SUM_TEXT])
{
    unsigned char bytes[SUM];

    crypto_generichash_final(sum, bytes, sizeof bytes);
    sodium_bin2hex(text, SUM_TEXT, bytes, sizeof bytes);
}

static void archive_init(struct backup_archive *a, const char *path, int fd, const char *mode)
{
    *a = (struct backup_archive){ .path = path, .f = fd < 0 ? NULL : fdopen(fd, mode) };
    a->piece = mem_new(ARCHIVE_BUFFER_SIZE);
    checksum_init(&a->lines);
}

void backup_archive_close(struct backup_archive *a)
{
    if (a->f)
        fclose(a->f);
    mem_free(a->piece);
    *a = (struct backup_archive){ 0 };
}

static enum err flush_archive(struct backup_archive *a)
{
    int64_t bytes = a->unwritten;

    a->unwritten = 0;
    return fflush(a->f) == 0 && flush_file_and_pause(fileno(a->f), bytes)
               ? OK
               : log_io_error(a, "write");
}

static enum err write_archive_bytes(struct backup_archive *a, const char *p, size_t n)
{
    if (fwrite(p, 1, n, a->f) != n)
        return log_io_error(a, "write");
    a->unwritten += (int64_t)n;
    return a->unwritten < PACING_FLUSH_BYTES ? OK : flush_archive(a);
}

static enum err write_archive_line(struct backup_archive *a, const char *line)
{
    checksum_add(&a->lines, line, strlen(line));
    return write_archive_bytes(a, line, strlen(line));
}

enum err backup_archive_create(struct backup_archive *a, const char *path)
{
    if (strcmp(path, "-") == 0)
        archive_init(a, "standard output", fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "wb");
    else
        archive_init(a, path, open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "w+b");
    if (!a->f)
        return log_io_error(a, "create");
    return write_archive_line(a, FIRST_LINE);
}

static enum err write_file_content_to_archive(struct backup_archive *a, const char *name, int fd,
                                              int64_t size, crypto_generichash_state *sum)
{
    enum err e = OK;

    for (int64_t left = size; !e && left > 0;) {
        ssize_t n =
            read(fd, a->piece, left < ARCHIVE_BUFFER_SIZE ? (size_t)left : ARCHIVE_BUFFER_SIZE);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            log_error("backup: cannot read the file '%s' to its end", name);
            return ERR_UNAVAILABLE;
        }
        checksum_add(sum, a->piece, (size_t)n);
        e = write_archive_bytes(a, a->piece, (size_t)n);
        left -= n;
    }
    return e;
}

static enum err write_archive_file_line(struct backup_archive *a, const char *name, int64_t size)
{
    char line[LINE];

    if (snprintf(line, sizeof line, "file %" PRId64 " %s\n", size, name) >= (int)sizeof line ||
        strlen(name) >= ARCHIVE_NAME_MAX)
        return log_damaged_archive(a, "a name is too long");
    return write_archive_line(a, line);
}

static enum err write_file_checksum_line(struct backup_archive *a, int64_t size,
                                         crypto_generichash_state *sum)
{
    char line[LINE];

    checksum_to_hex(sum, a->sum);
    snprintf(line, sizeof line, "\nsum %s\n", a->sum);
    a->files++;
    a->bytes += size;
    return write_archive_line(a, line);
}

enum err backup_archive_add_file(struct backup_archive *a, const char *name, int fd, int64_t size)
{
    crypto_generichash_state sum;

    checksum_init(&sum);
    enum err e = write_archive_file_line(a, name, size);
    if (!e)
        e = write_file_content_to_archive(a, name, fd, size, &sum);
    return e ? e : write_file_checksum_line(a, size, &sum);
}

enum err backup_archive_mark_file_damaged(struct backup_archive *a, const char *name)
{
    char line[LINE];

    snprintf(line, sizeof line, "damaged %s\n", name);
    a->damaged++;
    return write_archive_line(a, line);
}

enum err backup_archive_reserve_file(struct backup_archive *a, const char *name, int64_t size,
                                     int *ret_fd, int64_t *ret_at)
{
    enum err e = write_archive_file_line(a, name, size);

    if (!e)
        e = flush_archive(a);
    if (e)
        return e;
    a->room = size;
    a->room_at = *ret_at = ftello(a->f);
    *ret_fd = fileno(a->f);
    return OK;
}

/* Computes the checksum of the bytes that the caller wrote into the archive. Pauses after each
 * buffer, to leave CPU time to the server; the disk is rarely the limit, because most of the bytes
 * are in the page cache. */
static enum err add_reserved_bytes_to_checksum(struct backup_archive *a,
                                               crypto_generichash_state *sum)
{
    for (int64_t done = 0; done < a->room;) {
        int64_t left = a->room - done, began = monotonic_ns();
        ssize_t n = pread(fileno(a->f), a->piece,
                          left < ARCHIVE_BUFFER_SIZE ? (size_t)left : ARCHIVE_BUFFER_SIZE,
                          a->room_at + done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return log_io_error(a, "read");
        checksum_add(sum, a->piece, (size_t)n);
        done += n;
        pause_for_as_long_as_work_took(began);
    }
    return OK;
}

enum err backup_archive_finish_reserved_file(struct backup_archive *a)
{
    crypto_generichash_state sum;

    checksum_init(&sum);
    enum err e = add_reserved_bytes_to_checksum(a, &sum);
    if (!e && fseeko(a->f, a->room_at + a->room, SEEK_SET) != 0)
        e = log_io_error(a, "write");
    return e ? e : write_file_checksum_line(a, a->room, &sum);
}

enum err backup_archive_finish(struct backup_archive *a)
{
    char line[LINE], text[SUM_TEXT];

    checksum_to_hex(&a->lines, text);
    snprintf(line, sizeof line, "end %" PRId64 " %" PRId64 " %s\n", a->files, a->bytes, text);
    enum err e = write_archive_bytes(a, line, strlen(line));
    /* fsync of a pipe fails with EINVAL; that is no error. */
    if (!e && (fflush(a->f) != 0 ||
               (!write_pacing_is_disabled() && fsync(fileno(a->f)) != 0 && errno != EINVAL)))
        e = log_io_error(a, "write");
    return e;
}

/* Reads a line of the archive including its newline, without adding the line to the checksum. */
static bool read_archive_line(struct backup_archive *a, char line[LINE])
{
    return fgets(line, LINE, a->f) && strchr(line, '\n');
}

enum err backup_archive_open(struct backup_archive *a, const char *path)
{
    char line[LINE];

    if (strcmp(path, "-") == 0)
        archive_init(a, "standard input", fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), "rb");
    else
        archive_init(a, path, open(path, O_RDONLY | O_CLOEXEC), "rb");
    if (!a->f)
        return log_io_error(a, "read");
    if (!read_archive_line(a, line) || strcmp(line, FIRST_LINE) != 0) {
        log_error("backup: the file '%s' is not a backup, or its format is unknown", a->path);
        return ERR_BAD_REQUEST;
    }
    checksum_add(&a->lines, line, strlen(line));
    return OK;
}

static enum err check_archive_end_line(struct backup_archive *a, const char *line)
{
    char expected[LINE], text[SUM_TEXT];

    checksum_to_hex(&a->lines, text);
    snprintf(expected, sizeof expected, "end %" PRId64 " %" PRId64 " %s\n", a->files, a->bytes,
             text);
    if (strcmp(line, expected) != 0)
        return log_damaged_archive(
            a, "the counts or the checksum in the last line do not match the content");
    return fgetc(a->f) == EOF ? OK : log_damaged_archive(a, "there is data after the last line");
}

static bool parse_archive_file_line(const char *line, struct backup_archive_file_header *ret)
{
    int at = 0;

    if (sscanf(line, "file %" SCNd64 " %n", &ret->size, &at) != 1 || !at || ret->size < 0 ||
        strlen(line + at) >= sizeof ret->name || !line[at])
        return false;
    strcpy(ret->name, line + at);
    return true;
}

enum err backup_archive_read_next_file_header(struct backup_archive *a,
                                              struct backup_archive_file_header *ret,
                                              bool *ret_more)
{
    char line[LINE];

    while (read_archive_line(a, line) && strncmp(line, "damaged ", 8) == 0) {
        checksum_add(&a->lines, line, strlen(line));
        a->damaged++;
        log_error("backup: this file was damaged or missing when the backup was made: %.*s",
                  (int)strcspn(line + 8, "\n"), line + 8);
    }
    if (feof(a->f) || ferror(a->f))
        return log_damaged_archive(a, "the last line is missing");
    *ret_more = strncmp(line, "end ", 4) != 0;
    if (!*ret_more)
        return check_archive_end_line(a, line);
    checksum_add(&a->lines, line, strlen(line));
    a->next_at = ftello(a->f);
    line[strcspn(line, "\n")] = '\0';
    return parse_archive_file_line(line, ret)
               ? OK
               : log_damaged_archive(a, "a line has an unknown format");
}

bool backup_archive_find_next_file_header(struct backup_archive *a,
                                          struct backup_archive_file_header *ret)
{
    char line[LINE];
    size_t n = 0;
    int c;

    clearerr(a->f);
    if (a->next_at >= 0 && fseeko(a->f, a->next_at, SEEK_SET) != 0)
        return false;
    while ((c = getc_unlocked(a->f)) != EOF) {
        if (c != '\n') {
            line[n < LINE - 1 ? n : 0] = (char)c;
            n++;
            continue;
        }
        line[n < LINE - 1 ? n : 0] = '\0';
        n = 0;
        if (!parse_archive_file_line(line, ret))
            continue;
        a->next_at = ftello(a->f);
        return true;
    }
    return false;
}

static enum err write_extracted_bytes(const char *name, int fd, const char *p, size_t n)
{
    if (write_all_bytes(fd, str_slice(p, n)))
        return OK;
    log_error("backup: cannot write the restored file '%s': %s", name, strerror(errno));
    return errno == ENOSPC || errno == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static enum err check_file_checksum_line(struct backup_archive *a, crypto_generichash_state *sum)
{
    char line[LINE], expected[LINE];

    checksum_to_hex(sum, a->sum);
    snprintf(expected, sizeof expected, "sum %s\n", a->sum);
    if (fgetc(a->f) != '\n' || !read_archive_line(a, line))
        return log_damaged_archive(a, "the last line is missing");
    checksum_add(&a->lines, "\n", 1);
    checksum_add(&a->lines, line, strlen(line));
    return strcmp(line, expected) == 0 ? OK : ERR_FILE_DAMAGED;
}

enum err backup_archive_extract_file(struct backup_archive *a,
                                     const struct backup_archive_file_header *entry, int fd)
{
    crypto_generichash_state sum;
    enum err e = OK;

    checksum_init(&sum);
    for (int64_t left = entry->size; !e && left > 0;) {
        size_t n = fread(a->piece, 1,
                         left < ARCHIVE_BUFFER_SIZE ? (size_t)left : ARCHIVE_BUFFER_SIZE, a->f);

        if (n == 0)
            return log_damaged_archive(a, "it ends in the middle of a file");
        checksum_add(&sum, a->piece, n);
        left -= (int64_t)n;
        if (fd >= 0)
            e = write_extracted_bytes(entry->name, fd, a->piece, n);
    }
    if (!e)
        e = check_file_checksum_line(a, &sum);
    if (!e || e == ERR_FILE_DAMAGED) {
        a->files++;
        a->bytes += entry->size;
    }
    return e;
}
