/* log.h - log messages for the operator.
 *
 * Each message is one line: coloured on a terminal, plain in a file, or a JSON object. The form of
 * a message is "area: what happened". Never log tokens, passwords or bodies; log ids. All functions
 * may be called from any thread. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };

/* Sets the output file, the minimum level, and whether lines are JSON objects. Call it before
 * threads start. */
void log_init(int fd, enum log_level least, int json);
/* Writes messages as sentences for a person: "guildhall: what happened", without time, level and
 * area. For the command-line tools, not for the server. */
void log_use_sentence_format(void);
enum log_level log_level(void);
/* Returns the log level with this name, or LOG_INFO if the name is unknown. */
enum log_level log_level_from_name(const char *name);
/* Sets the minimum level; may be called from any thread. */
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
