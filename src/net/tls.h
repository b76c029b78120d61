/* Encryption: for a listener a certificate and its key, read once and again when told; for a client
 * whom to trust.
 *
 * TLS 1.2 and 1.3, HTTP/1.1 by ALPN, sessions resumed by tickets, no renegotiation. A connection's
 * part of it stands behind wire_read() and wire_write().
 */
#ifndef GT_NET_TLS_H
#define GT_NET_TLS_H

#include "base/status.h"

struct tls;
struct ssl_st;

/* Reads both files (PEM; the certificate may be followed by its chain). The text of a failure says
 * which file is wrong and how. */
enum status tls_open(const char *certificate, const char *key, struct scope in, struct tls **out);
/* For connections to the server of that host name or address, whose certificate must be signed by
 * one of the authorities in the file (NULL: by one that the system trusts). */
enum status tls_open_client(const char *host, const char *authorities, struct scope in,
                            struct tls **out);
/* Of a listener's: reads them again, for connections from now on; on failure all stays as it was.
 * Any thread. */
enum status tls_reload(struct tls *tls, struct scope in);
/* After the listener that uses it has ended. */
void tls_close(struct tls *tls);

/* What a connection needs; NULL if there is no memory for it. Any thread. */
struct ssl_st *tls_connection(struct tls *tls, int fd);

#endif
