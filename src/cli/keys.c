/* gametable keys: makes, lists and removes access keys in the key file. */
#include "api/keys.h"
#include "base/random.h"
#include "cli/access.h"
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIST_MAX = 64, ID_RANDOM = 18, SECRET_SIZE = 40 };

static const char usage[] =
    "usage: gametable keys add --table NAME [--table NAME...] [--allow read,write,admin]\n"
    "                          [--partition KEY...] [--role server|client] [--name TEXT]\n"
    "                          [--keys FILE]\n"
    "       gametable keys list [--keys FILE]\n"
    "       gametable keys remove ID [--keys FILE]\n"
    "\n"
    "A client's key is for games in players' hands: it reads boards, and does for a player\n"
    "what that player's token allows; it needs no --table.\n"
    "NAME and KEY may end in '*': the names, or partition keys, that begin like that.\n"
    "FILE is " ACCESS_FILE " unless --keys or GAMETABLE_KEYS says otherwise. A server\n"
    "that runs reads it again on SIGHUP.\n";

struct asked {
    const char *file;
    const char *id; /* to remove */
    struct access_key key;
    struct bytes tables[LIST_MAX], partitions[LIST_MAX];
};

static int fail(const struct failure *failure) {
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

static bool append(struct bytes *list, size_t *count, const char *value) {
    if (*count == LIST_MAX)
        return false;
    list[(*count)++] = bytes_str(value);
    return true;
}

static bool read_option(struct asked *asked, const char *name, const char *value) {
    if (strcmp(name, "--keys") == 0)
        asked->file = value;
    else if (strcmp(name, "--name") == 0)
        asked->key.name = bytes_str(value);
    else if (strcmp(name, "--table") == 0)
        return append(asked->tables, &asked->key.table_count, value);
    else if (strcmp(name, "--partition") == 0)
        return append(asked->partitions, &asked->key.partition_count, value);
    else if (strcmp(name, "--role") == 0)
        return read_role(value, &asked->key.client);
    else if (strcmp(name, "--allow") == 0)
        return read_allow(value, &asked->key.allow);
    else
        return false;
    return true;
}

static bool read_options(struct asked *asked, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            if (asked->id != NULL)
                return false;
            asked->id = argv[i];
        } else if (i + 1 >= argc || !read_option(asked, argv[i], argv[i + 1]))
            return false;
        else
            i++;
    }
    return true;
}

/* --- add --- */

static void make_word(char *to, size_t size, const char *digits, uint8_t count) {
    uint8_t noise[64];
    random_secure(noise, sizeof noise);
    for (size_t i = 0; i < size; i++)
        to[i] = digits[noise[i] % count]; /* count divides 256: all digits are as likely */
    to[size] = '\0';
}

static int add(struct asked *asked, struct keyring *ring, struct arena *arena) {
    struct failure failure = {0};
    char id[2 + ID_RANDOM + 1] = "GT", secret[SECRET_SIZE + 1];
    make_word(id + 2, ID_RANDOM, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32);
    make_word(secret, SECRET_SIZE,
              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 64);
    struct access_key *key = &asked->key;
    key->id = bytes_str(id);
    key->secret = bytes_str(secret);
    key->tables = asked->tables;
    key->partitions = asked->partitions;
    if (key->allow == 0)
        key->allow = ACCESS_READ | ACCESS_WRITE;
    if (keyring_add(ring, key, arena, &failure) != OK ||
        keyring_save(ring, asked->file, arena, &failure) != OK)
        return fail(&failure);
    printf("access key id      %s\nsecret access key  %s\n\n"
           "The secret is shown this once. It is in %s, which only you can read.\n"
           "Serve with --keys %s; a server that runs already reads it again on SIGHUP.\n",
           id, secret, asked->file, asked->file);
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

static int list(const struct keyring *ring) {
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

static int remove_key(const struct asked *asked, struct keyring *ring, struct arena *arena) {
    struct failure failure = {0};
    if (!keyring_remove(ring, bytes_str(asked->id))) {
        fprintf(stderr, "gametable: there is no key %s in %s\n", asked->id, asked->file);
        return 1;
    }
    if (keyring_save(ring, asked->file, arena, &failure) != OK)
        return fail(&failure);
    printf("removed %s; a server that runs takes it until SIGHUP\n", asked->id);
    return 0;
}

static int run(const char *verb, struct asked *asked, struct keyring *ring, struct arena *arena) {
    struct failure failure = {0};
    bool exposed = false, adding = strcmp(verb, "add") == 0;
    enum status status = keyring_load(ring, asked->file, arena, &failure, &exposed);
    if (status != OK && !(adding && status == NOT_FOUND))
        return fail(&failure);
    if (exposed)
        fprintf(stderr, "gametable: %s may be read by others on this machine: chmod 600 it\n",
                asked->file);
    if (adding)
        return add(asked, ring, arena);
    return strcmp(verb, "list") == 0 ? list(ring) : remove_key(asked, ring, arena);
}

int command_keys(int argc, char **argv) {
    struct asked asked = {.file = getenv("GAMETABLE_KEYS")};
    const char *verb = argc > 0 ? argv[0] : "";
    bool is_add = strcmp(verb, "add") == 0, is_remove = strcmp(verb, "remove") == 0;
    bool parsed = read_options(&asked, argc - (argc > 0), argv + (argc > 0));
    if (parsed && is_add && asked.key.client && asked.key.table_count == 0)
        parsed = append(asked.tables, &asked.key.table_count, "*");
    bool known = is_add || is_remove || strcmp(verb, "list") == 0;
    if (!known || !parsed || (asked.id != NULL) != is_remove ||
        (asked.key.table_count != 0) != is_add) {
        fputs(usage, stderr);
        return 2;
    }
    if (asked.file == NULL)
        asked.file = ACCESS_FILE;
    struct arena arena;
    struct keyring *ring = keyring_new();
    arena_init(&arena);
    int result = run(verb, &asked, ring, &arena);
    keyring_free(ring);
    arena_release(&arena);
    return result;
}
