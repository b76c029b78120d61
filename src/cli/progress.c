#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 30, EVERY_US = 100000 };

void progress_start(struct progress *progress, const char *what, const char *unit) {
    *progress = (struct progress){.what = what, .unit = unit, .started_us = clock_ticks_us()};
    progress->shown = isatty(STDERR_FILENO) == 1;
}

static void draw_bar(const struct progress *progress, uint64_t done, uint64_t total,
                     int64_t now_us) {
    double seconds = (double)(now_us - progress->started_us) / 1e6;
    double rate = seconds > 0 ? (double)done / seconds : 0;
    double part = total > 0 ? (double)done / (double)total : 0;
    char bar[WIDTH + 1];
    int full = part >= 1 ? WIDTH : (int)(part * WIDTH);
    memset(bar, '#', (size_t)full);
    memset(bar + full, '.', (size_t)(WIDTH - full));
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r%s [%s] %3.0f%% %llu %s, %.0f a second", progress->what, bar,
            part > 1 ? 100 : part * 100, (unsigned long long)done, progress->unit, rate);
    if (rate > 0 && total > done)
        fprintf(stderr, ", %.0f s left ", (double)(total - done) / rate);
    fputs("\033[K", stderr);
}

void progress_show(struct progress *progress, uint64_t done, uint64_t total) {
    int64_t now_us = clock_ticks_us();
    if (!progress->shown || now_us - progress->drawn_us < EVERY_US)
        return;
    progress->drawn_us = now_us;
    draw_bar(progress, done, total, now_us);
}

void progress_end(struct progress *progress, uint64_t done) {
    if (!progress->shown)
        return;
    draw_bar(progress, done, done == 0 ? 1 : done, clock_ticks_us());
    fputc('\n', stderr);
}
