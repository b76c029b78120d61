/* A message for many: made once, sent to each by reference. Any thread. */
#ifndef GT_NET_MESSAGE_H
#define GT_NET_MESSAGE_H

#include "base/bytes.h"

struct message;

/* A text message, with one reference. Copies. */
struct message *message_new(struct bytes text);
void message_ref(struct message *message);
void message_unref(struct message *message);

/* As a WebSocket frame of a server, and as an event of an event stream in a chunk of its own. Good
 * as long as the message is. */
struct bytes message_frame(const struct message *message);
struct bytes message_event(struct message *message);

#endif
