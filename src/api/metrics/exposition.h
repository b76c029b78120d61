/* Prometheus' text format, version 0.0.4: families of samples, each with its help and type.
 *
 *     exposition_family(to, "gametable_commits_total", "counter", "Commits since the start.");
 *     exposition_uint(to, "gametable_commits_total", "", 12);
 *
 * Labels are written by exposition_labels() into a text that the samples take. What is not text
 * that a label may have is escaped.
 */
#ifndef GT_API_METRICS_EXPOSITION_H
#define GT_API_METRICS_EXPOSITION_H

#include "base/buf.h"
#include "base/durations.h"

void exposition_family(struct buf *to, const char *name, const char *type, const char *help);
/* Appends name="value" to `labels`, with a comma if it is not the first. */
void exposition_label(struct buf *labels, const char *name, struct bytes value);
void exposition_uint(struct buf *to, const char *name, struct bytes labels, uint64_t value);
void exposition_double(struct buf *to, const char *name, struct bytes labels, double value);
/* Buckets by powers of two from 16 microseconds to 33 seconds, count and sum, in seconds. */
void exposition_histogram(struct buf *to, const char *name, struct bytes labels,
                          const struct durations_sums *sums);

#endif
