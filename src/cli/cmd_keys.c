/* gametable keys: makes, lists and removes access keys in the key file. */
#include "api/access_keys.h"
#include "base/limits.h"
#include "cli/access.h"
#include "cli/commands.h"
#include "cli/help_texts.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIST_MAX = LIMIT_KEY_NAMES };

struct cmd_args {
    const char *file;
    const char *id; /* to remove */
    struct access_key key;
    struct bytes tables[LIST_MAX], partitions[LIST_MAX];
};

static int print_failure(const struct failure *failure) {
    fprintf(stderr, "gametable: %.*s\n", BYTES_ARG(failure->text));
    return failure->status == INVALID ? 2 : 1;
}

static bool read_allow(const char *text, unsigned *out) {
    *out = 0;
    while (*text != '\0') {
        size_t size = strcspn(text, ",");
        unsigned access = access_named(bytes_of(text, size));
        if (access == 0)
            return false;
        *out |= access;
        text += size + (text[size] == ',');
    }
    return *out != 0;
}

static bool read_role(const char *text, bool *client) {
    *client = strcmp(text, "client") == 0;
    return *client || strcmp(text, "server") == 0;
}

static bool append_value(struct bytes *list, size_t *count, const char *value) {
    if (*count == LIST_MAX)
        return false;
    list[(*count)++] = bytes_str(value);
    return true;
}

static bool read_option(struct cmd_args *args, const char *name, const char *value) {
    if (strcmp(name, "--keys") == 0)
        args->file = value;
    else if (strcmp(name, "--name") == 0)
        args->key.name = bytes_str(value);
    else if (strcmp(name, "--table") == 0)
        return append_value(args->tables, &args->key.table_count, value);
    else if (strcmp(name, "--partition") == 0)
        return append_value(args->partitions, &args->key.partition_count, value);
    else if (strcmp(name, "--role") == 0)
        return read_role(value, &args->key.client);
    else if (strcmp(name, "--allow") == 0)
        return read_allow(value, &args->key.allow);
    else
        return false;
    return true;
}

static bool read_options(struct cmd_args *args, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            if (args->id != NULL)
                return false;
            args->id = argv[i];
        } else if (i + 1 >= argc || !read_option(args, argv[i], argv[i + 1]))
            return false;
        else
            i++;
    }
    return true;
}

/* --- add --- */

static int add_key(struct cmd_args *args, struct keyring *ring, struct arena *arena) {
    struct failure failure = {0};
    struct access_key *key = &args->key;
    access_key_draw(key, arena);
    key->tables = args->tables;
    key->partitions = args->partitions;
    if (key->allow == 0)
        key->allow = ACCESS_READ | ACCESS_WRITE;
    if (keyring_add(ring, key, (struct scope){arena, &failure}) != OK ||
        keyring_save(ring, args->file, (struct scope){arena, &failure}) != OK)
        return print_failure(&failure);
    printf("access key id      %.*s\nsecret access key  %.*s\n\n"
           "The secret is shown this once. It is in %s, which only you can read.\n"
           "Serve with --keys %s; a server that runs already reads it again on SIGHUP.\n",
           BYTES_ARG(key->id), BYTES_ARG(key->secret), args->file, args->file);
    return 0;
}

/* --- list, remove --- */

static void put_names(struct buf *to, const struct bytes *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_lit(to, ", ");
        buf_put(to, names[i]);
    }
}

static int list_keys(const struct keyring *ring) {
    struct buf text = {0};
    for (size_t i = 0; i < ring->count; i++) {
        const struct access_key *key = ring->keys[i];
        buf_printf(&text, "%.*s  ", BYTES_ARG(key->id));
        access_put(&text, key->allow);
        buf_put(&text, key->client ? BYTES(" as a client on ") : BYTES(" on "));
        put_names(&text, key->tables, key->table_count);
        if (key->partition_count != 0) {
            buf_lit(&text, ", partitions ");
            put_names(&text, key->partitions, key->partition_count);
        }
        if (key->name.size != 0)
            buf_printf(&text, "  (%.*s)", BYTES_ARG(key->name));
        buf_lit(&text, "\n");
    }
    fwrite(text.data, 1, text.size, stdout);
    buf_release(&text);
    return 0;
}

static int remove_key(const struct cmd_args *args, struct keyring *ring, struct arena *arena) {
    struct failure failure = {0};
    if (!keyring_remove(ring, bytes_str(args->id))) {
        fprintf(stderr, "gametable: there is no key %s in %s\n", args->id, args->file);
        return 1;
    }
    if (keyring_save(ring, args->file, (struct scope){arena, &failure}) != OK)
        return print_failure(&failure);
    printf("removed %s; a server that runs takes it until SIGHUP\n", args->id);
    return 0;
}

static int run_verb(const char *verb, struct cmd_args *args, struct keyring *ring,
                    struct arena *arena) {
    struct failure failure = {0};
    bool exposed = false, adding = strcmp(verb, "add") == 0;
    enum status status = keyring_load(ring, args->file, (struct scope){arena, &failure}, &exposed);
    if (status != OK && !(adding && status == NOT_FOUND))
        return print_failure(&failure);
    if (exposed)
        fprintf(stderr, "gametable: %s may be read by others on this machine: chmod 600 it\n",
                args->file);
    if (adding)
        return add_key(args, ring, arena);
    return args->id == NULL ? list_keys(ring) : remove_key(args, ring, arena);
}

int command_keys(int argc, char **argv) {
    struct cmd_args args = {.file = getenv("GAMETABLE_KEYS")};
    const char *verb = argc > 0 ? argv[0] : "";
    bool is_add = strcmp(verb, "add") == 0, is_remove = strcmp(verb, "remove") == 0;
    bool parsed = read_options(&args, argc - (argc > 0), argv + (argc > 0));
    if (parsed && is_add && args.key.client && args.key.table_count == 0)
        parsed = append_value(args.tables, &args.key.table_count, "*");
    bool known = is_add || is_remove || strcmp(verb, "list") == 0;
    if (!known || !parsed || (args.id != NULL) != is_remove ||
        (args.key.table_count != 0) != is_add)
        return help_usage("keys");
    if (args.file == NULL)
        args.file = ACCESS_FILE;
    struct arena arena;
    struct keyring *ring = keyring_new();
    arena_init(&arena);
    int result = run_verb(verb, &args, ring, &arena);
    keyring_free(ring);
    arena_release(&arena);
    return result;
}
