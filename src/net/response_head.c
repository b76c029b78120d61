#include "net/response_head.h"

#include <stdio.h>

static const struct reason {
    int status;
    const char *text;
} reasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

const char *response_reason(int status) {
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].status == status)
            return reasons[i].text;
    return "Unknown";
}

bool response_has_body(int status) {
    return status >= 200 && status != 204 && status != 304;
}

static void put_number(struct buf *to, size_t number) {
    char digits[24];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    buf_append(to, digits + at, sizeof(digits) - at);
}

static void put_status(struct buf *to, int status) {
    if (status == 200) {
        buf_lit(to, "HTTP/1.1 200 OK\r\n");
        return;
    }
    buf_lit(to, "HTTP/1.1 ");
    put_number(to, (size_t)status);
    buf_byte(to, ' ');
    buf_put(to, bytes_str(response_reason(status)));
    buf_lit(to, "\r\n");
}

/* strftime() would write day and month in the machine's language. */
static void put_date(struct buf *to, struct response_date *date) {
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    if (now != date->second) {
        struct tm tm;
        gmtime_r(&now, &tm);
        date->second = now;
        date->size = (size_t)snprintf(date->line, sizeof(date->line),
                                      "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d GMT\r\n",
                                      days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon,
                                      tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
    }
    buf_append(to, date->line, date->size);
}

void response_head_put(struct buf *to, const struct http_answer *answer,
                       enum response_connection connection, struct response_date *date) {
    buf_reserve(to, 512 + answer->headers.size);
    put_status(to, answer->status);
    buf_lit(to, "Server: gametable\r\n");
    put_date(to, date);
    if (answer->content_type.size != 0) {
        buf_lit(to, "Content-Type: ");
        buf_put(to, answer->content_type);
        buf_lit(to, "\r\n");
    }
    if (response_has_body(answer->status)) {
        buf_lit(to, "Content-Length: ");
        put_number(to, answer->body.size);
        buf_lit(to, "\r\n");
    }
    if (connection == ANSWER_CLOSE)
        buf_lit(to, "Connection: close\r\n");
    else if (connection == ANSWER_KEEP_ALIVE)
        buf_lit(to, "Connection: keep-alive\r\n");
    buf_put(to, answer->headers);
    buf_lit(to, "\r\n");
}
