#include "base/log.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct log_settings current = {LOG_INFO, false};
static const char *const level_names[] = {"debug", "info", "warn", "error"};

void log_setup(struct log_settings settings) {
    current = settings;
}

static void put_time(struct buf *line) {
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    buf_printf(line, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1,
               parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
               (int)(now.tv_nsec / 1000000));
}

/* One event stays on one line whatever a client sent. */
static void put_text(struct buf *line, const char *text) {
    for (; *text != '\0'; text++) {
        uint8_t c = (uint8_t)*text;
        if (current.json && (c == '"' || c == '\\'))
            buf_byte(line, '\\');
        buf_byte(line, c < 0x20 || c == 0x7f ? ' ' : c);
    }
}

void log_write(enum log_level level, const char *format, ...) {
    if (level < current.level)
        return;
    struct buf text = {0}, line = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    buf_byte(&text, '\0');

    if (current.json)
        buf_lit(&line, "{\"time\":\"");
    put_time(&line);
    buf_printf(&line, current.json ? "\",\"level\":\"%s\",\"event\":\"" : " %-5s ",
               level_names[level]);
    put_text(&line, (const char *)text.data);
    if (current.json)
        buf_lit(&line, "\"}");
    buf_byte(&line, '\n');
    ssize_t ignored = write(STDERR_FILENO, line.data, line.size);
    (void)ignored;
    buf_release(&text);
    buf_release(&line);
}
