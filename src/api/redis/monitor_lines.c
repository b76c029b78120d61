/* What MONITOR tells of each command. */
#include "api/redis/monitor_lines.h"

#include "base/clock.h"
#include "base/limits.h"

/* The argument in quotes, with what does not print as escapes. */
static void put_quoted(struct buf *to, struct bytes arg) {
    static const char letters[] = "\\\"\n\r\t\a\b", escapes[] = "\\\"nrtab";
    buf_byte(to, '"');
    for (size_t i = 0; i < arg.size; i++) {
        uint8_t c = arg.data[i];
        const char *found = c != 0 ? strchr(letters, c) : NULL;
        if (found != NULL)
            buf_printf(to, "\\%c", escapes[found - letters]);
        else if (c >= ' ' && c <= '~')
            buf_byte(to, c);
        else
            buf_printf(to, "\\x%02x", c);
    }
    buf_byte(to, '"');
}

void monitors_tell(const struct redis_client *client, const struct redis_call *call) {
    unsigned hidden = COMMAND_NO_AUTH | COMMAND_ADMIN;
    struct buf line = {0};
    int64_t now_us = clock_now_ms() * 1000;
    if ((call->command->flags & hidden) != 0)
        return;
    buf_printf(&line, "+%lld.%06lld [%u %s]", (long long)(now_us / 1000000),
               (long long)(now_us % 1000000), call->db, client->address);
    for (size_t i = 0; i < call->count && line.size < LIMIT_MONITOR_LINE; i++) {
        struct bytes arg = call->args[i];
        if (arg.size > LIMIT_MONITOR_LINE)
            arg.size = LIMIT_MONITOR_LINE;
        buf_byte(&line, ' ');
        put_quoted(&line, arg);
    }
    buf_lit(&line, "\r\n");
    pubsub_tell_monitors(client->frontend, buf_bytes(&line));
    buf_release(&line);
}
