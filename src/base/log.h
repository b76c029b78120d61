/* The log: one line an event, to standard error. Any thread. Only cli/, api/ and net/ log; what
 * stands below returns what happened. */
#ifndef GT_BASE_LOG_H
#define GT_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_settings {
    enum log_level level; /* less than this is not written */
    bool json;            /* {"time":...,"level":...,"event":...} instead of plain text */
};

/* Before any other thread starts. */
void log_setup(struct log_settings settings);

/* printf-like; no newline at the end. Control characters are written as spaces. */
void log_write(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

#endif
