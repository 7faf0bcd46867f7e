/* base64url.h - encodes base64url without padding (RFC 4648 §5) into the caller's buffer. str.h has
 * the decoder. */
#ifndef BASE_BASE64URL_H
#define BASE_BASE64URL_H

#include <stddef.h>

#define BASE64URL_LENGTH(n) (((n)*4 + 2) / 3)

/* Encodes n bytes. Returns the number of characters written to out; adds no NUL. */
size_t base64url_encode(const void *p, size_t n, char *out);

#endif
