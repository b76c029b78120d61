/* The text form of a keyring, and the file it lives in. */
#include "api/access_keys.h"
#include "base/limits.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_SIZE_MAX = LIMIT_KEY_FILE };

/* --- reading --- */

struct reading {
    const char *source;
    size_t number; /* of the key, from 1 */
    struct arena *arena;
    struct failure *failure;
};

static enum status file_fault(const struct reading *reading, const char *text) {
    return failure_set(reading->failure, reading->arena, INVALID, "%s: key %zu: %s",
                       reading->source, reading->number, text);
}

static enum status read_list(const struct reading *reading, const struct json *from,
                             const struct bytes **out, size_t *out_count) {
    if (from->type != JSON_ARRAY || from->count == 0)
        return file_fault(reading,
                          "tables, allow and partitions are lists of texts, and not empty");
    struct bytes *list = ARENA_ARRAY(reading->arena, struct bytes, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        if (from->elements[i].type != JSON_STRING)
            return file_fault(reading, "tables, allow and partitions are lists of texts");
        list[i] = from->elements[i].text;
    }
    *out = list;
    *out_count = from->count;
    return OK;
}

static enum status read_allow(const struct reading *reading, const struct json *from,
                              unsigned *out) {
    const struct bytes *list;
    size_t count;
    enum status status = read_list(reading, from, &list, &count);
    *out = 0;
    for (size_t i = 0; status == OK && i < count; i++) {
        unsigned access = access_named(list[i]);
        if (access == 0)
            return file_fault(reading, "allow is of read, write, admin, all");
        *out |= access;
    }
    return status;
}

static enum status read_role(const struct reading *reading, const struct json *from, bool *client) {
    bool text = from->type == JSON_STRING;
    *client = text && bytes_equal(from->text, BYTES("client"));
    if (*client || (text && bytes_equal(from->text, BYTES("server"))))
        return OK;
    return file_fault(reading, "role is server or client");
}

static enum status read_member(const struct reading *reading, const struct json_member *member,
                               struct access_key *key) {
    const struct json *value = &member->value;
    if (bytes_equal(member->name, BYTES("tables")))
        return read_list(reading, value, &key->tables, &key->table_count);
    if (bytes_equal(member->name, BYTES("partitions")))
        return read_list(reading, value, &key->partitions, &key->partition_count);
    if (bytes_equal(member->name, BYTES("allow")))
        return read_allow(reading, value, &key->allow);
    if (bytes_equal(member->name, BYTES("role")))
        return read_role(reading, value, &key->client);
    struct bytes *text = bytes_equal(member->name, BYTES("id"))       ? &key->id
                         : bytes_equal(member->name, BYTES("secret")) ? &key->secret
                         : bytes_equal(member->name, BYTES("name"))   ? &key->name
                                                                      : NULL;
    if (text == NULL)
        return file_fault(reading,
                          "a key has id, secret, name, role, tables, allow, partitions and nothing "
                          "else");
    if (value->type != JSON_STRING)
        return file_fault(reading, "id, secret and name are texts");
    *text = value->text;
    return OK;
}

static enum status read_key(struct keyring *ring, const struct reading *reading,
                            const struct json *from) {
    struct access_key key = {0};
    if (from->type != JSON_OBJECT)
        return file_fault(reading, "it is not an object");
    for (uint32_t i = 0; i < from->count; i++) {
        enum status status = read_member(reading, &from->members[i], &key);
        if (status != OK)
            return status;
    }
    struct failure inner = {0};
    if (keyring_add(ring, &key, (struct scope){reading->arena, &inner}) != OK)
        return file_fault(reading, arena_str(reading->arena, inner.text));
    return OK;
}

