/* log.c - log messages for the operator. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/timestamp.h"

enum { MAX_LINE_BYTES = 4096 };

static struct {
    int fd;
    _Atomic enum log_level least;
    int json;
    int sentences; /* log_use_sentence_format */
    int coloured;  /* whether fd is a terminal */
    int journal;   /* whether fd is systemd's journal; then each line starts with a priority */
} out = { .fd = STDERR_FILENO, .least = LOG_INFO };

/* JOURNAL_STREAM contains device and inode of the stream that systemd opened. Compare them with
 * device and inode of fd, because a child process inherits the variable even if it writes to
 * another file. */
static int is_systemd_journal(int fd)
{
    const char *stream = getenv("JOURNAL_STREAM");
    char stream_id[64];
    struct stat s;

    if (!stream || fstat(fd, &s) != 0)
        return 0;
    snprintf(stream_id, sizeof stream_id, "%llu:%llu", (unsigned long long)s.st_dev,
             (unsigned long long)s.st_ino);
    return strcmp(stream_id, stream) == 0;
}

void log_init(int fd, enum log_level least, int json)
{
    out.fd = fd;
    out.least = least;
    out.json = json;
    out.coloured = isatty(fd);
    out.journal = is_systemd_journal(fd);
}

void log_use_sentence_format(void)
{
    out.sentences = 1;
}

enum log_level log_level(void)
{
    return atomic_load_explicit(&out.least, memory_order_relaxed);
}

enum log_level log_level_from_name(const char *name)
{
    static const char *const words[] = { "debug", "info", "warn", "error", "off" };

    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
        if (strcmp(name, words[i]) == 0)
            return (enum log_level)i;
    return LOG_INFO;
}

void log_set_level(enum log_level least)
{
    out.least = least;
}

static void append_json_escaped(struct buf *b, const char *z)
{
    for (; *z; z++) {
        unsigned char c = (unsigned char)*z;

        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c < 0x20)
            buf_printf(b, "\\u%04x", c);
        else
            buf_add_char(b, (char)c);
    }
}

/* Returns the message without its area: "store: it is full" becomes "it is full". */
static const char *skip_area_of_log_message(const char *message)
{
    size_t n = strspn(message, "abcdefghijklmnopqrstuvwxyz");

    return n && strncmp(message + n, ": ", 2) == 0 ? message + n + 2 : message;
}

static void format_log_line(struct buf *b, enum log_level level, const char *message)
{
    static const char *const names[] = { "debug", "info", "warn", "error" };
    static const char *const colours[] = { "\033[2m", "\033[32m", "\033[33m", "\033[31m" };
    static const char *const priorities[] = { "<7>", "<6>", "<4>", "<3>" }; /* sd-daemon(3) */
    char when[TIMESTAMP_TEXT_SIZE];

    if (out.journal)
        buf_add(b, priorities[level], 3);
    if (out.sentences) {
        buf_printf(b, "guildhall: %s\n", skip_area_of_log_message(message));
        return;
    }
    timestamp_format(clock_us(), when);
    if (out.json) {
        buf_printf(b, "{\"time\":\"%s\",\"level\":\"%s\",\"message\":\"", when, names[level]);
        append_json_escaped(b, message);
        buf_add_lit(b, "\"}\n");
    } else {
        buf_printf(b, "%.12s %s%-5s%s %s\n", when + 11, out.coloured ? colours[level] : "",
                   names[level], out.coloured ? "\033[0m" : "", message);
    }
}

void log_write(enum log_level level, const char *fmt, ...)
{
    if (level < log_level())
        return;

    char message[MAX_LINE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);

    struct buf line;
    buf_init(&line, MAX_LINE_BYTES * 7);
    format_log_line(&line, level, message);
    /* Write each line with one call, so that lines of different threads do not mix. */
    ssize_t n = write(out.fd, line.p, line.n);
    (void)n;
    buf_clear(&line);
}
