/* gametable export, gametable import: a table of a data folder to files, and back, without a
 * server. */
#include "api/dynamodb/ddb_schema_parse.h"
#include "api/transfer/export.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/cmd_copies.h"
#include "cli/cmd_options.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "table/engine.h"
#include "table/local/local.h"
#include "table/rules.h"
#include "table/tables.h"

#include <stdio.h>
#include <unistd.h>

/* --- export --- */

struct exporting {
    struct export export;
    struct progress progress;
};

static void show_export(void *context) {
    struct exporting *on = context;
    progress_show(&on->progress, atomic_load(&on->export.items),
                  on->export.reader->about.item_count);
}

static int export_table(const char *path, const char *table, struct exporting *on) {
    struct arena arena;
    struct failure failure = {0};
    int result = 0;
    arena_init(&arena);
    enum status status = local_read_folder(path, bytes_str(table), (struct scope){&arena, &failure},
                                           &on->export.reader);
    if (status == OK) {
        on->export.stop = copies_catch_signals();
        on->export.progress = show_export;
        on->export.context = on;
        progress_start(&on->progress, "exporting", "items");
        status = export_run(&on->export, (struct scope){&arena, &failure});
        progress_end(&on->progress, atomic_load(&on->export.items));
        on->export.reader->close(on->export.reader);
    }
    if (status == OK)
        printf("%s: %llu items of table %s\n", on->export.folder,
               (unsigned long long)atomic_load(&on->export.items), table);
    else
        result = copies_failed(&failure);
    arena_release(&arena);
    return result;
}

static bool read_format(const char *text, enum file_format *out) {
    *out = strcmp(text, "csv") == 0 ? FORMAT_CSV : FORMAT_JSON;
    return strcmp(text, "csv") == 0 || strcmp(text, "json") == 0;
}

static void strip_slashes(char *path) {
    for (size_t size = strlen(path); size > 1 && path[size - 1] == '/'; size--)
        path[size - 1] = '\0';
}

int command_export(int argc, char **argv) {
    const char *data = "./gametable-data", *format = "json", *id = NULL;
    struct option_spec specs[] = {
        {"data", &data, NULL}, {"format", &format, NULL}, {"id", &id, NULL}, {NULL, NULL, NULL}};
    struct exporting on = {0};
    int count = options_read("export", argc, argv, specs);
    if (count != 2 || !read_format(format, &on.export.format) ||
        (id != NULL && strchr(id, '/') != NULL)) {
        if (count >= 0)
            fputs("usage: gametable export [--data DIR] [--id ID] [--format json|csv] TABLE "
                  "FOLDER\n",
                  stderr);
        return 2;
    }
    strip_slashes(argv[1]);
    on.export.folder = argv[1];
    if (id == NULL)
        return export_table(data, argv[0], &on);
    char *backups = files_join(data, "backups"), *path = files_join(backups, id);
    int result = export_table(path, argv[0], &on);
    mem_free(backups);
    mem_free(path);
    return result;
}

/* --- import --- */

struct importing {
    const char *data, *format, *keys, *delimiter;
    bool append;
    struct bytes table;
    char **sources;
    int source_count;

    struct arena arena;
    struct failure failure;
    struct engine *engine;
    struct file_list files;
    struct file_source_settings settings;
    struct table_schema schema;
    bool exists;
    struct source *source;
    struct load load;
    struct load_figures figures;
    struct progress progress;
};

static void show_import(void *context) {
    struct importing *on = context;
    progress_show(&on->progress, on->source->place, on->files.size);
}

/* pk:S or pk:S,sk:N */
static enum status read_keys(struct importing *on) {
    struct bytes text = bytes_str(on->keys);
    struct key_part *parts = ARENA_ARRAY(&on->arena, struct key_part, 2);
    uint32_t count = 0;
    for (bool more = true; more; count++) {
        size_t end = bytes_find(text, BYTES(",")), colon;
        struct bytes part = bytes_of(text.data, end == SIZE_MAX ? text.size : end);
        more = end != SIZE_MAX;
        if (more)
            text = bytes_skip(text, end + 1);
        colon = part.size < 3 ? 0 : part.size - 2;
        if (count == 2 || colon == 0 || part.data[colon] != ':' ||
            memchr("SNB", part.data[colon + 1], 3) == NULL)
            return failure_set(&on->failure, &on->arena, INVALID,
                               "--keys wants pk:S or pk:S,sk:N, with S, N or B for the type.");
        parts[count].name = bytes_of(part.data, colon);
        parts[count].type = value_type_named(bytes_skip(part, colon + 1));
    }
    on->schema = (struct table_schema){.name = on->table,
                                       .attributes = parts,
                                       .attribute_count = count,
                                       .billing = BILLING_ON_DEMAND};
    on->schema.keys.partition_count = 1;
    on->schema.keys.sort_count = (uint8_t)(count - 1);
    for (uint32_t i = 0; i < count; i++)
        on->schema.keys.parts[i] = parts[i];
    return OK;
}

/* The table.json of the first source that has one. */
static enum status find_schema(struct importing *on) {
    for (int i = 0; i < on->source_count; i++) {
        struct bytes text;
        char *path = files_join(on->sources[i], "table.json");
        int result = files_get(path, LIMIT_SCHEMA_FILE, &on->arena, &text);
        mem_free(path);
        if (result == 0)
            return schema_parse(text, on->table, (struct scope){&on->arena, &on->failure},
                                &on->schema);
    }
    return failure_set(&on->failure, &on->arena, INVALID,
                       "There is no table %.*s, and no table.json that says how to make it: give "
                       "its keys, as in --keys pk:S,sk:N.",
                       BYTES_ARG(on->table));
}

