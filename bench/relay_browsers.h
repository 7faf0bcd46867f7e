/* relay_browsers.h - simulated browsers that connect to a relay at once: ICE and DTLS, no media. */
#ifndef BENCH_RELAY_BROWSERS_H
#define BENCH_RELAY_BROWSERS_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

enum { BROWSER_UFRAG_SIZE = 8, BROWSER_PASSWORD_SIZE = 24 };

struct relay_browsers;
/* Creates the sockets and the certificate, which all browsers share. */
struct relay_browsers *relay_browsers_new(size_t count, struct sockaddr_in server);
/* Returns the fingerprint of the certificate, as in SDP. */
const char *relay_browsers_fingerprint(const struct relay_browsers *b);
/* Stores the credentials that the relay has given to a browser. */
void relay_browser_set(struct relay_browsers *b, size_t i, const char ufrag[BROWSER_UFRAG_SIZE],
                       const char password[BROWSER_PASSWORD_SIZE]);
/* Runs the handshakes of all browsers in parallel. Returns how many have finished within the time
 * limit. */
size_t relay_browsers_connect(struct relay_browsers *b, int timeout_ms);

#endif
