#include "api/metrics/exposition.h"

#include <inttypes.h>

enum { FIRST_BUCKET_US = 16, LAST_BUCKET_US = 1 << 25 };

void exposition_family(struct buf *to, const char *name, const char *type, const char *help) {
    buf_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void exposition_label(struct buf *labels, const char *name, struct bytes value) {
    if (labels->size != 0)
        buf_byte(labels, ',');
    buf_printf(labels, "%s=\"", name);
    for (size_t i = 0; i < value.size; i++) {
        uint8_t c = value.data[i];
        if (c == '\\' || c == '"')
            buf_byte(labels, '\\');
        if (c == '\n')
            buf_lit(labels, "\\n");
        else if (c >= ' ' && c < 0x7f)
            buf_byte(labels, c);
        else
            buf_byte(labels, '?');
    }
    buf_byte(labels, '"');
}

static void put_name(struct buf *to, const char *name, const char *suffix, struct bytes labels) {
    buf_printf(to, "%s%s", name, suffix);
    if (labels.size != 0)
        buf_printf(to, "{%.*s}", BYTES_ARG(labels));
    buf_byte(to, ' ');
}

void exposition_uint(struct buf *to, const char *name, struct bytes labels, uint64_t value) {
    put_name(to, name, "", labels);
    buf_printf(to, "%" PRIu64 "\n", value);
}

void exposition_double(struct buf *to, const char *name, struct bytes labels, double value) {
    put_name(to, name, "", labels);
    buf_printf(to, "%.9g\n", value);
}

static void put_bucket_name(struct buf *to, const char *name, struct bytes labels) {
    buf_printf(to, "%s_bucket{%.*s%sle=", name, BYTES_ARG(labels), labels.size != 0 ? "," : "");
}

void exposition_histogram(struct buf *to, const char *name, struct bytes labels,
                          const struct durations_sums *sums) {
    for (uint64_t us = FIRST_BUCKET_US; us <= LAST_BUCKET_US; us *= 2) {
        put_bucket_name(to, name, labels);
        buf_printf(to, "\"%.9g\"} %" PRIu64 "\n", (double)us / 1e6, durations_below(sums, us));
    }
    put_bucket_name(to, name, labels);
    buf_printf(to, "\"+Inf\"} %" PRIu64 "\n", sums->count);
    put_name(to, name, "_sum", labels);
    buf_printf(to, "%.6f\n", (double)sums->sum_us / 1e6);
    put_name(to, name, "_count", labels);
    buf_printf(to, "%" PRIu64 "\n", sums->count);
}
