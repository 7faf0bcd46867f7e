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
#include "store/backup/paced.h"

enum { SUM = crypto_generichash_BYTES, SUM_TEXT = ARCHIVE_SUM, LINE = ARCHIVE_NAME + 64 };

static const char FIRST_LINE[] = "guildhall backup 1\n";

static enum err archive_failed(const struct archive *a, const char *verb)
{
    int code = errno;

    log_error("backup: cannot %s '%s': %s", verb, a->path, strerror(code));
    return code == ENOSPC || code == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static enum err archive_damaged(const struct archive *a, const char *why)
{
    log_error("backup: '%s' is incomplete or damaged: %s (after %" PRId64 " files, %" PRId64
              " bytes)",
              a->path, why, a->files, a->bytes);
    return ERR_BAD_REQUEST;
}

static void sum_init(crypto_generichash_state *sum)
{
    crypto_generichash_init(sum, NULL, 0, SUM);
}

static void sum_add(crypto_generichash_state *sum, const char *p, size_t n)
{
    crypto_generichash_update(sum, (const unsigned char *)p, n);
}

static void sum_text(crypto_generichash_state *sum, char text[SUM_TEXT])
{
    unsigned char bytes[SUM];

    crypto_generichash_final(sum, bytes, sizeof bytes);
    sodium_bin2hex(text, SUM_TEXT, bytes, sizeof bytes);
}

static void archive_init(struct archive *a, const char *path, int fd, const char *mode)
{
    *a = (struct archive){ .path = path, .f = fd < 0 ? NULL : fdopen(fd, mode) };
    a->piece = mem_new(ARCHIVE_PIECE);
    sum_init(&a->lines);
}

void archive_close(struct archive *a)
{
    if (a->f)
        fclose(a->f);
    mem_free(a->piece);
    *a = (struct archive){ 0 };
}

static enum err archive_write_out(struct archive *a)
{
    int64_t bytes = a->unwritten;

    a->unwritten = 0;
    return fflush(a->f) == 0 && paced_write_out(fileno(a->f), bytes) ? OK
                                                                     : archive_failed(a, "write");
}

static enum err archive_put(struct archive *a, const char *p, size_t n)
{
    if (fwrite(p, 1, n, a->f) != n)
        return archive_failed(a, "write");
    a->unwritten += (int64_t)n;
    return a->unwritten < PACED_BYTES ? OK : archive_write_out(a);
}

static enum err archive_put_line(struct archive *a, const char *line)
{
    sum_add(&a->lines, line, strlen(line));
    return archive_put(a, line, strlen(line));
}

enum err archive_create(struct archive *a, const char *path)
{
    if (strcmp(path, "-") == 0)
        archive_init(a, "standard output", fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "wb");
    else
        archive_init(a, path, open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), "w+b");
    if (!a->f)
        return archive_failed(a, "create");
    return archive_put_line(a, FIRST_LINE);
}

static enum err put_bytes(struct archive *a, const char *name, int fd, int64_t size,
                          crypto_generichash_state *sum)
{
    enum err e = OK;

    for (int64_t left = size; !e && left > 0;) {
        ssize_t n = read(fd, a->piece, left < ARCHIVE_PIECE ? (size_t)left : ARCHIVE_PIECE);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            log_error("backup: cannot read all of '%s'", name);
            return ERR_UNAVAILABLE;
        }
        sum_add(sum, a->piece, (size_t)n);
        e = archive_put(a, a->piece, (size_t)n);
        left -= n;
    }
    return e;
}

static enum err put_head(struct archive *a, const char *name, int64_t size)
{
    char line[LINE];

    if (snprintf(line, sizeof line, "file %" PRId64 " %s\n", size, name) >= (int)sizeof line ||
        strlen(name) >= ARCHIVE_NAME)
        return archive_damaged(a, "a name is too long");
    return archive_put_line(a, line);
}

static enum err put_sum(struct archive *a, int64_t size, crypto_generichash_state *sum)
{
    char line[LINE];

    sum_text(sum, a->sum);
    snprintf(line, sizeof line, "\nsum %s\n", a->sum);
    a->files++;
    a->bytes += size;
    return archive_put_line(a, line);
}

enum err archive_add(struct archive *a, const char *name, int fd, int64_t size)
{
    crypto_generichash_state sum;

    sum_init(&sum);
    enum err e = put_head(a, name, size);
    if (!e)
        e = put_bytes(a, name, fd, size, &sum);
    return e ? e : put_sum(a, size, &sum);
}

enum err archive_mark(struct archive *a, const char *name)
{
    char line[LINE];

    snprintf(line, sizeof line, "damaged %s\n", name);
    a->damaged++;
    return archive_put_line(a, line);
}

enum err archive_begin(struct archive *a, const char *name, int64_t size, int *ret_fd,
                       int64_t *ret_at)
{
    enum err e = put_head(a, name, size);

    if (!e)
        e = archive_write_out(a);
    if (e)
        return e;
    a->room = size;
    a->room_at = *ret_at = ftello(a->f);
    *ret_fd = fileno(a->f);
    return OK;
}

/* Computes the checksum of the bytes that the caller wrote. Most of them are in the page cache; the
 * pauses leave CPU time to the server. */
static enum err sum_room(struct archive *a, crypto_generichash_state *sum)
{
    for (int64_t done = 0; done < a->room;) {
        int64_t left = a->room - done, began = paced_now();
        ssize_t n = pread(fileno(a->f), a->piece,
                          left < ARCHIVE_PIECE ? (size_t)left : ARCHIVE_PIECE, a->room_at + done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return archive_failed(a, "read");
        sum_add(sum, a->piece, (size_t)n);
        done += n;
        paced_rest(began);
    }
    return OK;
}

enum err archive_end(struct archive *a)
{
    crypto_generichash_state sum;

