#include "api/rest/score_lines.h"

#include "api/rest/rest_form.h"
#include "api/rest/rest_json.h"
#include "value/number.h"

/* --- CSV --- */

/* A field in quotes, which may have commas and doubled quotes in it. False if it does not end. */
static bool take_quoted(struct bytes *line, struct arena *arena, struct bytes *out) {
    uint8_t *to = arena_alloc(arena, line->size);
    size_t size = 0, at = 1;
    for (; at < line->size; at++) {
        if (line->data[at] == '"') {
            if (at + 1 == line->size || line->data[at + 1] != '"')
                break;
            at++;
        }
        to[size++] = line->data[at];
    }
    if (at == line->size || (at + 1 < line->size && line->data[at + 1] != ','))
        return false;
    *out = bytes_of(to, size);
    at++;
    *line = at == line->size ? (struct bytes){0} : bytes_skip(*line, at + 1);
    return true;
}

/* Takes a field and the comma after it; a line that is at its end has data NULL. */
static bool take_field(struct bytes *line, struct arena *arena, struct bytes *out) {
    if (line->size != 0 && line->data[0] == '"')
        return take_quoted(line, arena, out);
    const uint8_t *comma = line->size == 0 ? NULL : memchr(line->data, ',', line->size);
    if (comma == NULL) {
        *out = *line;
        *line = (struct bytes){0};
        return true;
    }
    *out = bytes_of(line->data, (size_t)(comma - line->data));
    *line = bytes_skip(*line, out->size + 1);
    return true;
}

static enum status read_score(struct bytes text, struct scope in, struct bytes *out) {
    while (text.size != 0 && text.data[0] == ' ')
        text = bytes_skip(text, 1);
    while (text.size != 0 && text.data[text.size - 1] == ' ')
        text.size--;
    if (number_read(in.arena, text, out) == NUMBER_OK)
        return OK;
    return failure_set(in.failure, in.arena, INVALID, "the score is no number of up to 38 digits");
}

static enum status read_csv(struct bytes line, struct scope in, struct score_line *out) {
    struct bytes score = {0};
    bool good = take_field(&line, in.arena, &out->member) && take_field(&line, in.arena, &score) &&
                take_field(&line, in.arena, &out->name) && line.data == NULL;
    if (good && out->member.size == 0)
        return failure_set(in.failure, in.arena, INVALID, "the line has no member");
    if (!good)
        return failure_set(in.failure, in.arena, INVALID, "the line is not member,score[,name]");
    return read_score(score, in, &out->score);
}

static bool is_header(struct bytes line) {
    return bytes_equal(line, BYTES("member,score")) ||
           bytes_equal(line, BYTES("member,score,name"));
}

/* --- JSON --- */

static const struct form_field line_fields[] = {
    {"member", FORM_TEXT, FORM_REQUIRED, NULL, 1, 1000},
    {"score", FORM_NUMBER, FORM_REQUIRED, NULL},
    {"subscore", FORM_NUMBER, FORM_NULLABLE, NULL},
    {"name", FORM_TEXT, FORM_NULLABLE, NULL, 0, 256},
    {"meta", FORM_MAP, FORM_NULLABLE, NULL},
    {0},
};
static const struct form form_line = {"Line", NULL, line_fields};

static enum status read_json(struct bytes line, struct scope in, struct score_line *out) {
    struct json json;
    struct form_fault fault;
    size_t at;
    if (json_parse(line, in.arena, &json, &at) != OK)
        return failure_set(in.failure, in.arena, INVALID, "the line is not JSON, from byte %zu on",
                           at);
    if (form_check(&form_line, &json, in, &fault) != OK)
        return INVALID;
    const struct json *meta = form_get(&json, "meta");
    out->member = form_text(&json, "member");
    out->name = form_text(&json, "name");
    out->score = form_number(&json, "score", in.arena);
    out->subscore = form_number(&json, "subscore", in.arena);
    if (meta == NULL)
        return OK;
    struct value *value = ARENA_NEW(in.arena, struct value);
    out->meta = value;
    return rest_value_read(meta, in, value);
}

/* --- lines --- */

static struct bytes take_line(struct score_lines *score_lines) {
    struct bytes line = score_lines->left;
    const uint8_t *end = memchr(line.data, '\n', line.size);
    if (end == NULL)
        score_lines->left = (struct bytes){0};
    else {
        line.size = (size_t)(end - line.data);
        score_lines->left = bytes_skip(score_lines->left, line.size + 1);
    }
    if (line.size != 0 && line.data[line.size - 1] == '\r')
        line.size--;
    score_lines->number++;
    return line;
}

enum status score_lines_next(struct score_lines *score_lines, struct scope in,
                             struct score_line *out) {
    struct bytes line = {0};
    while (line.size == 0 && score_lines->left.size != 0) {
        line = take_line(score_lines);
        if (score_lines->number == 1 && !score_lines->json && is_header(line))
            line.size = 0;
    }
    if (line.size == 0)
        return NOT_FOUND;
    *out = (struct score_line){.number = score_lines->number};
    return score_lines->json ? read_json(line, in, out) : read_csv(line, in, out);
}
