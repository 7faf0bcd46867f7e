/* log.h - what the operator reads.
 *
 * One line per message: coloured words on a terminal, plain ones in a file, a JSON object
 * otherwise. "area: what happened" is the form of a message. Tokens, passwords and bodies never go
 * in: log ids. Safe from every thread. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };

/* Where and how much; json: one object a line. Before threads start. */
void log_init(int fd, enum log_level least, int json);
enum log_level log_level(void);
/* By its word; one that is none of them: info. */
enum log_level log_level_named(const char *name);
/* The least from now on; from any thread. */
void log_set_level(enum log_level least);

void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...)                         \
    do {                                       \
        if (log_level() <= LOG_DEBUG)          \
            log_write(LOG_DEBUG, __VA_ARGS__); \
    } while (0)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
