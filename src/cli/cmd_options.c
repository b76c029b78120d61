#include "cli/cmd_options.h"

#include <stdio.h>
#include <string.h>

static const struct option_spec *find_option(const struct option_spec *specs, const char *word) {
    size_t size = strcspn(word, "=");
    for (; specs->name != NULL; specs++)
        if (strlen(specs->name) == size && strncmp(specs->name, word, size) == 0)
            return specs;
    return NULL;
}

/* The words of a command line, and which of them is looked at. */
struct words {
    const char *command;
    int argc;
    char **argv;
    int at;
};

/* Takes the option that is looked at, and its value if that is the next word. */
static bool take_option(struct words *words, const struct option_spec *specs) {
    const char *command = words->command, *given = words->argv[words->at];
    const char *word = given + 2, *equals = strchr(word, '=');
    const struct option_spec *spec = find_option(specs, word);
    if (spec == NULL) {
        fprintf(stderr, "gametable %s: there is no option %s; see gametable help %s\n", command,
                given, command);
        return false;
    }
    if (spec->given != NULL) {
        *spec->given = true;
        return true;
    }
    if (equals == NULL && words->at + 1 == words->argc) {
        fprintf(stderr, "gametable %s: --%s wants a value\n", command, spec->name);
        return false;
    }
    *spec->value = equals != NULL ? equals + 1 : words->argv[++words->at];
    return true;
}

int options_read(const char *command, int argc, char **argv, const struct option_spec *specs) {
    int count = 0;
    bool all_plain = false;
    struct words words = {command, argc, argv, 0};
    for (; words.at < argc; words.at++) {
        char *word = argv[words.at];
        bool option = !all_plain && strncmp(word, "--", 2) == 0;
        if (option && word[2] == '\0')
            all_plain = true;
        else if (!option)
            argv[count++] = word;
        else if (!take_option(&words, specs))
            return -1;
    }
    return count;
}
