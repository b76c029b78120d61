/* Files that were built into the program (tools/embed). */
#ifndef GT_API_PAGES_EMBEDDED_H
#define GT_API_PAGES_EMBEDDED_H

struct embedded {
    const char *path; /* "/assets/x.js"; NULL ends the list */
    const unsigned char *raw, *raw_end;
    const unsigned char *gzip, *gzip_end;
};

/* Weak: a program that is linked without pages has none. */
extern const struct embedded embedded_files[] __attribute__((weak));

#endif
