#include "cli/options.h"

#include <stdio.h>
#include <string.h>

static const struct option_spec *find(const struct option_spec *specs, const char *word) {
    size_t size = strcspn(word, "=");
    for (; specs->name != NULL; specs++)
        if (strlen(specs->name) == size && strncmp(specs->name, word, size) == 0)
            return specs;
    return NULL;
}

/* Takes the option at argv[*at]. */
static bool take(const char *command, int argc, char **argv, const struct option_spec *specs,
                 int *at) {
    const char *word = argv[*at] + 2, *equals = strchr(word, '=');
    const struct option_spec *spec = find(specs, word);
    if (spec == NULL) {
        fprintf(stderr, "gametable %s: there is no option %s; see gametable help %s\n", command,
                argv[*at], command);
        return false;
    }
    if (spec->given != NULL) {
        *spec->given = true;
        return true;
    }
    if (equals == NULL && *at + 1 == argc) {
        fprintf(stderr, "gametable %s: --%s wants a value\n", command, spec->name);
        return false;
    }
    *spec->value = equals != NULL ? equals + 1 : argv[++*at];
    return true;
}

int options_read(const char *command, int argc, char **argv, const struct option_spec *specs) {
    int count = 0;
    bool all_plain = false;
    for (int i = 0; i < argc; i++) {
        bool option = !all_plain && strncmp(argv[i], "--", 2) == 0;
        if (option && argv[i][2] == '\0')
            all_plain = true;
        else if (!option)
            argv[count++] = argv[i];
        else if (!take(command, argc, argv, specs, &i))
            return -1;
    }
    return count;
}
