/* The words that cannot be names unless they are quoted: those of SQL-92 and of the language's own
 * clauses. Sorted. */
#include "api/partiql/lex.h"

/* clang-format off */
static const char *const words[] = {
    "absolute", "action", "add", "all", "allocate", "alter", "and", "any", "are", "as", "asc",
    "assertion", "at", "authorization", "avg", "bag", "begin", "between", "bit", "bit_length",
    "blob", "bool", "boolean", "by", "cascade", "cascaded", "case", "cast", "catalog", "char",
    "char_length", "character", "character_length", "check", "clob", "close", "coalesce",
    "collate", "collation", "column", "commit", "conflict", "connect", "connection", "constraint",
    "constraints", "continue", "convert", "corresponding", "count", "create", "cross", "current",
    "current_date", "current_time", "current_timestamp", "current_user", "cursor", "date",
    "date_add", "date_diff", "deallocate", "dec", "decimal", "declare", "default", "deferrable",
    "deferred", "delete", "desc", "describe", "descriptor", "diagnostics", "disconnect",
    "distinct", "do", "domain", "double", "drop", "else", "end", "escape", "except", "exception",
    "exec", "execute", "exists", "external", "extract", "false", "fetch", "first", "float", "for",
    "foreign", "found", "from", "full", "get", "global", "go", "goto", "grant", "group", "having",
    "identity", "immediate", "in", "index", "indicator", "initially", "inner", "input",
    "insensitive", "insert", "int", "integer", "intersect", "interval", "into", "is", "isolation",
    "join", "key", "language", "last", "left", "let", "level", "like", "limit", "list", "local",
    "lower", "match", "max", "min", "missing", "modified", "module", "names", "national",
    "natural", "nchar", "new", "next", "no", "not", "nothing", "null", "nullif", "numeric",
    "octet_length", "of", "old", "on", "only", "open", "option", "or", "order", "outer", "output",
    "overlaps", "pad", "partial", "pivot", "position", "precision", "prepare", "preserve",
    "primary", "prior", "privileges", "procedure", "public", "read", "real", "references",
    "relative", "remove", "restrict", "returning", "revoke", "right", "rollback", "rows",
    "schema", "scroll", "section", "select", "session", "session_user", "set", "sexp", "size",
    "smallint", "some", "space", "sql", "sqlcode", "sqlerror", "sqlstate", "string", "struct",
    "substring", "sum", "symbol", "system_user", "table", "temporary", "then", "time",
    "timestamp", "to", "transaction", "translate", "translation", "trim", "true", "tuple",
    "union", "unique", "unknown", "unpivot", "update", "upper", "usage", "user", "using", "value",
    "values", "varchar", "varying", "view", "when", "whenever", "where", "with", "work", "write",
    "zone",
};
/* clang-format on */

static uint8_t lower(uint8_t c) {
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

/* Order of a word in either case and one in lower case. */
static int compare(struct bytes word, const char *other) {
    for (size_t i = 0; i < word.size; i++) {
        int order = lower(word.data[i]) - (uint8_t)other[i];
        if (order != 0)
            return order;
    }
    return other[word.size] == 0 ? 0 : -1;
}

bool ql_word_is(struct bytes word, const char *text) {
    return compare(word, text) == 0;
}

bool ql_word_reserved(struct bytes word) {
    size_t low = 0, high = sizeof(words) / sizeof(words[0]);
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare(word, words[middle]);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}