    sum_init(&sum);
    enum err e = sum_room(a, &sum);
    if (!e && fseeko(a->f, a->room_at + a->room, SEEK_SET) != 0)
        e = archive_failed(a, "write");
    return e ? e : put_sum(a, a->room, &sum);
}

enum err archive_finish(struct archive *a)
{
    char line[LINE], text[SUM_TEXT];

    sum_text(&a->lines, text);
    snprintf(line, sizeof line, "end %" PRId64 " %" PRId64 " %s\n", a->files, a->bytes, text);
    enum err e = archive_put(a, line, strlen(line));
    /* fsync of a pipe fails with EINVAL, which is no error. */
    if (!e && (fflush(a->f) != 0 || (fsync(fileno(a->f)) != 0 && errno != EINVAL)))
        e = archive_failed(a, "write");
    return e;
}

/* Reads a line including its newline. Does not add it to the checksum. */
static bool read_line(struct archive *a, char line[LINE])
{
    return fgets(line, LINE, a->f) && strchr(line, '\n');
}

enum err archive_open(struct archive *a, const char *path)
{
    char line[LINE];

    if (strcmp(path, "-") == 0)
        archive_init(a, "standard input", fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), "rb");
    else
        archive_init(a, path, open(path, O_RDONLY | O_CLOEXEC), "rb");
    if (!a->f)
        return archive_failed(a, "read");
    if (!read_line(a, line) || strcmp(line, FIRST_LINE) != 0) {
        log_error("backup: '%s' is not a backup, or its format is unknown", a->path);
        return ERR_BAD_REQUEST;
    }
    sum_add(&a->lines, line, strlen(line));
    return OK;
}

static enum err check_end(struct archive *a, const char *line)
{
    char expected[LINE], text[SUM_TEXT];

    sum_text(&a->lines, text);
    snprintf(expected, sizeof expected, "end %" PRId64 " %" PRId64 " %s\n", a->files, a->bytes,
             text);
    if (strcmp(line, expected) != 0)
        return archive_damaged(
            a, "the counts or the checksum in the last line do not match the content");
    return fgetc(a->f) == EOF ? OK : archive_damaged(a, "there is data after the last line");
}

static bool read_head(const char *line, struct archive_entry *ret)
{
    int at = 0;

    if (sscanf(line, "file %" SCNd64 " %n", &ret->size, &at) != 1 || !at || ret->size < 0 ||
        strlen(line + at) >= sizeof ret->name || !line[at])
        return false;
    strcpy(ret->name, line + at);
    return true;
}

enum err archive_next(struct archive *a, struct archive_entry *ret, bool *ret_more)
{
    char line[LINE];

    while (read_line(a, line) && strncmp(line, "damaged ", 8) == 0) {
        sum_add(&a->lines, line, strlen(line));
        a->damaged++;
        log_error("backup: this file was damaged or missing when the backup was made: %.*s",
                  (int)strcspn(line + 8, "\n"), line + 8);
    }
    if (feof(a->f) || ferror(a->f))
        return archive_damaged(a, "the last line is missing");
    *ret_more = strncmp(line, "end ", 4) != 0;
    if (!*ret_more)
        return check_end(a, line);
    sum_add(&a->lines, line, strlen(line));
    a->next_at = ftello(a->f);
    line[strcspn(line, "\n")] = '\0';
    return read_head(line, ret) ? OK : archive_damaged(a, "a line has an unknown format");
}

bool archive_skip(struct archive *a, struct archive_entry *ret)
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
        if (!read_head(line, ret))
            continue;
        a->next_at = ftello(a->f);
        return true;
    }
    return false;
}

static enum err write_piece(const char *name, int fd, const char *p, size_t n)
{
    if (write_all(fd, str_slice(p, n)))
        return OK;
    log_error("backup: cannot write '%s': %s", name, strerror(errno));
    return errno == ENOSPC || errno == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static enum err check_sum(struct archive *a, crypto_generichash_state *sum)
{
    char line[LINE], expected[LINE];

    sum_text(sum, a->sum);
    snprintf(expected, sizeof expected, "sum %s\n", a->sum);
    if (fgetc(a->f) != '\n' || !read_line(a, line))
        return archive_damaged(a, "the last line is missing");
    sum_add(&a->lines, "\n", 1);
    sum_add(&a->lines, line, strlen(line));
    return strcmp(line, expected) == 0 ? OK : ERR_FILE_DAMAGED;
}

enum err archive_take(struct archive *a, const struct archive_entry *entry, int fd)
{
    crypto_generichash_state sum;
    enum err e = OK;

    sum_init(&sum);
    for (int64_t left = entry->size; !e && left > 0;) {
        size_t n = fread(a->piece, 1, left < ARCHIVE_PIECE ? (size_t)left : ARCHIVE_PIECE, a->f);

        if (n == 0)
            return archive_damaged(a, "it ends in the middle of a file");
        sum_add(&sum, a->piece, n);
        left -= (int64_t)n;
        if (fd >= 0)
            e = write_piece(entry->name, fd, a->piece, n);
    }
    if (!e)
        e = check_sum(a, &sum);
    if (!e || e == ERR_FILE_DAMAGED) {
        a->files++;
        a->bytes += entry->size;
    }
    return e;
}
