// std::set<std::string> behind a C interface, for bench_tree.c to compare with.
#include <cstddef>
#include <set>
#include <string>

extern "C" {
void *set_new(void);
void set_free(void *set);
void set_put(void *set, const void *key, size_t size);
bool set_has(const void *set, const void *key, size_t size);
}

using strings = std::set<std::string>;

void *set_new(void) {
    return new strings;
}

void set_free(void *set) {
    delete static_cast<strings *>(set);
}

void set_put(void *set, const void *key, size_t size) {
    static_cast<strings *>(set)->emplace(static_cast<const char *>(key), size);
}

bool set_has(const void *set, const void *key, size_t size) {
    std::string text(static_cast<const char *>(key), size);
    return static_cast<const strings *>(set)->count(text) != 0;
}