static enum status find_table(struct importing *on) {
    struct table_description about;
    struct failure absent;
    on->exists =
        engine_describe(on->engine, on->table, (struct scope){&on->arena, &absent}, &about) == OK;
    if (!on->exists)
        return on->keys != NULL ? read_keys(on) : find_schema(on);
    on->schema = about.schema;
    if (about.item_count == 0 || on->append)
        return OK;
    return failure_set(&on->failure, &on->arena, INVALID,
                       "Table %.*s has %llu items: with --append they stay, and those with the "
                       "same key are replaced.",
                       BYTES_ARG(on->table), (unsigned long long)about.item_count);
}

static bool names_csv(const char *path) {
    size_t size = strlen(path);
    if (size > 3 && strcmp(path + size - 3, ".gz") == 0)
        size -= 3;
    return size > 4 && strncmp(path + size - 4, ".csv", 4) == 0;
}

static enum status find_files(struct importing *on) {
    enum status status = OK;
    for (int i = 0; i < on->source_count && status == OK; i++) {
        strip_slashes(on->sources[i]);
        if (access(on->sources[i], R_OK) != 0)
            return failure_set(&on->failure, &on->arena, IO_FAILED, "Cannot read %s.",
                               on->sources[i]);
        status = files_below(&on->files, on->sources[i], (struct scope){&on->arena, &on->failure});
    }
    if (status != OK)
        return status;
    on->settings.files = &on->files;
    on->settings.schema = &on->schema;
    if (on->delimiter != NULL)
        on->settings.delimiter = (uint8_t)on->delimiter[0];
    if (on->format == NULL)
        on->settings.format = names_csv(on->files.paths[0]) ? FORMAT_CSV : FORMAT_JSON;
    return OK;
}

/* Without waiting for the disk at each commit: all is synced at the end, and a table that was being
 * made when the power went is removed by the next start. */
static enum status open_engine(struct importing *on) {
    struct local_settings settings = {.store = {.path = on->data, .sync = STORE_SYNC_NONE}};
    return local_open(&settings, (struct scope){&on->arena, &on->failure}, &on->engine);
}

static enum status run_import(struct importing *on) {
    on->load.engine = on->engine;
    on->load.source = on->source = file_source_new(&on->settings);
    on->load.stop = copies_catch_signals();
    on->load.progress = show_import;
    on->load.context = on;
    on->load.figures = &on->figures;
    on->load.table = on->table;
    progress_start(&on->progress, "importing", "bytes");
    enum status status = on->exists ? load_run(&on->load, (struct scope){&on->arena, &on->failure})
                                    : load_table(&on->load, &on->schema, false,
                                                 (struct scope){&on->arena, &on->failure});
    progress_end(&on->progress, on->source->place);
    file_source_free(on->source);
    return status;
}

static int report_import(struct importing *on) {
    unsigned long long loaded = atomic_load(&on->figures.loaded);
    unsigned long long refused = atomic_load(&on->figures.refused);
    printf("table %.*s: %llu items imported", BYTES_ARG(on->table), loaded);
    if (refused == 0) {
        puts("");
        return 0;
    }
    printf(", %llu records passed over (%.*s)\n", refused, BYTES_ARG(on->load.first_refusal));
    return 1;
}

static int import(struct importing *on) {
    arena_init(&on->arena);
    enum status status = find_files(on);
    if (status == OK)
        status = open_engine(on);
    if (status == OK)
        status = find_table(on);
    if (status == OK)
        status = run_import(on);
    if (on->engine != NULL)
        engine_close(on->engine);
    int result = status == OK ? report_import(on) : copies_failed(&on->failure);
    file_list_release(&on->files);
    arena_release(&on->arena);
    return result;
}

/* As clients will have to name it. */
static bool is_table_name(const char *name) {
    size_t size = strlen(name);
    return size >= LIMIT_TABLE_NAME_MIN && size <= LIMIT_TABLE_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
               size;
}

int command_import(int argc, char **argv) {
    struct importing on = {.data = "./gametable-data"};
    struct option_spec specs[] = {{"data", &on.data, NULL},           {"format", &on.format, NULL},
                                  {"keys", &on.keys, NULL},           {"append", NULL, &on.append},
                                  {"delimiter", &on.delimiter, NULL}, {NULL, NULL, NULL}};
    int count = options_read("import", argc, argv, specs);
    bool format_known = on.format == NULL || read_format(on.format, &on.settings.format);
    bool delimiter_known = on.delimiter == NULL || strcmp(on.delimiter, "\\t") == 0 ||
                           (strlen(on.delimiter) == 1 && strchr("\"\r\n", on.delimiter[0]) == NULL);
    if (count < 2 || !format_known || !delimiter_known) {
        if (count >= 0)
            fputs("usage: gametable import [--data DIR] [OPTION...] TABLE SOURCE...; see gametable "
                  "help import\n",
                  stderr);
        return 2;
    }
    if (on.delimiter != NULL && on.delimiter[0] == '\\')
        on.delimiter = "\t";
    if (!is_table_name(argv[0])) {
        fprintf(stderr,
                "gametable: '%s' is not a table's name: 3 to 255 letters, digits, _ . and -\n",
                argv[0]);
        return 2;
    }
    on.table = bytes_str(argv[0]);
    on.sources = argv + 1;
    on.source_count = count - 1;
    return import(&on);
}
