/* base64url.h - base64url without padding (RFC 4648 §5), into the caller's room; see str.h too. */
#ifndef BASE_BASE64URL_H
#define BASE_BASE64URL_H

#include <stddef.h>

/* Characters of so many bytes. */
#define BASE64URL_LENGTH(n) (((n)*4 + 2) / 3)

/* Returns how many it wrote; there is no NUL behind them. */
size_t base64url_write(const void *p, size_t n, char *out);

#endif