enum status keyring_read(struct keyring *ring, struct bytes text, const char *source,
                         struct scope in) {
    struct reading reading = {.source = source, .arena = in.arena, .failure = in.failure};
    struct json root;
    size_t at;
    if (json_parse(text, in.arena, &root, &at) != OK)
        return failure_set(in.failure, in.arena, INVALID, "%s: it is not JSON, from byte %zu on",
                           source, at);
    const struct json *list = json_get(&root, BYTES("keys"));
    if (list == NULL || list->type != JSON_ARRAY || root.count != 1)
        return failure_set(in.failure, in.arena, INVALID, "%s: expected {\"keys\": [...]}", source);
    for (uint32_t i = 0; i < list->count; i++) {
        reading.number = i + 1;
        enum status status = read_key(ring, &reading, &list->elements[i]);
        if (status != OK)
            return status;
    }
    return OK;
}

static enum status read_whole(int fd, const char *path, struct scope in, struct bytes *out) {
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > FILE_SIZE_MAX)
        return failure_set(in.failure, in.arena, INVALID, "%s is not a key file", path);
    uint8_t *text = arena_alloc(in.arena, (size_t)about.st_size + 1);
    size_t size = 0;
    while (size < (size_t)about.st_size) {
        ssize_t got = read(fd, text + size, (size_t)about.st_size - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        size += (size_t)got;
    }
    *out = bytes_of(text, size);
    return OK;
}

enum status keyring_load(struct keyring *ring, const char *path, struct scope in, bool *exposed) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return failure_set(in.failure, in.arena, errno == ENOENT ? NOT_FOUND : INVALID,
                           "cannot read the key file %s: %s", path, strerror(errno));
    struct stat about;
    *exposed = fstat(fd, &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0;
    struct bytes text;
    enum status status = read_whole(fd, path, in, &text);
    close(fd);
    return status == OK ? keyring_read(ring, text, path, in) : status;
}

/* --- writing --- */

static void put_list(struct buf *to, const char *name, const struct bytes *list, size_t count) {
    buf_printf(to, ",\n      \"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_lit(to, ", ");
        json_put_string(to, list[i]);
    }
    buf_lit(to, "]");
}

static void put_key(struct buf *to, const struct access_key *key) {
    static const struct bytes words[] = {BYTES("read"), BYTES("write"), BYTES("admin")};
    struct bytes allowed[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        if ((key->allow & access_named(words[i])) != 0)
            allowed[count++] = words[i];
    buf_lit(to, "\n    {\n      \"id\": ");
    json_put_string(to, key->id);
    buf_lit(to, ",\n      \"secret\": ");
    json_put_string(to, key->secret);
    if (key->name.size != 0) {
        buf_lit(to, ",\n      \"name\": ");
        json_put_string(to, key->name);
    }
    if (key->client)
        buf_lit(to, ",\n      \"role\": \"client\"");
    put_list(to, "tables", key->tables, key->table_count);
    put_list(to, "allow", allowed, count);
    if (key->partition_count != 0)
        put_list(to, "partitions", key->partitions, key->partition_count);
    buf_lit(to, "\n    }");
}

void keyring_write(const struct keyring *ring, struct buf *to) {
    buf_lit(to, "{\n  \"keys\": [");
    for (size_t i = 0; i < ring->count; i++) {
        if (i > 0)
            buf_byte(to, ',');
        put_key(to, ring->keys[i]);
    }
    buf_lit(to, "\n  ]\n}\n");
}

static bool write_whole(int fd, struct bytes text) {
    while (text.size != 0) {
        ssize_t put = write(fd, text.data, text.size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        text = bytes_skip(text, (size_t)put);
    }
    return fsync(fd) == 0;
}

/* A new file beside it takes its place: readers see the old one or the new one. */
enum status keyring_save(const struct keyring *ring, const char *path, struct scope in) {
    const char *beside = (const char *)arena_printf(in.arena, "%s.new", path).data;
    struct buf text = {0};
    bool done = false;
    unlink(beside); /* of one that was interrupted */
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        keyring_write(ring, &text);
        done = write_whole(fd, buf_bytes(&text));
        done = close(fd) == 0 && done && rename(beside, path) == 0;
        buf_release(&text);
    }
    if (done)
        return OK;
    int error = errno;
    if (fd >= 0)
        unlink(beside);
    return failure_set(in.failure, in.arena, IO_FAILED, "cannot write the key file %s: %s", path,
                       strerror(error));
}
